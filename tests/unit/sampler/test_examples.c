/* The examples of the TIP paper (Figure A.4, a core that commits two instructions a cycle), cycle by cycle: what the
 * Oracle, NCI, LCI and TIP charge each cycle to. And the content of TIP's sample in each state (Figure A.6). */
#include "unit.h"

#include "sampler/tip.h"

#include <stdio.h>

struct example {
    const struct as_pipe *pipes;
    size_t n;
};

static const struct as_run_info two_wide = {
    .size = sizeof two_wide, .commit_width = 2, .dispatch_width = 2, .commit_group = 2, .rob = 8};

/* "1 2": equal shares to 1 and 2. */
static const char *ask(const struct example *example, uint64_t cycle,
                       enum as_verdict (*take)(const struct as_query *, struct as_attribution *), char *text)
{
    struct as_window window = {.pipes = example->pipes, .end = example->n, .ended = true};
    uint64_t cursor = 0;
    struct as_query query = {.window = &window, .run = &two_wide, .cycle = cycle, .cursor = &cursor};
    struct as_attribution answer;
    assert_int_equal(take(&query, &answer), AS_SAMPLE_TAKEN);
    int at = 0;
    for (uint32_t i = 0; i < answer.n; i++)
        at += sprintf(text + at, "%s%u", i > 0 ? " " : "", answer.ids[i]);
    return text;
}

static void check(const struct example *example, uint64_t first, uint64_t last, const char *oracle, const char *nci,
                  const char *lci)
{
    char text[64];
    for (uint64_t cycle = first; cycle <= last; cycle++) {
        assert_string_equal(ask(example, cycle, as_truth_take, text), oracle);
        assert_string_equal(ask(example, cycle, as_sampler_find("tip")->take, text), oracle);
        assert_string_equal(ask(example, cycle, as_sampler_find("nci")->take, text), nci);
        assert_string_equal(ask(example, cycle, as_sampler_find("lci")->take, text), lci);
    }
}

static void a_computing(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1},
        {.insn = 3, .dispatch = 1, .commit = 2},
        {.insn = 4, .dispatch = 1, .commit = 2},
    };
    const struct example example = {pipes, 4};
    check(&example, 1, 1, "1 2", "1", "2");
    check(&example, 2, 2, "3 4", "3", "4");
}

/* In cycle 42 the paper's text gives LCI's cycle to the load, which commits then together with I3. The rule that the
 * authors' samplers follow, and that examples c and d need, is the youngest of the group: I3. */
static void b_stalled(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 42},
        {.insn = 3, .dispatch = 1, .commit = 42},
    };
    const struct example example = {pipes, 3};
    check(&example, 1, 1, "1", "1", "1");
    check(&example, 2, 41, "2", "2", "1");
    check(&example, 42, 42, "2 3", "2", "3");
}

static void c_flushed(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1, .flags = AS_PIPE_MISPREDICTED},
        {.insn = 5, .fetch = 3, .dispatch = 6, .commit = 7},
    };
    const struct example example = {pipes, 3};
    check(&example, 1, 1, "1 2", "1", "2");
    check(&example, 2, 5, "2", "5", "2");
    check(&example, 6, 6, "5", "5", "2");
    check(&example, 7, 7, "5", "5", "5");
}

static void d_drained(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1},
        {.insn = 3, .fetch = 39, .dispatch = 42, .commit = 43},
    };
    const struct example example = {pipes, 3};
    check(&example, 1, 1, "1 2", "1", "2");
    check(&example, 2, 41, "3", "3", "2");
    check(&example, 42, 42, "3", "3", "2");
    check(&example, 43, 43, "3", "3", "3");
}

/* ---- TIP's sample ---- */

static struct as_tip_sample sample_at(const struct example *example, uint64_t cycle)
{
    struct as_window window = {.pipes = example->pipes, .end = example->n, .ended = true};
    uint64_t cursor = 0;
    struct as_query query = {.window = &window, .run = &two_wide, .cycle = cycle, .cursor = &cursor};
    struct as_tip_sample sample;
    assert_int_equal(as_tip_hardware(&query, &sample), AS_SAMPLE_TAKEN);
    assert_int_equal(sample.banks, 2);
    return sample;
}

/* Three commit in cycles 1, 2, 2: the head moves to bank 1, and the oldest of the second group is there. */
static void sample_of_committing(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 11, .dispatch = 1, .commit = 1},
        {.insn = 12, .dispatch = 1, .commit = 2},
        {.insn = 13, .dispatch = 1, .commit = 2},
    };
    const struct example example = {pipes, 3};
    struct as_tip_sample sample = sample_at(&example, 1);
    assert_int_equal(sample.valid, 1); /* 12 is in the ROB but does not commit */
    assert_int_equal(sample.oldest, 0);
    assert_false(sample.stalled);
    sample = sample_at(&example, 2);
    assert_int_equal(sample.valid, 3);
    assert_int_equal(sample.oldest, 1);
    assert_int_equal(sample.address[1], 12);
    assert_int_equal(sample.address[0], 13);
}

/* Stalled: the valid bits are those of the ROB's entries, not of the commits. */
static void sample_of_stalled(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 11, .dispatch = 1, .commit = 9},
        {.insn = 12, .dispatch = 5, .commit = 9},
    };
    const struct example example = {pipes, 2};
    struct as_tip_sample sample = sample_at(&example, 4);
    assert_true(sample.stalled);
    assert_int_equal(sample.valid, 1);
    sample = sample_at(&example, 5);
    assert_int_equal(sample.valid, 3);
    assert_int_equal(sample.address[sample.oldest], 11);
    assert_false(sample.front_end || sample.exception || sample.flush || sample.mispredicted);
}

/* Iterations of a rep instruction have entries each; one of those that commit together counts. */
static void sample_of_rep(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 11, .dispatch = 1, .commit = 9},
        {.insn = 11, .dispatch = 1, .commit = 9, .flags = AS_PIPE_CONTINUES},
    };
    const struct example example = {pipes, 2};
    assert_int_equal(sample_at(&example, 5).valid, 3);
    assert_int_equal(sample_at(&example, 9).valid, 1);
}

/* Flushed: address 0 is the offending instruction's, oldest is 0, only bit 0 is valid. */
static void sample_of_flushed(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 10, .dispatch = 1, .commit = 1},
        {.insn = 11, .dispatch = 1, .commit = 2, .flags = AS_PIPE_FLUSHES},
        {.insn = 12, .dispatch = 6, .commit = 7, .flags = AS_PIPE_MISPREDICTED},
        {.insn = 13, .dispatch = 30, .commit = 35, .flags = AS_PIPE_EXCEPTION, .exception = 10, .first_try = 4},
    };
    const struct example example = {pipes, 4};
    static const struct {
        uint64_t cycle;
        uint32_t address;
        bool exception, flush, mispredicted;
    } want[] = {{4, 11, false, true, false}, {10, 12, false, false, true}, {25, 13, true, false, false}};
    for (size_t i = 0; i < 3; i++) {
        struct as_tip_sample sample = sample_at(&example, want[i].cycle);
        assert_int_equal(sample.valid, 1);
        assert_int_equal(sample.oldest, 0);
        assert_int_equal(sample.address[0], want[i].address);
        assert_int_equal(sample.exception, want[i].exception);
        assert_int_equal(sample.flush, want[i].flush);
        assert_int_equal(sample.mispredicted, want[i].mispredicted);
        assert_false(sample.front_end);
    }
    /* The first try, before its exception: stalled, in the bank of position 3. */
    struct as_tip_sample sample = sample_at(&example, 17);
    assert_true(sample.stalled && !sample.exception && !sample.mispredicted);
    assert_int_equal(sample.oldest, 1);
    assert_int_equal(sample.valid, 2);
    assert_int_equal(sample.address[1], 13);
}

/* Drained: the flag is of the sampled cycle, the addresses are of those that fill the ROB again. */
static void sample_of_drained(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 10, .dispatch = 1, .commit = 1},
        {.insn = 11, .dispatch = 9, .commit = 12},
        {.insn = 12, .dispatch = 9, .commit = 12},
        {.insn = 13, .dispatch = 10, .commit = 13},
    };
    const struct example example = {pipes, 4};
    struct as_tip_sample sample = sample_at(&example, 5);
    assert_true(sample.front_end && sample.stalled);
    assert_int_equal(sample.oldest, 1);
    assert_int_equal(sample.valid, 3);
    assert_int_equal(sample.address[1], 11);
    assert_int_equal(sample.address[0], 12);
    struct as_attribution said;
    as_tip_software(&sample, true, &said);
    assert_int_equal(said.state, AS_STATE_DRAINED);
    assert_int_equal(said.n, 1);
    assert_int_equal(said.ids[0], 11);
}

/* Without sharing, the oldest of those that commit. */
static void software_without_ilp(void **state)
{
    const struct as_tip_sample sample = {.banks = 4, .address = {13, 0, 11, 12}, .valid = 0xd, .oldest = 2};
    struct as_attribution said;
    as_tip_software(&sample, true, &said);
    assert_int_equal(said.n, 3);
    assert_int_equal(said.ids[0], 11);
    assert_int_equal(said.ids[1], 12);
    assert_int_equal(said.ids[2], 13);
    as_tip_software(&sample, false, &said);
    assert_int_equal(said.n, 1);
    assert_int_equal(said.ids[0], 11);
    assert_int_equal(said.state, AS_STATE_COMPUTING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_computing),
        cmocka_unit_test(b_stalled),
        cmocka_unit_test(c_flushed),
        cmocka_unit_test(d_drained),
        cmocka_unit_test(sample_of_committing),
        cmocka_unit_test(sample_of_stalled),
        cmocka_unit_test(sample_of_rep),
        cmocka_unit_test(sample_of_flushed),
        cmocka_unit_test(sample_of_drained),
        cmocka_unit_test(software_without_ilp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
