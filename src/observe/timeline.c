/* The bundled observer `timeline`: the course of a run over time, as lines of bars for a terminal. Argument: the number
 * of columns, default 64. The intervals double as the run gets longer, so memory stays small. */
#include "base/alloc.h"
#include "base/show.h"
#include "observe/bundled.h"
#include "observe/intervals.h"

#include <inttypes.h>
#include <stdlib.h>

enum { COLUMNS = 64, MOST_COLUMNS = 500, ROWS_A_COLUMN = 4, FIRST_LENGTH = 64, MOST_THREADS = 8 };

struct timeline {
    struct as_intervals intervals; /* first: as_intervals_observe */
    const struct as_run_info *run;
    size_t columns;
};

/* A line: a ratio of two values. */
struct line {
    const char *name;
    int count, resource; /* one of them, -1 for the other */
    bool per_thousand;   /* per 1000 instructions; otherwise per cycle */
};

static const struct line lines[] = {
    {"instructions a cycle", AS_INTERVAL_INSTRUCTIONS, -1, false},
    {"mispredicted / 1000", AS_INTERVAL_MISPREDICTED, -1, true},
    {"flushes / 1000", AS_INTERVAL_FLUSHES, -1, true},
    {"L1D misses / 1000", AS_INTERVAL_EVENTS + 6, -1, true},
    {"LLC misses / 1000", AS_INTERVAL_EVENTS + 8, -1, true},
    {"reorder buffer", -1, AS_RESOURCE_ROB, false},
    {"integer queue", -1, AS_RESOURCE_QUEUE_INT, false},
    {"memory queue", -1, AS_RESOURCE_QUEUE_MEM, false},
    {"FP queue", -1, AS_RESOURCE_QUEUE_FP, false},
    {"load queue", -1, AS_RESOURCE_LOAD_QUEUE, false},
    {"store queue", -1, AS_RESOURCE_STORE_QUEUE, false},
    {"L1D MSHRs", -1, AS_RESOURCE_MSHR_L1D, false},
};
_Static_assert(AS_EVENT_ST_L1 == 1 << 6 && AS_EVENT_ST_LLC == 1 << 8, "events of the lines");

/* What no line shows. */
static uint32_t unused_counts(void)
{
    uint32_t used = 1 << AS_INTERVAL_INSTRUCTIONS; /* what others are divided by */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        used |= lines[i].count >= 0 ? UINT32_C(1) << lines[i].count : 0;
    return ~used;
}

static void release(void *opaque)
{
    as_intervals_free(&((struct timeline *)opaque)->intervals);
    free(opaque);
}

static void *create(const struct as_run_info *run, const char *argument)
{
    char *end;
    unsigned long columns = *argument ? strtoul(argument, &end, 10) : COLUMNS;
    if ((*argument && *end) || columns == 0 || columns > MOST_COLUMNS)
        return NULL;
    struct timeline *self = as_alloc(sizeof *self);
    self->run = run;
    self->columns = columns;
    self->intervals.length = FIRST_LENGTH;
    self->intervals.unused = unused_counts();
    self->intervals.most = 2 * ROWS_A_COLUMN * columns; /* at least half of them are used */
    return self;
}

/* ---- columns: groups of rows ---- */

struct column {
    double cycles, counts[AS_INTERVAL_COUNTS], occupied[AS_RESOURCE_COUNT];
};

static size_t make_columns(const struct timeline *self, const struct as_interval_thread *thread, struct column *columns,
                           size_t *together)
{
    size_t rows = as_intervals_count_rows(&self->intervals, thread);
    *together = (rows + self->columns - 1) / self->columns;
    for (size_t row = 0; row < rows; row++) {
        struct column *column = &columns[row / *together];
        column->cycles += (double)as_intervals_cycles(&self->intervals, thread, row);
        for (int i = 0; i < AS_INTERVAL_COUNTS; i++)
            column->counts[i] += thread->rows.data[row].counts[i];
        for (int i = 0; i < AS_RESOURCE_COUNT; i++)
            column->occupied[i] += (double)thread->rows.data[row].occupied[i];
    }
    return rows ? (rows - 1) / *together + 1 : 0;
}

/* ---- lines ---- */

static double value_of(const struct line *line, const struct column *column)
{
    double value = line->count >= 0 ? column->counts[line->count] : column->occupied[line->resource];
    double by = line->per_thousand ? column->counts[AS_INTERVAL_INSTRUCTIONS] / 1000 : column->cycles;
    return by > 0 ? value / by : 0;
}

/* Bars have eight heights; zero is a space. `most` is not 0. */
static const char *bar(double value, double most)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int height = (int)(8 * value / most + 0.5);
    return bars[value > 0 && height == 0 ? 1 : height > 8 ? 8 : height];
}

/* Lines in which nothing ever happens are left out. */
static void print_line(const struct line *line, const struct column *columns, size_t n, FILE *out)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = value_of(line, &columns[i]) > most ? value_of(line, &columns[i]) : most;
    if (most == 0)
        return;
    fprintf(out, "  %-21s%8.2f |", line->name, most);
    for (size_t i = 0; i < n; i++)
        fputs(bar(value_of(line, &columns[i]), most), out);
    fputs("|\n", out);
}

static void print_thread(const struct timeline *self, const struct as_interval_thread *thread, FILE *out)
{
    struct column *columns = as_alloc_array(self->columns, sizeof *columns);
    size_t together, n = make_columns(self, thread, columns, &together);
    fprintf(out, "Timeline of thread %" PRIu32 ": %s cycles, %s a column\n  %-21s%8s\n", thread->thread,
            AS_COUNT(thread->cycles), AS_COUNT(together * self->intervals.length), "", "most");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        print_line(&lines[i], columns, n, out);
    free(columns);
}

static void finish(void *opaque, FILE *out)
{
    struct timeline *self = opaque;
    size_t shown = 0, left_out = 0;
    as_intervals_settle(&self->intervals);
    for (size_t i = 0; i < self->intervals.threads.len; i++) {
        if (self->intervals.threads.data[i].cycles == 0)
            continue;
        if (shown++ < MOST_THREADS)
            print_thread(self, &self->intervals.threads.data[i], out);
        else
            left_out++;
    }
    if (left_out)
        fprintf(out, "… and %zu more threads; the observer 'counters' has them all\n", left_out);
}

const struct as_observer as_timeline_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "timeline",
    .create = create,
    .batch = as_intervals_observe,
    .finish = finish,
    .free = release,
    .wants = AS_WANT_OCCUPANCY,
    .workers = 8,
    .merge = as_intervals_observe_merge,
    .edges = as_intervals_observe_edges,
    .forget = as_intervals_observe_forget,
};
