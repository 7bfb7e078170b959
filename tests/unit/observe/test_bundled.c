/* The bundled observers that write files: every record, every cycle and every call is in them, once, whatever the sizes
 * of the batches; and what they refuse. */
#include "trace_files.h"

#include "base/vec.h"
#include "observe/bundled.h"
#include "observe/intervals.h"

#include <inttypes.h>

enum { RECORDS = 5000 };

/* Path p is p % 4 frames deep: "f1", "f1;f2" … */
static size_t frames(void *context, uint32_t path, const char **names, size_t n)
{
    static const char *const all[] = {"f1", "g;x", "h,\"y\""};
    size_t depth = path % 4;
    for (size_t i = 0; i < depth && i < n; i++)
        names[i] = all[depth - 1 - i];
    return depth;
}

static void files_init(struct files *files, uint64_t seed)
{
    files_begin(files, seed, 4, false);
    files->bed.run.frames = frames;
}

/* The thread's records through the observer; the text of its report is freed. */
static void observe(struct files *files, const struct as_observer *ops, const char *argument,
                    const struct as_pipe *pipes, size_t n)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    void *self = ops->create(&files->bed.run, argument);
    assert_non_null(self);
    pipe_gen_feed(&files->bed.gen, ops, self, 1, pipes, n, 300);
    ops->finish(self, out);
    ops->free(self);
    fclose(out);
    free(text);
    files_close(files);
}

static struct as_pipe *fill(struct files *files)
{
    struct as_pipe *pipes = as_alloc_array(RECORDS, sizeof *pipes);
    pipe_gen_fill(&files->bed.gen, pipes, RECORDS);
    return pipes;
}

static void commits_as_csv(void **state)
{
    struct files files;
    files_init(&files, 3);
    struct as_pipe *pipes = fill(&files);
    for (size_t i = RECORDS / 2; i < RECORDS; i++) /* from one number of digits to the next, by steps of all sizes */
        pipes[i].commit += UINT64_C(99999) * (i - RECORDS / 2);
    observe(&files, &as_commit_csv_observer, "c.csv", pipes, RECORDS);
    assert_string_equal(files.open[0].path, "c.csv");
    const char *at = files.open[0].text;
    assert_memory_equal(at, "cycle,address\n", 14);
    at += 14;
    for (size_t i = 0; i < RECORDS; i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "%" PRIu64 ",0x%" PRIx64 "\n", pipes[i].commit, bed_address(pipes[i].insn));
        assert_memory_equal(at, line, n);
        at += n;
    }
    assert_int_equal(*at, 0);
    free(pipes);
    files_free(&files);
}

static uint64_t word_at(const struct files *files, size_t offset)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | (uint8_t)files->open[0].text[offset + (size_t)i];
    return value;
}

static void commits_as_records(void **state)
{
    struct files files;
    files_init(&files, 4);
    struct as_pipe *pipes = fill(&files);
    observe(&files, &as_commit_trace_observer, "c", pipes, RECORDS);
    assert_int_equal(files.open[0].size, 16 + 16 * RECORDS);
    assert_memory_equal(files.open[0].text, "ASSAYCMT\1\0\0\0\20\0\0\0", 16);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_int_equal(word_at(&files, 16 + 16 * i), pipes[i].commit);
        assert_int_equal(word_at(&files, 24 + 16 * i), bed_address(pipes[i].insn));
    }
    free(pipes);
    files_free(&files);
}

/* Runs along edges, which the traces write without making records of them; halfway all edges are forgotten, and their numbers stand
 * for others. */
static void commits_along_edges(void **state)
{
    enum { RUNS = 4000, LENGTH = 3 };
    static const struct as_edge_record before[] = {{.commit = -2, .insn = 5},
                                                   {.commit = 0, .insn = 6},
                                                   {.commit = 1, .insn = 7}},
                                       after[] = {{.commit = 1, .insn = 8},
                                                  {.commit = 1, .insn = 9},
                                                  {.commit = 12, .insn = 4}};
    const struct as_edge edges[2][2] = {{{.number = 0, .n = LENGTH, .committed = 1, .records = before},
                                         {.number = 3, .n = LENGTH, .committed = 12, .records = after}},
                                        {{.number = 0, .n = LENGTH, .committed = 12, .records = after},
                                         {.number = 3, .n = LENGTH, .committed = 1, .records = before}}};
    const struct as_observer *const observers[] = {&as_commit_trace_observer, &as_commit_csv_observer};
    for (int binary = 1; binary >= 0; binary--) {
        struct files files;
        files_init(&files, 6);
        void *self = observers[!binary]->create(&files.bed.run, "c");
        for (uint64_t i = 0; i < RUNS; i++) {
            if (i == RUNS / 2 && observers[!binary]->forget)
                observers[!binary]->forget(self);
            struct as_edge_run run = as_edge_run_of(&edges[i >= RUNS / 2][i % 2], 10 + 13 * i, 0);
            observers[!binary]->edges(self,
                                      &(struct as_edge_batch){.thread = 1, .n = LENGTH, .n_runs = 1, .runs = &run});
        }
        observers[!binary]->finish(self, NULL);
        observers[!binary]->free(self);
        files_close(&files);
        assert_true(!binary || files.open[0].size == 16 + 16 * RUNS * LENGTH);
        const char *at = files.open[0].text + 14;
        for (uint64_t i = 0; i < RUNS * LENGTH; i++) {
            const struct as_edge_record *record = &edges[i / LENGTH >= RUNS / 2][i / LENGTH % 2].records[i % LENGTH];
            uint64_t cycle = 10 + 13 * (i / LENGTH) + (uint64_t)(int64_t)record->commit,
                     address = bed_address(record->insn);
            char line[64];
            int n = snprintf(line, sizeof line, "%" PRIu64 ",0x%" PRIx64 "\n", cycle, address);
            if (binary) {
                assert_int_equal(word_at(&files, 16 + 16 * i), cycle);
                assert_int_equal(word_at(&files, 24 + 16 * i), address);
            } else {
                assert_memory_equal(at, line, n);
                at += n;
            }
        }
        files_free(&files);
    }
}

/* Edges of more records, or of more cycles, than rows are prepared for. */
static void commits_along_long_edges(void **state)
{
    enum { MANY = 100, RUNS = 40, START = 123456, STEP = 13000 };
    static const struct as_edge_record slow[] = {
        {.commit = -2, .insn = 5}, {.commit = 5000, .insn = 6}, {.commit = 12500, .insn = 7}};
    struct as_edge_record many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] = (struct as_edge_record){.commit = i / 3, .insn = 1 + (uint32_t)i % 9};
    const struct as_edge edges[2] = {{.number = 0, .n = 3, .committed = 12500, .records = slow},
                                     {.number = 1, .n = MANY, .committed = MANY / 3, .records = many}};
    struct files files;
    files_init(&files, 6);
    void *self = as_commit_csv_observer.create(&files.bed.run, "c");
    for (uint64_t i = 0; i < RUNS; i++) {
        struct as_edge_run run = as_edge_run_of(&edges[i % 2], START + STEP * i, 0);
        as_commit_csv_observer.edges(
            self, &(struct as_edge_batch){.thread = 1, .n = edges[i % 2].n, .n_runs = 1, .runs = &run});
    }
    as_commit_csv_observer.finish(self, NULL);
    as_commit_csv_observer.free(self);
    files_close(&files);
    const char *at = strchr(files.open[0].text, '\n') + 1;
    for (uint64_t i = 0; i < RUNS; i++)
        for (uint32_t k = 0; k < edges[i % 2].n; k++) {
            const struct as_edge_record *record = &edges[i % 2].records[k];
            char line[64];
            int n = snprintf(line, sizeof line, "%" PRIu64 ",0x%" PRIx64 "\n",
                             START + STEP * i + (uint64_t)(int64_t)record->commit, bed_address(record->insn));
            assert_memory_equal(at, line, n);
            at += n;
        }
    assert_string_equal(at, "");
    files_free(&files);
}

/* Paths as a program has them: 1 calls 2, which calls 3; names end at different depths. */
static void set_paths(struct as_pipe *pipes)
{
    for (size_t i = 0; i < RECORDS; i++)
        pipes[i].path = i % 100 < 40 ? 1 : i % 100 < 60 ? 2 : i % 100 < 70 ? 3 : i % 100 < 80 ? 2 : 1;
}

static void flames_hold_every_cycle(void **state)
{
    struct files files;
    files_init(&files, 5);
    struct as_pipe *pipes = fill(&files);
    uint64_t cycles[4] = {0}, last = 0, one, two, three;
    set_paths(pipes);
    pipes[7].path = 5; /* the same names as path 1 */
    pipes[8].path = 0;
    for (size_t i = 0; i < RECORDS; last = pipes[i++].commit)
        cycles[pipes[i].path % 4] += pipes[i].commit - last;
    observe(&files, &as_flame_observer, "f", pipes, RECORDS);
    char format[200];
    uint64_t unknown = 0;
    snprintf(format, sizeof format, "[unknown] %%%s\nf1 %%%s\nf1;g:x %%%s\nf1;g:x;h,\"y\" %%%s\n", PRIu64, PRIu64,
             PRIu64, PRIu64);
    int n = sscanf(files.open[0].text, cycles[0] ? format : format + strlen("[unknown] %lu\n"), &unknown, &one, &two,
                   &three);
    if (cycles[0] == 0) {
        three = two;
        two = one;
        one = unknown;
    }
    assert_int_equal(n, cycles[0] ? 4 : 3);
    assert_int_equal(one, cycles[1]);
    assert_int_equal(two, cycles[2]);
    assert_int_equal(three, cycles[3]);
    assert_int_equal(cycles[0] + one + two + three, pipes[RECORDS - 1].commit);
    free(pipes);
    files_free(&files);
}

/* Path p is of p calls of "f" that end in "leaf". */
static size_t deep_frames(void *context, uint32_t path, const char **names, size_t n)
{
    for (uint32_t i = 0; i < path && i < n; i++)
        names[i] = i == 0 ? "leaf" : "f";
    return path;
}

/* Of calls that are deeper than 4096 the outermost are left out. */
static void flames_are_cut(void **state)
{
    enum { MOST = 4096 };
    static const uint32_t paths[] = {MOST, MOST - 1, 2 * MOST, MOST + 1};
    struct as_pipe pipes[4];
    struct files files;
    files_init(&files, 1);
    files.bed.run.frames = deep_frames;
    for (uint32_t i = 0; i < 4; i++)
        pipes[i] = (struct as_pipe){.commit = i + 1, .path = paths[i]};
    observe(&files, &as_flame_observer, "f", pipes, 4);
    char *want = malloc(4 * MOST), *at = want;
    for (int i = 1; i < MOST; i++)
        at = stpcpy(at, "f;");
    at = stpcpy(at, "leaf 3\n"); /* cycles; the shorter one comes first */
    assert_string_equal(strstr(files.open[0].text, "leaf 1\n") + 7, want);
    assert_memory_equal(files.open[0].text, want + 2, 2 * (MOST - 2));
    free(want);
    files_free(&files);
}

/* Every hundred records: a call of 2 within 1, and one of 3 within it. */
static void calls_begin_and_end(void **state)
{
    struct files files;
    files_init(&files, 6);
    struct as_pipe *pipes = fill(&files);
    set_paths(pipes);
    observe(&files, &as_calls_observer, "calls", pipes, RECORDS);
    char *want;
    size_t size;
    FILE *out = open_memstream(&want, &size);
    fprintf(out, "thread,depth,start,end,function\n");
    for (size_t i = 0; i < RECORDS; i += 100) {
        fprintf(out, "1,2,%" PRIu64 ",%" PRIu64 ",\"h,\"\"y\"\"\"\n", pipes[i + 59].commit, pipes[i + 69].commit);
        fprintf(out, "1,1,%" PRIu64 ",%" PRIu64 ",g;x\n", pipes[i + 39].commit, pipes[i + 79].commit);
    }
    fprintf(out, "1,0,0,%" PRIu64 ",f1\n", pipes[RECORDS - 1].commit);
    fclose(out);
    assert_string_equal(files.open[0].text, want);
    free(want);
    free(pipes);
    files_free(&files);
}

/* ---- counters ---- */

static void check_counts(const struct as_intervals *intervals, const struct as_pipe *pipes, size_t n)
{
    const struct as_interval_thread *thread = &intervals->threads.data[1];
    assert_int_equal(thread->cycles, pipes[n - 1].commit);
    uint64_t cycles = 0;
    for (size_t row = 0; row < as_intervals_count_rows(intervals, thread); row++) {
        uint32_t instructions = 0, mispredicted = 0, flushes = 0, first_event = 0;
        for (size_t i = 0; i < n; i++)
            if ((pipes[i].commit - 1) / intervals->length == row) {
                instructions += !(pipes[i].flags & AS_PIPE_CONTINUES);
                mispredicted += (pipes[i].flags & AS_PIPE_MISPREDICTED) != 0;
                flushes += (pipes[i].flags & AS_PIPE_FLUSHES) != 0;
                flushes += (pipes[i].flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED)) != 0;
                first_event += pipes[i].events & 1;
            }
        assert_int_equal(thread->rows.data[row].counts[AS_INTERVAL_INSTRUCTIONS], instructions);
        assert_int_equal(thread->rows.data[row].counts[AS_INTERVAL_MISPREDICTED], mispredicted);
        assert_int_equal(thread->rows.data[row].counts[AS_INTERVAL_FLUSHES], flushes);
        assert_int_equal(thread->rows.data[row].counts[AS_INTERVAL_EVENTS], first_event);
        cycles += as_intervals_cycles(intervals, thread, row);
    }
    assert_int_equal(cycles, thread->cycles);
}

/* One that sees everything, and three that share the batches and are merged. */
static void intervals_can_be_shared(void **state)
{
    for (int folds = 0; folds < 2; folds++) {
        struct files files;
        struct as_intervals whole = {.length = 64, .most = folds ? 8 : 0}, parts[3] = {whole, whole, whole};
        files_init(&files, 7);
        struct as_pipe *pipes = fill(&files);
        for (size_t at = 0, batch = 0; at < RECORDS; at += 250, batch++) {
            struct as_stay stays[2] = {{.from = pipes[at].dispatch, .cycles = 1000, .resource = AS_RESOURCE_ROB},
                                       {.from = pipes[at].commit, .cycles = 1, .resource = AS_RESOURCE_MSHR_L2}};
            struct as_pipe_batch told = {
                .size = sizeof told, .thread = 1, .n = 250, .pipes = pipes + at, .n_stays = 2, .stays = stays};
            as_intervals_add(&whole, &told);
            as_intervals_add(&parts[batch % 3], &told);
        }
        as_intervals_merge(&parts[0], &parts[1]);
        as_intervals_merge(&parts[0], &parts[2]);
        assert_int_equal(parts[0].length, whole.length);
        assert_true(folds ? whole.length > 64 && whole.threads.data[1].rows.len <= 8 : whole.length == 64);
        uint64_t occupied = 0;
        for (size_t i = 0; i < whole.threads.data[1].rows.len; i++) {
            assert_memory_equal(&whole.threads.data[1].rows.data[i], &parts[0].threads.data[1].rows.data[i],
                                sizeof(struct as_interval));
            occupied += whole.threads.data[1].rows.data[i].occupied[AS_RESOURCE_ROB];
        }
        assert_int_equal(occupied, RECORDS / 250 * 1000);
        check_counts(&whole, pipes, RECORDS);
        as_intervals_free(&whole);
        for (int i = 0; i < 3; i++)
            as_intervals_free(&parts[i]);
        free(pipes);
        files_free(&files);
    }
}

/* Two instructions in the first interval, nothing in the second, one in the third, which is cut short. */
/* Runs along edges add to intervals what their records and stays do, wherever borders lie. */
static void intervals_along_edges(void **state)
{
    enum { RUNS = 300, LENGTH = 3 };
    static const struct as_edge_record records[2][LENGTH] = {
        {{.commit = -1, .uops = 1},
         {.commit = 4, .uops = 2, .flags = AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED},
         {.commit = 9, .uops = 1, .events = AS_EVENT_ST_L1}},
        {{.commit = 1, .uops = 3, .flags = AS_PIPE_CONTINUES}, {.commit = 1, .uops = 1}, {.commit = 2, .uops = 1}}};
    static const struct as_edge_stay stays[2][2] = {{{-4, 9, AS_RESOURCE_ROB}, {1, 30, AS_RESOURCE_QUEUE_INT}},
                                                    {{0, 1, AS_RESOURCE_ROB}, {2, 3, AS_RESOURCE_LOAD_QUEUE}}};
    struct as_edge edges[2];
    for (uint32_t i = 0; i < 2; i++)
        edges[i] = (struct as_edge){.number = i,
                                    .n = LENGTH,
                                    .n_stays = 2,
                                    .stays = stays[i],
                                    .records = records[i],
                                    .committed = records[i][LENGTH - 1].commit};
    for (int folds = 0; folds < 2; folds++) {
        struct as_intervals along = {.length = 50, .most = folds ? 8 : 0}, apart = along;
        for (uint64_t i = 0; i < RUNS; i++) {
            struct as_pipe pipes[LENGTH];
            struct as_edge_run runs[2] = {as_edge_run_of(&edges[i % 2], 10 * i + 5, 0),
                                          as_edge_run_of(&edges[i % 3 == 0], 10 * i + 14, 0)};
            if (i == RUNS / 2)
                as_intervals_forget(&along);
            as_intervals_add_edges(
                &along,
                &(struct as_edge_batch){.thread = 1, .n = 2 * LENGTH, .n_runs = 2, .runs = runs, .cycles_before = 7});
            for (int k = 0; k < 2; k++) {
                struct as_stay both[2] = {as_edge_stay_of(&runs[k], 0), as_edge_stay_of(&runs[k], 1)};
                as_edge_expand(&runs[k], 1, 0, LENGTH, pipes);
                as_intervals_add(&apart, &(struct as_pipe_batch){.size = sizeof(struct as_pipe_batch),
                                                                 .thread = 1,
                                                                 .n = LENGTH,
                                                                 .pipes = pipes,
                                                                 .cycles_before = 7,
                                                                 .n_stays = 2,
                                                                 .stays = both});
            }
        }
        as_intervals_settle(&along);
        assert_int_equal(along.length, apart.length);
        assert_int_equal(along.threads.data[1].cycles, apart.threads.data[1].cycles);
        assert_int_equal(along.threads.data[1].rows.len, apart.threads.data[1].rows.len);
        assert_memory_equal(along.threads.data[1].rows.data, apart.threads.data[1].rows.data,
                            along.threads.data[1].rows.len * sizeof(struct as_interval));
        as_intervals_free(&along);
        as_intervals_free(&apart);
    }
}

static void counters_as_csv_and_json(void **state)
{
    struct as_pipe pipes[3] = {{.dispatch = 1, .commit = 4, .uops = 1},
                               {.dispatch = 2, .commit = 10, .uops = 2, .events = AS_EVENT_ST_L1},
                               {.dispatch = 11, .commit = 25, .uops = 1, .flags = AS_PIPE_LAST}};
    for (int json = 0; json < 2; json++) {
        struct files files;
        files_init(&files, 8);
        observe(&files, &as_counters_observer, json ? "k.json,10" : "k.csv,10", pipes, 3);
        assert_string_equal(files.open[0].path, json ? "k.json" : "k.csv");
        if (json)
            assert_non_null(strstr(files.open[0].text, "\"interval\": 10"));
        else
            assert_memory_equal(files.open[0].text, "thread,cycle,cycles,instructions,uops,", 38);
        assert_non_null(strstr(files.open[0].text, json ? "\"ST-L1\"" : "\n1,1,10,2,3,0,0,0,0,0,0,0,0,0,0,1,0"));
        if (!json) {
            assert_non_null(strstr(files.open[0].text, "\n1,11,10,0,0,0"));
            assert_non_null(strstr(files.open[0].text, "\n1,21,5,1,1,0"));
        }
        files_free(&files);
    }
}

/* The report of a timeline of so many columns. Thread t commits an instruction each cycle for 512 cycles and then one every second
 * cycle for as many: every fourth of the latter misses the L1, and of these every eighth is mispredicted. The caller frees. */
static char *timeline_of(const char *columns, uint32_t threads)
{
    struct files files;
    char *text;
    size_t size;
    files_init(&files, 1);
    FILE *out = open_memstream(&text, &size);
    void *self = as_timeline_observer.create(&files.bed.run, columns);
    assert_non_null(self);
    for (uint32_t thread = 1; thread <= threads; thread++) {
        struct as_pipe pipes[768] = {0};
        for (uint32_t i = 0; i < 768; i++) {
            bool late = i >= 512;
            pipes[i] = (struct as_pipe){.commit = late ? 512 + 2 * (i - 511) : i + 1,
                                        .uops = 1,
                                        .events = late && i % 4 == 0 ? AS_EVENT_ST_L1 : 0,
                                        .flags = late && i % 32 == 0 ? AS_PIPE_MISPREDICTED : 0};
        }
        struct as_stay stay = {.from = 1, .cycles = 256, .resource = AS_RESOURCE_ROB};
        struct as_pipe_batch batch = {
            .size = sizeof batch, .thread = thread, .n = 768, .pipes = pipes, .n_stays = 1, .stays = &stay};
        as_timeline_observer.batch(self, &batch);
    }
    as_timeline_observer.finish(self, out);
    as_timeline_observer.free(self);
    fclose(out);
    files_free(&files);
    return text;
}

static void timelines(void **state)
{
    char *text = timeline_of("4", 1);
    assert_string_equal(text, "Timeline of thread 1: 1,024 cycles, 256 a column\n"
                              "                           most\n"
                              "  instructions a cycle     1.00 |██▄▄|\n"
                              "  mispredicted / 1000     31.25 |  ██|\n"
                              "  L1D misses / 1000      250.00 |  ██|\n"
                              "  reorder buffer           1.00 |█   |\n");
    free(text);
    text = timeline_of("2", 1); /* twice as long, so that at least half of the rows are used */
    assert_non_null(strstr(text, "1,024 cycles, 512 a column"));
    assert_non_null(strstr(text, "instructions a cycle     1.00 |█▄|"));
    assert_non_null(strstr(text, "reorder buffer           0.50 |█ |"));
    free(text);
    text = timeline_of("3", 9);
    assert_non_null(strstr(text, "Timeline of thread 8:"));
    assert_null(strstr(text, "Timeline of thread 9:"));
    assert_non_null(strstr(text, "… and 1 more threads"));
    free(text);
    text = timeline_of("", 8);
    assert_null(strstr(text, "more threads"));
    free(text);
}

static void refusals(void **state)
{
    struct files files;
    files_init(&files, 9);
    fflush(stderr);
    assert_null(as_counters_observer.create(&files.bed.run, "k.csv,0"));
    assert_null(as_counters_observer.create(&files.bed.run, ""));
    assert_null(as_counters_observer.create(&files.bed.run, "k.csv,99999999999"));
    assert_null(as_timeline_observer.create(&files.bed.run, "0"));
    assert_null(as_timeline_observer.create(&files.bed.run, "ten"));
    assert_null(as_timeline_observer.create(&files.bed.run, "501"));
    assert_null(as_flame_observer.create(&files.bed.run, ""));
    assert_null(as_calls_observer.create(&files.bed.run, ""));
    assert_null(as_commit_csv_observer.create(&files.bed.run, ""));
    files.refuse = true;
    assert_null(as_counters_observer.create(&files.bed.run, "k.csv"));
    assert_null(as_flame_observer.create(&files.bed.run, "f"));
    assert_null(as_calls_observer.create(&files.bed.run, "c"));
    assert_null(as_konata_observer.create(&files.bed.run, "k"));
    assert_int_equal(files.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_as_csv),
        cmocka_unit_test(commits_as_records),
        cmocka_unit_test(commits_along_edges),
        cmocka_unit_test(commits_along_long_edges),
        cmocka_unit_test(flames_hold_every_cycle),
        cmocka_unit_test(flames_are_cut),
        cmocka_unit_test(calls_begin_and_end),
        cmocka_unit_test(intervals_can_be_shared),
        cmocka_unit_test(intervals_along_edges),
        cmocka_unit_test(counters_as_csv_and_json),
        cmocka_unit_test(timelines),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
