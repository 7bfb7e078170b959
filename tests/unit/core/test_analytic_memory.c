/* What the core does with programs whose time can be worked out by hand: loads, stores and the memory behind them.
 *
 * Figures are boom-tip's. A load issues, has its address 1 cycle later and its data 3 cycles after that: 4 in all. The
 * L2 adds 20 cycles, the LLC 30. DRAM at 3.2 GHz: CAS, RCD and RP 45 cycles each, a line 8 cycles on the bus, 64
 * overhead. So behind the LLC a read takes 45 + 8 + 64 = 117 cycles from an open row, 207 where another row is open.
 * Prefetching is off unless it is looked at, and pages are large unless TLBs are.
 */
#include "unit.h"

#include "core_bed.h"

#define QUIET "memory.l1d.next_line=no,memory.page=2M"
#define DEEP                                                                                                           \
    ",memory.l1d.mshrs=64,memory.l2.mshrs=64,memory.llc.mshrs=64,dram.queue=64,back.load_queue=128,dram.banks=256"

enum {
    R1 = 1,
    R2 = 2,
    R9 = 9,
    KB = 1024,
    MB = 1024 * KB,
    LINE = 64,
    ROW = 8 * KB,
    RING = 64, /* static instructions, executed over and over */
    L1 = 4,
    L2 = 20,
    LLC = 30,
    ROW_HIT = 45 + 8 + 64,
    ROW_CONFLICT = 45 + 45 + ROW_HIT,
};

static void assert_close(double found, double expected, double tolerance)
{
    if (found < expected - tolerance || found > expected + tolerance)
        fail_msg("%g, not %g", found, expected);
}

/* A ring of loads, in a chain through a register or independent. */
static void add_loads(struct core_bed *bed, bool chain)
{
    for (int i = 0; i < RING; i++)
        core_bed_add(bed, AS_CLASS_LOAD, chain ? R1 : R1 + i % 16, chain ? R1 : BED_NONE, BED_NONE);
}

/* Cycles of a load of a chain (or of independent ones) that visits `n` places, `stride` apart, `passes` times; of the
 * last pass. */
static double visit(const char *changes, bool chain, uint64_t n, uint64_t stride, int passes)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    add_loads(&bed, chain);
    for (uint64_t at = 0; at < n * stride; at += bed.machine.memory.page)
        core_bed_warm(&bed, BED_DATA + at + bed.machine.memory.page - LINE, 1); /* its translation */
    for (int pass = 0; pass < passes; pass++)
        for (uint64_t i = 0; i < n; i++)
            core_bed_access(&bed, (uint32_t)(i % RING), BED_DATA + i * stride);
    core_bed_run(&bed);
    double cycles = core_bed_rate(&bed, -1 - (long)(n * 3 / 4), -1);
    core_bed_close(&bed);
    return cycles;
}

/* ---- levels ---- */

/* 16 KB stay in the L1. Two independent ones issue a cycle. */
static void t30_l1(void **state)
{
    assert_close(visit(QUIET, true, 16 * KB / LINE, LINE, 2), L1, 0);
    assert_close(visit(QUIET, false, 16 * KB / LINE, LINE, 2), 0.5, 0.01);
}

/* Visited in the same order again and again, what does not fit is never there under LRU: 128 KB come from the L2, 1 MB
 * from the LLC. Lines that are seen for the first time come from DRAM: one of each row finds another row of its bank
 * open (behind the first 32), neighbours find their row open (but the first of 128). */
static void t31_pointer_chase(void **state)
{
    assert_close(visit(QUIET, true, 128 * KB / LINE, LINE, 2), L1 + L2, 0);
    assert_close(visit(QUIET, true, 1 * MB / LINE, LINE, 2), L1 + L2 + LLC, 0);
    assert_close(visit(QUIET, true, 1000, ROW, 1), L1 + L2 + LLC + ROW_CONFLICT, 0);
    assert_close(visit(QUIET, true, 1000, LINE, 1), L1 + L2 + LLC + ROW_HIT, 90.0 / 100);
}

/* A chain through neighbouring lines with next-line prefetching in L1. A load that finds a prefetched line, arrived or
 * not, asks for the line behind it when it has looked, 4 cycles after its issue. So when load n issues at t, line n+1
 * arrives at t + 4 + L2 + LLC + ROW_HIT. Load n+1 issues when n is done and is done at that time or 4 cycles after its
 * issue; n+2's line was asked for when n+1 was issued. Two loads are under way at any time: from the issue of n to that
 * of n+2 pass L1 + L2 + LLC + ROW_HIT cycles. */
static void t32_next_line_prefetch(void **state)
{
    assert_close(visit("memory.page=2M", true, 1000, LINE, 1), (L1 + L2 + LLC + ROW_HIT) / 2.0, 90.0 / 100);
}

/* ---- TLBs ---- */

/* 4 KB pages, a line of each, chosen so that lines do not collide in the L1. 32 pages are the data TLB's reach; one
 * more, in turn, and each load finds its page only in the second level: 4 cycles more. 1024 pages map to 512 direct
 * entries twice: each load walks three levels whose lines are in the L2 (16 lines of entries for 128 pages), and the
 * 1024 lines are no longer in the L1 (512 lines) but in the L2. */
static void t33_tlb_reach(void **state)
{
    const char *changes = "memory.l1d.next_line=no";
    assert_close(visit(changes, true, 32, 4 * KB + LINE, 8), L1, 0);
    assert_close(visit(changes, true, 33, 4 * KB + LINE, 8), L1 + 4, 0);
    assert_close(visit(changes, true, 1024, 4 * KB + LINE, 3), L1 + 4 + 3 * L2 + L2, 2);
}

/* ---- memory-level parallelism ---- */

/* Independent loads that miss everything (other rows of other banks), `gap` instructions apart, in a chain of time:
 * load k enters the ROB in the cycle after the commit of the instruction ROB before it; where that is the load ROB/gap
 * before, its next one follows 1 (dispatch) + 1 (issue) + latency + 1 (commit) cycles later. */
static double overlapped(const char *changes, uint32_t gap)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    enum { LOADS = 120 };
    for (uint32_t i = 0; i < gap; i++)
        core_bed_add(&bed, i ? AS_CLASS_BRANCH : AS_CLASS_LOAD, i ? BED_NONE : R1, BED_NONE, BED_NONE);
    core_bed_warm(&bed, BED_DATA + 2 * MB - LINE, 1);
    for (uint64_t i = 0; i < LOADS; i++) {
        core_bed_access(&bed, 0, BED_DATA + i * ROW);
        for (uint32_t j = 1; j < gap; j++)
            core_bed_step(&bed, j);
    }
    core_bed_run(&bed);
    double cycles = core_bed_rate(&bed, (long)gap * LOADS / 2, (long)gap * (LOADS - 4)) * gap;
    core_bed_close(&bed);
    return cycles;
}

/* Closed rows throughout, with 256 banks and 120 rows: 45 cycles less than a conflict. */
static void t34_rob_limits_parallelism(void **state)
{
    double latency = 1 + L1 + L2 + LLC + ROW_CONFLICT - 45 + 1 + 1 - 0;
    assert_close(overlapped(QUIET DEEP, 64), latency / 2, 0.5);
    assert_close(overlapped(QUIET DEEP, 32), latency / 4, 0.5);
    assert_close(overlapped(QUIET DEEP ",back.rob=64", 32), latency / 2, 0.5);
    assert_close(overlapped(QUIET DEEP ",back.rob=256,front.fetch_targets=100", 32), latency / 8, 0.5);
}

/* An MSHR of the L1 is busy from the miss to the arrival of the line: L2 + LLC + DRAM. n of them bring n lines in that
 * time, however many loads wait. */
static void t35_mshrs_limit_parallelism(void **state)
{
    for (int n = 1; n <= 8; n *= 2) {
        char changes[256];
        snprintf(changes, sizeof changes, QUIET DEEP ",memory.l1d.mshrs=%d", n);
        assert_close(overlapped(changes, 1), (double)(L2 + LLC + ROW_CONFLICT - 45) / n, 0.5);
    }
}

/* The load queue: 4 loads between dispatch and commit. */
static void t36_load_queue_limits_parallelism(void **state)
{
    double latency = 1 + L1 + L2 + LLC + ROW_CONFLICT - 45 + 1 + 1;
    assert_close(overlapped(QUIET DEEP ",back.load_queue=4", 1), latency / 4, 0.5);
}

/* With room for 64 misses, a line every 8 cycles: 25.6 GB/s at 3.2 GHz. Neighbouring lines from open rows, and lines of
 * different rows alike; with half the bandwidth, half the lines. */
static void t37_bandwidth(void **state)
{
    assert_close(visit(QUIET DEEP, false, 4000, LINE, 1), 8, 0.1);
    assert_close(overlapped(QUIET DEEP, 1), 8, 0.1);
    assert_close(visit(QUIET DEEP ",dram.bandwidth=12.8GB/s", false, 4000, LINE, 1), 16, 0.2);
}

/* ---- stores ---- */

/* Stores that hit: one drains a cycle, or two where the machine says so. */
static double hit_stores(const char *changes)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    core_bed_warm(&bed, BED_DATA, 4 * KB);
    for (int i = 0; i < RING; i++)
        core_bed_add(&bed, AS_CLASS_STORE, BED_NONE, BED_NONE, R2);
    for (uint32_t i = 0; i < 2000; i++)
        core_bed_access(&bed, i % RING, BED_DATA + i * 8 % (4 * KB));
    core_bed_run(&bed);
    double cycles = core_bed_rate(&bed, 1000, -1);
    core_bed_close(&bed);
    return cycles;
}

static void t38_store_drain(void **state)
{
    assert_close(hit_stores(QUIET), 1, 0.001);
    assert_close(hit_stores(QUIET ",back.store_drain=2"), 0.5, 0.001);
}

/* Stores to lines that come from DRAM wait for an MSHR in the store queue, in order: 8 lines in L2 + LLC + DRAM. The
 * queue of 32 fills, and dispatch waits for it. */
static void t39_store_queue_full(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, QUIET DEEP ",memory.l1d.mshrs=8");
    core_bed_warm(&bed, BED_DATA + 2 * MB - LINE, 1);
    for (int i = 0; i < RING; i++)
        core_bed_add(&bed, AS_CLASS_STORE, BED_NONE, BED_NONE, R2);
    for (uint32_t i = 0; i < 200; i++)
        core_bed_access(&bed, i % RING, BED_DATA + i * ROW);
    core_bed_run(&bed);
    assert_close(core_bed_rate(&bed, 99, -1), (L2 + LLC + ROW_CONFLICT - 45) / 8.0, 0.5);
    assert_int_equal(bed.pipes[20].events & AS_EVENT_DR_SQ, 0);
    assert_int_equal(bed.pipes[150].events & AS_EVENT_DR_SQ, AS_EVENT_DR_SQ);
    core_bed_close(&bed);
}

/* Through memory and back: the load's data is there 3 cycles after the store has its data, and that is 1 cycle after
 * the store has issued: 4 cycles a round. An add in between is one more. A load of 8 bytes from two stores' 4 each
 * would have to wait for the cache. */
static void t40_forwarding(void **state)
{
    for (int adds = 0; adds <= 1; adds++) {
        struct core_bed bed;
        core_bed_open(&bed, QUIET);
        core_bed_warm(&bed, BED_DATA, 8);
        for (int i = 0; i < 200; i++) {
            core_bed_store(&bed, R9, R1, BED_DATA);
            core_bed_load(&bed, R1, R9, BED_DATA);
            if (adds)
                core_bed_do(&bed, AS_CLASS_INT, R1, R1, BED_NONE);
        }
        core_bed_run(&bed);
        assert_close(core_bed_rate(&bed, -1 - 100 * (2 + adds), -1) * (2 + adds), 4 + adds, 0);
        assert_int_equal(bed.counters.store_forwards, 200);
        assert_int_equal(bed.counters.memory_order_violations, 0);
        core_bed_close(&bed);
    }
}

/* The same where memory is renamed: a store takes its data along when it issues, and the load has it in that cycle, so that a round takes
 * as long as the add. What floating-point registers store and load, and what is of another size, goes through the store queue. */
static void t40_renaming(void **state)
{
    enum { WORDS, BYTES, FLOATS, KINDS };
    for (int kind = WORDS; kind < KINDS; kind++) {
        struct core_bed bed;
        core_bed_open(&bed, QUIET ",back.rename_memory=yes");
        core_bed_warm(&bed, BED_DATA, 8);
        int value = kind == FLOATS ? AS_REG_VEC0 + 1 : R1;
        for (int i = 0; i < 200; i++) {
            core_bed_store(&bed, R9, value, BED_DATA);
            core_bed_load(&bed, value, R9, BED_DATA);
            core_bed_do(&bed, kind == FLOATS ? AS_CLASS_VECTOR : AS_CLASS_INT, value, value, BED_NONE);
        }
        for (size_t i = 0; kind == BYTES && i < bed.steps.len; i++)
            if (bed.steps.data[i].access.size) {
                bed.steps.data[i].access.size = 1;
                bed.steps.data[i].access.renames = false;
            }
        core_bed_run(&bed);
        double through = 4 + (double)as_machine_latency(&bed.machine, kind == FLOATS ? AS_CLASS_VECTOR : AS_CLASS_INT);
        assert_close(core_bed_rate(&bed, -1 - 100 * 3, -1) * 3, kind == WORDS ? 1 : through, 0);
        assert_int_equal(bed.counters.store_forwards, 200);
        core_bed_close(&bed);
    }
}

static void t40_renamed_accesses(void **state)
{
    struct as_insn insn = {.n_reads = 1, .reads = {AS_REG_INT0 + 3}, .n_writes = 1, .writes = {AS_REG_INT0 + 1}};
    assert_true(as_recipe_renames(&insn, 8) && as_recipe_renames(&insn, 4));
    assert_false(as_recipe_renames(&insn, 2) || as_recipe_renames(&insn, 1) || as_recipe_renames(&insn, 16));
    insn.writes[0] = AS_REG_FLAGS;
    assert_true(as_recipe_renames(&insn, 8));
    insn.writes[0] = AS_REG_VEC0;
    assert_false(as_recipe_renames(&insn, 8));
    insn.writes[0] = AS_REG_INT0;
    insn.reads[0] = AS_REG_VEC0 + 31;
    assert_false(as_recipe_renames(&insn, 8));
    insn.reads[0] = AS_REG_INT0;
    insn.flags = AS_INSN_MULTI_MEM;
    assert_false(as_recipe_renames(&insn, 8));
}

/* A store whose address comes from a divide, then a load from there: it is long done when the store's address becomes
 * known, 1 cycle after the divide. The load then stands at the head of the ROB two cycles later (the store commits 1
 * cycle after it is done), and is flushed there: fetched 2 cycles later, dispatched 6 cycles later, done 1 + 4 later
 * (forwarded), committed 1 later. A machine without speculation makes the load wait instead. */
static void t41_memory_order(void **state)
{
    for (int speculates = 0; speculates <= 1; speculates++) {
        struct core_bed bed;
        core_bed_open(&bed, speculates ? QUIET : QUIET ",back.memory_speculation=no");
        core_bed_warm(&bed, BED_DATA, 8);
        core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
        core_bed_store(&bed, R1, R2, BED_DATA);
        core_bed_load(&bed, R2, R9, BED_DATA);
        core_bed_run(&bed);
        const struct as_pipe *divide = &bed.pipes[0], *store = &bed.pipes[1], *load = &bed.pipes[2];
        assert_int_equal(store->issue, divide->done);
        assert_int_equal(store->done, store->issue + 1);
        assert_int_equal(bed.counters.memory_order_violations, speculates);
        if (speculates) {
            uint64_t head = store->commit + 1;
            assert_int_equal(load->fetch, head + 2);
            assert_int_equal(load->exception, 2 + 6);
            assert_int_equal(load->commit, head + 2 + 6 + 1 + 4 + 1);
            assert_int_equal(load->events & AS_EVENT_FL_MO, AS_EVENT_FL_MO);
        } else {
            assert_int_equal(load->done, store->done + 3);
        }
        core_bed_close(&bed);
    }
}

/* ---- what stops memory ---- */

/* Atomics that hit: issued the cycle after the commit before and when that one's store has drained, two cycles after
 * its commit at the earliest (it starts in the next one and takes none); 4 for the load, 3 for the rest, 1 to commit.
 */
static void t42_atomics(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, QUIET);
    core_bed_warm(&bed, BED_DATA, 8);
    for (int i = 0; i < 100; i++)
        core_bed_access(&bed, core_bed_add(&bed, AS_CLASS_ATOMIC, R1, R9, R2), BED_DATA);
    core_bed_run(&bed);
    assert_close(core_bed_rate(&bed, 49, -1), 1 + L1 + 3 + 1, 0);
    core_bed_close(&bed);
}

/* A store to a line in DRAM and a fence: the fence is done when the store has drained, the load behind it starts then.
 * The one MSHR is taken by another store, whose line takes L2 + LLC + DRAM from 3 cycles after the start of its drain.
 */
static void t43_fence(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, QUIET ",memory.l1d.mshrs=1");
    core_bed_warm(&bed, BED_DATA, 8);
    core_bed_store(&bed, R9, R2, BED_DATA + ROW);
    core_bed_store(&bed, R9, R2, BED_DATA + 2 * ROW);
    core_bed_step(&bed, core_bed_add_flagged(&bed, AS_CLASS_FENCE, AS_INSN_FENCE_LOAD | AS_INSN_FENCE_STORE, BED_NONE,
                                             BED_NONE, BED_NONE));
    core_bed_load(&bed, R1, R9, BED_DATA);
    core_bed_run(&bed);
    uint64_t drain = bed.pipes[0].commit + 1;
    uint64_t second = drain + L2 + LLC + ROW_CONFLICT - 45;
    assert_int_equal(bed.pipes[2].done, second);
    assert_int_equal(bed.pipes[3].done, second + L1 - 1); /* its address was known long before */
    core_bed_close(&bed);
}

/* The first touch of a page: the load stands at the head of the ROB when the walk has found nothing, is flushed and
 * fetched again, 2 + 6 cycles to its second dispatch; the handler's time is kept apart. */
static void t44_page_fault(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, "memory.l1d.next_line=no,memory.fault_cycles=1500");
    core_bed_warm(&bed, BED_DATA, 8); /* the upper levels of the page table */
    core_bed_load(&bed, R1, R9, BED_DATA + 4 * KB);
    core_bed_load(&bed, R1, R9, BED_DATA + 4 * KB);
    core_bed_run(&bed);
    assert_int_equal(bed.pipes[0].flags & AS_PIPE_EXCEPTION, AS_PIPE_EXCEPTION);
    assert_int_equal(bed.pipes[0].events & AS_EVENT_FL_EX, AS_EVENT_FL_EX);
    assert_int_equal(bed.pipes[0].exception, 2 + 6);
    /* dispatched in cycle 8, its address in 10; 4 + 3 * 20 for the second TLB and the walk; head one cycle later */
    assert_int_equal(bed.pipes[0].fetch, 10 + 4 + 3 * L2 + 1 + 2);
    assert_int_equal(bed.pipes[1].flags & AS_PIPE_EXCEPTION, 0);
    assert_int_equal(bed.kernel_cycles, 1500);
    core_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t30_l1),
        cmocka_unit_test(t31_pointer_chase),
        cmocka_unit_test(t32_next_line_prefetch),
        cmocka_unit_test(t33_tlb_reach),
        cmocka_unit_test(t34_rob_limits_parallelism),
        cmocka_unit_test(t35_mshrs_limit_parallelism),
        cmocka_unit_test(t36_load_queue_limits_parallelism),
        cmocka_unit_test(t37_bandwidth),
        cmocka_unit_test(t38_store_drain),
        cmocka_unit_test(t39_store_queue_full),
        cmocka_unit_test(t40_forwarding),
        cmocka_unit_test(t40_renaming),
        cmocka_unit_test(t40_renamed_accesses),
        cmocka_unit_test(t41_memory_order),
        cmocka_unit_test(t42_atomics),
        cmocka_unit_test(t43_fence),
        cmocka_unit_test(t44_page_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
