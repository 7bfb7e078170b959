/* What the bundled observers write of random runs, against tests/golden/observed.txt: of several threads, one of whose numbers comes back,
 * with stays in all resources. Of what is long, the beginning, and a hash of all of it. */
#include "trace_files.h"

#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"
#include "observe/bundled.h"
#include "unit_golden.h"

#include <inttypes.h>

enum { RECORDS = 1500, THREADS = 3, PIECES = 10, PIECE = RECORDS / PIECES, SHOWN = 600 };

static size_t frames(void *context, uint32_t path, const char **names, size_t n)
{
    static const char *const all[] = {"main", "work", "leaf"};
    for (size_t i = 0; i < path && i < n; i++)
        names[i] = all[path - 1 - i];
    return path;
}

static const char *function(void *context, uint32_t id)
{
    return id % 5 == 4 ? "" : id % 2 ? "odd" : "even";
}

static void files_init(struct files *files, uint64_t seed)
{
    files_begin(files, seed, 1 + seed % 4, seed % 2);
    struct as_run_info *run = &files->bed.run;
    run->frames = frames;
    run->function = function;
    run->frequency = 3.2e9;
    for (int i = 0; i < AS_RESOURCE_COUNT; i++)
        run->entries[i] = (uint32_t)(i + 1) * 8;
}

static uint32_t below(struct files *files, uint32_t limit)
{
    return pipe_gen_below(&files->bed.gen, limit);
}

/* A thread's records, with each flag in some of them. */
static struct as_pipe *fill(struct files *files)
{
    struct as_pipe *pipes = as_alloc_array(RECORDS, sizeof *pipes);
    pipe_gen_fill(&files->bed.gen, pipes, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        pipes[i].path = 1 + i / 70 % 3;
        pipes[i].flags |= below(files, 4) ? 0 : AS_PIPE_TAKEN;
    }
    return pipes;
}

static void tell(struct files *files, const struct as_observer *ops, void *self, uint32_t thread,
                 const struct as_pipe *pipes)
{
    struct as_stay stays[12];
    for (size_t i = 0; i < 12; i++)
        stays[i] = (struct as_stay){.from = pipes[below(files, PIECE)].dispatch,
                                    .cycles = below(files, i % 3 ? 20 : 900),
                                    .resource = (uint8_t)below(files, AS_RESOURCE_COUNT)};
    struct as_pipe_batch batch = {
        .size = sizeof batch, .thread = thread, .n = PIECE, .pipes = pipes, .n_stays = 12, .stays = stays};
    ops->batch(self, &batch);
}

static void show(FILE *out, const char *text, size_t size, unsigned char most)
{
    for (size_t i = 0; i < size && (i < SHOWN || size < 2 * SHOWN); i++)
        if (text[i] == '\n' || ((unsigned char)text[i] >= ' ' && (unsigned char)text[i] <= most))
            fputc(text[i], out);
        else
            fprintf(out, "\\%o", (unsigned char)text[i]);
    if (size >= 2 * SHOWN)
        fprintf(out, "…\n%zu bytes, %016" PRIx64 "\n", size, as_hash_bytes(text, size));
}

static void observe(FILE *out, const struct as_observer *ops, const char *argument, uint64_t seed)
{
    struct files files;
    char *report;
    size_t size;
    files_init(&files, seed);
    unit_golden_section(out, "%s %s, seed %" PRIu64, ops->name, argument, seed);
    FILE *to = open_memstream(&report, &size);
    void *self = ops->create(&files.bed.run, argument);
    if (!self)
        fail_msg("%s refuses %s", ops->name, argument);
    for (int life = 0; life < 2; life++) { /* the second is of the first thread's number alone */
        struct as_pipe *pipes[THREADS];
        for (int thread = 0; thread < THREADS; thread++)
            pipes[thread] = fill(&files);
        for (size_t piece = 0; piece < PIECES; piece++)
            for (uint32_t thread = 0; thread < (life ? 1 : THREADS); thread++)
                tell(&files, ops, self, thread + 1, pipes[thread] + piece * PIECE);
        for (int thread = 0; thread < THREADS; thread++)
            free(pipes[thread]);
    }
    ops->finish(self, to);
    ops->free(self);
    fclose(to);
    show(out, report, size, 0xff);
    free(report);
    files_close(&files);
    for (size_t i = 0; i < files.n; i++) {
        fprintf(out, "-- %s\n", files.open[i].path);
        show(out, files.open[i].text, files.open[i].size, '~');
    }
    files_free(&files);
}

static void observers(void **state)
{
    static const struct {
        const struct as_observer *ops;
        const char *argument;
    } cases[] = {{&as_konata_observer, "k"},
                 {&as_o3pipeview_observer, "o3"},
                 {&as_cycle_trace_observer, "cycles"},
                 {&as_cycle_trace_all_observer, "all"},
                 {&as_commit_csv_observer, "commits.csv"},
                 {&as_commit_trace_observer, "commits"},
                 {&as_counters_observer, "counters.csv"},
                 {&as_counters_observer, "counters.csv,1000"},
                 {&as_counters_observer, "some,counters.json,77"},
                 {&as_counters_observer, "counters,json"},
                 {&as_timeline_observer, ""},
                 {&as_timeline_observer, "1"},
                 {&as_timeline_observer, "500"},
                 {&as_timeline_observer, "17"},
                 {&as_calls_observer, "calls"},
                 {&as_flame_observer, "flame"}};
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 2; seed++)
            observe(out, cases[i].ops, cases[i].argument, 10 * i + seed);
    unit_golden_check(out, "observed.txt");
}

/* By name, each of them, and what its argument is. */
static void names(void **state)
{
    FILE *out = unit_golden_begin();
    const struct as_observer *ops;
    for (size_t i = 0; (ops = as_bundled_at(i)); i++) {
        assert_ptr_equal(as_bundled_find(ops->name), ops);
        fprintf(out, "%s %s: wants %u, %u workers%s%s%s%s\n", ops->name, as_bundled_argument(ops), ops->wants,
                ops->workers, ops->batch ? ", batches" : "", ops->accesses ? ", accesses" : "",
                ops->edges ? ", edges" : "", ops->merge ? ", merged" : "");
    }
    assert_null(as_bundled_find("none"));
    unit_golden_check(out, "observers.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(observers), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
