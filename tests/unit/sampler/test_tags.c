/* Samplers that tag, and TEA beside them: the TEA paper's second example, one tag at a time, tags that are squashed. */
#include "unit.h"

#include "sampler/sampling.h"

static const struct as_run_info two_wide = {
    .size = sizeof two_wide, .commit_width = 2, .dispatch_width = 2, .commit_group = 2, .rob = 8};

struct outcome {
    uint64_t samples, dropped;
    struct as_pics pics;
};

static struct outcome sample(const char *name, uint64_t period, const struct as_pipe *pipes, size_t n)
{
    const struct as_sampler *sampler = as_sampler_find(name);
    struct as_error err = AS_ERROR_INIT;
    struct as_sampling *sampling =
        as_sampling_new(&two_wide, &(struct as_schedule){.period = period}, &sampler, 1, &err);
    struct as_pipe_batch batch = {.size = sizeof batch, .n = n, .pipes = pipes};
    size_t one;
    as_sampling_observer.batch(sampling, &batch);
    as_sampling_observer.finish(sampling, NULL);
    const struct as_sampling_result *result = as_sampling_results(sampling, &one);
    struct outcome outcome = {result->samples, result->dropped, as_sampling_pics(sampling, 0)};
    as_sampling_free(sampling);
    return outcome;
}

static void charged(const struct outcome *outcome, uint32_t id, uint32_t events, uint64_t cycles)
{
    for (size_t i = 0; i < outcome->pics.len; i++)
        if (outcome->pics.data[i].id == id && outcome->pics.data[i].events == events) {
            assert_int_equal(outcome->pics.data[i].units, cycles * AS_CYCLE_UNITS);
            return;
        }
    fail_msg("nothing was charged to %u with events 0x%x", id, events);
}

/* Figure B.2, at cycle 10: I1 stalls at the head on a data cache and a TLB miss, I5 (an instruction cache miss) is
 * dispatched next, I8 is fetched next. */
static const struct as_pipe figure[] = {
    {.insn = 1, .fetch = 1, .dispatch = 4, .done = 40, .commit = 40, .events = AS_EVENT_ST_L1 | AS_EVENT_ST_TLB},
    {.insn = 2, .fetch = 1, .dispatch = 4, .done = 40, .commit = 40, .events = AS_EVENT_ST_L1},
    {.insn = 3, .fetch = 2, .dispatch = 5, .done = 8, .commit = 41},
    {.insn = 4, .fetch = 2, .dispatch = 5, .done = 8, .commit = 41},
    {.insn = 5, .fetch = 8, .dispatch = 11, .done = 14, .commit = 42, .events = AS_EVENT_DR_L1},
    {.insn = 6, .fetch = 8, .dispatch = 11, .done = 14, .commit = 42},
    {.insn = 7, .fetch = 9, .dispatch = 12, .done = 15, .commit = 43},
    {.insn = 8, .fetch = 11, .dispatch = 14, .done = 17, .commit = 43, .flags = AS_PIPE_LAST},
};

static void figure_b2(void **state)
{
    static const struct {
        const char *sampler;
        uint32_t id, events;
        uint64_t cycles;
    } want[] = {
        {"tea", 1, AS_EVENT_ST_L1 | AS_EVENT_ST_TLB, 35}, /* 10, 20 and 30, and half of 40, where I2 commits too */
        {"tea", 2, AS_EVENT_ST_L1, 5},
        {"nci-tea", 1, AS_EVENT_ST_L1 | AS_EVENT_ST_TLB, 40},
        {"ibs", 5, AS_EVENT_DR_L1, 10},
        {"spe", 5, 0, 10}, /* has no event for the instruction cache */
        {"ris", 8, 0, 10},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct outcome outcome = sample(want[i].sampler, 10, figure, 8);
        charged(&outcome, want[i].id, want[i].events, want[i].cycles);
        as_pics_free(&outcome.pics);
    }
}

/* The sample of cycle 10 tags I5 until 42: those of 20, 30 and 40 are dropped, and nothing follows to take their
 * cycles. */
static void one_tag_at_a_time(void **state)
{
    struct outcome ibs = sample("ibs", 10, figure, 8), dispatch = sample("dispatch", 10, figure, 8);
    assert_int_equal(ibs.samples, 1);
    assert_int_equal(ibs.dropped, 3);
    assert_int_equal(as_pics_total(&ibs.pics), 10 * AS_CYCLE_UNITS);
    assert_int_equal(dispatch.samples, 1);
    as_pics_free(&ibs.pics);
    as_pics_free(&dispatch.pics);
    /* Every 5 cycles: 5 tags I5 (it is dispatched in 11), which is on its way until 42. Every 5 cycles dispatch tags
     * I5 twice. */
    ibs = sample("ibs", 5, figure, 8);
    dispatch = sample("dispatch", 5, figure, 8);
    assert_int_equal(ibs.samples, 1);
    assert_int_equal(ibs.dropped, 7);
    assert_int_equal(dispatch.samples, 2);
    as_pics_free(&ibs.pics);
    as_pics_free(&dispatch.pics);
}

/* The next sample gets the cycles of those that were dropped. A tag is free again in the cycle of its commit. */
static void dropped_cycles_go_on(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .fetch = 1, .dispatch = 3, .done = 4, .commit = 5},
        {.insn = 2, .fetch = 3, .dispatch = 6, .done = 20, .commit = 20, .events = AS_EVENT_ST_L1},
        {.insn = 3, .fetch = 18, .dispatch = 21, .done = 22, .commit = 22},
        {.insn = 4, .fetch = 26, .dispatch = 29, .done = 30, .commit = 30, .flags = AS_PIPE_LAST},
    };
    struct outcome outcome = sample("ibs", 5, pipes, 4);
    /* 5 tags 2 until 20; 10 and 15 are dropped; 20 tags 3 for 15 cycles; 25 tags 4; 30 finds nothing. */
    assert_int_equal(outcome.samples, 3);
    assert_int_equal(outcome.dropped, 3);
    charged(&outcome, 2, AS_EVENT_ST_L1, 5);
    charged(&outcome, 3, 0, 15);
    charged(&outcome, 4, 0, 5);
    as_pics_free(&outcome.pics);
}

/* A mispredicted branch: dispatched in 4, done in 20, wrong-path instructions from 6 on in 5 cycles. */
static const struct as_pipe wrong[] = {
    {.insn = 1, .fetch = 1, .dispatch = 3, .done = 4, .commit = 5},
    {.insn = 2,
     .fetch = 2,
     .dispatch = 4,
     .done = 20,
     .commit = 21,
     .flags = AS_PIPE_MISPREDICTED,
     .wrong_path = 10,
     .wrong_delay = 2,
     .events = AS_EVENT_FL_MB},
    {.insn = 3, .fetch = 22, .dispatch = 25, .done = 26, .commit = 27},
    {.insn = 4, .fetch = 40, .dispatch = 43, .done = 44, .commit = 45, .flags = AS_PIPE_LAST},
};

static void a_squashed_tag_is_dropped(void **state)
{
    /* 8 tags a wrong-path one, which has the tag until 20: 16 is dropped although only right ones would come. 24 tags
     * 3 with the cycles of three samples. 32 and 40: 4, still to come, then on its way. */
    struct outcome ibs = sample("ibs", 8, wrong, 4);
    assert_int_equal(ibs.samples, 2);
    assert_int_equal(ibs.dropped, 3);
    charged(&ibs, 3, 0, 24);
    charged(&ibs, 4, 0, 8);
    as_pics_free(&ibs.pics);
    /* Without that rule 16 tags 3 as well. */
    struct outcome dispatch = sample("dispatch", 8, wrong, 4);
    assert_int_equal(dispatch.samples, 4);
    assert_int_equal(dispatch.dropped, 1);
    /* At fetch: wrong ones are fetched from 3 until 10, the last of them dispatched. */
    struct outcome ris = sample("ris", 8, wrong, 4);
    assert_int_equal(ris.samples, 1);
    assert_int_equal(ris.dropped, 4);
    charged(&ris, 4, 0, 24);
    as_pics_free(&ris.pics);
    as_pics_free(&dispatch.pics);
    /* TEA says what it was. */
    struct outcome tea = sample("tea", 8, wrong, 4);
    charged(&tea, 2, AS_EVENT_FL_MB, 24); /* 8 and 16: stalled; 24: flushed */
    as_pics_free(&tea.pics);
}

/* Nothing is dispatched on the wrong path before the branch is done, but some were fetched. */
static void a_tag_can_be_lost_before_dispatch(void **state)
{
    struct as_pipe pipes[4];
    memcpy(pipes, wrong, sizeof pipes);
    pipes[1].wrong_path = 0;
    struct outcome ris = sample("ris", 15, pipes, 4), ibs = sample("ibs", 15, pipes, 4);
    assert_int_equal(ibs.samples, 2); /* 15: 3; 30: 4 */
    assert_int_equal(ris.samples, 1); /* 15: lost; 30: 4 */
    charged(&ris, 4, 0, 30);
    as_pics_free(&ris.pics);
    as_pics_free(&ibs.pics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_b2),
        cmocka_unit_test(one_tag_at_a_time),
        cmocka_unit_test(dropped_cycles_go_on),
        cmocka_unit_test(a_squashed_tag_is_dropped),
        cmocka_unit_test(a_tag_can_be_lost_before_dispatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
