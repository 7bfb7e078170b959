/* Tallies of blocks that end in an indirect call or jump say where the executions went (as_tally.next, as_sink.jumps). */
#include "stream_bed.h"
#include "unit.h"

enum { CALLER = 0x4000, JUMPER = 0x4100, ONE = 0x4200, TWO = 0x4300, THREE = 0x4400 };

static struct bed bed;
static uint64_t runs[2][3]; /* of CALLER and JUMPER, by target */
static uint64_t anywhere;   /* … in tallies without a target */

static int set_up(void **state)
{
    bed_init(&bed);
    memset(runs, 0, sizeof runs);
    anywhere = 0;
    return 0;
}

static int tear_down(void **state)
{
    bed_free(&bed);
    return 0;
}

static void count(const struct as_block *block, uint64_t next, uint64_t times)
{
    if (block->address != CALLER && block->address != JUMPER)
        return;
    if (next == ONE || next == TWO || next == THREE)
        runs[block->address == JUMPER][next == ONE ? 0 : next == TWO ? 1 : 2] += times;
    else
        anywhere += times;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    count(exec->block, exec->next, 1);
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block,
                     const struct as_tally *tally)
{
    assert_int_equal(tally->taken, block->outcome == AS_OUTCOME_LEAVES ? tally->runs : tally->taken);
    count(block, tally->next, tally->runs);
}

/* Which target follows, by letters: 1, 2, 3. */
static void run(const char *targets, bool jumps)
{
    static const uint32_t blocks[] = {ONE, TWO, THREE};
    struct as_region_run regions;
    struct as_sink sink = {.block = on_block, .tally = on_tally};
    bed.code.tell_jumps = jumps;
    bed_block(&bed, CALLER, "90, ff d0"); /* nop; call rax */
    bed_block(&bed, JUMPER, "90, ff e0"); /* nop; jmp rax */
    for (size_t i = 0; i < 3; i++)
        bed_block(&bed, blocks[i], "90, ff e2"); /* nop; jmp rdx */
    for (; *targets; targets++)
        for (size_t i = 0; i < 2; i++) {
            bed_run_block(&bed, i ? JUMPER : CALLER);
            bed_run_block(&bed, blocks[*targets - '1']);
        }
    struct as_stream stream = {.code = &bed.code,
                               .regions = &regions,
                               .sink = &sink,
                               .disagreements = &bed.disagreements,
                               .blocks_only = true,
                               .thread = {.number = 1, .image = as_code_table_find_image(&bed.code, 1)}};
    size_t done;
    as_region_run_init(&regions, &bed.regions);
    assert_int_equal(as_stream_consume(&stream, bed.words.data, bed.words.len, &done), AS_STREAM_OK);
    as_stream_finish(&stream);
    as_ways_report(&stream);
    as_stream_free(&stream);
    as_region_run_free(&regions);
}

static void expect(size_t block, uint64_t one, uint64_t two, uint64_t three)
{
    assert_int_equal(runs[block][0], one);
    assert_int_equal(runs[block][1], two);
    assert_int_equal(runs[block][2], three);
}

static void one_target(void **state)
{
    run("1111111", true);
    expect(0, 7, 0, 0);
    expect(1, 7, 0, 0);
    assert_int_equal(anywhere, 0);
}

/* Two are remembered, a third one takes the place of one of them: nothing is lost. */
static void many_targets(void **state)
{
    run("112212113331232311122233321", true);
    expect(0, 10, 9, 8);
    expect(1, 10, 9, 8);
    assert_int_equal(anywhere, 0);
}

/* Calls are always reported by target, jumps where the sink asks for it. */
static void jumps_if_asked_for(void **state)
{
    run("1122121133", false);
    expect(0, 5, 3, 2);
    assert_int_equal(anywhere + runs[1][0] + runs[1][1] + runs[1][2], 10);
    assert_true(anywhere > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_target, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_targets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jumps_if_asked_for, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
