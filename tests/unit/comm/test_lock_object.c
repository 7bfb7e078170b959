/* Places and functions that belong to one lock, and those that only look like it. */
#include "unit.h"

#include "comm/lock_object.h"
#include "own_space.h"

#include <pthread.h>

static void places_of_one_lock(void **state)
{
    assert_string_equal(as_lock_of_places("lock.__data.__lock", "lock.__data.__owner"), "pthread_mutex_t");
    assert_string_equal(as_lock_of_places("q[2].lock.__data.__kind", "q[2].lock.__data.__count"), "pthread_mutex_t");
    assert_string_equal(as_lock_of_places("c.__data.__wseq.__value32.__low", "c.__data.__g_signals[1]"),
                        "pthread_cond_t");
    assert_string_equal(as_lock_of_places("r.__data.__readers", "r.__data.__cur_writer"), "pthread_rwlock_t");
}

static void places_of_two_locks(void **state)
{
    assert_null(as_lock_of_places("q[0].lock.__data.__lock", "q[1].lock.__data.__owner"));
    assert_null(as_lock_of_places("a.lock.__data.__lock", "a.lock2.__data.__lock"));
    assert_null(as_lock_of_places("s.lock.__data.__lock", "s.count"));
    assert_null(as_lock_of_places("s.count", "s.lock.__data.__lock"));
    assert_null(as_lock_of_places("s.__data.__mine", "s.__data.__lock"));
    assert_null(as_lock_of_places("s.__data.__lo", "s.__data.__lockers"));
    assert_null(as_lock_of_places("s", "s"));
}

static void words_of_a_lock(void **state)
{
    assert_string_equal(as_lock_of_place("q[2].lock.__data.__kind"), "pthread_mutex_t");
    assert_null(as_lock_of_place("q[2].lock.__data"));
    assert_null(as_lock_of_place("q[2].count"));
    assert_string_equal(as_lock_of_function("__pthread_mutex_unlock_usercnt"), "pthread_mutex_t");
    assert_string_equal(as_lock_of_function("pthread_cond_wait@@GLIBC_2.3.2"), "pthread_cond_t");
    assert_string_equal(as_lock_of_function("__pthread_rwlock_rdlock"), "pthread_rwlock_t");
    assert_string_equal(as_lock_of_function("pthread_spin_lock"), "pthread_spinlock_t");
    assert_string_equal(as_lock_of_function("__lll_lock_wait_private"), "lock");
    assert_null(as_lock_of_function("pthread_create"));
    assert_null(as_lock_of_function(NULL));
}

static void functions_of_one_lock(void **state)
{
    const char *lock = "pthread_mutex_lock@@GLIBC_2.2.5", *unlock = "__pthread_mutex_unlock_usercnt";
    assert_string_equal(as_lock_of_functions(lock, unlock, 16), "pthread_mutex_t");
    assert_string_equal(as_lock_of_functions(lock, "__lll_lock_wait", 8), "pthread_mutex_t");
    assert_string_equal(as_lock_of_functions("__lll_lock_wait", unlock, 4), "pthread_mutex_t");
    assert_null(as_lock_of_functions(lock, unlock, 24)); /* the words of two mutexes */
    assert_null(as_lock_of_functions("__lll_lock_wait", "__lll_lock_wait", 4));
    assert_null(as_lock_of_functions(lock, "work", 8));
    assert_null(as_lock_of_functions("work", unlock, 8));
    assert_null(as_lock_of_functions(NULL, unlock, 8));
    assert_null(as_lock_of_functions(lock, NULL, 8));
}

/* A variable of this program. */
static _Alignas(64) struct {
    uint64_t count;
    pthread_mutex_t mutex;
} guarded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct as_space *own_space_of(void *context, uint32_t process, uint64_t insn)
{
    return context;
}

static uint64_t address_of(void *context, uint64_t insn)
{
    return insn;
}

static void members_of_a_variable(void **state)
{
    struct as_space *space = own_space();
    struct as_comm_result result = {.names = {.space = own_space_of, .address = address_of, .context = space}};
    static const struct {
        uint8_t from, to;
        bool locks;
    } cases[] = {{8, 12, true}, {12, 8, true}, {8, 16, true}, {0, 8, false}, {8, 0, false}};
    pthread_mutex_lock(&guarded.mutex);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_contact contact = {
            .line = (uintptr_t)&guarded, .from = {.offset = cases[i].from}, .to = {.offset = cases[i].to}};
        const char *type = as_lock_object(&result, &contact);
        if (cases[i].locks)
            assert_string_equal(type, "pthread_mutex_t");
        else
            assert_null(type);
    }
    pthread_mutex_unlock(&guarded.mutex);
    as_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_of_one_lock), cmocka_unit_test(places_of_two_locks),
                                       cmocka_unit_test(functions_of_one_lock), cmocka_unit_test(words_of_a_lock),
                                       cmocka_unit_test(members_of_a_variable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
