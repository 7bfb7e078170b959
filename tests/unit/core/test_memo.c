/* Random programs with the memo and without it: every record and every counter must be the same. */
#include "body_bed.h"
#include "stream_gen.h"
#include "unit.h"

#include <string.h>

enum { STEPS = 12000, STATIC = 90, HOT = 4096, CHAIN = 3 };

static const struct stream_mix mixes[] = {
    /* hits nearly always, and then comes again soon */
    {.mul = 4,
     .fp = 8,
     .loads = 20,
     .stores = 10,
     .branches = 14,
     .nops = 2,
     .footprint = 512,
     .alias = 30,
     .late = 20},
    /* forwarding, violations of the memory order, fences, atomics, flushes */
    STREAM_MIX_TROUBLE,
    /* stores more than can drain, dividers */
    {.div = 4,
     .fp_div = 3,
     .fp = 4,
     .loads = 15,
     .stores = 40,
     .branches = 8,
     .footprint = 1024,
     .far = 5,
     .alias = 40},
    /* misses */
    {.mul = 4, .loads = 22, .stores = 10, .branches = 15, .footprint = 4 << 20, .far = 10, .late = 20, .wild = 5},
};

struct outcome {
    struct as_pipe *pipes;
    struct as_counters counters;
    struct as_memo_counters memo;
};

static void run_steps(const struct core_bed *bed, struct as_core *core, struct as_pipe *pipes)
{
    for (size_t i = 0; i < bed->steps.len; i++) {
        struct as_op op = core_bed_op(bed, &bed->steps.data[i]);
        as_core_execute(core, &op, &pipes[i]);
    }
}

static void run_chains(const struct core_bed *bed, struct as_core *core, struct as_memo *memo, uint32_t blocks,
                       struct as_pipe *pipes)
{
    struct body_bed bodies = {.bed = bed};
    struct as_body_run run;
    for (size_t i = 0; i < bed->steps.len;) {
        uint32_t n = body_bed_chain(&bodies, i, blocks, &run);
        if (memo && as_memo_is_full(memo))
            as_memo_drop(memo);
        struct as_edge_run known = {0};
        known.edge = as_core_run(core, &run, &pipes[i], &known.base);
        if (known.edge)
            as_edge_expand(&known, 0, 0, n, &pipes[i]);
        i += n;
        if (body_bed_pauses(i))
            as_core_wait_until(core, as_core_time(core) + 17);
    }
    body_bed_close(&bodies);
}

/* `options` NULL: without a memo. In chains of so many blocks; 0: without blocks. */
static struct outcome run(const struct core_bed *bed, const struct as_memo_options *options, uint32_t blocks)
{
    struct outcome outcome = {.pipes = as_alloc_array(bed->steps.len, sizeof *outcome.pipes)};
    struct as_memo *memo = options ? as_memo_new(options) : NULL;
    struct as_uncore *uncore = as_uncore_new(&bed->machine);
    struct as_core *core = as_core_new(&bed->machine, uncore, 0, NULL, NULL);
    struct as_error err = AS_ERROR_INIT;
    if (memo)
        as_core_set_memo(core, memo);
    if (blocks)
        run_chains(bed, core, memo, blocks, outcome.pipes);
    else
        run_steps(bed, core, outcome.pipes);
    if (memo && !as_memo_check(memo, &err))
        fail_msg("%s: %s", bed->machine.name, err.message);
    as_core_wait_until(core, as_core_time(core)); /* all stores drain */
    as_core_count(core, &outcome.counters);
    if (memo)
        as_memo_count(memo, &outcome.memo);
    as_core_free(core);
    as_uncore_free(uncore);
    as_memo_free(memo);
    return outcome;
}

static void assert_alike(const struct core_bed *bed, const struct outcome *a, const struct outcome *b, const char *what)
{
    for (size_t i = 0; i < bed->steps.len; i++) {
        const struct as_pipe *x = &a->pipes[i], *y = &b->pipes[i];
        if (memcmp(x, y, sizeof *x) != 0)
            fail_msg("%s, step %zu (%s): fetch %lu %lu, dispatch %lu %lu, issue %lu %lu, done %lu %lu, commit %lu %lu, "
                     "events %x %x, flags %x %x",
                     what, i, as_class_name((enum as_class)bed->code.data[bed->steps.data[i].insn].class_), x->fetch,
                     y->fetch, x->dispatch, y->dispatch, x->issue, y->issue, x->done, y->done, x->commit, y->commit,
                     x->events, y->events, x->flags, y->flags);
    }
    const uint64_t *x = (const uint64_t *)&a->counters, *y = (const uint64_t *)&b->counters;
    for (size_t i = 0; i < sizeof a->counters / sizeof *x; i++)
        if (x[i] != y[i])
            fail_msg("%s: counter %zu is %lu, and was %lu", what, i, x[i], y[i]);
}

static void free_outcome(struct outcome *outcome)
{
    free(outcome->pipes);
}

/* Returns the part of the instructions that came along an edge. */
static double assert_same(const char *machine, const char *changes, const struct stream_mix *mix, uint64_t seed,
                          uint32_t ideal)
{
    static const struct as_memo_options on = {.bytes = 64 << 20, .eager = true}, usual = {.bytes = 64 << 20},
                                        check = {.bytes = 64 << 20, .checks = true, .eager = true},
                                        small = {.bytes = 4 << 20, .eager = true};
    struct core_bed bed;
    char what[256];
    core_bed_open_machine(&bed, machine, changes);
    bed.ideal = ideal;
    stream_generate(&bed, mix, seed, STATIC, STEPS);
    struct outcome plain = run(&bed, NULL, 1);
    const struct outcome others[] = {run(&bed, &on, 1),       run(&bed, &check, 1),   run(&bed, &small, 1),
                                     run(&bed, &usual, 1),    run(&bed, NULL, CHAIN), run(&bed, &on, CHAIN),
                                     run(&bed, &check, CHAIN)};
    snprintf(what, sizeof what, "%s %s, mix %zu, seed %lu", machine, changes ? changes : "", (size_t)(mix - mixes),
             seed);
    double known = (double)others[0].memo.known_instructions / (double)others[0].memo.instructions;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_alike(&bed, &plain, &others[i], what);
        free(others[i].pipes);
    }
    free_outcome(&plain);
    core_bed_close(&bed);
    return known;
}

static double assert_machine(const char *machine, const char *changes)
{
    static unsigned machines;
    double most = 0;
    /* Under sanitizers an odd machine gets every second mix. */
    size_t step = UNIT_SANITIZED && changes ? 2 : 1;
    for (size_t mix = machines++ % step; mix < sizeof mixes / sizeof *mixes; mix += step) {
        uint64_t seed = UNIT_SANITIZED ? 1 : 2; /* a full run has this test on both builds */
        double known = assert_same(machine, changes, &mixes[mix], seed, 0);
        most = known > most ? known : most;
    }
    return most;
}

static void is_exact_on_all_machines(void **state)
{
    static const char *const machines[] = {"boom-tip", "boom-tea", "golden-cove-like", "zen4-like"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        assert_true(assert_machine(machines[i], NULL) > 0.2);
}

static void is_exact_on_odd_machines(void **state)
{
    for (size_t i = 0; i < BED_ODD_MACHINES; i++)
        assert_machine("boom-tip", bed_odd_machines[i]);
    assert_machine("boom-tip", "memory.fault_cycles=300,memory.dtlb.entries=4,memory.dtlb.ways=4");
    assert_machine("zen4-like", bed_odd_machines[5]);
}

static void is_exact_with_ideals(void **state)
{
    static const uint32_t ideals[] = {AS_EVENT_ST_L1 | AS_EVENT_DR_L1, AS_EVENT_FL_MB, AS_EVENT_FL_MO | AS_EVENT_DR_SQ,
                                      AS_EVENT_ST_TLB | AS_EVENT_BANK | AS_EVENT_DIVIDE, AS_EVENT_FL_EX};
    for (size_t i = 0; i < sizeof ideals / sizeof *ideals; i++)
        for (size_t mix = 0; mix < sizeof mixes / sizeof *mixes; mix++) {
            if (!UNIT_SANITIZED || (i + mix) % 2 == 0) /* under sanitizers one of the two */
                assert_same("zen4-like", NULL, &mixes[mix], 3, ideals[i]);
            if (!UNIT_SANITIZED || (i + mix) % 2 == 1)
                assert_same("boom-tip", NULL, &mixes[mix], 4, ideals[i]);
        }
}

/* Where one core is alone, it makes no difference that drains are looked at before each block. */
static void blocks_change_nothing(void **state)
{
    for (size_t mix = 0; mix < sizeof mixes / sizeof *mixes; mix++) {
        struct core_bed bed;
        core_bed_open_machine(&bed, "boom-tip", NULL);
        stream_generate(&bed, &mixes[mix], 5, STATIC, 900); /* before the first wait */
        struct outcome steps = run(&bed, NULL, 0), blocks = run(&bed, NULL, 1);
        assert_alike(&bed, &steps, &blocks, "blocks");
        free_outcome(&steps);
        free_outcome(&blocks);
        core_bed_close(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_change_nothing),
        cmocka_unit_test(is_exact_on_all_machines),
        cmocka_unit_test(is_exact_on_odd_machines),
        cmocka_unit_test(is_exact_with_ideals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
