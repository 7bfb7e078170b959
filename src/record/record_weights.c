/* See record_weights.h. */
#include "record/record_weights.h"

#include "base/signals.h"
#include "base/str.h"
#include "merge/merge.h"
#include "record/input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

/* The runs, one for each weight. The profiles of all of them are open until they are merged. */
enum { MOST_WEIGHTS = 64 };

struct parts {
    struct as_weight weights[MOST_WEIGHTS];
    int fds[MOST_WEIGHTS];             /* of those of which there is a profile */
    struct as_weight of[MOST_WEIGHTS]; /* … which weight it has */
    size_t n, done;                    /* weights, and profiles */
    uint64_t instructions;             /* that were measured */
};

/* ---- the weights ---- */

/* A weight as a fraction. Six decimals, so that times in a common denominator stay below 63 bits. */
static bool weight_of(const struct as_region *region, struct as_weight *weight, struct as_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%.6f", region->weight < 1e9 ? region->weight : 0);
    return as_weight_read(text, weight) ||
           WRONG("region '%s': a profile takes weights from 0.000001 to 1000000000", region->text);
}

static size_t find_weight(const struct parts *parts, struct as_weight weight)
{
    size_t i = 0;
    while (i < parts->n && (parts->weights[i].part != weight.part || parts->weights[i].whole != weight.whole))
        i++;
    return i;
}

static bool is_chance(const struct as_point *point)
{
    return point->kind == AS_POINT_SIGNAL || point->kind == AS_POINT_DELAY;
}

static bool find_weights(const struct as_record_options *options, struct parts *parts, struct as_error *err)
{
    const struct as_regions *regions = options->engine.regions;
    if (options->perf_data)
        return WRONG("a file for perf has no weights: leave out --perf-data or weight=");
    for (size_t i = 0; i < regions->list.len; i++) {
        const struct as_region *region = &regions->list.data[i];
        struct as_weight weight;
        if (is_chance(&region->start) || is_chance(&region->stop))
            return WRONG("region '%s': the program runs once for each weight, so regions must be the same parts in "
                         "every run: a signal or a delay cannot start or stop them",
                         region->text ? region->text : "");
        if (!weight_of(region, &weight, err))
            return false;
        if (region->mode != AS_MODE_DETAIL) /* nothing of it is in the profile, whatever it weighs */
            continue;
        size_t k = find_weight(parts, weight);
        if (k == MOST_WEIGHTS)
            return WRONG("the regions have more than %d different weights, for each of which the program runs once",
                         MOST_WEIGHTS);
        parts->weights[k] = weight;
        parts->n += k == parts->n;
    }
    return parts->n > 0 || WRONG("no region has mode=detail, so there would be nothing in the profile");
}

/* ---- one run ---- */

/* The list with the regions of one weight; the others only go through the model. The caller frees the array of the list. */
static struct as_regions regions_of(const struct as_regions *all, struct as_weight weight)
{
    struct as_regions some = *all;
    struct as_error err = AS_ERROR_INIT;
    some.list.data = as_alloc_array(all->list.len, sizeof *some.list.data);
    for (size_t i = 0; i < all->list.len; i++) {
        struct as_region *region = &some.list.data[i];
        struct as_weight own;
        *region = all->list.data[i];
        bool same = weight_of(region, &own, &err) && own.part == weight.part && own.whole == weight.whole;
        if (region->mode == AS_MODE_DETAIL && !same)
            region->mode = AS_MODE_SETTLE;
    }
    return some;
}

static bool interrupted(int signal, struct as_error *err)
{
    return as_error_set_status(err, 128 + signal, "interrupted: not all weights have been measured");
}

/* The user may have interrupted while the run before was being saved. */
static bool go_on(size_t i, struct as_error *err)
{
    int signal = i > 0 ? as_signals_between() : 0;
    return signal == 0 || interrupted(signal, err);
}

/* Runs the program for weight i. If it reaches none of the weight's regions, the other weights make the profile. */
static bool run_part(struct as_record *record, const struct as_record_source *source, struct parts *parts, size_t i,
                     struct as_record_result *result, struct as_error *err)
{
    uint64_t instructions;
    if (!go_on(i, err) || !(record->writer = as_record_open_writer(record, err)))
        return false;
    bool ok = as_record_run_once(record, source, result, &instructions, err), empty = record->empty;
    if (ok && i > 0 && as_record_is_cut(result))
        ok = interrupted(as_signals_last(), err);
    int fd = ok ? as_store_writer_finish(record->writer, err) : -1;
    as_record_end_meter(record);
    if (!ok)
        as_store_writer_abort(record->writer);
    if (fd < 0)
        return empty;
    parts->of[parts->done] = parts->weights[i];
    parts->fds[parts->done++] = fd;
    parts->instructions += instructions;
    return true;
}

/* Only the first run shows what the program writes, and what there is to remark. */
static bool run_parts(struct as_record *record, const struct as_record_source *source, struct parts *parts,
                      struct as_record_result *result, struct as_error *err)
{
    const struct as_record_options *options = record->options;
    struct as_input input = {.start = -1};
    bool ok = as_input_keep(&input, &options->notices, err);
    for (size_t i = 0; i < parts->n && ok && (parts->done == 0 || !as_record_is_cut(result)); i++) {
        struct as_record_options own = *options;
        struct as_record_result later;
        struct as_regions some = regions_of(options->engine.regions, parts->weights[i]);
        own.engine.regions = &some;
        if (i > 0) {
            own.notices = (struct as_notices){0};
            own.engine.discard_stdout = true;
            as_input_rewind(&input);
        }
        record->options = &own;
        ok = run_part(record, source, parts, i, parts->done ? &later : result, err);
        if (record->empty)
            as_notice(&options->notices, AS_LOG_WARN,
                      "no instruction was executed in a region with weight %g: the profile is of the others",
                      (double)parts->weights[i].part / (double)parts->weights[i].whole);
        free(some.list.data);
    }
    record->options = options;
    return ok && parts->done > 0;
}

/* ---- all of them ---- */

/* What a reader must know of such a profile. */
static char *describe(const struct as_regions *regions)
{
    enum { SHOWN = 8 };
    struct as_str text = {0};
    as_str_add(&text, "WEIGHTED: regions count by their weights (");
    for (size_t i = 0; i < regions->list.len && i < SHOWN; i++)
        as_str_addf(&text, "%s%s", i ? "; " : "", regions->list.data[i].text ? regions->list.data[i].text : "the rest");
    as_str_add(&text, regions->list.len > SHOWN ? "; …" : "");
    as_str_add(&text, "); instructions, times, executions and counters are weighted sums");
    return text.data;
}

static bool merge_parts(const struct as_record *record, const struct parts *parts,
                        const struct as_record_result *result, struct as_error *err)
{
    struct as_merge_input inputs[MOST_WEIGHTS];
    char paths[MOST_WEIGHTS][32], part[AS_ENGINE_PART];
    for (size_t i = 0; i < parts->done; i++) {
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", parts->fds[i]);
        inputs[i] = (struct as_merge_input){.path = paths[i], .name = "a part", .weight = parts->of[i]};
    }
    char *note = describe(record->options->engine.regions);
    bool is_part = result->in_engine && as_engine_part(&result->engine, parts->instructions, part, sizeof part);
    struct as_merge_parts one_run = {.part = is_part ? part : NULL, .note = note};
    struct as_merge_options options = {
        .force = true, .runs = true, .parts = &one_run, .notices = record->options->notices};
    bool ok = as_merge_into(inputs, parts->done, record->writer, &options, err);
    free(note);
    return ok;
}

bool as_record_run_weighted(struct as_record *record, const struct as_record_source *source,
                            struct as_record_result *result, struct as_error *err)
{
    struct as_store_writer *writer = record->writer;
    struct parts parts = {0};
    bool ok = find_weights(record->options, &parts, err) && run_parts(record, source, &parts, result, err);
    record->writer = writer;
    ok = ok && merge_parts(record, &parts, result, err);
    for (size_t i = 0; i < parts.done; i++)
        close(parts.fds[i]);
    return ok;
}
