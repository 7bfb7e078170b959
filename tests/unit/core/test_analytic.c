/* What the core does with programs whose time can be worked out by hand: the pipeline. (Memory is in
 * test_analytic_memory.c.)
 *
 * Figures are boom-tip's: fetch 16 bytes (four instructions), dispatch and commit a row of 4 a cycle; fetch to dispatch
 * 6, dispatch to issue 1, commit the cycle after done. The numbers in the tests' names are for finding them.
 */
#include "unit.h"

#include "core_bed.h"

enum { MANY = 1000, R1 = 1, R2 = 2, R9 = 9, F1 = AS_REG_VEC0 + 1 };

/* Cycles an instruction in the middle of MANY of a class: each depends on the one before, or on none. */
static double rate(const char *changes, enum as_class class_, int first_register, bool chain)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    for (int i = 0; i < MANY; i++) {
        int write = chain ? first_register : first_register + i % 16;
        core_bed_do(&bed, class_, write, chain ? first_register : BED_NONE, BED_NONE);
    }
    core_bed_run(&bed);
    double cycles = core_bed_rate(&bed, MANY / 2 - 1, -1);
    core_bed_close(&bed);
    return cycles;
}

static void assert_close(double found, double expected, double tolerance)
{
    if (found < expected - tolerance || found > expected + tolerance)
        fail_msg("%g, not %g", found, expected);
}

/* ---- units ---- */

/* An add's result is there one cycle after its issue, and the next can issue then. */
static void t01_dependent_adds(void **state)
{
    assert_close(rate(NULL, AS_CLASS_INT, R1, true), 1, 0);
    assert_close(rate("unit.int.latency=3", AS_CLASS_INT, R1, true), 3, 0);
}

/* Four a cycle everywhere: 16 bytes fetched, dispatch, issue, units, commit. Whichever is narrowed is the limit. */
static void t02_independent_adds(void **state)
{
    assert_close(rate(NULL, AS_CLASS_INT, R1, false), 1 / 4.0, 0);
    assert_close(rate("back.width=3,back.commit_width=3,back.rob=126", AS_CLASS_INT, R1, false), 1 / 3.0, 0.002);
    assert_close(rate("queue.int.width=3", AS_CLASS_INT, R1, false), 1 / 3.0, 0.002);
    assert_close(rate("unit.int.count=2", AS_CLASS_INT, R1, false), 1 / 2.0, 0);
    assert_close(rate("back.commit_width=2", AS_CLASS_INT, R1, false), 1 / 2.0, 0);
    assert_close(rate("front.fetch_bytes=8", AS_CLASS_INT, R1, false), 1 / 2.0, 0);
    assert_close(rate("front.fetch_width=1", AS_CLASS_INT, R1, false), 1, 0);
}

/* One multiplier, three stages. */
static void t03_multiply(void **state)
{
    assert_close(rate(NULL, AS_CLASS_MUL, R1, true), 3, 0);
    assert_close(rate(NULL, AS_CLASS_MUL, R1, false), 1, 0);
    assert_close(rate("unit.mul.count=2", AS_CLASS_MUL, R1, false), 0.5, 0);
}

/* One divider, 20 cycles, not pipelined: a chain and independent ones take the same time. Started every 5 cycles,
 * independent ones take 5; two dividers halve that. */
static void t04_divide(void **state)
{
    assert_close(rate(NULL, AS_CLASS_DIV, R1, true), 20, 0);
    assert_close(rate(NULL, AS_CLASS_DIV, R1, false), 20, 0);
    assert_close(rate("unit.div.interval=5", AS_CLASS_DIV, R1, true), 20, 0);
    assert_close(rate("unit.div.interval=5", AS_CLASS_DIV, R1, false), 5, 0);
    assert_close(rate("unit.div.interval=5,unit.div.count=2", AS_CLASS_DIV, R1, false), 2.5, 0);
}

/* Two FP units of four stages behind a two-wide queue; the divider takes 22 cycles for a quotient, 28 for a root, one
 * at a time. */
static void t05_floating_point(void **state)
{
    static const enum as_class pipelined[] = {AS_CLASS_FP_ADD, AS_CLASS_FP_MUL, AS_CLASS_FP_FMA, AS_CLASS_FP_CONVERT};
    for (size_t i = 0; i < sizeof pipelined / sizeof *pipelined; i++) {
        assert_close(rate(NULL, pipelined[i], F1, true), 4, 0);
        assert_close(rate(NULL, pipelined[i], F1, false), 1 / 2.0, 0);
    }
    assert_close(rate("unit.fp_fma.latency=5", AS_CLASS_FP_FMA, F1, true), 5, 0);
    assert_close(rate(NULL, AS_CLASS_FP_DIV, F1, true), 22, 0);
    assert_close(rate(NULL, AS_CLASS_FP_DIV, F1, false), 22, 0);
    assert_close(rate(NULL, AS_CLASS_FP_SQRT, F1, false), 28, 0);
}

/* Adds and multiplies have two units each, but the FP queue issues two a cycle in all. */
static void t06_queue_width_over_units(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, NULL);
    for (int i = 0; i < MANY; i++)
        core_bed_do(&bed, i % 2 ? AS_CLASS_FP_ADD : AS_CLASS_FP_MUL, F1 + i % 16, BED_NONE, BED_NONE);
    core_bed_run(&bed);
    assert_close(core_bed_rate(&bed, MANY / 2 - 1, -1), 1 / 2.0, 0);
    core_bed_close(&bed);
}

/* ---- the front end ---- */

/* A lone instruction: fetched in cycle 2 (boom-tip fetches 2 cycles after a flush), dispatched 6 later, issued 1 later,
 * done 1 later, committed 1 later. */
static void t07_pipeline_depth(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, NULL);
    core_bed_do(&bed, AS_CLASS_INT, R1, BED_NONE, BED_NONE);
    core_bed_run(&bed);
    assert_int_equal(bed.pipes[0].fetch, 2);
    assert_int_equal(bed.pipes[0].dispatch, 8);
    assert_int_equal(bed.pipes[0].issue, 9);
    assert_int_equal(bed.pipes[0].done, 10);
    assert_int_equal(bed.pipes[0].commit, 11);
    core_bed_close(&bed);
}

/* A ring of `n` jumps, each alone in its aligned 16 bytes: cycles of a jump. */
static double ring_of_jumps(const char *changes, uint32_t n, int rounds)
{
    struct core_bed bed;
    core_bed_open(&bed, changes);
    for (uint32_t i = 0; i < n; i++) {
        core_bed_add(&bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
        bed.pc = BED_CODE + (i + 1) * 16;
    }
    for (int round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < n; i++)
            core_bed_jump(&bed, i, true, BED_CODE + (i + 1) % n * 16);
    core_bed_run(&bed);
    assert_int_equal(bed.counters.branch_mispredictions, 0);
    double cycles = core_bed_rate(&bed, -1 - (long)n, -1);
    core_bed_close(&bed);
    return cycles;
}

/* A packet ends at a taken branch. The first-level BTB gives the next packet in the next cycle; the second-level one
 * costs one cycle more, decode another. A jump in each 16 bytes is the sparsest that they are made for: the first level
 * (16 ways of 16 bytes) has 16 of them, the second (2 ways of 2 KB) 256. */
static void t08_taken_branches(void **state)
{
    assert_close(ring_of_jumps(NULL, 16, 16), 1, 0);
    assert_close(ring_of_jumps("predictor.fast_entries=0", 16, 16), 2, 0);
    assert_close(ring_of_jumps("front.taken_bubble=3,predictor.fast_entries=0", 16, 16), 4, 0);
    assert_close(ring_of_jumps(NULL, 256, 4), 2, 0);
    assert_close(ring_of_jumps(NULL, 512, 4), 3, 0);
}

/* The code does not fit into the instruction cache (32 KB), but into the L2. Each line of 16 instructions is asked for
 * when the packet before it has been fetched and arrives 1 + 20 cycles later; its four packets then take 4 cycles: the
 * next line is asked for 21 + 4 = 25 cycles after this one. */
static void t09_instruction_cache(void **state)
{
    struct core_bed bed;
    enum { CODE = 48 << 10, INSNS = CODE / 4 };
    core_bed_open(&bed, NULL);
    for (int i = 0; i < INSNS; i++)
        core_bed_add(&bed, AS_CLASS_INT, R1 + i % 16, BED_NONE, BED_NONE);
    for (uint32_t i = 0; i < INSNS; i++)
        core_bed_step(&bed, i);
    core_bed_run(&bed);
    assert_close(core_bed_rate(&bed, -1 - 16 * 100, -1), 25 / 16.0, 0);
    assert_int_equal(bed.pipes[INSNS - 16].events, AS_EVENT_DR_L1 | AS_EVENT_L2_HIT);
    core_bed_close(&bed);
}

/* Behind a divide that blocks a ROB of 4, the buffer of 32 fills. Instruction 0 is the divide, 1-3 sit behind it in the
 * ROB; 4 dispatches when it has committed. An instruction can be fetched when it will find room in the buffer 5 cycles
 * later, that is from 5 cycles before the one 32 before it leaves it on. */
static void t10_fetch_buffer(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, "back.rob=4,unit.div.latency=100,unit.div.interval=100");
    core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    for (int i = 1; i < 64; i++)
        core_bed_do(&bed, AS_CLASS_INT, R2, BED_NONE, BED_NONE);
    core_bed_run(&bed);
    assert_int_equal(bed.pipes[4].dispatch, bed.pipes[0].commit + 1);
    assert_int_equal(bed.pipes[35].fetch, 2 + 35 / 4); /* 0-3 have left the buffer, so 4-35 are in it */
    assert_int_equal(bed.pipes[36].fetch, bed.pipes[4].dispatch - 5);
    core_bed_close(&bed);
}

/* Packets hold a fetch target until they have committed: with 40 of them, the 41st packet behind a divide waits for the
 * divide's commit. Jumps make a packet each, and come from the first-level BTB in the second round. */
static void t11_fetch_targets(void **state)
{
    struct core_bed bed;
    enum { N = 63 };
    core_bed_open(&bed,
                  "unit.div.latency=200,unit.div.interval=200,predictor.fast_entries=1024,predictor.fast_ways=64");
    bed.pc = BED_CODE + 12;
    core_bed_add(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    for (uint64_t i = 1; i <= N; i++) {
        bed.pc = BED_CODE + i * 16;
        core_bed_add(&bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
    }
    for (int round = 0; round < 2; round++) {
        core_bed_step(&bed, 0);
        for (uint32_t i = 1; i <= N; i++)
            core_bed_jump(&bed, i, true, i < N ? BED_CODE + (i + 1) * 16 : BED_CODE + 12);
    }
    core_bed_run(&bed);
    const struct as_pipe *second = &bed.pipes[N + 1];
    assert_int_equal(second[39].fetch, second[0].fetch + 39);
    assert_int_equal(second[40].fetch, second[0].commit + 1);
    core_bed_close(&bed);
}

/* ---- mispredictions ---- */

/* Branches that go either way at random, ready when they dispatch, alone in their packets. From the fetch of one that
 * was mispredicted to the fetch of the next are 6 to dispatch, 1 to issue, 1 to resolve and 4 to redirect: 12 cycles.
 */
static void t12_mispredicted_branches(void **state)
{
    struct core_bed bed;
    enum { N = 400 };
    uint64_t seed = 5, wrong = 0;
    core_bed_open(&bed, NULL);
    core_bed_add(&bed, AS_CLASS_BRANCH, BED_NONE, R9, BED_NONE);
    core_bed_add(&bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
    bed.pc = BED_CODE + 16;
    core_bed_add(&bed, AS_CLASS_JUMP, BED_NONE, BED_NONE, BED_NONE);
    for (int i = 0; i < N; i++) {
        bool taken = bed_random(&seed) & 1;
        core_bed_jump(&bed, 0, taken, BED_CODE + 16);
        core_bed_jump(&bed, taken ? 2 : 1, true, BED_CODE);
    }
    core_bed_run(&bed);
    for (int i = 0; i < 2 * N - 1; i++) {
        if (!(bed.pipes[i].flags & AS_PIPE_MISPREDICTED))
            continue;
        wrong++;
        assert_int_equal(bed.pipes[i].events, AS_EVENT_FL_MB);
        assert_int_equal(bed.pipes[i + 1].fetch - bed.pipes[i].fetch, 6 + 1 + 1 + 4);
    }
    assert_true(wrong > N / 4 && wrong < 3 * N / 4);
    assert_int_equal(wrong, bed.counters.branch_mispredictions);
    core_bed_close(&bed);
}

/* A branch that depends on a divide resolves one cycle after it, however long it has been waiting in the queue; what
 * follows is fetched 4 cycles after that, dispatched 6 cycles later, and the ROB is empty until then: 4 + 6 + 3 cycles
 * from the branch's being done to the next commit. */
static void t13_branch_resolved_late(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, NULL);
    core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    uint32_t branch = core_bed_add(&bed, AS_CLASS_BRANCH, BED_NONE, R1, BED_NONE);
    bed.pc = BED_CODE + 256;
    core_bed_jump(&bed, branch, true, bed.pc); /* the first time: predicted not taken */
    core_bed_do(&bed, AS_CLASS_INT, R2, BED_NONE, BED_NONE);
    core_bed_run(&bed);
    assert_int_equal(bed.pipes[1].flags & AS_PIPE_MISPREDICTED, AS_PIPE_MISPREDICTED);
    assert_int_equal(bed.pipes[1].done, bed.pipes[0].done + 1);
    assert_int_equal(bed.pipes[2].fetch, bed.pipes[1].done + 4);
    assert_int_equal(bed.pipes[2].commit, bed.pipes[1].done + 4 + 6 + 3);
    core_bed_close(&bed);
}

/* Calls `depth` deep and back again, twice. Returns the mispredictions of the second time. */
static uint64_t nest(uint32_t depth)
{
    struct core_bed bed;
    core_bed_open(&bed, NULL);
    uint64_t first = 0;
    for (uint32_t i = 0; i < depth; i++) { /* function i: call i+1, return */
        bed.pc = BED_CODE + i * 16;
        core_bed_add(&bed, AS_CLASS_CALL, 1, BED_NONE, BED_NONE);
        core_bed_add(&bed, AS_CLASS_RETURN, BED_NONE, 1, BED_NONE);
    }
    bed.pc = BED_CODE + depth * 16;
    uint32_t leaf = core_bed_add(&bed, AS_CLASS_RETURN, BED_NONE, 1, BED_NONE);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < depth; i++)
            core_bed_jump(&bed, 2 * i, true, BED_CODE + (i + 1) * 16);
        core_bed_jump(&bed, leaf, true, BED_CODE + (depth - 1) * 16 + 4);
        for (uint32_t i = depth - 1; i > 0; i--)
            core_bed_jump(&bed, 2 * i + 1, true, BED_CODE + (i - 1) * 16 + 4);
    }
    core_bed_run(&bed);
    for (size_t i = bed.steps.len / 2; i < bed.steps.len; i++)
        first += (bed.pipes[i].flags & AS_PIPE_MISPREDICTED) != 0;
    core_bed_close(&bed);
    return first;
}

/* 32 return addresses fit on the stack; of deeper nests, the outermost returns find theirs overwritten. */
static void t14_return_stack(void **state)
{
    assert_int_equal(nest(10), 0);
    assert_int_equal(nest(32), 0);
    assert_int_equal(nest(33), 1);
    assert_int_equal(nest(40), 8);
}

/* ---- the window ---- */

/* A divide of 500 cycles, then 300 others of which `which` is the first that finds no room, as it should be: it
 * dispatches the cycle after the divide has committed. */
static void assert_window(const char *changes, enum as_class class_, int write, int a, uint32_t which)
{
    struct core_bed bed;
    char all[256];
    snprintf(all, sizeof all, "unit.div.latency=500,unit.div.interval=500%s%s", changes ? "," : "",
             changes ? changes : "");
    core_bed_open(&bed, all);
    core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    for (int i = 0; i < 300; i++)
        core_bed_do(&bed, class_, write == BED_NONE ? BED_NONE : write + i % 8, a, BED_NONE);
    core_bed_run(&bed);
    assert_true(bed.pipes[which - 1].dispatch < 150);
    assert_int_equal(bed.pipes[which].dispatch, bed.pipes[0].commit + 1);
    core_bed_close(&bed);
}

/* The divide and 127 others fill the ROB. Writers of integers stop at 128 - 32 = 96 (the divide is one); writers of FP
 * registers have 96 of their own, not shared with the divide. */
static void t15_reorder_buffer_and_registers(void **state)
{
    assert_window(NULL, AS_CLASS_BRANCH, BED_NONE, BED_NONE, 128);
    assert_window("back.rob=64", AS_CLASS_BRANCH, BED_NONE, BED_NONE, 64);
    assert_window(NULL, AS_CLASS_INT, R2, BED_NONE, 96);
    assert_window("back.int_registers=64", AS_CLASS_INT, R2, BED_NONE, 32);
    assert_window(NULL, AS_CLASS_FP_ADD, F1, BED_NONE, 97);
    assert_window("back.fp_registers=64", AS_CLASS_FP_ADD, F1, BED_NONE, 33);
}

/* Dependents of a divide wait in the integer queue of 40; the 41st enters when the first four have issued, in the cycle
 * in which the quotient is there, and the next cycle has room for them: for the 41st to 43rd, which are the rest of a
 * row. */
static void t16_issue_queue(void **state)
{
    struct core_bed bed;
    core_bed_open(&bed, "unit.div.latency=500,unit.div.interval=500");
    core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    for (int i = 0; i < 60; i++)
        core_bed_do(&bed, AS_CLASS_INT, BED_NONE, R1, BED_NONE);
    core_bed_run(&bed);
    assert_true(bed.pipes[40].dispatch < 50);
    assert_int_equal(bed.pipes[41].dispatch, bed.pipes[0].done + 1);
    assert_int_equal(bed.pipes[43].dispatch, bed.pipes[0].done + 1);
    assert_int_equal(bed.pipes[44].dispatch, bed.pipes[0].done + 2);
    assert_int_equal(bed.pipes[47].dispatch, bed.pipes[0].done + 2);
    core_bed_close(&bed);
}

/* 20 branches can be unresolved. Those that wait for the divide hold their tags; others give theirs back when they have
 * executed, though they are younger: so with one waiting all 127 others enter the ROB, with 20 waiting none does. */
static void t17_outstanding_branches(void **state)
{
    for (int waiting = 1; waiting <= 20; waiting += 19) {
        struct core_bed bed;
        core_bed_open(&bed, "unit.div.latency=500,unit.div.interval=500");
        core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
        for (int i = 0; i < 100; i++)
            core_bed_do(&bed, AS_CLASS_BRANCH, BED_NONE, i < waiting ? R1 : R9, BED_NONE);
        core_bed_run(&bed);
        if (waiting == 1)
            assert_true(bed.pipes[100].dispatch < 100);
        else
            assert_int_equal(bed.pipes[21].dispatch, bed.pipes[1].done + 1);
        core_bed_close(&bed);
    }
}

/* ---- instructions that stop the pipeline ---- */

static double flagged_rate(const char *changes, enum as_class class_, uint32_t flags, struct core_bed *bed)
{
    core_bed_open(bed, changes);
    for (int i = 0; i < 100; i++)
        core_bed_step(bed, core_bed_add_flagged(bed, class_, flags, BED_NONE, BED_NONE, BED_NONE));
    core_bed_run(bed);
    return core_bed_rate(bed, 49, -1);
}

/* Dispatched the cycle after the commit before, then 1 to issue, 1 to execute, 1 to commit: 4 cycles each. */
static void t18_serialising(void **state)
{
    struct core_bed bed;
    assert_close(flagged_rate(NULL, AS_CLASS_SERIALISE, AS_INSN_SERIALISES, &bed), 4, 0);
    assert_int_equal(bed.pipes[50].flags, AS_PIPE_SERIALISED);
    core_bed_close(&bed);
}

/* Fetched 2 cycles after the commit before, then 6 to dispatch and 3 to commit: 11 cycles each, serialising or not.
 * Where the machine does not flush for flags, only the serialising part is left, or nothing. */
static void t19_flushing(void **state)
{
    struct core_bed bed;
    uint32_t both = AS_INSN_SERIALISES | AS_INSN_FLUSHES;
    assert_close(flagged_rate(NULL, AS_CLASS_SERIALISE, both, &bed), 11, 0);
    assert_int_equal(bed.pipes[50].flags, AS_PIPE_SERIALISED | AS_PIPE_FLUSHES);
    core_bed_close(&bed);
    assert_close(flagged_rate(NULL, AS_CLASS_SERIALISE, AS_INSN_FLUSHES, &bed), 11, 0);
    core_bed_close(&bed);
    assert_close(flagged_rate("front.flush=10", AS_CLASS_SERIALISE, both, &bed), 19, 0);
    core_bed_close(&bed);
    assert_close(flagged_rate("back.flag_flush=no", AS_CLASS_SERIALISE, both, &bed), 4, 0);
    core_bed_close(&bed);
    assert_close(flagged_rate("back.flag_flush=no", AS_CLASS_SERIALISE, AS_INSN_FLUSHES, &bed), 0.25, 0.01);
    core_bed_close(&bed);
}

/* A system call flushes on every machine; the kernel's cycles are kept apart. */
static void t20_system_calls(void **state)
{
    struct core_bed bed;
    assert_close(flagged_rate("back.flag_flush=no", AS_CLASS_SYSTEM, AS_INSN_SERIALISES, &bed), 11, 0);
    assert_int_equal(bed.kernel_cycles, 100 * 1000);
    core_bed_close(&bed);
}

/* ---- fusion ---- */

/* x86: cmp rax, rbx; jne: five bytes. */
static double compare_and_branch(const char *changes, uint8_t *branch_uops)
{
    static const uint8_t compare[] = {0x48, 0x39, 0xd8}, branch[] = {0x75, 0x10};
    struct core_bed bed;
    core_bed_open(&bed, changes);
    for (uint32_t i = 0; i < MANY; i++) {
        struct as_insn insn;
        as_insn_decode(AS_ARCH_X86_64, bed.pc, i % 2 ? branch : compare, i % 2 ? 2 : 3, &insn);
        insn.id = i + 1;
        /* Five bytes a pair would bring pairs across lines, which do not fuse, and a third instruction into 16 bytes.
         */
        bed.pc += i % 2 ? 5 : insn.length;
        *as_vec_push(&bed.code) = insn;
    }
    for (uint32_t i = 0; i < MANY; i++)
        i % 2 ? core_bed_jump(&bed, i, true, bed.code.data[i].address + 5) : core_bed_step(&bed, i);
    for (uint32_t i = 1; i < MANY; i += 2) { /* not taken, and what follows lies three bytes further */
        bed.code.data[i].length = 5;
        bed.steps.data[i].taken = false;
        bed.code.data[i].target = 0x1000;
    }
    core_bed_run(&bed);
    *branch_uops = bed.pipes[MANY - 1].uops;
    double cycles = core_bed_rate(&bed, MANY / 2 - 1, -1);
    core_bed_close(&bed);
    return cycles;
}

/* Fetch of 64 bytes (eight pairs) and two commits a cycle: a pair is a cycle's work, or half of it where it is one
 * micro-operation. */
static void t21_fusion(void **state)
{
    uint8_t uops;
    assert_close(compare_and_branch("front.fetch_bytes=64,front.fetch_width=16,back.commit_width=2", &uops), 0.5, 0);
    assert_int_equal(uops, 1);
    assert_close(
        compare_and_branch("front.fetch_bytes=64,front.fetch_width=16,back.commit_width=2,back.fuse=yes", &uops), 0.25,
        0);
    assert_int_equal(uops, 0);
}

/* ---- rows of the ROB ---- */

/* A divide of 500 cycles fills the ROB with what is fetched `n` at a time. All of it is done when the divide is, and
 * then commits `a_cycle` at a time, the divide with the first; the first that found no room is number `window`. */
static void assert_backlog(const char *changes, int window, int a_cycle)
{
    struct core_bed bed;
    char all[256];
    snprintf(all, sizeof all, "unit.div.latency=500,unit.div.interval=500,%s", changes);
    core_bed_open(&bed, all);
    core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
    for (int i = 1; i < 200; i++)
        core_bed_do(&bed, AS_CLASS_INT, BED_NONE, BED_NONE, BED_NONE);
    core_bed_run(&bed);
    for (int i = 0; i < window; i++)
        if (bed.pipes[i].commit != bed.pipes[0].commit + (uint64_t)(i / a_cycle))
            fail_msg("%s: number %d commits %lu cycles after the divide", changes, i,
                     bed.pipes[i].commit - bed.pipes[0].commit);
    assert_true(bed.pipes[window - 1].dispatch < bed.pipes[0].done);
    assert_int_equal(bed.pipes[window].dispatch, bed.pipes[a_cycle - 1].commit + 1);
    core_bed_close(&bed);
}

/* The ROB has 128 / 4 = 32 rows, and a cycle commits from one. Two instructions fetched a cycle make rows of two: 64
 * fit, two commit a cycle. One a cycle: 32 and one. Where the front end keeps up all 128 do, four a cycle; with another
 * commit width, a row takes several cycles. Without rows it does not matter how they came. */
static void t22_rows_of_what_came_together(void **state)
{
    assert_backlog("front.fetch_bytes=8", 64, 2);
    assert_backlog("front.fetch_width=1", 32, 1);
    assert_backlog("back.rob_rows=yes", 128, 4);
    assert_backlog("back.rob_rows=no,front.fetch_bytes=8,front.fetch_targets=100", 128, 4);
}

/* Three come a cycle, a lane is kept by the place in the fetch buffer: 3 dispatch (lanes 0 to 2), then 1 (lane 3; two
 * of its three wait), then 4 of 2 + 3, then 4 of 1 + 3, and so on. Each row commits 3 cycles after its dispatch.
 * Without rows, three dispatch each cycle. */
static void t23_lanes(void **state)
{
    static const int rows[] = {3, 1, 4, 4};
    for (int with = 0; with < 2; with++) {
        struct core_bed bed;
        core_bed_open(&bed, with ? NULL : "back.rob_rows=no");
        for (int i = 0; i < 120; i++) {
            bed.length = i % 3 == 2 ? 8 : 4;
            core_bed_do(&bed, AS_CLASS_INT, BED_NONE, BED_NONE, BED_NONE);
        }
        core_bed_run(&bed);
        for (int i = 0, row = 0; i < 120; row++)
            for (int n = with ? rows[row % 4] : 3; n > 0; n--, i++) {
                assert_int_equal(bed.pipes[i].dispatch, 8 + row);
                assert_int_equal(bed.pipes[i].commit, 11 + row);
            }
        core_bed_close(&bed);
    }
}

/* A group of which a part finds no room keeps its row, and the next group waits for the rest. Behind a divide, one
 * branch tag, and the second branch third of its group: 0 is the divide, 1 a branch that waits for it, 4 to 7 are the
 * group, of which 6 is the other branch. 4 and 5 dispatch at once, 6 and 7 when 1 is done, and 8 a cycle later,
 * although two more would fit in that cycle. */
static void t24_rest_of_a_row(void **state)
{
    for (int with = 0; with < 2; with++) {
        struct core_bed bed;
        core_bed_open(&bed, with ? "front.max_branches=1" : "front.max_branches=1,back.rob_rows=no");
        core_bed_do(&bed, AS_CLASS_DIV, R1, BED_NONE, BED_NONE);
        for (int i = 1; i < 12; i++)
            core_bed_do(&bed, i == 1 || i == 6 ? AS_CLASS_BRANCH : AS_CLASS_INT, BED_NONE, i == 1 ? R1 : BED_NONE,
                        BED_NONE);
        core_bed_run(&bed);
        const struct as_pipe *pipes = bed.pipes;
        assert_int_equal(pipes[5].dispatch, pipes[0].dispatch + 1);
        assert_int_equal(pipes[6].dispatch, pipes[1].done + 1);
        assert_int_equal(pipes[7].dispatch, pipes[1].done + 1);
        assert_int_equal(pipes[8].dispatch, pipes[1].done + 1 + (uint64_t)with);
        /* 1 to 3 commit when 1 is done; 4 and 5 in the same cycle or, another row, the next; 6 when it is done */
        assert_int_equal(pipes[3].commit, pipes[1].done + 1);
        assert_int_equal(pipes[4].commit, pipes[1].done + 1 + (uint64_t)with);
        assert_int_equal(pipes[5].commit, pipes[1].done + 2);
        assert_int_equal(pipes[6].commit, pipes[6].dispatch + 3);
        assert_int_equal(pipes[7].commit, pipes[6].commit);
        assert_int_equal(pipes[8].commit, pipes[6].commit + (uint64_t)with);
        core_bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t01_dependent_adds),
        cmocka_unit_test(t02_independent_adds),
        cmocka_unit_test(t03_multiply),
        cmocka_unit_test(t04_divide),
        cmocka_unit_test(t05_floating_point),
        cmocka_unit_test(t06_queue_width_over_units),
        cmocka_unit_test(t07_pipeline_depth),
        cmocka_unit_test(t08_taken_branches),
        cmocka_unit_test(t09_instruction_cache),
        cmocka_unit_test(t10_fetch_buffer),
        cmocka_unit_test(t11_fetch_targets),
        cmocka_unit_test(t12_mispredicted_branches),
        cmocka_unit_test(t13_branch_resolved_late),
        cmocka_unit_test(t14_return_stack),
        cmocka_unit_test(t15_reorder_buffer_and_registers),
        cmocka_unit_test(t16_issue_queue),
        cmocka_unit_test(t17_outstanding_branches),
        cmocka_unit_test(t18_serialising),
        cmocka_unit_test(t19_flushing),
        cmocka_unit_test(t20_system_calls),
        cmocka_unit_test(t21_fusion),
        cmocka_unit_test(t22_rows_of_what_came_together),
        cmocka_unit_test(t23_lanes),
        cmocka_unit_test(t24_rest_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
