/* Every sampler against its naive definition, on random runs, cycle for cycle and for sparse samples: profiles, numbers
 * of samples, both errors at three granularities, and the stacks of those that record events. */
#include "unit.h"

#include "naive.h"
#include "observe/oracle.h"
#include "observe/thread_limit.h"
#include "pipe_gen.h"
#include "sampler/sampling.h"
#include "score/errors.h"

#include <math.h>

enum { STATICS = 60, RECORDS = 160, THREADS = 2, LEVELS = 3 };

static uint32_t blocks[STATICS], functions[STATICS];
static const struct as_grouping groupings[LEVELS] = {
    [1] = {.of = blocks, .n = STATICS, .count = STATICS / 5},
    [2] = {.of = functions, .n = STATICS, .count = STATICS / 20},
};

static const struct as_grouping *level(int which)
{
    return which == 0 ? NULL : &groupings[which];
}

static int set_up(void **state)
{
    for (uint32_t id = 0; id < STATICS; id++) {
        blocks[id] = id / 5;
        functions[id] = id / 20;
    }
    return 0;
}

static uint32_t group_at(int which, uint32_t id)
{
    return which == 0 ? id : which == 1 ? blocks[id] : functions[id];
}

/* What a sampler's result should be. */
struct expected {
    uint64_t samples, dropped, units[STATICS];
    struct as_pics pics, paths;
    double right[LEVELS], total;
};

static double overlap(const struct naive_run *run, const struct naive_answer *a, const struct naive_answer *b,
                      int which)
{
    double left[STATICS] = {0}, right[STATICS] = {0}, sum = 0;
    for (size_t i = 0; i < a->n; i++)
        left[group_at(which, run->pipes[a->at[i]].insn)] += 1.0 / (double)a->n;
    for (size_t i = 0; i < b->n; i++)
        right[group_at(which, run->pipes[b->at[i]].insn)] += 1.0 / (double)b->n;
    for (size_t i = 0; i < STATICS; i++)
        sum += fmin(left[i], right[i]);
    return sum;
}

static void expect(struct expected *expected, const struct as_sampling_result *result, const struct naive_run *run,
                   const struct as_schedule *schedule, uint32_t thread)
{
    const char *name = result->sampler->name;
    uint64_t cycles = 0, busy = 0;
    for (uint64_t k = 1;; k++) {
        uint64_t now = as_schedule_cycle(schedule, thread, k);
        if (now > naive_cycles(run))
            return;
        cycles += schedule->period;
        struct naive_answer answer = naive_sampler(name, run, now), truth = naive_oracle(run, now);
        if (now < busy)
            answer.n = 0;
        else if (naive_has_one_tag(name))
            busy = answer.busy;
        expected->dropped += answer.n == 0;
        if (answer.n == 0)
            continue;
        uint64_t units = cycles * AS_CYCLE_UNITS;
        for (size_t i = 0; i < answer.n; i++)
            expected->units[run->pipes[answer.at[i]].insn] += units / answer.n + (i < units % answer.n);
        for (size_t i = 0; i < answer.n; i++)
            as_pics_push(&expected->pics,
                         &(struct as_pics_entry){.id = run->pipes[answer.at[i]].insn,
                                                 .events = run->pipes[answer.at[i]].events & result->events,
                                                 .units = units / answer.n + (i < units % answer.n),
                                                 .count = i == (k - 1) % answer.n});
        for (size_t i = 0; i < answer.n; i++)
            as_pics_push(&expected->paths,
                         &(struct as_pics_entry){.id = run->pipes[answer.at[i]].path,
                                                 .events = run->pipes[answer.at[i]].events & result->events,
                                                 .units = units / answer.n + (i < units % answer.n),
                                                 .count = i == (k - 1) % answer.n});
        for (int which = 0; which < LEVELS; which++)
            expected->right[which] += (double)cycles * overlap(run, &answer, &truth, which);
        expected->total += (double)cycles;
        expected->samples++;
        cycles = 0;
    }
}

static void compare(const struct as_sampling_result *result, const struct expected *expected)
{
    assert_int_equal(result->samples, expected->samples);
    assert_int_equal(result->dropped, expected->dropped);
    uint64_t total = 0;
    for (uint32_t id = 0; id < STATICS; id++) {
        assert_int_equal(as_profile_get(&result->profile, id), expected->units[id]);
        total += expected->units[id];
    }
    assert_int_equal(result->profile.total, total);
    for (int which = 0; which < LEVELS; which++) {
        double error = as_systematic_error(&result->confusion, level(which));
        if (expected->total == 0)
            assert_true(isnan(error));
        else
            assert_true(fabs(error - (1 - expected->right[which] / expected->total)) < 1e-9);
    }
}

static void same_pics(const struct as_pics *a, const struct as_pics *b)
{
    assert_int_equal(a->len, b->len);
    if (a->len)
        assert_memory_equal(a->data, b->data, a->len * sizeof *a->data);
}

/* All threads' stacks, and that they are the sum of each one's. */
static void compare_pics(const struct as_sampling *sampling, size_t index, struct expected *expected)
{
    struct as_pics said = as_sampling_pics(sampling, index), sum = {0};
    as_pics_sort(&expected->pics);
    same_pics(&said, &expected->pics);
    for (uint32_t t = 0; t < THREADS; t++) {
        struct as_pics one = as_sampling_thread_pics(sampling, index, t);
        for (size_t i = 0; i < one.len; i++)
            as_pics_push(&sum, &one.data[i]);
        as_pics_free(&one);
    }
    as_pics_sort(&sum);
    same_pics(&said, &sum);
    as_pics_free(&sum);
    as_pics_free(&said);
    as_pics_free(&expected->pics);
    said = as_sampling_path_pics(sampling, index);
    as_pics_sort(&expected->paths);
    same_pics(&said, &expected->paths);
    as_pics_free(&said);
    as_pics_free(&expected->paths);
}

static void run_random(uint64_t seed, const struct as_schedule *schedule)
{
    struct pipe_gen gen = {
        .random = seed,
        .width = 1 + seed % 8,
        .fuse = seed % 3 == 0,
        .statics = STATICS,
        .paths = 3,
        .trouble = 1 + seed % 12,
    };
    struct as_pipe pipes[THREADS][RECORDS];
    struct as_run_info run = pipe_gen_run(&gen);
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling = as_sampling_new(&run, schedule, as_samplers, AS_SAMPLER_COUNT, &err);
    as_sampling_set_events(sampling, seed % 4 ? AS_EVENTS_TEA : AS_EVENTS_ALL);
    for (uint32_t t = 0; t < THREADS; t++) {
        pipe_gen_fill(&gen, pipes[t], RECORDS);
        if (seed % 2)
            pipes[t][RECORDS - 1].flags &= (uint16_t)~AS_PIPE_LAST;
    }
    for (size_t at = 0; at < RECORDS; at += 40)
        for (uint32_t t = 0; t < THREADS; t++)
            pipe_gen_feed(&gen, &as_sampling_observer, sampling, t, &pipes[t][at], 40, 1 + seed % 50);
    as_sampling_observer.finish(sampling, NULL);
    size_t n;
    const struct as_sampling_result *results = as_sampling_results(sampling, &n);
    assert_int_equal(n, AS_SAMPLER_COUNT);
    for (size_t i = 0; i < n; i++) {
        struct expected expected = {0};
        for (uint32_t t = 0; t < THREADS; t++) {
            struct naive_run naive = {pipes[t], RECORDS, gen.width};
            expect(&expected, &results[i], &naive, schedule, t);
        }
        compare(&results[i], &expected);
        compare_pics(sampling, i, &expected);
    }
    as_sampling_free(sampling);
}

static void every_cycle(void **state)
{
    for (uint64_t seed = 1; seed <= (UNIT_SANITIZED ? 8 : 24); seed++) /* of all widths, by all thirds */
        run_random(seed, &(struct as_schedule){.period = 1});
}

static void periodic(void **state)
{
    for (uint64_t seed = 1; seed <= (UNIT_SANITIZED ? 8 : 80); seed++)
        run_random(seed, &(struct as_schedule){.period = 2 + seed % 90});
}

static void random_in_period(void **state)
{
    for (uint64_t seed = 1; seed <= (UNIT_SANITIZED ? 8 : 80); seed++)
        run_random(seed, &(struct as_schedule){.period = 2 + seed % 90, .random = true, .seed = seed});
}

/* ---- TIP and the Oracle ---- */

/* The truth that samples are held against, with its state. */
static void truth_every_cycle(void **state)
{
    for (uint64_t seed = 1; seed <= (UNIT_SANITIZED ? 8 : 100); seed++) {
        struct pipe_gen gen = {.random = seed,
                               .width = 1 + seed % 8,
                               .fuse = seed % 2,
                               .statics = STATICS,
                               .paths = 3,
                               .trouble = 4,
                               .own_vectors = seed % 3 == 1};
        struct as_pipe pipes[RECORDS];
        pipe_gen_fill(&gen, pipes, RECORDS);
        struct as_run_info run = pipe_gen_run(&gen);
        struct naive_run naive = {pipes, RECORDS, gen.width};
        struct as_window window = {.pipes = pipes, .end = RECORDS, .ended = true};
        uint64_t cursor = 0;
        for (uint64_t now = 1; now <= naive_cycles(&naive); now++) {
            struct as_query query = {.window = &window, .run = &run, .cycle = now, .cursor = &cursor};
            struct as_attribution truth;
            struct naive_answer want = naive_oracle(&naive, now);
            assert_int_equal(as_truth_take(&query, &truth), AS_SAMPLE_TAKEN);
            assert_int_equal(truth.state, want.state);
            assert_int_equal(truth.n, want.n);
            for (size_t i = 0; i < want.n; i++) {
                assert_int_equal(truth.ids[i], pipes[want.at[i]].insn);
                assert_int_equal(truth.events[i], naive_events(&pipes[want.at[i]], now));
            }
        }
    }
}

/* Unit for unit. Counts differ: executions there, samples here. */
static void same_stacks(const struct as_oracle *oracle, const struct as_sampling *sampling, uint32_t events)
{
    struct as_pics all = as_oracle_pics(oracle), golden = as_pics_fold(&all, events, NULL);
    struct as_pics said = as_sampling_pics(sampling, 1);
    size_t at = 0;
    for (size_t i = 0; i < golden.len; i++) {
        if (golden.data[i].units == 0)
            continue;
        assert_true(at < said.len);
        assert_int_equal(golden.data[i].id, said.data[at].id);
        assert_int_equal(golden.data[i].events, said.data[at].events);
        assert_int_equal(golden.data[i].units, said.data[at].units);
        at++;
    }
    assert_int_equal(at, said.len);
    assert_true(as_pics_error(&golden, &said) == 0);
    as_pics_free(&all);
    as_pics_free(&golden);
    as_pics_free(&said);
}

/* Sampled every cycle, TIP is the Oracle: the same units for each instruction and state. And TEA is the golden stacks.
 */
static void tip_every_cycle_is_the_oracle(void **state)
{
    for (uint64_t seed = 1; seed <= (UNIT_SANITIZED ? 4 : 40); seed++) {
        uint32_t events = seed % 2 ? AS_EVENTS_TEA : AS_EVENTS_ALL;
        struct pipe_gen gen = {.random = seed,
                               .width = 1 + seed % 8,
                               .fuse = seed % 2,
                               .statics = 500,
                               .paths = 5,
                               .trouble = 8,
                               .own_vectors = seed % 3 == 1};
        static struct as_pipe pipes[5000];
        struct as_run_info run = pipe_gen_run(&gen);
        struct as_error err = AS_ERROR_INIT;
        struct as_oracle *oracle = as_oracle_new(&run, &err);
        const struct as_sampler *samplers[] = {as_sampler_find("tip"), as_sampler_find("tea")};
        struct as_sampling *sampling = as_sampling_new(&run, &(struct as_schedule){.period = 1}, samplers, 2, &err);
        as_sampling_set_events(sampling, events);
        as_oracle_set_events(oracle, AS_EVENTS_ALL, AS_EVENTS_TEA);
        pipe_gen_fill(&gen, pipes, 5000);
        pipe_gen_feed(&gen, &as_oracle_observer, oracle, 0, pipes, 5000, 300);
        pipe_gen_feed(&gen, &as_sampling_observer, sampling, 0, pipes, 5000, 300);
        as_oracle_observer.finish(oracle, NULL);
        as_sampling_observer.finish(sampling, NULL);
        assert_true(as_oracle_check(oracle, &err));
        struct as_profile truth;
        as_oracle_profile(oracle, &truth);
        size_t n;
        const struct as_sampling_result *result = as_sampling_results(sampling, &n);
        assert_int_equal(result->samples, pipes[4999].commit);
        for (uint32_t id = 0; id < 500; id++)
            assert_int_equal(as_profile_get(&result->profile, id), as_profile_get(&truth, id));
        assert_memory_equal(result->profile.states, truth.states, sizeof truth.states);
        assert_true(as_profile_error(&result->profile, &truth, NULL) == 0);
        assert_true(as_systematic_error(&result->confusion, NULL) == 0);
        same_stacks(oracle, sampling, events);
        as_profile_free(&truth);
        as_sampling_free(sampling);
        as_oracle_free(oracle);
    }
}

/* ---- ends ---- */

static void feed(struct as_sampling *sampling, uint32_t thread, const struct as_pipe *pipes, size_t n)
{
    struct as_pipe_batch batch = {.size = sizeof batch, .thread = thread, .n = n, .pipes = pipes};
    as_sampling_observer.batch(sampling, &batch);
}

static const struct as_run_info two_wide = {
    .size = sizeof two_wide, .commit_width = 2, .dispatch_width = 2, .commit_group = 2, .rob = 8};

/* A run that is shorter than the period: nothing to tell, and that is said. */
static void zero_samples(void **state)
{
    const struct as_pipe pipe = {.insn = 1, .dispatch = 1, .commit = 9, .flags = AS_PIPE_LAST};
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling =
        as_sampling_new(&two_wide, &(struct as_schedule){.period = 10}, as_samplers, AS_SAMPLER_COUNT, &err);
    feed(sampling, 0, &pipe, 1);
    as_sampling_observer.finish(sampling, NULL);
    size_t n;
    const struct as_sampling_result *results = as_sampling_results(sampling, &n);
    struct as_profile truth = {0};
    as_profile_add(&truth, 1, 100);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(results[i].samples, 0);
        assert_int_equal(results[i].dropped, 0);
        assert_true(isnan(as_profile_error(&results[i].profile, &truth, NULL)));
        assert_true(isnan(as_systematic_error(&results[i].confusion, NULL)));
    }
    as_profile_free(&truth);
    as_sampling_free(sampling);
}

/* Cycle 5: the next dispatch is on the wrong path. Its 5 cycles are in the sample of cycle 10, which tags 3; all 10 are
 * held against the truth of cycle 10, which is the branch's. Cycle 15 finds nothing to tag: lost. */
static void dropped_samples_pass_their_cycles_on(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .done = 2, .commit = 3},
        {.insn = 2,
         .dispatch = 4,
         .done = 8,
         .commit = 9,
         .flags = AS_PIPE_MISPREDICTED,
         .wrong_path = 4,
         .wrong_delay = 2},
        {.insn = 3, .fetch = 10, .dispatch = 12, .done = 14, .commit = 15, .flags = AS_PIPE_LAST},
    };
    const struct as_sampler *sampler = as_sampler_find("dispatch");
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling = as_sampling_new(&two_wide, &(struct as_schedule){.period = 5}, &sampler, 1, &err);
    feed(sampling, 0, pipes, 3);
    as_sampling_observer.finish(sampling, NULL);
    size_t n;
    const struct as_sampling_result *result = as_sampling_results(sampling, &n);
    assert_int_equal(result->samples, 1);
    assert_int_equal(result->dropped, 2);
    assert_int_equal(as_profile_get(&result->profile, 3), 10 * AS_CYCLE_UNITS);
    assert_int_equal(result->profile.total, 10 * AS_CYCLE_UNITS);
    assert_true(as_systematic_error(&result->confusion, NULL) == 1);
    as_sampling_free(sampling);
}

/* Each thread is sampled by its own cycles from 1 on, also one that comes later under the same number. */
static void threads_start_anew(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 8},
        {.insn = 2, .dispatch = 1, .commit = 12, .flags = AS_PIPE_LAST},
    };
    const struct as_sampler *sampler = as_sampler_find("nci");
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling = as_sampling_new(&two_wide, &(struct as_schedule){.period = 5}, &sampler, 1, &err);
    feed(sampling, 7, pipes, 2);
    feed(sampling, 7, pipes, 1);
    feed(sampling, 2, pipes, 2);
    feed(sampling, 7, pipes + 1, 1);
    as_sampling_observer.finish(sampling, NULL);
    size_t n;
    const struct as_sampling_result *result = as_sampling_results(sampling, &n);
    assert_int_equal(result->samples, 6);
    assert_int_equal(as_profile_get(&result->profile, 1), 3 * 5 * AS_CYCLE_UNITS);
    assert_int_equal(as_profile_get(&result->profile, 2), 3 * 5 * AS_CYCLE_UNITS);
    as_sampling_free(sampling);
}

static void check_stack(struct as_pics pics, uint64_t threads)
{
    assert_int_equal(pics.len, threads != 0);
    assert_int_equal(as_pics_total(&pics), threads * 10 * AS_CYCLE_UNITS);
    assert_int_equal(threads ? pics.data[0].count : 0, threads * 2);
    as_pics_free(&pics);
}

/* Threads that ended have stacks of their own up to a number; those of the others are added to one, and are in the sum. */
static void ended_threads_share_a_stack(void **state)
{
    enum { ALL = AS_THREADS_KEPT + 3 };
    const struct as_pipe pipe = {.insn = 1, .dispatch = 1, .commit = 12, .flags = AS_PIPE_LAST};
    const struct as_sampler *sampler = as_sampler_find("nci");
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling = as_sampling_new(&two_wide, &(struct as_schedule){.period = 5}, &sampler, 1, &err);
    for (uint32_t thread = 0; thread < ALL; thread++)
        feed(sampling, thread, &pipe, 1);
    as_sampling_observer.finish(sampling, NULL);
    check_stack(as_sampling_pics(sampling, 0), ALL);
    check_stack(as_sampling_path_pics(sampling, 0), ALL);
    check_stack(as_sampling_thread_pics(sampling, 0, 0), 1);
    check_stack(as_sampling_thread_pics(sampling, 0, AS_THREADS_KEPT - 1), 1);
    check_stack(as_sampling_thread_pics(sampling, 0, AS_THREADS_KEPT), 0);
    check_stack(as_sampling_thread_pics(sampling, 0, AS_NO_THREAD), 3);
    check_stack(as_sampling_thread_pics(sampling, 0, 1000), 0);
    as_sampling_free(sampling);
}

static void bad_options_are_refused(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_null(as_sampling_new(&two_wide, &(struct as_schedule){.period = 0}, as_samplers, 1, &err));
    assert_string_equal(err.message, "a sampling period is at least 1 cycle");
    struct as_run_info wide = two_wide;
    wide.commit_width = 40;
    assert_null(as_sampling_new(&wide, &(struct as_schedule){.period = 1}, as_samplers, 1, &err));
}

static void names(void **state)
{
    static const char *const expected[] = {"software", "dispatch", "lci", "nci", "nci+ilp", "tip-ilp",
                                           "tip",      "ris",      "ibs", "spe", "nci-tea", "tea"};
    for (int i = 0; i < AS_SAMPLER_COUNT; i++) {
        assert_string_equal(as_samplers[i]->name, expected[i]);
        assert_ptr_equal(as_sampler_find(expected[i]), as_samplers[i]);
    }
    assert_null(as_sampler_find("oracle"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cycle),
        cmocka_unit_test(periodic),
        cmocka_unit_test(random_in_period),
        cmocka_unit_test(truth_every_cycle),
        cmocka_unit_test(tip_every_cycle_is_the_oracle),
        cmocka_unit_test(zero_samples),
        cmocka_unit_test(dropped_samples_pass_their_cycles_on),
        cmocka_unit_test(threads_start_anew),
        cmocka_unit_test(ended_threads_share_a_stack),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
