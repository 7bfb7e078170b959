/* The Oracle: the four examples of the TIP paper cycle by cycle, random runs against the naive one, the invariants. */
#include "unit.h"

#include "naive.h"
#include "observe/oracle_stream.h"
#include "oracle_bed.h"
#include "pipe_gen.h"

#include <string.h>

static const uint64_t cycle = AS_CYCLE_UNITS;

static uint64_t units(const struct as_oracle *oracle, uint32_t id, enum as_state state)
{
    size_t n;
    const struct as_oracle_row *rows = as_oracle_rows(oracle, &n);
    return id < n ? rows[id].units[state] : 0;
}

/* ---- the paper's examples, on a core that commits two a cycle ---- */

static void example_a_computing(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1},
        {.insn = 3, .dispatch = 1, .commit = 2},
        {.insn = 4, .dispatch = 1, .commit = 2},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 4);
    finish(oracle);
    for (uint32_t id = 1; id <= 4; id++)
        assert_int_equal(units(oracle, id, AS_STATE_COMPUTING), cycle / 2);
    as_oracle_free(oracle);
}

static void example_b_stalled(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 42}, /* the load */
        {.insn = 3, .dispatch = 1, .commit = 42},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 3);
    finish(oracle);
    assert_int_equal(units(oracle, 1, AS_STATE_COMPUTING), cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_STALLED), 40 * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_COMPUTING), cycle / 2);
    assert_int_equal(units(oracle, 3, AS_STATE_COMPUTING), cycle / 2);
    as_oracle_free(oracle);
}

static void example_c_flushed(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1, .flags = AS_PIPE_MISPREDICTED},
        {.insn = 5, .fetch = 3, .dispatch = 6, .commit = 7},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 3);
    finish(oracle);
    assert_int_equal(units(oracle, 1, AS_STATE_COMPUTING), cycle / 2);
    assert_int_equal(units(oracle, 2, AS_STATE_COMPUTING), cycle / 2);
    assert_int_equal(units(oracle, 2, AS_STATE_MISPREDICT), 4 * cycle);
    assert_int_equal(units(oracle, 5, AS_STATE_STALLED), cycle);
    assert_int_equal(units(oracle, 5, AS_STATE_COMPUTING), cycle);
    as_oracle_free(oracle);
}

static void example_d_drained(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2, .dispatch = 1, .commit = 1},
        {.insn = 3, .fetch = 39, .dispatch = 42, .commit = 43},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 3);
    finish(oracle);
    assert_int_equal(units(oracle, 1, AS_STATE_COMPUTING), cycle / 2);
    assert_int_equal(units(oracle, 2, AS_STATE_COMPUTING), cycle / 2);
    assert_int_equal(units(oracle, 3, AS_STATE_DRAINED), 40 * cycle);
    assert_int_equal(units(oracle, 3, AS_STATE_STALLED), cycle);
    as_oracle_free(oracle);
}

/* ---- the other cases of the text ---- */

/* Enters the empty ROB right behind the last older one; time in it is its own stall. */
static void serialised(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 10},
        {.insn = 2, .dispatch = 11, .commit = 15, .flags = AS_PIPE_SERIALISED},
        {.insn = 3, .dispatch = 16, .commit = 18},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 3);
    finish(oracle);
    assert_int_equal(units(oracle, 1, AS_STATE_STALLED), 9 * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_STALLED), 4 * cycle);
    assert_int_equal(units(oracle, 3, AS_STATE_STALLED), 2 * cycle);
    as_oracle_free(oracle);
}

/* A load that misses its page, behind a mispredicted branch: cycles 2-4 are the branch's; 5-9 it waits for the walk at
 * the head; 10-29 the exception; 30-39 its second try; 40 it commits. */
static void page_miss(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1, .flags = AS_PIPE_MISPREDICTED},
        {.insn = 2, .dispatch = 30, .commit = 40, .flags = AS_PIPE_EXCEPTION, .exception = 20, .first_try = 5},
    };
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 2);
    finish(oracle);
    assert_int_equal(units(oracle, 1, AS_STATE_MISPREDICT), 3 * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_STALLED), (5 + 10) * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_EXCEPTION), 20 * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_COMPUTING), cycle);
    as_oracle_free(oracle);
}

static void flush_at_commit(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 7, .dispatch = 1, .commit = 3, .flags = AS_PIPE_FLUSHES},
        {.insn = 8, .fetch = 5, .dispatch = 9, .commit = 10},
    };
    struct as_oracle *oracle = bed_oracle(4, 4);
    feed(oracle, 0, pipes, 2);
    finish(oracle);
    assert_int_equal(units(oracle, 7, AS_STATE_FLUSH), 5 * cycle);
    assert_int_equal(units(oracle, 8, AS_STATE_DRAINED), 0);
    as_oracle_free(oracle);
}

static void rep_is_one_instruction(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 2},
        {.insn = 2, .dispatch = 1, .commit = 2},
        {.insn = 2, .dispatch = 1, .commit = 2, .flags = AS_PIPE_CONTINUES},
        {.insn = 2, .dispatch = 1, .commit = 3, .flags = AS_PIPE_CONTINUES},
        {.insn = 2, .dispatch = 2, .commit = 3, .flags = AS_PIPE_CONTINUES},
        {.insn = 2, .dispatch = 2, .commit = 3}, /* executed once more: an instruction of its own */
    };
    struct as_oracle *oracle = bed_oracle(4, 4);
    feed(oracle, 0, pipes, 6);
    finish(oracle);
    size_t n;
    const struct as_oracle_row *rows = as_oracle_rows(oracle, &n);
    assert_int_equal(rows[1].executions, 1);
    assert_int_equal(rows[2].executions, 2);
    assert_int_equal(rows[1].units[AS_STATE_COMPUTING], cycle / 2);
    assert_int_equal(rows[2].units[AS_STATE_COMPUTING], cycle / 2 + cycle);
    assert_int_equal(rows[1].units[AS_STATE_DRAINED] + rows[1].units[AS_STATE_STALLED], cycle);
    struct as_oracle_thread total = as_oracle_total(oracle);
    assert_int_equal(total.records, 6);
    assert_int_equal(total.instructions, 3);
    assert_int_equal(total.cycles, 3);
    as_oracle_free(oracle);
}

/* Shares of any group size add up to a cycle. */
static void wide_groups(void **state)
{
    for (uint32_t n = 1; n <= AS_GROUP_MAX; n++) {
        struct as_oracle *oracle = bed_oracle(12, AS_GROUP_MAX);
        struct as_pipe pipes[AS_GROUP_MAX];
        for (uint32_t i = 0; i < n; i++)
            pipes[i] = (struct as_pipe){.insn = i, .path = i % 3, .dispatch = 1, .commit = 1};
        feed(oracle, 0, pipes, n);
        finish(oracle);
        if (n <= 16)
            assert_int_equal(units(oracle, n - 1, AS_STATE_COMPUTING), cycle / n);
        assert_in_range(units(oracle, 0, AS_STATE_COMPUTING), cycle / n, cycle / n + 1);
        as_oracle_free(oracle);
    }
}

static void nothing_ran(void **state)
{
    struct as_oracle *oracle = bed_oracle(4, 4);
    finish(oracle);
    size_t n;
    as_oracle_threads(oracle, &n);
    assert_int_equal(n, 0);
    assert_int_equal(as_oracle_total(oracle).cycles, 0);
    as_oracle_free(oracle);
}

/* A number that is used again is another thread; both count. */
static void thread_numbers_come_back(void **state)
{
    struct as_pipe pipe = {.insn = 1, .dispatch = 1, .commit = 5, .flags = AS_PIPE_LAST};
    struct as_oracle *oracle = bed_oracle(4, 4);
    feed(oracle, 3, &pipe, 1);
    pipe.commit = 4;
    feed(oracle, 3, &pipe, 1);
    finish(oracle);
    size_t n;
    const struct as_oracle_thread *threads = as_oracle_threads(oracle, &n);
    assert_int_equal(n, 1);
    assert_int_equal(threads[0].number, 3);
    assert_int_equal(threads[0].cycles, 9);
    assert_int_equal(units(oracle, 1, AS_STATE_COMPUTING), 2 * cycle);
    as_oracle_free(oracle);
}

/* ---- components, while the run goes on ---- */

/* Since the last call one component was charged, which has so many cycles now; 0: none was. */
static void check_noted(struct as_oracle *oracle, bool paths, uint32_t id, uint64_t cycles)
{
    struct as_pics parts = as_oracle_noted_parts(oracle, paths);
    assert_int_equal(parts.len, cycles > 0);
    if (cycles) {
        assert_int_equal(parts.data[0].id, id);
        assert_int_equal(parts.data[0].events, AS_EVENT_ST_L1);
        assert_int_equal(parts.data[0].units, cycles * cycle);
    }
    as_pics_free(&parts);
}

/* Instruction 1 takes so many cycles of a thread, on path 4. */
static void feed_late(struct as_oracle *oracle, uint32_t thread, uint64_t from, uint64_t cycles, uint32_t events)
{
    struct as_pipe pipe = {.insn = 1, .path = 4, .dispatch = from, .commit = from + cycles - 1, .events = events};
    feed(oracle, thread, &pipe, 1);
    pipe = (struct as_pipe){.insn = 2, .path = 5, .dispatch = from, .commit = from + cycles};
    feed(oracle, thread, &pipe, 1);
}

static void components_are_noted(void **state)
{
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed_late(oracle, 0, 1, 8, AS_EVENT_ST_L1);
    as_oracle_note_parts(oracle);
    check_noted(oracle, false, 0, 0); /* that was before */
    feed_late(oracle, 1, 1, 20, 0);
    check_noted(oracle, false, 0, 0);
    feed_late(oracle, 0, 10, 5, AS_EVENT_ST_L1);
    check_noted(oracle, false, 1, 8 + 5);
    check_noted(oracle, true, 4, 8 + 5);
    check_noted(oracle, false, 0, 0);
    check_noted(oracle, true, 0, 0);
    feed_late(oracle, 1, 22, 7, AS_EVENT_ST_L1); /* in all threads */
    check_noted(oracle, false, 1, 8 + 5 + 7);
    check_noted(oracle, true, 4, 8 + 5 + 7);
    finish(oracle);
    as_oracle_free(oracle);
}

/* ---- blocks whose times are known ---- */

/* A block of two instructions that commits a cycle after what was before it, again and again. */
static void feed_block(struct as_oracle *oracle, uint64_t base, size_t times)
{
    static const struct as_edge_record records[] = {{.dispatch = 1, .commit = 3, .insn = 1},
                                                    {.dispatch = 2, .commit = 4, .insn = 2}};
    static const struct as_edge edge = {
        .n = 2, .before = 2, .committed = 4, .first_end = 1, .last_start = 1, .records = records};
    for (size_t i = 0; i < times; i++) {
        struct as_edge_run run = as_edge_run_of(&edge, base + 2 * i, 0);
        as_oracle_edges(oracle, &(struct as_edge_batch){.n = 2, .n_runs = 1, .runs = &run});
    }
}

/* What is counted by edge is charged when edges are forgotten, and nothing is left of it. */
static void edges_are_charged_once(void **state)
{
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, &(struct as_pipe){.insn = 3, .dispatch = 1, .commit = 3}, 1);
    feed_block(oracle, 1, 3);
    struct as_oracle_stream *stream = &oracle->streams.data[0];
    assert_int_equal(stream->tallied.len, 1);
    assert_int_equal(as_oracle_page_at(&stream->rows, 1)->rows[1].executions, 0);
    for (int again = 0; again < 2; again++) {
        as_oracle_forget(oracle);
        assert_int_equal(stream->tallied.len, 0);
        assert_int_equal(as_oracle_page_at(&stream->rows, 1)->rows[1].executions, 3);
    }
    feed_block(oracle, 7, 1);
    assert_int_equal(stream->tallied.len, 1);
    finish(oracle);
    assert_int_equal(as_oracle_total(oracle).cycles, 11);
    assert_int_equal(units(oracle, 3, AS_STATE_STALLED), 2 * cycle);
    assert_int_equal(units(oracle, 1, AS_STATE_COMPUTING), 4 * cycle);
    assert_int_equal(units(oracle, 2, AS_STATE_COMPUTING), 4 * cycle);
    as_oracle_free(oracle);
}

/* ---- against the naive one ---- */

enum { STATICS = 60, PATHS = 7, RECORDS = 160 };

struct sums {
    uint64_t rows[STATICS][AS_STATE_COUNT], paths[PATHS][AS_STATE_COUNT];
    uint64_t executions[STATICS], path_executions[PATHS];
};

static void add_naively(struct sums *sums, const struct as_pipe *pipes, size_t n, uint32_t width)
{
    struct naive_run run = {pipes, n, width};
    for (uint64_t now = 1; now <= naive_cycles(&run); now++) {
        struct naive_answer answer = naive_oracle(&run, now);
        assert_true(answer.n > 0);
        for (size_t i = 0; i < answer.n; i++) {
            uint64_t share = cycle / answer.n + (i < cycle % answer.n);
            sums->rows[pipes[answer.at[i]].insn][answer.state] += share;
            sums->paths[pipes[answer.at[i]].path][answer.state] += share;
        }
    }
    for (size_t i = 0; i < n; i++) {
        sums->executions[pipes[i].insn] += !(pipes[i].flags & AS_PIPE_CONTINUES);
        sums->path_executions[pipes[i].path] += !(pipes[i].flags & AS_PIPE_CONTINUES);
    }
}

static void assert_same_rows(const struct as_oracle_row *rows, size_t n, const uint64_t want[][AS_STATE_COUNT],
                             const uint64_t *executions, size_t count)
{
    static const struct as_oracle_row none;
    for (size_t i = 0; i < count; i++) {
        const struct as_oracle_row *row = i < n ? &rows[i] : &none;
        assert_int_equal(row->executions, executions[i]);
        for (int s = 0; s < AS_STATE_COUNT; s++)
            assert_int_equal(row->units[s], want[i][s]);
    }
}

/* Two threads, interleaved, in batches of all sizes; sometimes without the mark on the last record. */
static void run_random(uint64_t seed)
{
    struct pipe_gen gen = {
        .random = seed,
        .width = 1 + seed % 8,
        .fuse = seed % 3 == 0,
        .statics = STATICS,
        .paths = PATHS,
        .trouble = 1 + seed % 12,
    };
    struct as_pipe pipes[2][RECORDS];
    struct as_run_info run = pipe_gen_run(&gen);
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    struct sums sums = {0};
    for (int t = 0; t < 2; t++) {
        pipe_gen_fill(&gen, pipes[t], RECORDS);
        if (seed % 2)
            pipes[t][RECORDS - 1].flags &= (uint16_t)~AS_PIPE_LAST;
        add_naively(&sums, pipes[t], RECORDS, gen.width);
    }
    for (size_t at = 0; at < RECORDS; at += 40)
        for (uint32_t t = 0; t < 2; t++)
            pipe_gen_feed(&gen, &as_oracle_observer, oracle, t, &pipes[t][at], 40, 1 + seed % 50);
    finish(oracle);
    size_t n;
    const struct as_oracle_row *rows = as_oracle_rows(oracle, &n);
    assert_same_rows(rows, n, sums.rows, sums.executions, STATICS);
    rows = as_oracle_paths(oracle, &n);
    assert_same_rows(rows, n, sums.paths, sums.path_executions, PATHS);
    assert_int_equal(as_oracle_total(oracle).cycles, pipes[0][RECORDS - 1].commit + pipes[1][RECORDS - 1].commit);
    as_oracle_free(oracle);
}

static void same_as_naive(void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_random(seed);
}

/* The random runs are worth something: every state occurs. */
static void random_runs_have_all_states(void **state)
{
    struct pipe_gen gen = {.random = 5, .width = 4, .statics = STATICS, .paths = PATHS, .trouble = 6};
    static struct as_pipe pipes[4000];
    struct as_run_info run = pipe_gen_run(&gen);
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    pipe_gen_fill(&gen, pipes, 4000);
    pipe_gen_feed(&gen, &as_oracle_observer, oracle, 0, pipes, 4000, 100);
    finish(oracle);
    struct as_oracle_thread total = as_oracle_total(oracle);
    for (int s = 0; s < AS_STATE_COUNT; s++)
        assert_true(total.units[s] > total.cycles * cycle / 200);
    as_oracle_free(oracle);
}

/* ---- what is refused ---- */

static void assert_check_fails(const struct as_pipe *pipes, size_t n, const char *message)
{
    struct as_oracle *oracle = bed_oracle(2, 2);
    struct as_error err = AS_ERROR_INIT;
    feed(oracle, 0, pipes, n);
    as_oracle_observer.finish(oracle, NULL);
    assert_false(as_oracle_check(oracle, &err));
    assert_non_null(strstr(err.message, message));
    as_oracle_free(oracle);
}

static void bad_streams_are_noticed(void **state)
{
    const struct as_pipe backwards[] = {{.commit = 5}, {.commit = 4}};
    const struct as_pipe dispatch_backwards[] = {{.dispatch = 3, .commit = 5}, {.dispatch = 2, .commit = 6}};
    const struct as_pipe too_late[] = {{.dispatch = 6, .commit = 5}};
    const struct as_pipe crowd[] = {{.commit = 1}, {.commit = 1}, {.commit = 1}};
    const struct as_pipe no_cycle[] = {{.commit = 0}};
    assert_check_fails(backwards, 2, "out of order");
    assert_check_fails(dispatch_backwards, 2, "out of order");
    assert_check_fails(too_late, 1, "out of order");
    assert_check_fails(crowd, 3, "more than 2 instructions of thread 0 commit in cycle 1");
    assert_check_fails(no_cycle, 1, "were charged");
}

/* One more of something, and one less again: the check finds it, and nothing else is wrong. */
static void assert_found(struct as_oracle *oracle, uint64_t *number, const char *message)
{
    struct as_error err = AS_ERROR_INIT;
    ++*number;
    assert_false(as_oracle_check(oracle, &err));
    if (!strstr(err.message, message))
        fail_msg("%s", err.message);
    --*number;
    assert_true(as_oracle_check(oracle, &err));
}

static void sums_that_differ_are_noticed(void **state)
{
    const struct as_pipe pipes[] = {{.insn = 1, .path = 2, .dispatch = 1, .commit = 1},
                                    {.insn = 2, .path = 2, .dispatch = 1, .commit = 4}};
    struct as_oracle *oracle = bed_oracle(2, 2);
    feed(oracle, 0, pipes, 2);
    finish(oracle);
    struct as_oracle_stream *stream = &oracle->streams.data[0];
    assert_found(oracle, &as_oracle_page_at(&stream->rows, 1)->rows[1].base, "instruction 1 was charged");
    as_oracle_page_at(&oracle->merged, 3)->rows[3].executions =
        1; /* of a thread that has no rows of its own any more */
    assert_found(oracle, &as_oracle_page_at(&oracle->merged, 3)->rows[3].base, "instruction 3 was charged");
    assert_found(oracle, &as_oracle_page_at(&oracle->paths, 2)->rows[2].base, "call path 2 was charged");
    assert_found(oracle, &stream->thread.cycles, "thread 0 ran 5 cycles");
    assert_found(oracle, &oracle->all_rows.data[1].executions, "2 instructions were executed, but 3 were counted by i");
    assert_found(oracle, &oracle->all_rows.data[2].units[AS_STATE_STALLED], "cycles by instruction do not add up");
    assert_found(oracle, &oracle->all_paths.data[2].executions,
                 "2 instructions were executed, but 3 were counted by c");
    assert_found(oracle, &oracle->all_paths.data[2].units[AS_STATE_STALLED], "cycles by call path do not add up");
    as_oracle_free(oracle);
}

static void too_wide_is_refused(void **state)
{
    struct as_run_info run = {.size = sizeof run, .commit_width = AS_COMMIT_WIDTH_MAX + 1};
    struct as_error err = AS_ERROR_INIT;
    assert_null(as_oracle_new(&run, &err));
    assert_string_equal(err.message, "the Oracle can follow 1 to 12 commits a cycle, not 13");
    run.commit_width = 0;
    assert_null(as_oracle_new(&run, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_a_computing),
        cmocka_unit_test(example_b_stalled),
        cmocka_unit_test(example_c_flushed),
        cmocka_unit_test(example_d_drained),
        cmocka_unit_test(serialised),
        cmocka_unit_test(page_miss),
        cmocka_unit_test(flush_at_commit),
        cmocka_unit_test(rep_is_one_instruction),
        cmocka_unit_test(wide_groups),
        cmocka_unit_test(nothing_ran),
        cmocka_unit_test(thread_numbers_come_back),
        cmocka_unit_test(components_are_noted),
        cmocka_unit_test(edges_are_charged_once),
        cmocka_unit_test(same_as_naive),
        cmocka_unit_test(random_runs_have_all_states),
        cmocka_unit_test(bad_streams_are_noticed),
        cmocka_unit_test(sums_that_differ_are_noticed),
        cmocka_unit_test(too_wide_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
