/* Transfers that wait: a call and its return are never reported, the rest is, in order and before anything else. */
#include "engine/hops.h"

#include "stream_bed.h"
#include "unit.h"

enum { BEHIND_CALL = 0x100e }; /* nop; ret */

struct test {
    struct bed bed;
    struct as_stream stream;
    struct as_str told;
};

static void on_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct test *test = context;
    assert_true(exec->taken && exec->end == exec->block->n && exec->n_words == 0);
    as_str_addf(&test->told, "%lx>%lx ", exec->block->address, exec->next);
}

static const struct as_sink sink = {.passed = on_passed};

static void set_up(struct test *test)
{
    *test = (struct test){0};
    bed_init(&test->bed);
    bed_add_code(&test->bed);
    bed_block(&test->bed, BEHIND_CALL, "90,c3");
    test->stream = (struct as_stream){.code = &test->bed.code, .sink = &sink, .context = test};
    assert_int_equal(as_code_table_block(&test->bed.code, CALLS)->end, BEHIND_CALL);
}

/* Compares what is reported up to here, including what still waits. */
static void expect(struct test *test, const char *expected)
{
    as_hops_tell(&test->stream);
    assert_string_equal(as_str_get(&test->told), expected);
    as_stream_free(&test->stream);
    as_str_free(&test->told);
    bed_free(&test->bed);
}

static void add(struct test *test, uint32_t id, uint32_t next)
{
    as_hops_add(&test->stream, as_hops_kind(as_code_table_block(&test->bed.code, id)), id, next);
}

static void a_call_and_its_return_cancel_out(void **state)
{
    struct test test;
    set_up(&test);
    for (int i = 0; i < 3; i++) {
        add(&test, CALLS, CALLED);
        add(&test, CALLED, BEHIND_CALL);
    }
    expect(&test, "");
}

static void calls_that_are_under_way_are_told(void **state)
{
    struct test test;
    set_up(&test);
    add(&test, CALLS, CALLED);
    add(&test, CALLS, CALLED);
    add(&test, CALLS, CALLED);
    add(&test, CALLED, BEHIND_CALL);
    assert_string_equal(as_str_get(&test.told), "");
    expect(&test, "1008>2000 1008>2000 ");
}

static void other_returns_are_told_behind_them(void **state)
{
    struct test test;
    set_up(&test);
    add(&test, CALLS, CALLED);
    add(&test, CALLED, LOOP); /* leads elsewhere */
    assert_string_equal(as_str_get(&test.told), "1008>2000 2000>1200 ");
    add(&test, CALLED, BEHIND_CALL); /* its call is not known any more */
    expect(&test, "1008>2000 2000>1200 2000>100e ");
}

static void jumps_in_a_function_are_left_out(void **state)
{
    struct test test;
    set_up(&test);
    struct as_block_gist *gist = &test.bed.code.gists.data[BACK];
    *gist = (struct as_block_gist){.address = BACK, .function = MIX, .function_size = 0x100};
    add(&test, BACK, MIX);
    assert_string_equal(as_str_get(&test.told), "");
    gist->function_size = 1; /* 0x1008 lies in another one, and does not begin it */
    gist->function = BACK;
    add(&test, BACK, MIX);
    assert_string_equal(as_str_get(&test.told), "1018>1000 ");
    test.bed.code.gists.data[MIX].entry = true; /* now it does: the last such jump counts, until the function returns */
    add(&test, CALLS, CALLED);
    add(&test, BACK, MIX);
    add(&test, BACK, MIX);
    add(&test, CALLED, BEHIND_CALL);
    add(&test, BACK, MIX);
    add(&test, BACK, MIX);
    expect(&test, "1018>1000 1018>1000 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_and_its_return_cancel_out),
        cmocka_unit_test(calls_that_are_under_way_are_told),
        cmocka_unit_test(other_returns_are_told_behind_them),
        cmocka_unit_test(jumps_in_a_function_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
