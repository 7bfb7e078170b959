/* Events that do not happen (as_op.ideal): what is left of programs whose time can be worked out by hand.
 *
 * Figures are boom-tip's: a load that hits takes 4 cycles, the L2 adds 20, the LLC 30.
 */
#include "unit.h"

#include "core_bed.h"

#define QUIET "memory.l1d.next_line=no,memory.page=2M"

enum { R1 = 1, KB = 1024, MB = 1024 * KB, LINE = 64, RING = 64, N = 4096, L1 = 4, L2 = 20, LLC = 30 };

static uint32_t met(const struct core_bed *bed)
{
    uint32_t events = 0;
    for (size_t i = 0; i < bed->steps.len; i++)
        events |= bed->pipes[i].events;
    return events;
}

static void assert_close(double found, double expected, double tolerance)
{
    if (found < expected - tolerance || found > expected + tolerance)
        fail_msg("%g, not %g", found, expected);
}

/* A chain of loads, `stride` apart, none of them from the same place twice: cycles of each. */
static double chase(const char *changes, uint64_t stride, uint32_t ideal, uint32_t *events)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    bed.ideal = ideal;
    for (int i = 0; i < RING; i++)
        core_bed_add(&bed, AS_CLASS_LOAD, R1, R1, BED_NONE);
    for (uint64_t i = 0; i < N; i++)
        core_bed_access(&bed, (uint32_t)(i % RING), BED_DATA + i * stride);
    core_bed_run(&bed);
    double cycles = core_bed_rate(&bed, N / 4, -1);
    *events = met(&bed);
    core_bed_close(&bed);
    return cycles;
}

static void i01_no_l1_misses(void **state)
{
    uint32_t events;
    assert_true(chase(QUIET, LINE, 0, &events) > 150);
    assert_true(events & AS_EVENT_ST_L1 && events & AS_EVENT_ST_LLC);
    assert_close(chase(QUIET, LINE, AS_EVENT_ST_L1 | AS_EVENT_ST_TLB, &events), L1, 0.01);
    assert_int_equal(events & (AS_EVENT_ST_L1 | AS_EVENT_ST_LLC | AS_EVENT_ST_TLB), 0);
}

static void i02_llc_misses_are_hits(void **state)
{
    uint32_t events;
    assert_close(chase(QUIET, LINE, AS_EVENT_ST_LLC, &events), L1 + L2 + LLC, 0.1);
    assert_int_equal(events & (AS_EVENT_ST_L1 | AS_EVENT_ST_LLC), AS_EVENT_ST_L1);
}

/* A page for each load: without TLB misses the time is that of the caches alone. */
static void i03_no_tlb_misses(void **state)
{
    uint32_t events;
    const char *changes = "memory.l1d.next_line=no,memory.page=4K";
    double all = chase(changes, 4 * KB + LINE, 0, &events);
    assert_true(events & AS_EVENT_ST_TLB);
    double without = chase(changes, 4 * KB + LINE, AS_EVENT_ST_TLB, &events);
    assert_int_equal(events & AS_EVENT_ST_TLB, 0);
    assert_true(without < all);
    assert_close(chase(changes, 4 * KB + LINE, AS_EVENT_ST_TLB | AS_EVENT_ST_L1, &events), L1, 0.01);
}

/* Branches that go either way at random, each behind one that the next depends on. */
static double toss(uint32_t ideal, uint32_t *events, uint64_t *mispredictions)
{
    struct core_bed bed;
    uint64_t seed = 7;
    core_bed_open(&bed, NULL);
    bed.ideal = ideal;
    uint32_t work = core_bed_add(&bed, AS_CLASS_INT, R1, R1, BED_NONE);
    uint32_t branch = core_bed_add(&bed, AS_CLASS_BRANCH, BED_NONE, R1, BED_NONE);
    uint32_t other = core_bed_add(&bed, AS_CLASS_INT, R1, R1, BED_NONE);
    uint32_t back = core_bed_add(&bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
    for (int i = 0; i < N; i++) {
        bool taken = bed_random(&seed) & 1;
        core_bed_step(&bed, work);
        core_bed_jump(&bed, branch, taken, bed.code.data[back].address);
        if (!taken)
            core_bed_step(&bed, other);
        core_bed_jump(&bed, back, true, bed.code.data[work].address);
    }
    core_bed_run(&bed);
    *events = met(&bed);
    *mispredictions = bed.counters.branch_mispredictions;
    double cycles = core_bed_rate(&bed, 100, -1);
    core_bed_close(&bed);
    return cycles;
}

static void i04_branches_predicted_right(void **state)
{
    uint32_t events;
    uint64_t wrong;
    double all = toss(0, &events, &wrong);
    assert_true(events & AS_EVENT_FL_MB && wrong > N / 4);
    double without = toss(AS_EVENT_FL_MB, &events, &wrong);
    assert_int_equal(events & AS_EVENT_FL_MB, 0);
    assert_int_equal(wrong, 0);
    assert_true(without < all / 3);
}

static double repeat(enum as_class class_, uint32_t flags, uint32_t ideal, uint32_t *events)
{
    struct core_bed bed;
    core_bed_open(&bed, NULL);
    bed.ideal = ideal;
    uint32_t insn = core_bed_add_flagged(&bed, class_, flags, R1, BED_NONE, BED_NONE);
    for (int i = 0; i < RING; i++)
        core_bed_step(&bed, insn);
    core_bed_run(&bed);
    *events = met(&bed);
    double cycles = core_bed_rate(&bed, 8, -1);
    core_bed_close(&bed);
    return cycles;
}

static void i05_no_flush(void **state)
{
    uint32_t events;
    assert_true(repeat(AS_CLASS_INT, AS_INSN_FLUSHES, 0, &events) > 5);
    assert_int_equal(events & AS_EVENT_FL_EX, AS_EVENT_FL_EX);
    assert_true(repeat(AS_CLASS_INT, AS_INSN_FLUSHES, AS_EVENT_FL_EX, &events) <= 1);
    assert_int_equal(events & AS_EVENT_FL_EX, 0);
}

static void i06_a_divider_is_free(void **state)
{
    uint32_t events;
    assert_true(repeat(AS_CLASS_DIV, 0, 0, &events) > 4);
    assert_int_equal(events & AS_EVENT_DIVIDE, AS_EVENT_DIVIDE);
    assert_true(repeat(AS_CLASS_DIV, 0, AS_EVENT_DIVIDE, &events) <= 1);
    assert_int_equal(events & AS_EVENT_DIVIDE, 0);
}

/* Stores that miss, and more of them than the queue holds. */
static void i07_room_for_stores(void **state)
{
    uint64_t last[2];
    for (int ideal = 0; ideal < 2; ideal++) {
        struct core_bed bed;
        core_bed_open(&bed, QUIET);
        bed.ideal = ideal ? AS_EVENT_DR_SQ : 0;
        uint32_t store = core_bed_add(&bed, AS_CLASS_STORE, BED_NONE, BED_NONE, R1);
        for (uint64_t i = 0; i < 512; i++)
            core_bed_access(&bed, store, BED_DATA + i * LINE);
        core_bed_run(&bed);
        last[ideal] = bed.pipes[bed.steps.len - 1].commit;
        assert_int_equal(met(&bed) & AS_EVENT_DR_SQ, ideal ? 0 : AS_EVENT_DR_SQ);
        core_bed_close(&bed);
    }
    assert_true(last[1] < last[0] / 4);
}

/* A load whose older store has a late address: it passes it and is caught, or waits for it. */
static void i08_loads_wait(void **state)
{
    for (int ideal = 0; ideal < 2; ideal++) {
        struct core_bed bed;
        core_bed_open(&bed, QUIET);
        bed.ideal = ideal ? AS_EVENT_FL_MO : 0;
        core_bed_warm(&bed, BED_DATA, LINE);
        core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
        core_bed_store(&bed, R1, BED_NONE, BED_DATA);
        core_bed_load(&bed, R1 + 1, BED_NONE, BED_DATA);
        core_bed_run(&bed);
        assert_int_equal(bed.counters.memory_order_violations, !ideal);
        assert_int_equal(met(&bed) & AS_EVENT_FL_MO, ideal ? 0 : AS_EVENT_FL_MO);
        core_bed_close(&bed);
    }
}

/* Code that was never run. */
static void i09_code_is_there(void **state)
{
    uint64_t last[2];
    for (int ideal = 0; ideal < 2; ideal++) {
        struct core_bed bed;
        core_bed_open(&bed, "memory.l1i.next_line=no");
        bed.ideal = ideal ? AS_EVENT_DR_L1 | AS_EVENT_DR_TLB : 0;
        bed.cold_code = true;
        for (int i = 0; i < 4096; i++)
            core_bed_do(&bed, AS_CLASS_INT, R1 + i % 8, BED_NONE, BED_NONE);
        core_bed_run(&bed);
        last[ideal] = bed.pipes[bed.steps.len - 1].commit;
        assert_int_equal(met(&bed) & (AS_EVENT_DR_L1 | AS_EVENT_DR_TLB), ideal ? 0 : AS_EVENT_DR_L1 | AS_EVENT_DR_TLB);
        core_bed_close(&bed);
    }
    assert_true(last[1] < 4096 / 4 + 100);
    assert_true(last[0] > 10 * last[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i01_no_l1_misses),    cmocka_unit_test(i02_llc_misses_are_hits),
        cmocka_unit_test(i03_no_tlb_misses),   cmocka_unit_test(i04_branches_predicted_right),
        cmocka_unit_test(i05_no_flush),        cmocka_unit_test(i06_a_divider_is_free),
        cmocka_unit_test(i07_room_for_stores), cmocka_unit_test(i08_loads_wait),
        cmocka_unit_test(i09_code_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
