/* Blocks whose times are known give the Oracle and the samplers what their records give. A random stretch of a run is repeated; from
 * its second round on it comes along edges, but for some blocks, in batches of random sizes, and now and then the edges are
 * forgotten. */
#include "unit.h"

#include "assay/edge.h"
#include "base/alloc.h"
#include "observe/bundled.h"
#include "observe/oracle.h"
#include "pipe_gen.h"
#include "sampler/sampling.h"

#include <stdio.h>

enum { STATICS = 60, STRETCH = 700, ROUNDS = 12, RECORDS = STRETCH * ROUNDS, BLOCK_MOST = 9, MOST_RUNS = 400 };

/* A block of the stretch, and its edge; no edge where a record was tried twice. */
struct block {
    uint32_t first, n;
    bool has_edge;
    struct as_edge edge;
    struct as_edge_record records[BLOCK_MOST];
};

struct bed {
    struct pipe_gen gen;
    struct as_pipe pipes[RECORDS];
    uint64_t apart; /* cycles from a round to the next */
    struct block blocks[STRETCH];
    uint32_t n_blocks;
};

static void fill_pipes(struct bed *bed)
{
    struct as_pipe *pipes = bed->pipes;
    pipe_gen_fill(&bed->gen, pipes, STRETCH);
    pipes[STRETCH - 1].flags &= (uint16_t) ~(AS_PIPE_LAST | AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED);
    pipes[0].flags = 0;
    bed->apart = pipes[STRETCH - 1].commit + (bed->gen.random & 1);
    for (uint32_t i = STRETCH; i < RECORDS; i++) {
        pipes[i] = pipes[i - STRETCH];
        pipes[i].fetch += bed->apart;
        pipes[i].dispatch += bed->apart;
        pipes[i].issue += bed->apart;
        pipes[i].done += bed->apart;
        pipes[i].commit += bed->apart;
    }
    pipes[RECORDS - 1].flags |= AS_PIPE_LAST;
}

static bool fits(const struct as_pipe *pipe, const struct as_pipe *first)
{
    return pipe->path == first->path && !(pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED));
}

/* Cycles count from the last dispatch before it. */
static void make_edge(struct block *block, const struct as_pipe *pipes, uint32_t number)
{
    const struct as_pipe *before = &pipes[-1];
    uint64_t base = before->dispatch;
    struct as_edge *edge = &block->edge;
    *edge = (struct as_edge){.number = number,
                             .n = block->n,
                             .before = (int32_t)(int64_t)(before->commit - base),
                             .flags_before = before->flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES),
                             .records = block->records};
    for (uint32_t i = 0; i < block->n; i++) {
        const struct as_pipe *pipe = &pipes[i];
        block->records[i] = (struct as_edge_record){.fetch = (int32_t)(int64_t)(pipe->fetch - base),
                                                    .dispatch = (int32_t)(int64_t)(pipe->dispatch - base),
                                                    .issue = (int32_t)(int64_t)(pipe->issue - base),
                                                    .done = (int32_t)(int64_t)(pipe->done - base),
                                                    .commit = (int32_t)(int64_t)(pipe->commit - base),
                                                    .insn = pipe->insn,
                                                    .events = pipe->events,
                                                    .wrong_path = pipe->wrong_path,
                                                    .flags = pipe->flags,
                                                    .uops = pipe->uops,
                                                    .wrong_delay = pipe->wrong_delay};
        edge->continued += (pipe->flags & AS_PIPE_CONTINUES) != 0;
        edge->first_end += pipe->commit == pipes[0].commit;
        if (i > 0 && pipe->commit != pipe[-1].commit)
            edge->last_start = (uint16_t)i;
    }
    edge->committed = block->records[block->n - 1].commit;
}

static void cut_blocks(struct bed *bed)
{
    const struct as_pipe *second = &bed->pipes[STRETCH];
    for (uint32_t first = 0; first < STRETCH; first += bed->blocks[bed->n_blocks++].n) {
        struct block *block = &bed->blocks[bed->n_blocks];
        uint32_t most = 1 + pipe_gen_below(&bed->gen, BLOCK_MOST);
        block->first = first;
        block->n = 1;
        block->has_edge = fits(&second[first], &second[first]);
        while (block->has_edge && block->n < most && first + block->n < STRETCH &&
               fits(&second[first + block->n], &second[first]))
            block->n++;
        if (block->has_edge)
            make_edge(block, &second[first], bed->n_blocks);
    }
}

/* All blocks of a round, of which one in `known` comes as records. */
static size_t fill_runs(struct bed *bed, uint32_t round, uint32_t known, struct as_edge_run *runs)
{
    for (uint32_t i = 0; i < bed->n_blocks; i++) {
        const struct block *block = &bed->blocks[i];
        uint32_t first = round * STRETCH + block->first;
        bool along = round > 0 && block->has_edge && pipe_gen_below(&bed->gen, known);
        runs[i] = as_edge_run_of_records(bed->pipes, first, block->n);
        if (along)
            runs[i] = as_edge_run_of(&block->edge, bed->pipes[first - 1].dispatch, runs[i].path);
        runs[i].first = (uint16_t)first;
    }
    return bed->n_blocks;
}

static void feed_runs(struct bed *bed, const struct as_observer *observer, void *self, const struct as_edge_run *runs,
                      size_t n_runs, bool last)
{
    for (size_t at = 0, piece; at < n_runs; at += piece) {
        piece = 1 + pipe_gen_below(&bed->gen, MOST_RUNS);
        piece = piece < n_runs - at ? piece : n_runs - at;
        size_t n = 0;
        struct as_edge_run copy[MOST_RUNS];
        for (size_t i = 0; i < piece; n += runs[at + i++].n) {
            copy[i] = runs[at + i];
            copy[i].first = (uint16_t)n;
        }
        struct as_edge_batch batch = {.thread = 1,
                                      .n = n,
                                      .n_runs = piece,
                                      .pipes = &bed->pipes[runs[at].first],
                                      .runs = copy,
                                      .last = last && at + piece == n_runs};
        observer->edges(self, &batch);
        if (pipe_gen_below(&bed->gen, 6) == 0 && observer->forget)
            observer->forget(self);
    }
}

static void feed_edges(struct bed *bed, const struct as_observer *observer, void *self, uint32_t known)
{
    static struct as_edge_run runs[STRETCH];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t n = fill_runs(bed, round, known, runs);
        feed_runs(bed, observer, self, runs, n, round == ROUNDS - 1);
    }
}

static void feed_records(struct bed *bed, const struct as_observer *observer, void *self)
{
    pipe_gen_feed(&bed->gen, observer, self, 1, bed->pipes, RECORDS, 300);
    observer->finish(self, NULL);
}

static struct bed *make_bed(uint64_t seed)
{
    struct bed *bed = as_alloc(sizeof *bed);
    bed->gen = (struct pipe_gen){.random = seed,
                                 .width = 1 + seed % 8,
                                 .fuse = seed % 3 == 0,
                                 .statics = STATICS,
                                 .paths = 3,
                                 .trouble = 4 + seed % 20};
    fill_pipes(bed);
    cut_blocks(bed);
    return bed;
}

static void same_pics(struct as_pics a, struct as_pics b)
{
    assert_int_equal(a.len, b.len);
    assert_true(a.len > 0);
    assert_memory_equal(a.data, b.data, a.len * sizeof *a.data);
    as_pics_free(&a);
    as_pics_free(&b);
}

static void oracle_of_edges(void **state)
{
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct bed *bed = make_bed(seed);
        struct as_run_info run = pipe_gen_run(&bed->gen);
        struct as_error err = AS_ERROR_INIT;
        struct as_oracle *want = as_oracle_new(&run, &err), *got = as_oracle_new(&run, &err);
        feed_records(bed, &as_oracle_observer, want);
        feed_edges(bed, &as_oracle_observer, got, 2 + seed % 7);
        as_oracle_observer.finish(got, NULL);
        if (!as_oracle_check(want, &err) || !as_oracle_check(got, &err))
            fail_msg("%s", err.message);
        struct as_oracle_thread a = as_oracle_total(want), b = as_oracle_total(got);
        assert_int_equal(a.cycles, b.cycles);
        assert_int_equal(a.records, b.records);
        assert_int_equal(a.instructions, b.instructions);
        assert_memory_equal(a.units, b.units, sizeof a.units);
        same_pics(as_oracle_pics(want), as_oracle_pics(got));
        same_pics(as_oracle_path_pics(want), as_oracle_path_pics(got));
        size_t n, others;
        const struct as_oracle_row *rows = as_oracle_rows(want, &n), *other = as_oracle_rows(got, &others);
        assert_int_equal(n, others);
        assert_memory_equal(rows, other, n * sizeof *rows);
        assert_memory_equal(as_oracle_unexplained(want), as_oracle_unexplained(got),
                            offsetof(struct as_stall_lengths, others));
        as_oracle_free(want);
        as_oracle_free(got);
        free(bed);
    }
}

/* The thread's end is told with its last records: samples that wait are answered then, before the run ends. */
static void samples_of_edges(void **state)
{
    static const uint64_t periods[] = {1, 61, 307, 509, 1009};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bed *bed = make_bed(seed);
        struct as_run_info run = pipe_gen_run(&bed->gen);
        struct as_error err = AS_ERROR_INIT;
        struct as_schedule schedule = {.period = periods[seed % 5]};
        struct as_sampling *want = as_sampling_new(&run, &schedule, as_samplers, AS_SAMPLER_COUNT, &err),
                           *got = as_sampling_new(&run, &schedule, as_samplers, AS_SAMPLER_COUNT, &err);
        feed_records(bed, &as_sampling_observer, want);
        feed_edges(bed, &as_sampling_observer, got, seed % 3 ? 2000 : 2 + seed % 7);
        size_t n;
        const struct as_sampling_result *a = as_sampling_results(want, &n), *b = as_sampling_results(got, &n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(a[i].samples, b[i].samples);
            assert_int_equal(a[i].dropped, b[i].dropped);
            assert_int_equal(a[i].profile.total, b[i].profile.total);
            for (uint32_t id = 0; id < STATICS; id++)
                assert_int_equal(as_profile_get(&a[i].profile, id), as_profile_get(&b[i].profile, id));
            if (a[i].samples) {
                same_pics(as_sampling_pics(want, i), as_sampling_pics(got, i));
                same_pics(as_sampling_path_pics(want, i), as_sampling_path_pics(got, i));
            }
        }
        as_sampling_free(want);
        as_sampling_free(got);
        free(bed);
    }
}

/* ---- observers that write files ---- */

static FILE *open_memory(void *context, const char *path)
{
    FILE **file = context;
    return *file = tmpfile();
}

/* Path p has p + 1 frames. */
static size_t frames_of(void *context, uint32_t path, const char **names, size_t n)
{
    static const char *const all[] = {"main", "middle", "leaf"};
    for (size_t i = 0; i <= path && i < n; i++)
        names[i] = all[(path - i) % 3];
    return path + 1;
}

/* What an observer writes of the run: by records, or along edges. The caller frees. */
static char *written_by(struct bed *bed, const struct as_observer *observer, bool edges)
{
    FILE *file = NULL, *said = tmpfile();
    struct as_run_info run = pipe_gen_run(&bed->gen);
    run.context = &file;
    run.open = open_memory;
    run.frames = frames_of;
    void *self = observer->create(&run, "file");
    assert_non_null(self);
    if (edges) {
        static struct as_edge_run runs[STRETCH];
        for (uint32_t round = 0; round < ROUNDS; round++)
            feed_runs(bed, observer, self, runs, fill_runs(bed, round, 5, runs), round == ROUNDS - 1);
    } else
        pipe_gen_feed(&bed->gen, observer, self, 1, bed->pipes, RECORDS, 300);
    observer->finish(self, said);
    observer->free(self);
    assert_non_null(file);
    size_t size = (size_t)ftell(file);
    char *text = as_alloc(size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    fclose(said);
    return text;
}

static void files_of_edges(void **state)
{
    const struct as_observer *const observers[] = {&as_calls_observer, &as_flame_observer};
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (size_t i = 0; i < 2; i++) {
            struct bed *bed = make_bed(seed);
            char *want = written_by(bed, observers[i], false), *got = written_by(bed, observers[i], true);
            assert_true(strlen(want) > 40);
            assert_string_equal(want, got);
            free(want);
            free(got);
            free(bed);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(oracle_of_edges), cmocka_unit_test(samples_of_edges),
                                       cmocka_unit_test(files_of_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
