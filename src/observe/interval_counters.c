/* The bundled observer `counters`: like AutoCounter, it reads every signal of the model every N cycles and writes CSV
 * or JSON (doc/format/traces.md). Argument: FILE[,N]; a FILE that ends in .json is JSON.
 *
 * Rows stay in memory until the run is over (168 bytes each), because a store can leave its queue long after its cycle
 * has passed, and because several workers can then share the run.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "observe/bundled.h"
#include "observe/digits.h"
#include "observe/intervals.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_INTERVAL = 10000 };

struct counters {
    struct as_intervals intervals; /* first: as_intervals_observe */
    char *path;
    FILE *file;
    const struct as_run_info *run;
};

/* FILE[,N]: takes what follows the last comma, if that is a number. */
static bool read_argument(struct counters *self, const char *argument)
{
    const char *comma = strrchr(argument, ',');
    char *end = NULL;
    unsigned long long length = comma ? strtoull(comma + 1, &end, 10) : DEFAULT_INTERVAL;
    bool number = comma && end != comma + 1 && *end == 0;
    self->path = number ? as_strndup(argument, (size_t)(comma - argument)) : as_strdup(argument);
    self->intervals.length = number ? length : DEFAULT_INTERVAL;
    return *self->path && self->intervals.length > 0 && self->intervals.length <= AS_INTERVAL_LONGEST;
}

static void release(void *opaque)
{
    struct counters *self = opaque;
    as_intervals_free(&self->intervals);
    free(self->path);
    free(self);
}

static void *create(const struct as_run_info *run, const char *argument)
{
    struct counters *self = as_alloc(sizeof *self);
    self->run = run;
    bool right = read_argument(self, argument);
    self->file = right ? run->open(run->context, self->path) : NULL;
    if (self->file)
        return self;
    release(self);
    return NULL;
}

/* ---- output: columns by number ---- */

enum { COLUMN_CYCLE, COLUMN_CYCLES, COLUMN_COUNTS, COLUMN_OCCUPIED = COLUMN_COUNTS + AS_INTERVAL_COUNTS };
enum { COLUMNS = COLUMN_OCCUPIED + AS_RESOURCE_COUNT };

static const char *column_name(int column)
{
    if (column < COLUMN_COUNTS)
        return column == COLUMN_CYCLE ? "cycle" : "cycles";
    if (column < COLUMN_OCCUPIED)
        return as_interval_name((unsigned)(column - COLUMN_COUNTS));
    return as_resource_name((enum as_resource)(column - COLUMN_OCCUPIED));
}

/* Counts are whole numbers, occupancies means. */
static double value_of(const struct counters *self, const struct as_interval_thread *thread, size_t row, int column)
{
    const struct as_interval *interval = &thread->rows.data[row];
    uint64_t cycles = as_intervals_cycles(&self->intervals, thread, row);
    if (column == COLUMN_CYCLE)
        return (double)(row * self->intervals.length + 1);
    if (column == COLUMN_CYCLES)
        return (double)cycles;
    if (column < COLUMN_OCCUPIED)
        return interval->counts[column - COLUMN_COUNTS];
    return (double)interval->occupied[column - COLUMN_OCCUPIED] / (double)cycles;
}

/* With three digits behind the point. */
static char *put_mean(char *to, double value)
{
    uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
    to = as_digits_put(to, thousandths / 1000);
    *to++ = '.';
    memcpy(to, &as_four_digits[thousandths % 1000][1], 3);
    return to + 3;
}

static void write_row(const struct counters *self, const struct as_interval_thread *thread, size_t row, FILE *out)
{
    char line[(COLUMNS + 1) * 32], *to = as_digits_put(line, thread->thread);
    for (int column = 0; column < COLUMNS; column++) {
        double value = value_of(self, thread, row, column);
        *to++ = ',';
        to = column < COLUMN_OCCUPIED ? as_digits_put(to, (uint64_t)value) : put_mean(to, value);
    }
    *to++ = '\n';
    fwrite(line, 1, (size_t)(to - line), out);
}

static void write_csv(const struct counters *self, FILE *out)
{
    fputs("thread", out);
    for (int column = 0; column < COLUMNS; column++)
        fprintf(out, ",%s", column_name(column));
    fputc('\n', out);
    for (size_t t = 0; t < self->intervals.threads.len; t++) {
        const struct as_interval_thread *thread = &self->intervals.threads.data[t];
        for (size_t row = 0; row < as_intervals_count_rows(&self->intervals, thread); row++)
            write_row(self, thread, row, out);
    }
}

static void json_rows(const struct counters *self, const struct as_interval_thread *thread, struct as_json *json)
{
    as_json_array(json, "rows");
    for (size_t row = 0; row < as_intervals_count_rows(&self->intervals, thread); row++) {
        as_json_array(json, NULL);
        for (int column = 0; column < COLUMNS; column++)
            if (column < COLUMN_OCCUPIED)
                as_json_u64(json, NULL, (uint64_t)value_of(self, thread, row, column));
            else
                as_json_double(json, NULL, value_of(self, thread, row, column));
        as_json_end(json);
    }
    as_json_end(json);
}

static void write_json(const struct counters *self, FILE *out)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_string(json, "machine", self->run->machine);
    as_json_double(json, "frequency", self->run->frequency);
    as_json_u64(json, "interval", self->intervals.length);
    as_json_object(json, "entries");
    for (int i = 0; i < AS_RESOURCE_COUNT; i++)
        as_json_u64(json, as_resource_name((enum as_resource)i), self->run->entries[i]);
    as_json_end(json);
    as_json_array(json, "columns");
    for (int column = 0; column < COLUMNS; column++)
        as_json_string(json, NULL, column_name(column));
    as_json_end(json);
    as_json_array(json, "threads");
    for (size_t t = 0; t < self->intervals.threads.len; t++) {
        if (self->intervals.threads.data[t].rows.len == 0)
            continue;
        as_json_object(json, NULL);
        as_json_u64(json, "thread", self->intervals.threads.data[t].thread);
        json_rows(self, &self->intervals.threads.data[t], json);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
    (void)as_json_finish(json); /* the owner of the file sees the error, too */
}

static void finish(void *opaque, FILE *out)
{
    struct counters *self = opaque;
    size_t length = strlen(self->path);
    as_intervals_settle(&self->intervals);
    if (length > 5 && strcmp(self->path + length - 5, ".json") == 0)
        write_json(self, self->file);
    else
        write_csv(self, self->file);
}

const struct as_observer as_counters_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "counters",
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
