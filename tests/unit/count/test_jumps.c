/* Where indirect jumps and calls led: pairs of block and target with their counts, from executions and from sums of them. */
#include "../engine/stream_bed.h"
#include "count/jumps.h"
#include "unit.h"

enum { CALLS_ANY = 0x5200, JUMPS_ANY = 0x5300, PLACE = 0x8000 };

static struct bed bed;
static struct as_jump_counter *counter;
static struct as_thread thread = {.number = 1};

static int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    bed_block(&bed, CALLS_ANY, "48 8b 07, ff d0"); /* mov; call rax */
    bed_block(&bed, JUMPS_ANY, "90, ff e0");       /* nop; jmp rax */
    counter = as_jump_counter_new();
    return 0;
}

static int tear_down(void **state)
{
    as_jump_counter_free(counter);
    bed_free(&bed);
    return 0;
}

static void execute(uint32_t address, uint64_t next, bool whole)
{
    const struct as_block *block = as_code_table_block(&bed.code, address);
    as_jump_counter_sink.block(
        counter, &thread,
        &(struct as_block_exec){.block = block, .end = block->n - !whole, .taken = true, .next = next});
}

static void sum(uint32_t address, uint64_t next, uint64_t runs)
{
    as_jump_counter_sink.tally(counter, &thread, as_code_table_block(&bed.code, address),
                               &(struct as_tally){.runs = runs, .taken = runs, .next = next});
}

static uint64_t count_of(uint32_t address, uint64_t target)
{
    size_t n;
    uint64_t found = 0, count = 0;
    const struct as_jump_count *list = as_jump_counter_list(counter, &n);
    for (size_t i = 0; i < n; i++)
        if (list[i].block == as_code_table_block(&bed.code, address)->index && list[i].target == target) {
            count = list[i].count;
            found++;
        }
    assert_true(found <= 1);
    return count;
}

static size_t pairs(void)
{
    size_t n;
    (void)as_jump_counter_list(counter, &n);
    return n;
}

static void pairs_are_counted_apart(void **state)
{
    for (uint64_t i = 0; i < 30; i++) /* back and forth: another pair than the last is found again */
        execute(i % 2 ? CALLS_ANY : JUMPS_ANY, PLACE + 16 * (i % 5), true);
    assert_int_equal(pairs(), 10);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(count_of(CALLS_ANY, PLACE + 16 * i), 3);
        assert_int_equal(count_of(JUMPS_ANY, PLACE + 16 * i), 3);
    }
    sum(CALLS_ANY, PLACE, 100);
    sum(CALLS_ANY, PLACE + 800, 7);
    execute(CALLS_ANY, PLACE + 800, true);
    assert_int_equal(count_of(CALLS_ANY, PLACE), 103);
    assert_int_equal(count_of(CALLS_ANY, PLACE + 800), 8);
    assert_int_equal(count_of(JUMPS_ANY, PLACE), 3);
    assert_int_equal(pairs(), 11);
}

static void others_are_not(void **state)
{
    execute(CALLS, CALLED, true);
    execute(MIX, BACK, true);
    execute(LEAVES, PLACE, true);
    execute(CALLS_ANY, PLACE, false); /* it did not come to the call */
    execute(CALLS_ANY, 0, true);      /* … or to nowhere that is known */
    sum(CALLS, CALLED, 5);
    assert_int_equal(pairs(), 0);
}

/* Measuring ended behind the jump: where it led was not executed. */
static void cuts_are_taken_back(void **state)
{
    size_t n;
    for (int i = 0; i < 3; i++)
        execute(CALLS_ANY, PLACE, true);
    as_jump_counter_sink.cut(counter, &thread, as_code_table_block(&bed.code, CALLS_ANY), PLACE);
    assert_int_equal(count_of(CALLS_ANY, PLACE), 2);
    const struct as_jump_count *cuts = as_jump_counter_cuts(counter, &n);
    assert_int_equal(n, 1);
    assert_int_equal(cuts[0].block, as_code_table_block(&bed.code, CALLS_ANY)->index);
    assert_int_equal(cuts[0].target, PLACE);
    assert_int_equal(cuts[0].count, 1);
    as_jump_counter_sink.cut(counter, &thread, as_code_table_block(&bed.code, CALLS), CALLED);
    assert_int_equal(pairs(), 1);
    (void)as_jump_counter_cuts(counter, &n);
    assert_int_equal(n, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pairs_are_counted_apart),
        TEST(others_are_not),
        TEST(cuts_are_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
