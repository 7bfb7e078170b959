/* The text of `perf script`: for each sample a line with thread, time, period and event, then a line for each frame,
 * then an empty line. The samples of a series with moments have their times and are in their order; without them the
 * time column counts the samples, a microsecond each, and that is told.
 *
 * An exact series has no samples: each of its stacks is written as one sample whose period is all of its time. If there
 * are more stacks than the file may hold, the allowed number of samples is spread at equal distances along the total
 * time, stack by stack. Each then stands for the same time, a stack gets its due to within one sample, and the periods
 * still add up to the total.
 */
#include "export/export_frames.h"
#include "export/export_internal.h"
#include "export/export_text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 1 << 26 }; /* most samples in a file: beyond that, each stack is one sample */

#define BLANKS " \t\n\v\f\r"

struct writer {
    const struct as_export_view *view;
    struct as_export_frames frames;
    FILE *out;
    struct as_str head, event, stack;
    uint64_t number; /* number of samples written */
    struct as_export_rounder rounder;
    uint64_t thinned;  /* samples to choose; 0: all are written */
    uint64_t due;      /* samples chosen so far */
    uint64_t position; /* units of the stacks so far */
};

static void add_frame(struct writer *writer, const struct as_export_location *location, uint32_t line)
{
    size_t n;
    const struct as_export_frame *frame =
        &writer->frames.frames.data[writer->frames.lines.data[location->first + line].frame];
    bool inlined = line + 1 < location->n, named = inlined || location->function != AS_STORE_NONE;
    const struct as_store_module *modules = as_store_modules(writer->view->store, &n);
    const char *path = location->module == AS_STORE_NONE ? NULL : modules[location->module].path;
    as_str_addf(&writer->stack, "\t%16" PRIx64 " ", location->address);
    as_export_clean(&writer->stack, named ? frame->name : "[unknown]", NULL, 0, AS_EXPORT_NAME_MAX);
    if (inlined) {
        as_str_add(&writer->stack, " (inlined)\n");
        return;
    }
    uint64_t start = named ? as_store_functions(writer->view->store, &n)[location->function].address : 0;
    if (named && start && location->address >= start) /* 0: not known */
        as_str_addf(&writer->stack, "+0x%" PRIx64, location->address - start);
    as_str_add(&writer->stack, " (");
    as_export_clean(&writer->stack, path && path[0] ? path : "[unknown]", BLANKS, '_', AS_EXPORT_NAME_MAX);
    as_str_add(&writer->stack, ")\n");
}

static void make_stack(struct writer *writer, const struct as_export_cell *cell)
{
    uint32_t locations[AS_EXPORT_DEPTH];
    size_t n = as_export_stack(&writer->frames, cell, locations);
    as_str_clear(&writer->stack);
    for (size_t i = 0; i < n; i++) {
        const struct as_export_location *location = &writer->frames.locations.data[locations[i]];
        for (uint32_t line = 0; line < location->n; line++)
            add_frame(writer, location, line);
    }
}

static void make_head(struct writer *writer, uint32_t thread)
{
    char name[256];
    size_t n;
    const struct as_store_thread *about = &as_store_threads(writer->view->store, &n)[thread];
    as_export_thread_name(writer->view, thread, name, sizeof name);
    as_str_clear(&writer->head);
    as_export_clean(&writer->head, name, BLANKS, '_', 0);
    as_str_addf(&writer->head, " %" PRIu64 "/%" PRIu32, about->process > 0 ? (uint64_t)about->process : 0,
                about->number);
}

static void put_sample_at(struct writer *writer, uint64_t time, uint64_t period)
{
    fprintf(writer->out, "%s %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n%s\n", as_str_get(&writer->head),
            time / 1000000, time % 1000000, period, as_str_get(&writer->event), as_str_get(&writer->stack));
}

static void put_sample(struct writer *writer, uint64_t period)
{
    put_sample_at(writer, writer->number++, period);
}

/* The time, in units, at which thinned sample `number` begins. */
static uint64_t edge(const struct writer *writer, uint64_t number)
{
    return (uint64_t)((unsigned __int128)writer->view->units * number / writer->thinned);
}

/* Each sample is in the middle of the time that it stands for. */
static void put_thinned(struct writer *writer, const struct as_export_cell *cell, uint64_t units)
{
    bool made = false;
    writer->position += units;
    while (writer->due < writer->thinned && !ferror(writer->out)) {
        uint64_t from = edge(writer, writer->due), to = edge(writer, writer->due + 1);
        if (from + (to - from) / 2 >= writer->position)
            return;
        if (!made)
            make_stack(writer, cell);
        made = true;
        uint64_t period = as_export_round(&writer->rounder, to - from);
        if (period)
            put_sample(writer, period);
        writer->due++;
    }
}

/* Writes all events of a stack together, because the text has no field for them. */
static void put_cells(struct writer *writer, const struct as_export_cell *cell, uint64_t units, uint64_t samples)
{
    if (writer->thinned) {
        put_thinned(writer, cell, units);
        return;
    }
    uint64_t value = as_export_round(&writer->rounder, units);
    samples = writer->view->samples > MOST_SAMPLES ? 0 : samples;
    make_stack(writer, cell);
    if (!samples && value)
        put_sample(writer, value);
    for (uint64_t i = 0; i < samples && !ferror(writer->out); i++)
        put_sample(writer, value / samples + (i < value % samples));
}

/* The end of the cells that belong to one stack. */
static size_t stack_end(const struct writer *writer, size_t first)
{
    const struct as_export_cell *cells = writer->view->cells.data;
    size_t end = first + 1;
    while (end < writer->view->cells.len && cells[end].thread == cells[first].thread &&
           cells[end].path == cells[first].path && cells[end].instruction == cells[first].instruction)
        end++;
    return end;
}

static void put_all(struct writer *writer)
{
    const struct as_export_cell *cells = writer->view->cells.data;
    size_t n = writer->view->cells.len;
    for (size_t i = 0, end; i < n && !ferror(writer->out); i = end) {
        uint64_t units = 0, samples = 0;
        end = stack_end(writer, i);
        for (size_t k = i; k < end; k++) {
            units += cells[k].units;
            samples += cells[k].samples;
        }
        if (i == 0 || cells[i].thread != cells[i - 1].thread)
            make_head(writer, cells[i].thread);
        put_cells(writer, &cells[i], units, samples);
    }
}

/* Samples one by one, in the order of time, which is that of the file. */
static void put_moments(struct writer *writer, const struct as_store_moment *moments, size_t n)
{
    enum { NANOSECONDS = 1000 }; /* of a microsecond */
    for (size_t i = 0; i < n && !ferror(writer->out); i++) {
        const struct as_store_moment *moment = &moments[i];
        struct as_export_cell cell = {
            .thread = moment->thread, .path = moment->path, .instruction = moment->instruction};
        uint64_t value = as_export_round(&writer->rounder, moment->units), samples = moment->samples;
        make_head(writer, moment->thread);
        make_stack(writer, &cell);
        for (uint64_t k = 0; k < samples && !ferror(writer->out); k++)
            put_sample_at(writer, moment->time / NANOSECONDS, value / samples + (k < value % samples));
    }
}

static void put_numbered(struct writer *writer, const struct as_export_options *options)
{
    if (options->tell && !writer->view->series->exact)
        options->tell("the samples are written without their times: they are numbered, a microsecond each");
    put_all(writer);
}

static void thin_out(struct writer *writer, const struct as_export_options *options)
{
    bool exact = writer->view->series->exact;
    uint64_t all = exact ? 0 : writer->view->samples;
    char line[200];
    if (!options->samples || !(exact || options->thin_all))
        return;
    for (size_t i = 0; exact && i < writer->view->cells.len; i = stack_end(writer, i))
        all++;
    if (all <= options->samples)
        return;
    writer->thinned = options->samples;
    snprintf(line, sizeof line, "%" PRIu64 " evenly spaced samples stand for the time of %" PRIu64 " %s",
             options->samples, all, exact ? "stacks; --samples=0 writes them all" : "samples");
    if (options->tell)
        options->tell(line);
}

static bool write_script(struct as_store *store, const struct as_export_options *options, FILE *out,
                         struct as_error *err)
{
    struct as_export_view view;
    if (!as_export_view_open(&view, store, options, err))
        return false;
    struct writer writer = {.view = &view, .out = out, .rounder = {.scale = view.series->scale, .parts = 1}};
    const char *event = view.series->event && view.series->event[0] ? view.series->event : as_export_unit(view.series);
    as_export_clean(&writer.event, event, BLANKS, '_', AS_EXPORT_NAME_MAX);
    as_export_frames_open(&writer.frames, &view);
    thin_out(&writer, options);
    size_t n = 0;
    struct as_store_moment *moments = as_store_moments(store, view.number, options->threads, &n, err);
    if (n > 0 && !writer.thinned)
        put_moments(&writer, moments, n);
    else if (moments)
        put_numbered(&writer, options);
    as_str_free(&writer.head);
    as_str_free(&writer.event);
    as_str_free(&writer.stack);
    as_export_frames_free(&writer.frames);
    as_export_view_free(&view);
    free(moments);
    return moments != NULL;
}

const struct as_export_format as_export_script = {
    .name = "perf-script", .description = "text as perf script prints it", .write = write_script};
