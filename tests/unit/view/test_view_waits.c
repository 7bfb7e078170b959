/* What threads waited for: sums by object, line and pair of code, and who waited for whom. */
#include "view/waits.h"

#include "unit.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE

/* Threads 1 and 2 fight for the line of `shared`, by different words but for 40 units; 1 waits for `other` once. */
static void write_waits(void)
{
    static const struct as_store_wait waits[] = {
        {0, 0, 0, 1, 1, 0x1000, 0, AS_STORE_WAIT_READ, 1, 0, NONE, 40, 4},
        {0, 1, 1, 0, 0, 0x1000, 8, AS_STORE_WAIT_WRITE, 0, 0, NONE, 100, 5},
        {0, 0, 2, 2, NONE, 0x2000, 0, AS_STORE_WAIT_READ, 0, 1, NONE, 10, 1},
    };
    struct as_store_writer *writer = bed_writer("waits.db");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    for (uint32_t i = 1; i <= 3; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    as_store_add_function(writer, &(struct as_store_function){.name = "work", .file = NONE, .address = 16, .size = 64});
    as_store_add_file(writer, "/src/work.c");
    for (uint32_t i = 0; i < 3; i++) /* the third has a line, the second of these files a line that is not known */
        as_store_add_instruction(
            writer, &(struct as_store_insn){.location = {16 + 4 * i, 0, 0, NONE, i ? 0 : NONE, i == 2 ? 77 : 0, NONE}});
    as_store_add_object(writer, &(struct as_store_object){0, "shared", 0x1000, 64});
    as_store_add_object(writer, &(struct as_store_object){0, "other", 0x2000, 64});
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_time(writer, &(struct as_store_time){series, i, i, 200, 0, 1});
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        as_store_add_wait(writer, &waits[i]);
    bed_commit(writer);
}

struct wanted {
    uint64_t units, false_units, transfers;
    size_t n;
};

static void check_rows(const struct as_waits *waits, enum as_waits_level level, const struct wanted *wanted, size_t n)
{
    assert_int_equal(waits->n_rows[level], n);
    for (size_t i = 0; i < n; i++) {
        const struct as_waits_row *row = &waits->rows[level][i];
        assert_int_equal(row->units, wanted[i].units);
        assert_int_equal(row->false_units, wanted[i].false_units);
        assert_int_equal(row->transfers, wanted[i].transfers);
        assert_int_equal(row->bytes, wanted[i].transfers * waits->line_bytes);
        assert_int_equal(row->n, wanted[i].n);
        assert_true(row->lock == NULL && row->lock_units == 0);
    }
}

static void sums(void **state)
{
    static const struct wanted objects[] = {{140, 100, 9, 2}, {10, 10, 1, 1}},
                               pairs[] = {{100, 100, 5, 1}, {40, 0, 4, 1}, {10, 10, 1, 1}};
    struct as_error err = AS_ERROR_INIT;
    struct as_waits waits;
    struct as_view view = view_bed_open("waits.db", NULL);
    char name[AS_ROW_NAME_MAX], object[AS_SHOW_MAX];
    assert_true(as_waits_make(&waits, &view, &err));
    assert_true(waits.n == 3 && waits.n_all == 3 && waits.units == 150 && waits.false_units == 110);
    assert_true(waits.transfers == 10 && waits.lock_units == 0 && waits.bytes == 10 * waits.line_bytes);
    check_rows(&waits, AS_WAITS_BY_OBJECT, objects, 2);
    check_rows(&waits, AS_WAITS_BY_LINE, objects, 2);
    check_rows(&waits, AS_WAITS_BY_PAIR, pairs, 3);
    assert_string_equal(
        as_view_object_name(waits.objects, waits.n_objects, waits.rows[AS_WAITS_BY_OBJECT][0].top->object, object),
        "shared");
    assert_int_equal(waits.rows[AS_WAITS_BY_OBJECT][0].top->units, 100); /* the longest stands for the row */
    assert_string_equal(as_waits_code_name(&waits, waits.rows[AS_WAITS_BY_PAIR][0].top->instruction, name), "work+0x4");
    assert_string_equal(as_waits_code_name(&waits, 0, name), "work+0x0");
    assert_string_equal(as_waits_code_name(&waits, 2, name), "work+0x8 at work.c:77");
    assert_string_equal(as_waits_code_name(&waits, NONE, name), "[unknown]");
    assert_string_equal(as_waits_code_name(&waits, 3, name), "[unknown]"); /* one behind the last */
    as_waits_free(&waits);
    as_view_free(&view);
}

/* Where a line that is read becomes one that is written, nothing is sent. */
static void bytes_of_lines(void **state)
{
    const struct as_waits waits = {.line_bytes = 64};
    struct as_store_wait wait = {.kind = AS_STORE_WAIT_WRITE, .transfers = 3};
    assert_int_equal(as_waits_bytes(&waits, &wait), 192);
    wait.kind = AS_STORE_WAIT_READ;
    assert_int_equal(as_waits_bytes(&waits, &wait), 192);
    wait.kind = AS_STORE_WAIT_UPGRADE;
    assert_int_equal(as_waits_bytes(&waits, &wait), 0);
    wait = (struct as_store_wait){.kind = AS_STORE_WAIT_READ, .transfers = UINT64_MAX / 64};
    assert_true(as_waits_bytes(&waits, &wait) == UINT64_MAX / 64 * 64);
    wait.transfers++;
    assert_true(as_waits_bytes(&waits, &wait) == UINT64_MAX);
}

static void who_waited_for_whom(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_waits waits;
    struct as_view view = view_bed_open("waits.db", NULL);
    uint64_t true_[3][3] = {0}, false_[3][3] = {0};
    assert_true(as_waits_make(&waits, &view, &err));
    assert_int_equal(waits.n_threads, 3);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            struct as_pair_cell cell = as_waits_cell(&waits, i, k);
            true_[waits.threads[i]][waits.threads[k]] = cell.true_;
            false_[waits.threads[i]][waits.threads[k]] = cell.false_;
        }
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(true_[i][k], i == 0 && k == 1 ? 40 : 0);
            assert_int_equal(false_[i][k], i == 1 && k == 0 ? 100 : i == 0 && k == 2 ? 10 : 0);
        }
    as_waits_free(&waits);
    as_view_free(&view);
}

/* Waits of a function that takes mutexes are for a lock, unless what it waits for is the library's own. */
static void locks_by_function(void **state)
{
    enum { PROG, LIBC };
    static const struct {
        struct as_store_object object;
        bool lock;
    } cases[] = {
        {{NONE, "[heap]", 0x1000, 0}, true},   {{PROG, "queue", 0x1000, 40}, true},
        {{LIBC, "threads", 0x1000, 8}, false}, {{NONE, "[stack of thread]", 0x1000, 0}, false},
        {{PROG, ".bss", 0x1000, 0}, false},
    };
    struct as_store_function function = {.name = "pthread_mutex_lock"};
    struct as_store_location location = {.address = 16, .module = LIBC, .function = 0};
    struct as_view view = {.function = &function, .n_functions = 1, .location = &location, .n_locations = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_waits waits = {.view = &view, .objects = &cases[i].object, .n_objects = 1};
        struct as_store_wait wait = {.place = NONE};
        const char *lock = as_waits_lock(&waits, &wait);
        assert_int_equal(lock != NULL, cases[i].lock);
        if (lock)
            assert_string_equal(lock, "pthread_mutex_t");
        const struct as_store_wait unknown[] = {
            {.place = NONE, .object = 1}, {.place = 1, .object = 1}, {.place = NONE, .instruction = 1}};
        for (size_t k = 0; k < 3; k++) /* one behind the last object, and behind the last instruction */
            assert_null(as_waits_lock(&waits, &unknown[k]));
    }
}

static void nobody_waited(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_waits waits;
    struct as_view view = view_bed_open("shop.db", "tea");
    assert_false(as_waits_make(&waits, &view, &err));
    assert_non_null(strstr(err.message, "waited"));
    as_waits_free(&waits);
    as_view_free(&view);
}

static int set_up(void **state)
{
    int status = view_bed_set_up(state);
    write_waits();
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),           cmocka_unit_test(who_waited_for_whom),
        cmocka_unit_test(bytes_of_lines), cmocka_unit_test(locks_by_function),
        cmocka_unit_test(nobody_waited),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
