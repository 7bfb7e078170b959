/* The fast core against the cycle-stepped one (reference.h), over random programs.
 *
 * Where units are pipelined and loads hit, all times of all instructions are the same. Where they are not, the fast
 * core approximates, because it looks at one instruction after the other: units that are not pipelined and the memory
 * are asked in program order. Then total cycles may differ by 2 % and instruction profiles (the Oracle's on both) by 3
 * %; what differs more is in a test of its own with the reason. doc/design/core.md has the figures.
 */
#include "unit.h"

#include "observe/oracle.h"
#include "reference.h"
#include "score/errors.h"
#include "stream_gen.h"

#include <math.h>

enum { STATIC = 300, HOT = 8192 };

struct agreement {
    double cycles;  /* how much more the fast one took */
    double profile; /* how much of the time is charged to other instructions */
};

/* ---- the two runs ---- */

static void open_bed(struct core_bed *bed, const char *machine, const char *changes, const struct stream_mix *mix,
                     uint64_t seed, uint32_t steps)
{
    core_bed_open_machine(bed, machine, changes);
    core_bed_warm(bed, BED_DATA, mix->footprint <= HOT ? HOT + 256 : 64);
    stream_generate(bed, mix, seed, STATIC, steps);
    core_bed_run(bed);
}

static void take_profile(const struct core_bed *bed, const struct as_pipe *pipes, struct as_profile *profile)
{
    uint32_t width = bed->machine.back.commit_width;
    struct as_run_info run = {.size = sizeof run, .commit_width = width, .commit_group = width};
    struct as_pipe_batch batch = {.size = sizeof batch, .n = bed->steps.len, .pipes = pipes};
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    assert_non_null(oracle);
    as_oracle_observer.batch(oracle, &batch);
    as_oracle_observer.finish(oracle, NULL);
    if (!as_oracle_check(oracle, &err))
        fail_msg("%s", err.message);
    as_oracle_profile(oracle, profile);
    as_oracle_free(oracle);
}

static struct agreement compare(const struct core_bed *bed, const struct as_pipe *reference)
{
    struct as_profile fast, slow;
    size_t last = bed->steps.len - 1;
    take_profile(bed, bed->pipes, &fast);
    take_profile(bed, reference, &slow);
    struct agreement agreement = {
        .cycles = (double)bed->pipes[last].commit / (double)reference[last].commit - 1,
        .profile = as_profile_error(&fast, &slow, NULL),
    };
    as_profile_free(&fast);
    as_profile_free(&slow);
    return agreement;
}

/* ---- all the same ---- */

static void assert_same(const struct core_bed *bed, const struct as_pipe *reference, const char *what, uint64_t seed)
{
    for (size_t i = 0; i < bed->steps.len; i++) {
        struct as_pipe fast = bed->pipes[i];
        const struct as_pipe *slow = &reference[i];
        fast.events = slow->events; /* the reference knows but two */
        fast.wrong_delay = 0;
        if (!(fast.flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED)))
            fast.first_try = 0; /* the wrong path is the fast core's alone */
        if (memcmp(&fast, slow, sizeof fast) != 0)
            fail_msg("%s, seed %lu, step %zu (%s): fetch %lu %lu, dispatch %lu %lu, issue %lu %lu, done %lu %lu, "
                     "commit %lu %lu, flags %x %x",
                     what ? what : "as it is", seed, i,
                     as_class_name((enum as_class)bed->code.data[bed->steps.data[i].insn].class_), fast.fetch,
                     slow->fetch, fast.dispatch, slow->dispatch, fast.issue, slow->issue, fast.done, slow->done,
                     fast.commit, slow->commit, fast.flags, slow->flags);
    }
}

/* Everything but dividers: also fences, atomics, flushes, partial forwarding, violations of the memory order. */
static const struct stream_mix exact_mixes[] = {
    {.mul = 8,
     .fp = 10,
     .loads = 22,
     .stores = 10,
     .branches = 15,
     .nops = 3,
     .footprint = HOT,
     .far = 20,
     .alias = 50,
     .late = 30,
     .partial = 10,
     .wild = 20},
    STREAM_MIX_TROUBLE,
    {.loads = 25, .stores = 45, .branches = 8, .footprint = 256, .far = 20, .alias = 80, .late = 40, .wild = 20},
};

static uint64_t assert_machine_is_exact(const char *machine, const char *changes)
{
    uint64_t retries = 0;
    for (size_t mix = 0; mix < sizeof exact_mixes / sizeof *exact_mixes; mix++) {
        uint64_t seed = UNIT_SANITIZED ? 1 : 2; /* a full run has this test on both builds */
        struct core_bed bed;
        open_bed(&bed, machine, changes, &exact_mixes[mix], seed, 3000);
        struct reference_result reference = reference_run(&bed, true);
        assert_same(&bed, reference.pipes, changes, seed);
        assert_int_equal(bed.counters.memory_order_violations, reference.retries);
        assert_int_equal(bed.kernel_cycles, reference.kernel_cycles);
        retries += reference.retries;
        free(reference.pipes);
        core_bed_close(&bed);
    }
    return retries;
}

/* The same line again, as often as not, or another one of 64. */
static uint64_t next_line(uint64_t *seed, uint64_t line)
{
    return bed_random(seed) % 2 ? line : BED_DATA + bed_random(seed) % 64 * 64;
}

/* Stores to lines that another core has written fill the store queue: times, and what the store that finds no room waits for. */
static void wait_alike_for_lines(const char *changes)
{
    enum { STORES = 400, LINES = 64 };
    uint64_t seed = 7, line = BED_DATA;
    uint32_t both = 0, one = 0;
    struct core_bed bed;
    core_bed_open(&bed, changes);
    core_bed_warm(&bed, BED_DATA, 4096);
    core_bed_give_away(&bed, BED_DATA, LINES * 64);
    for (int i = 0; i < STORES; i++) {
        line = next_line(&seed, line);
        core_bed_store(&bed, BED_NONE, BED_NONE, line + bed_random(&seed) % 8 * 8);
        for (uint64_t n = bed_random(&seed) % 3; n > 0; n--)
            core_bed_do(&bed, AS_CLASS_INT, BED_NONE, BED_NONE, BED_NONE);
    }
    core_bed_run(&bed);
    struct reference_result reference = reference_run(&bed, false);
    assert_same(&bed, reference.pipes, changes, 7);
    for (size_t i = 0; i < bed.steps.len; i++) {
        uint32_t full = bed.pipes[i].events & (AS_EVENT_DR_SQ | AS_EVENT_COHERENCE);
        if (full != reference.pipes[i].events)
            fail_msg("step %zu: events %x, %x in the reference", i, full, reference.pipes[i].events);
        both += full == (AS_EVENT_DR_SQ | AS_EVENT_COHERENCE);
        one += full == AS_EVENT_DR_SQ;
    }
    print_message("%u stores wait for room behind another core's line, %u for other reasons\n", both, one);
    assert_true(both > LINES / 2);
    free(reference.pipes);
    core_bed_close(&bed);
}

#define FOREIGN_LINES "back.rob_rows=no,coherence.protocol=mesi,coherence.local=60,coherence.upgrade=40"

static void waits_alike_for_lines_of_another_core(void **state)
{
    wait_alike_for_lines(FOREIGN_LINES ",back.store_queue=8");
    wait_alike_for_lines(FOREIGN_LINES ",back.store_queue=8,coherence.gather=unread");
    wait_alike_for_lines(FOREIGN_LINES ",back.store_queue=8,coherence.gather=all,back.store_drain=2");
}

/* The same for what waits until such stores have drained: fences and atomics, loads behind a fence, and loads that a store covers in
 * part. */
static void add_waiting_step(struct core_bed *bed, uint64_t *seed, uint64_t mine)
{
    enum { FENCE = AS_INSN_FENCE_LOAD | AS_INSN_FENCE_STORE };
    uint64_t pick = bed_random(seed) % 16;
    if (pick < 2)
        core_bed_step(bed, core_bed_add_flagged(bed, AS_CLASS_FENCE, pick ? FENCE : AS_INSN_FENCE_LOAD, BED_NONE,
                                                BED_NONE, BED_NONE));
    else if (pick < 3)
        core_bed_access(bed, core_bed_add(bed, AS_CLASS_ATOMIC, 5, BED_NONE, BED_NONE), mine);
    else if (pick < 6)
        core_bed_load(bed, 6, BED_NONE, mine + 64 + 64 * (bed_random(seed) % 8));
    else if (pick < 8)
        core_bed_load(bed, 7, BED_NONE, BED_DATA + bed_random(seed) % 64 * 64 + 4);
    else
        core_bed_do(bed, AS_CLASS_INT, BED_NONE, BED_NONE, BED_NONE);
}

static void order_waits_alike_for_lines(const char *changes)
{
    enum { STORES = 600, LINES = 64 };
    uint64_t seed = 11, line = BED_DATA;
    uint32_t with = 0, without = 0;
    struct core_bed bed;
    core_bed_open(&bed, changes);
    core_bed_warm(&bed, BED_DATA, 8192);
    core_bed_give_away(&bed, BED_DATA, LINES * 64);
    for (int i = 0; i < STORES; i++) {
        line = next_line(&seed, line);
        core_bed_store(&bed, BED_NONE, BED_NONE, line);
        for (uint64_t n = bed_random(&seed) % 4; n > 0; n--)
            add_waiting_step(&bed, &seed, BED_DATA + 4096);
    }
    core_bed_run(&bed);
    struct reference_result reference = reference_run(&bed, false);
    for (size_t i = 0; i < bed.steps.len; i++) {
        const struct as_pipe *fast = &bed.pipes[i], *slow = &reference.pipes[i];
        bool own = fast->events & AS_EVENT_ST_L1; /* a load that waits for another core's line itself */
        if (!(fast->events & AS_EVENT_ORDER) || own || fast->commit != slow->commit || fast->issue != slow->issue)
            continue;
        if ((fast->events & AS_EVENT_COHERENCE) != (slow->events & AS_EVENT_COHERENCE))
            fail_msg("step %zu (%s): events %x, %x in the reference", i,
                     as_class_name((enum as_class)bed.code.data[bed.steps.data[i].insn].class_), fast->events,
                     slow->events);
        with += (fast->events & AS_EVENT_COHERENCE) != 0;
        without += !(fast->events & AS_EVENT_COHERENCE);
    }
    print_message("%u wait for stores behind another core's line, %u for other stores\n", with, without);
    assert_true(with > 20 && without > 20);
    free(reference.pipes);
    core_bed_close(&bed);
}

static void order_waits_alike_for_lines_of_another_core(void **state)
{
    order_waits_alike_for_lines(FOREIGN_LINES);
    order_waits_alike_for_lines(FOREIGN_LINES ",coherence.gather=unread");
    order_waits_alike_for_lines(FOREIGN_LINES ",coherence.gather=all,back.store_drain=2");
}

/* A load of what a store has written that waits for another core's line: the store gives it while it is in the queue. One that was put to
 * others is there no more, where the machine tells such stores apart, so that the load waits for the line as well. */
static void loads_what_waits_for_a_line(const char *changes, bool forwards)
{
    enum { WAIT = 60, CHAIN = 25 };
    struct core_bed bed;
    core_bed_open(&bed, changes);
    core_bed_warm(&bed, BED_DATA, 4096);
    core_bed_give_away(&bed, BED_DATA, 64);
    core_bed_store(&bed, BED_NONE, BED_NONE, BED_DATA);
    for (int i = 0; i < CHAIN; i++)
        core_bed_do(&bed, AS_CLASS_INT, 5, 5, BED_NONE);
    core_bed_load(&bed, 6, 5, BED_DATA);
    core_bed_run(&bed);
    struct reference_result reference = reference_run(&bed, false);
    const struct as_pipe *fast = &bed.pipes[CHAIN + 1], *slow = &reference.pipes[CHAIN + 1];
    assert_true(bed.pipes[0].commit < fast->issue);
    assert_int_equal(fast->done, slow->done);
    assert_int_equal(fast->done - fast->issue < WAIT / 2, forwards);
    free(reference.pipes);
    core_bed_close(&bed);
}

static void loads_of_stores_that_wait_for_lines(void **state)
{
    loads_what_waits_for_a_line(FOREIGN_LINES, true);
    loads_what_waits_for_a_line(FOREIGN_LINES ",coherence.gather=all", true);
    loads_what_waits_for_a_line(FOREIGN_LINES ",coherence.gather=unread", false);
}

static void is_the_same_where_all_is_pipelined(void **state)
{
    uint64_t retries = assert_machine_is_exact("boom-tip", NULL);
    for (size_t i = 0; i < BED_ODD_MACHINES; i++)
        retries += assert_machine_is_exact("boom-tip", bed_odd_machines[i]);
    assert_true(retries > (UNIT_SANITIZED ? 0 : 15)); /* or the streams show nothing of them */
}

static void is_the_same_on_all_machines(void **state)
{
    assert_machine_is_exact("boom-tea", NULL);
    assert_machine_is_exact("golden-cove-like", "memory.l1d.banks=0");
    assert_machine_is_exact("zen4-like", "memory.l1d.banks=0");
}

/* ---- nearly the same ---- */

struct limits {
    double cycles, profile;
};

/* What random streams give: the mean, and two of its standard deviations. */
struct spread {
    double mean, margin;
};

static struct spread spread_of(const double *values, uint32_t n)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    for (uint32_t i = 0; i < n; i++)
        squares += (values[i] - sum / n) * (values[i] - sum / n);
    return (struct spread){sum / n, n > 1 ? 2 * sqrt(squares / (n - 1) / n) : 0};
}

static struct agreement run_both(const char *changes, const struct stream_mix *mix, uint64_t seed, uint32_t steps)
{
    struct core_bed bed;
    open_bed(&bed, "boom-tip", changes, mix, seed, steps);
    struct reference_result reference = reference_run(&bed, mix->footprint <= HOT);
    struct agreement agreement = compare(&bed, reference.pipes);
    free(reference.pipes);
    core_bed_close(&bed);
    return agreement;
}

/* The streams are the same in every run, so nothing is left to chance; the margin is for a generator that gives others. */
static void assert_nearly_same(const char *what, const char *changes, const struct stream_mix *mix, uint32_t steps,
                               struct limits limits)
{
    enum { SEEDS = 4 };
    double cycles[SEEDS], profile[SEEDS];
    if (UNIT_SANITIZED) {
        run_both(changes, mix, 1, steps / 10);
        return;
    }
    for (uint32_t i = 0; i < SEEDS; i++) {
        struct agreement agreement = run_both(changes, mix, i + 1, steps);
        cycles[i] = fabs(agreement.cycles);
        profile[i] = agreement.profile;
    }
    struct spread of_cycles = spread_of(cycles, SEEDS), of_profile = spread_of(profile, SEEDS);
    print_message("%s: cycles %.2f + %.2f %%, profiles %.2f + %.2f %%\n", what, of_cycles.mean * 100,
                  of_cycles.margin * 100, of_profile.mean * 100, of_profile.margin * 100);
    if (of_cycles.mean + of_cycles.margin > limits.cycles || of_profile.mean + of_profile.margin > limits.profile)
        fail_msg("%s: that is more than %g %% and %g %%", what, limits.cycles * 100, limits.profile * 100);
}

static const struct limits usual = {0.02, 0.03};

/* Streams are long where many misses wait for what was loaded: there the profiles of short ones, with caches that are cold for most
 * of them, differ by more than they are allowed to. */
enum { SHORT = 20000, LONG = 60000 };

/* A younger divide that is ready takes the unit before an older one that is not; the fast core gives it to the older.
 */
static void agrees_on_dividers(void **state)
{
    struct stream_mix mix = {.mul = 8,
                             .div = 3,
                             .fp = 8,
                             .fp_div = 3,
                             .loads = 20,
                             .stores = 10,
                             .branches = 15,
                             .footprint = HOT,
                             .far = 20,
                             .late = 30,
                             .wild = 20};
    assert_nearly_same("dividers", NULL, &mix, SHORT, usual);
    mix.wild = 0; /* more in flight */
    mix.div = mix.fp_div = 6;
    assert_nearly_same("more dividers", NULL, &mix, SHORT, usual);
}

static const struct stream_mix memory_mix = {
    .mul = 8, .div = 1, .fp = 10, .loads = 22, .stores = 10, .branches = 15, .nops = 3, .partial = 10, .wild = 20};

/* From what stays in the L2 to what comes from DRAM, with addresses known early or computed from what was loaded. */
static void agrees_on_memory(void **state)
{
    static const uint64_t footprints[] = {64 << 10, 1 << 20, 16 << 20};
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t far = 2; far <= 10; far += 8) {
            for (uint32_t late = 0; late <= 30; late += 30) {
                char what[100];
                struct stream_mix mix = memory_mix;
                mix.footprint = footprints[i];
                mix.far = far;
                mix.late = late;
                snprintf(what, sizeof what, "%lu KB, %u %% far, %u %% late", mix.footprint >> 10, far, late);
                assert_nearly_same(what, NULL, &mix, far > 2 && late ? LONG : SHORT, usual);
            }
        }
    }
}

/* Where most misses wait for an MSHR or the page walker, who is served first decides which load the ROB waits for: here
 * first come first served, there the oldest first. Total cycles still agree. */
static void agrees_on_cycles_where_misses_wait(void **state)
{
    struct stream_mix mix = memory_mix;
    mix.footprint = 16 << 20;
    mix.far = 20;
    mix.late = 30;
    assert_nearly_same("misses that wait", NULL, &mix, LONG, (struct limits){0.02, 0.07});
    assert_nearly_same("the same with 64 MSHRs and 8 walkers",
                       "memory.l1d.mshrs=64,memory.l2.mshrs=64,memory.llc.mshrs=64,dram.queue=64,memory.walkers=8",
                       &mix, LONG, usual);
}

/* An older load whose address comes late and a younger one of the same line that does not have to wait for it: in time
 * the younger brings the line for both, in program order the older asks for it again. And what is squashed behind a
 * load that passed a store has warmed the caches in the reference. Bases that point at each other's data show both. */
static void differs_on_lines_shared_across_dependences(void **state)
{
    struct stream_mix mix = memory_mix;
    mix.footprint = 1 << 20;
    mix.far = 10;
    mix.alias = 100;
    mix.late = 0;
    assert_nearly_same("shared lines, addresses early", NULL, &mix, SHORT, usual);
    mix.late = 30;
    assert_nearly_same("shared lines, 30 % late", NULL, &mix, LONG, (struct limits){0.03, 0.03});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_alike_for_lines_of_another_core),
        cmocka_unit_test(order_waits_alike_for_lines_of_another_core),
        cmocka_unit_test(loads_of_stores_that_wait_for_lines),
        cmocka_unit_test(is_the_same_where_all_is_pipelined),
        cmocka_unit_test(is_the_same_on_all_machines),
        cmocka_unit_test(agrees_on_dividers),
        cmocka_unit_test(agrees_on_memory),
        cmocka_unit_test(agrees_on_cycles_where_misses_wait),
        cmocka_unit_test(differs_on_lines_shared_across_dependences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
