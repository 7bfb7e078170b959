/* Data accesses of a native recording, without hardware that records addresses: of loops whose accesses are known. The victim is this very
 * program, called with "walk" or "touch".
 *
 * usage: test_record_accesses (by itself) */
#include "perf_here.h"
#include "record/record.h"
#include "store/store_read.h"

#include "unit.h"
#include "unit_profile.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { WORDS = 4096, LINKS = 1024, ROUNDS = 80000 };

/* ---- the victim ---- */

static volatile uint64_t walked[WORDS], copied[WORDS];
static struct link {
    struct link *next;
    uint64_t other[7];
} chained[LINKS];

/* A load and a store in turn: what comes next follows from the registers alone. */
static __attribute__((noinline)) void copy(void)
{
    uint64_t i = 0, word;
    __asm__ volatile("1: mov (%2,%0,8), %1\n\tmov %1, (%3,%0,8)\n\tinc %0\n\tcmp %4, %0\n\tjne 1b"
                     : "+&r"(i), "=&r"(word)
                     : "r"(walked), "r"(copied), "i"(WORDS)
                     : "memory", "cc");
}

/* Loads of which each says where the next one is, and whether the loop goes on. */
static __attribute__((noinline)) void follow(void)
{
    struct link *at = chained;
    __asm__ volatile("1: mov (%0), %0\n\tcmp %1, %0\n\tjne 1b" : "+&r"(at) : "r"(chained) : "memory", "cc");
}

static int walk(void)
{
    for (size_t i = 0; i < LINKS; i++) /* not one behind the other */
        chained[i].next = &chained[(i + 389) % LINKS];
    for (int round = 0; round < ROUNDS; round++) {
        copy();
        follow();
    }
    return 0;
}

enum { PAGE = 4096, PAGES = 40 };
static _Alignas(PAGE) volatile char touched[PAGES * PAGE], looked_at[PAGES * PAGE];

/* Each page for the first time: those of one variable by stores, those of the other by loads; and of memory without a name. */
static int touch(void)
{
    char *nameless = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)touched, sizeof touched, MADV_NOHUGEPAGE);
    madvise((void *)looked_at, sizeof looked_at, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES && nameless != MAP_FAILED; i++) {
        uint64_t value = i;
        __asm__ volatile("mov %0, 16(%1)" : : "r"(value), "r"(touched + i * PAGE) : "memory");
        __asm__ volatile("movzwl 32(%1), %k0" : "=r"(value) : "r"(looked_at + i * PAGE) : "memory");
        __asm__ volatile("movb %b0, 48(%1)" : : "r"(value), "r"(nameless + i * PAGE) : "memory");
    }
    return nameless == MAP_FAILED;
}

/* ---- the recording ---- */

static struct as_store *store;
static struct as_store_access *accesses;
static size_t n_accesses;

static struct as_store *record(const char *victim, bool wanted)
{
    const char *faults[] = {"page-faults"};
    static char *argv[] = {NULL, NULL, NULL};
    static char path[4096];
    struct as_error err = AS_ERROR_INIT;
    struct as_record_result result;
    struct as_record_options options = as_record_defaults;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    argv[0] = path;
    argv[1] = (char *)victim;
    options.source = "timer";
    options.argv = argv;
    options.environment = environ;
    options.output = unit_profile;
    options.accesses = wanted;
    if (strcmp(victim, "touch") == 0) {
        options.source = "pmu";
        options.user = true;
        options.event = (struct as_strlist){faults, 1};
        options.period = 1;
    } else
        options.rate = 4000;
    unlink(unit_profile);
    if (!as_record_run(&options, &result, &err))
        fail_msg("%s", err.message);
    assert_int_equal(result.end.exit_status, 0);
    return as_store_open(unit_profile, &err);
}

static int set_up(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    if (unit_profile_make(state) != 0)
        return -1;
    if (unit_no_task_clock())
        return 0;
    store = record("walk", true);
    accesses = store ? as_store_accesses(store, 0, NULL, &n_accesses, &err) : NULL;
    return accesses ? 0 : -1;
}

static int tear_down(void **state)
{
    free(accesses);
    as_store_close(store);
    return unit_profile_remove(state);
}

static void need_recording(void)
{
    if (!store)
        unit_skip("the task clock cannot be sampled: %s", unit_no_task_clock());
}

static double quality(const char *key)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].value;
    return 0;
}

static const struct as_store_series *series(void)
{
    size_t n;
    const struct as_store_series *all = as_store_series(store, &n);
    assert_int_equal(n, 1);
    return all;
}

/* The variable of an access; NULL: none. */
static const struct as_store_object *object_of(const struct as_store_access *access)
{
    size_t n;
    const struct as_store_object *objects = as_store_objects(store, &n);
    return access->object < n ? &objects[access->object] : NULL;
}

static bool is_of(const struct as_store_access *access, const char *name)
{
    const struct as_store_object *object = object_of(access);
    return object && strcmp(object->name, name) == 0;
}

static uint64_t samples_of(const char *name)
{
    uint64_t n = 0;
    for (size_t i = 0; i < n_accesses; i++)
        n += is_of(&accesses[i], name) ? accesses[i].samples : 0;
    return n;
}

/* Every sample has an access, or there is a reason why it has none. */
static void all_samples_are_told_of(void **state)
{
    static const char *const reasons[] = {"data_none_registers", "data_none_code", "data_none_branch",
                                          "data_none_address",   "data_none_far",  "data_none_kernel"};
    uint64_t found = 0, units = 0;
    double none = 0, by_how[AS_STORE_HOW_COUNT] = {0};
    need_recording();
    for (size_t i = 0; i < n_accesses; i++) {
        assert_true(accesses[i].how > AS_STORE_HOW_HARDWARE && accesses[i].how < AS_STORE_HOW_COUNT);
        by_how[accesses[i].how] += (double)accesses[i].samples;
        found += accesses[i].samples;
        units += accesses[i].units;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        none += quality(reasons[i]);
    assert_true(found > 200);
    assert_float_equal(quality("data_none"), none, 0);
    assert_float_equal((double)found + none, (double)series()->samples, 0);
    assert_true(units > 0);
    assert_float_equal(quality("data_exact"), by_how[AS_STORE_HOW_EXACT], 0);
    assert_float_equal(quality("data_next"), by_how[AS_STORE_HOW_NEXT], 0);
    assert_float_equal(quality("data_watched"), by_how[AS_STORE_HOW_WATCHED], 0);
}

/* Each is of its variable, aligned, of 8 bytes, and does to it what the loops do. */
static void accesses_are_right(void **state)
{
    static const struct {
        const char *name;
        uint32_t kind, apart;
        uint64_t size;
    } variables[] = {{"walked", AS_STORE_LOAD, 8, sizeof walked},
                     {"copied", AS_STORE_STORE, 8, sizeof copied},
                     {"chained", AS_STORE_LOAD, sizeof *chained, sizeof chained}};
    uint64_t all = 0, known = 0;
    need_recording();
    for (size_t i = 0; i < n_accesses; i++) {
        const struct as_store_object *object = object_of(&accesses[i]);
        all += accesses[i].samples;
        for (size_t k = 0; k < 3; k++) {
            if (!is_of(&accesses[i], variables[k].name))
                continue;
            known += accesses[i].samples;
            assert_int_equal(object->size, variables[k].size);
            assert_true(accesses[i].address - object->address < object->size);
            assert_int_equal((accesses[i].address - object->address) % variables[k].apart, 0);
            assert_int_equal(accesses[i].size, 8);
            if (strcmp(object->name, "chained") != 0 || accesses[i].kind != AS_STORE_STORE) /* it is made, too */
                assert_int_equal(accesses[i].kind, variables[k].kind);
        }
    }
    assert_true(known > all - all / 10); /* the rest: the program's start, and its loops' own variables */
}

/* In a loop that loads and stores in turn, either is as likely: five standard deviations. */
static void accesses_are_even(void **state)
{
    need_recording();
    double loads = (double)samples_of("walked"), stores = (double)samples_of("copied");
    assert_true(loads + stores > 50);
    assert_float_equal(loads, stores, 5 * sqrt(loads + stores));
}

/* Where the address is loaded, watchpoints are needed; those that are armed are hit, or expire, or are left at the end. */
static void watchpoints(void **state)
{
    need_recording();
    assert_true(samples_of("chained") > 20);
    if (unit_no_watchpoints())
        unit_skip("no hardware breakpoints here: %s", unit_no_watchpoints());
    double armed = quality("watch_armed"), hit = quality("watch_hit"), expired = quality("watch_expired");
    assert_true(armed > 0 && hit > 0);
    assert_true(hit + expired <= armed);
    assert_true(quality("data_watched") > 0);
}

/* Not asked for, there are none, and nothing is said of them. */
static void not_asked_for(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store *all = store;
    size_t n;
    need_recording();
    store = record("walk", false);
    assert_non_null(store);
    struct as_store_access *none = as_store_accesses(store, 0, NULL, &n, &err);
    assert_int_equal(n, 0);
    assert_float_equal(quality("data_exact") + quality("data_none") + quality("watch_armed"), 0, 0);
    free(none);
    as_store_close(store);
    store = all;
}

/* Page faults come with their address; whether it was loaded or stored, and how much, is the instruction's. Where memory has no name, its
 * region is known. */
static void page_faults(void **state)
{
    static const struct {
        const char *name;
        uint32_t kind, size, offset;
    } variables[] = {
        {"touched", AS_STORE_STORE, 8, 16}, {"looked_at", AS_STORE_LOAD, 2, 32}, {"[anon]", AS_STORE_STORE, 1, 48}};
    struct as_error err = AS_ERROR_INIT;
    struct as_store *all = store;
    size_t n, found[3] = {0};
    need_recording();
    if (UNIT_SANITIZED)
        unit_skip("sanitizers touch memory without a name, too");
    store = record("touch", true);
    assert_non_null(store);
    struct as_store_access *faults = as_store_accesses(store, 0, NULL, &n, &err);
    assert_non_null(faults);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            if (!is_of(&faults[i], variables[k].name) || faults[i].address % PAGE != variables[k].offset)
                continue;
            assert_int_equal(faults[i].how, AS_STORE_HOW_HARDWARE);
            assert_int_equal(faults[i].kind, variables[k].kind);
            assert_int_equal(faults[i].size, variables[k].size);
            found[k] += faults[i].samples;
        }
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(found[k], PAGES);
    free(faults);
    as_store_close(store);
    store = all;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_samples_are_told_of), cmocka_unit_test(accesses_are_right),
                                       cmocka_unit_test(accesses_are_even),       cmocka_unit_test(watchpoints),
                                       cmocka_unit_test(not_asked_for),           cmocka_unit_test(page_faults)};
    if (argc == 2 && strcmp(argv[1], "walk") == 0)
        return walk();
    if (argc == 2 && strcmp(argv[1], "touch") == 0)
        return touch();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
