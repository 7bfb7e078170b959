/* Weights of merged profiles: fractions, what they make of times and samples, and what is said of them; and the keys by which things are
 * matched. */
#include "unit.h"

#include "merge/merge_internal.h"
#include "merge_bed.h"

#include <math.h>
#include <stdio.h>

static struct run plain = RUN_INIT;

static void assert_number(const char *path, const char *sql, int64_t wanted)
{
    int64_t found = merge_bed_number(path, sql);
    if (found != wanted)
        fail_msg("%s: %lld, not %lld", sql, (long long)found, (long long)wanted);
}

static void weights_are_fractions(void **state)
{
    static const struct {
        const char *text;
        uint64_t part, whole;
    } good[] = {{"1", 1, 1},   {"0.25", 1, 4}, {"37/1024", 37, 1024},          {"2.50", 5, 2}, {".5", 1, 2},
                {"6/4", 3, 2}, {"7.", 7, 1},   {"0.000000000000000001", 0, 0}, {"100", 100, 1}};
    static const char *const bad[] = {"",   "0",     "0.0",   "-1",    "1/0", "1/", "/2",  "x",
                                      "1x", "1.2.3", "1.5/2", "1/2.5", "1e3", " 1", "0/5", "1234567890123456789"};
    struct as_weight weight;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (good[i].whole == 0) {
            assert_false(as_weight_read(good[i].text, &weight)); /* 19 digits */
            continue;
        }
        assert_true(as_weight_read(good[i].text, &weight));
        assert_int_equal(weight.part, good[i].part);
        assert_int_equal(weight.whole, good[i].whole);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(as_weight_read(bad[i], &weight));
}

static char *key_of(uint64_t first, uint64_t second, const char *text)
{
    struct as_str key = {0};
    as_key_add_u64(&key, first);
    as_key_add_u64(&key, second);
    as_key_add_text(&key, text);
    char *bytes = strdup(as_str_get(&key));
    assert_int_equal(strlen(bytes), key.len); /* no NUL */
    as_str_free(&key);
    return bytes;
}

/* Things are matched by keys: no two of different columns are the same. */
static void keys_tell_columns_apart(void **state)
{
    enum { KEYS = 12 };
    char *keys[KEYS] = {
        key_of(1, 2, "a"),  key_of(1 + 2 * 128, 0, "a"), key_of(0, 1 + 2 * 128, "a"), key_of(2, 1, "a"),
        key_of(0, 0, "a"),  key_of(1, 0, "a"),           key_of(0, 1, "a"),           key_of(0, 0, ""),
        key_of(0, 0, NULL), key_of(0, 0, "\x01"),        key_of(UINT64_MAX, 0, ""),   key_of(0, UINT64_MAX, "")};
    for (size_t i = 0; i < KEYS; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    for (size_t i = 0; i < KEYS; i++)
        free(keys[i]);
}

static void products_of_weights(void **state)
{
    static const struct as_weight cases[][3] = {
        {{2, 3}, {3, 4}, {1, 2}}, {{5, 6}, {9, 10}, {3, 4}}, {{7, 1}, {1, 7}, {1, 1}}};
    const uint64_t large = UINT64_C(1) << 40;
    struct as_weight product;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turn = 0; turn < 2; turn++) {
            assert_true(as_weight_product(cases[i][turn], cases[i][!turn], &product));
            assert_int_equal(product.part, cases[i][2].part);
            assert_int_equal(product.whole, cases[i][2].whole);
        }
    assert_true(as_weight_product((struct as_weight){large, 3}, (struct as_weight){9, large}, &product));
    assert_true(product.part == 3 && product.whole == 1);
    assert_false(as_weight_product((struct as_weight){large, 1}, (struct as_weight){large, 1}, &product));
    assert_false(as_weight_product((struct as_weight){1, large}, (struct as_weight){1, large}, &product));
}

/* Times are exact in a finer scale; counts are rounded, but not their sums; samples stay. */
static void weights_scale_times(void **state)
{
    const char *a = "a.db", *b = "b.db";
    struct run other = RUN_INIT;
    other.base = 0x7000;
    other.times = 2;
    merge_bed_write(bed_path(a), &plain);
    merge_bed_write(bed_path(b), &other);
    const char *const paths[] = {strdup(bed_path(a)), strdup(bed_path(b))}, *const weights[] = {"0.25", "1/3"};
    char *out = strdup(bed_path("out.db"));
    merge_bed_merge(out, 2, paths, weights);
    /* golden: 210 cycles × 1/4 + 420 × 1/3 = 192.5, in 1/120; sums are 2100 units of 1/10. */
    assert_number(out, "SELECT scale FROM series WHERE name = 'golden'", 120);
    assert_number(out, "SELECT sum(units) FROM times WHERE series = 0", 23100);
    assert_number(out, "SELECT sum(units) FROM components WHERE series = 0", 23100);
    assert_number(out,
                  "SELECT units FROM times x JOIN instructions i ON i.id = x.instruction WHERE hex(bytes) = '9000'"
                  " AND series = 0",
                  100 * 3 + 200 * 4);
    assert_number(out, "SELECT sum(units) FROM stacks", 120 * 100 / 4 + 120 * 200 / 3);
    assert_number(out, "SELECT units FROM path_times WHERE path = 3 AND series = 0", 120 * 4 / 4 + 120 * 8 / 3);
    /* executions: 63 / 4 = 15.75 and 126 / 3 = 42 */
    assert_number(out, "SELECT sum(executions) FROM times WHERE series = 0", 16 + 42);
    assert_number(out, "SELECT taken * 10000 + mispredicted * 1000 + cycles FROM branches",
                  (2 + 6) * 10000 + (1 + 2) * 1000 + 23 + 60);
    assert_number(out, "SELECT value FROM counters WHERE name = 'branches'", 2 + 5);
    assert_number(out, "SELECT cycles FROM threads WHERE name = 'main'", 25 + 67);
    assert_number(out, "SELECT sum(samples) FROM times WHERE series = 1", 27);
    assert_number(out, "SELECT samples FROM series WHERE name = 'tea'", 30);
    assert_number(out, "SELECT value FROM meta WHERE key = 'cycles'", 193);
    assert_number(out, "SELECT sum(cycles) FROM runs", 210 + 420);
    assert_number(out, "SELECT instr(value, '1/4' || char(9) || '1' || char(9)) FROM meta WHERE key = 'merged_inputs'",
                  1);
    free((char *)paths[0]);
    free((char *)paths[1]);
    free(out);
}

/* One note on weights is enough, wherever an input has it. */
static void weights_are_noted_once(void **state)
{
    static const char *const places[] = {"(SELECT min(id) - 1 FROM quality)", "(SELECT max(id) + 1 FROM quality)"};
    char *one = strdup(bed_path("a.db")), *other = strdup(bed_path("b.db")), *out = strdup(bed_path("out.db")),
         sql[160];
    for (size_t i = 0; i < 2; i++) {
        merge_bed_write(one, &plain);
        merge_bed_write(other, &plain);
        merge_bed_merge(out, 2, (const char *const[]){one, other}, (const char *const[]){"1/2", "1"});
        assert_number(out, "SELECT count(*) FROM quality WHERE key = 'weights'", 1);
        snprintf(sql, sizeof sql, "INSERT INTO quality VALUES(%s, 'weights', NULL, 'weighted before')", places[i]);
        bed_sql(one, sql);
        merge_bed_merge(out, 2, (const char *const[]){one, other}, (const char *const[]){"1/2", "1"});
        assert_number(out, "SELECT count(*) FROM quality WHERE key = 'weights'", 1);
    }
    free(one);
    free(other);
    free(out);
}

/* Whole weights need no finer scale: what simulation points use. */
static void whole_weights_keep_the_scale(void **state)
{
    merge_bed_write(bed_path("a.db"), &plain);
    struct run other = RUN_INIT;
    other.times = 2;
    merge_bed_write(bed_path("b.db"), &other);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")}, *const weights[] = {"12", "88"};
    merge_bed_merge(bed_path("out.db"), 2, paths, weights);
    assert_number(bed_path("out.db"), "SELECT scale FROM series WHERE name = 'golden'", 10);
    assert_number(bed_path("out.db"), "SELECT sum(units) FROM times WHERE series = 0", 2100 * 12 + 4200 * 88);
    assert_number(bed_path("out.db"), "SELECT sum(executions) FROM times WHERE series = 0", 63 * 12 + 126 * 88);
}

static void too_much_is_refused(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    merge_bed_write(bed_path("a.db"), &plain);
    struct as_merge_input input = {.path = bed_path("a.db"), .weight = {999999999999999999, 1}};
    unlink(bed_path("out.db"));
    assert_false(as_merge(&input, 1, bed_path("out.db"), &(struct as_merge_options){0}, &err));
    bed_assert_line(&err, "more than 63 bits");
    input.weight = (struct as_weight){1, 1000000000000000003};
    assert_false(as_merge(&input, 1, bed_path("out.db"), &(struct as_merge_options){0}, &err));
    bed_assert_line(&err, "more than 63 bits");
    assert_int_equal(access(bed_path("out.db"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_fractions),  cmocka_unit_test(keys_tell_columns_apart),
        cmocka_unit_test(products_of_weights),    cmocka_unit_test(weights_scale_times),
        cmocka_unit_test(weights_are_noted_once), cmocka_unit_test(whole_weights_keep_the_scale),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
