/* Reuse distances as JSON. See reuse_show.h. */
#include "base/json.h"
#include "base/ratio.h"
#include "cmd/reuse_show.h"

#include <inttypes.h>
#include <stdlib.h>

void as_reuse_json_histogram(struct as_json *json, const char *name, const struct as_distances *distances)
{
    as_reuse_json_bins(json, name, distances, NULL, 1);
}

void as_reuse_json_bins(struct as_json *json, const char *name, const struct as_distances *distances,
                        const struct as_distances *counted, double off)
{
    uint64_t octaves[AS_DISTANCE_OCTAVES], exact[AS_DISTANCE_OCTAVES] = {0};
    as_distances_octaves(distances, octaves);
    if (counted)
        as_distances_octaves(counted, exact);
    as_json_array(json, name);
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++)
        if (octaves[i]) {
            as_json_object(json, NULL);
            as_json_u64(json, "lo", as_distance_octave_low(i));
            as_json_u64(json, "hi", as_distances_high(distances, i));
            as_json_u64(json, "count", octaves[i]);
            if (counted) {
                as_json_string(json, "how", as_reuse_how(octaves[i], exact[i]));
                as_json_double(json, "counted", as_ratio(exact[i], octaves[i]));
                as_json_double(json, "off", exact[i] < octaves[i] ? off : 1);
            }
            as_json_end(json);
        }
    as_json_end(json);
}

void as_reuse_json_counts(struct as_json *json, const struct as_reuse_counts *counts, bool shared)
{
    as_json_u64(json, "accesses", counts->accesses);
    as_json_u64(json, "touches", counts->touches);
    as_json_u64(json, "reuses", counts->reuses);
    if (counts->left_out) {
        as_json_null(json, "temporal");
        as_json_null(json, "spatial");
    } else {
        as_json_u64(json, "temporal", counts->temporal);
        as_json_u64(json, "spatial", counts->reuses - counts->temporal);
    }
    as_json_u64(json, "cold", counts->cold);
    as_json_u64(json, "after_invalidation", counts->after_invalidation);
    as_json_u64(json, "invalidations", counts->invalidations);
    if (!shared)
        return;
    as_json_u64(json, "same_core", counts->other);
    as_json_u64(json, "false_sharing", counts->false_sharing);
}

static void json_path(struct as_json *json, const struct as_reuse_shown *shown, uint32_t path)
{
    enum { DEPTH = 64 };
    const char *names[DEPTH];
    size_t n = as_reuse_frames(shown, path, names, DEPTH);
    if (!n)
        return;
    as_json_array(json, "path");
    for (size_t i = 0; i < n && i < DEPTH; i++)
        as_json_string(json, NULL, names[i]);
    as_json_end(json);
}

void as_reuse_json_location(struct as_json *json, const struct as_reuse_shown *shown, const char *name, uint32_t code,
                            uint32_t path)
{
    struct as_reuse_location location = as_reuse_locate(shown, code);
    as_json_object(json, name);
    as_json_string(json, "function", location.function);
    as_json_string(json, "file", location.file);
    if (location.line)
        as_json_i64(json, "line", location.line);
    as_json_string(json, "module", location.module);
    as_json_address(json, "address", location.address);
    json_path(json, shown, path);
    as_json_end(json);
}

/* ---- curves and caches ---- */

static void json_point(struct as_json *json, const struct as_reuse_shown *shown, uint64_t lines)
{
    as_json_object(json, NULL);
    as_json_u64(json, "bytes", lines << shown->options->shape.shift);
    as_json_double(json, "ratio", as_reuse_miss_ratio(shown->exact, false, lines));
    as_json_double(json, "shared", as_reuse_miss_ratio(shown->exact, true, lines));
    if (shown->options->shape.sampled) {
        as_json_double(json, "ratio_error", as_reuse_miss_ratio_error(shown->exact, false, lines));
        as_json_double(json, "shared_error", as_reuse_miss_ratio_error(shown->exact, true, lines));
    }
    as_json_end(json);
}

/* Each power of two that can be told and one and a half times it, until nothing changes any more. */
static void json_curve(struct as_json *json, const struct as_reuse_shown *shown)
{
    uint64_t granules = as_reuse_last_level(shown->exact)->counts.cold;
    as_json_array(json, "miss_ratio");
    for (uint64_t lines = as_reuse_least(shown->exact); lines < UINT64_C(1) << 34; lines *= 2) {
        json_point(json, shown, lines);
        if (lines > granules)
            break;
        if (lines > 1)
            json_point(json, shown, lines / 2 * 3);
    }
    as_json_end(json);
}

static void json_causes(struct as_json *json, const uint64_t misses[AS_MISS_CAUSES])
{
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        as_json_u64(json, as_miss_cause_names[cause], misses[cause]);
}

static void json_level(struct as_json *json, const struct as_reuse_shown *shown, int level)
{
    const struct as_cache_shape *shape = &shown->options->shape.levels[level];
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    uint64_t missed[AS_MISS_CAUSES];
    as_reuse_level_misses(shown->exact, level, missed);
    as_json_object(json, NULL);
    as_json_string(json, "name", as_reuse_level_names[level]);
    as_json_u64(json, "bytes", shape->lines << shown->options->shape.shift);
    as_json_u64(json, "ways", shape->ways);
    if (shape->lines >= as_reuse_least(shown->exact))
        as_json_double(json, "predicted", as_reuse_miss_ratio(shown->exact, level == AS_REUSE_LLC, shape->lines));
    if (!shown->options->shape.sampled) {
        as_json_double(json, "simulated", as_ratio(as_reuse_sum(missed), all->counts.touches));
        as_json_u64(json, "misses", as_reuse_sum(missed));
        json_causes(json, missed);
    }
    as_json_end(json);
}

static void json_caches(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    uint32_t shift = shown->options->shape.shift;
    as_json_array(json, "caches");
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        if (shown->options->shape.levels[level].lines)
            json_level(json, shown, level);
    as_json_end(json);
    as_json_array(json, "host_caches");
    for (size_t i = 0; i < shown->n_host; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "level", shown->host[i].level);
        as_json_u64(json, "bytes", shown->host[i].bytes);
        as_json_u64(json, "ways", shown->host[i].ways);
        as_json_double(json, "predicted",
                       as_reuse_miss_ratio(shown->exact, shown->host[i].level > 2, shown->host[i].bytes >> shift));
        as_json_end(json);
    }
    as_json_end(json);
    if (all->fetched)
        as_json_double(json, "line_bytes_used", (double)all->fetched_bytes / (double)all->fetched);
}

/* ---- code ---- */

static void json_pairs(struct as_json *json, const struct as_reuse_shown *shown, const struct as_reuse_view *view)
{
    enum { MOST = 200 };
    const struct as_reuse_pair **sorted = as_reuse_sorted_pairs(view);
    as_json_array(json, "pairs");
    for (size_t i = 0; i < view->pairs.len && i < MOST; i++) {
        const struct as_reuse_pair *pair = sorted[i];
        as_json_object(json, NULL);
        as_reuse_json_location(json, shown, "use", pair->use, pair->use_path);
        as_reuse_json_location(json, shown, "reuse", pair->reuse, pair->reuse_path);
        as_json_u64(json, "count", pair->count);
        if (pair->path_count)
            as_json_u64(json, "on_path", pair->path_count);
        as_json_u64(json, "spatial", pair->spatial);
        if (view->shared)
            as_json_u64(json, "false_sharing", pair->false_sharing);
        for (int level = 0; level < AS_REUSE_LEVELS && as_reuse_has_caches(shown); level++) {
            char name[32];
            snprintf(name, sizeof name, "beyond_%s", as_reuse_level_names[level]);
            as_json_u64(json, name, pair->beyond[level]);
        }
        if (as_reuse_has_caches(shown) && !view->shared && !shown->options->shape.sampled)
            as_json_u64(json, "conflicts", pair->conflicts);
        as_json_array(json, "octaves");
        for (int octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
            as_json_u64(json, NULL, pair->octaves[octave]);
        as_json_end(json);
        as_json_end(json);
    }
    as_json_end(json);
    free(sorted);
}

static void json_codes(struct as_json *json, const struct as_reuse_shown *shown)
{
    enum { MOST = 200 };
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    size_t n;
    uint32_t *codes = as_reuse_sorted_codes(all, AS_REUSE_L1, &n);
    as_json_array(json, "code");
    for (size_t i = 0; i < n && i < MOST; i++) {
        const struct as_reuse_code *code = &all->codes.data[codes[i]];
        as_json_object(json, NULL);
        as_reuse_json_location(json, shown, "at", codes[i], code->path);
        as_json_u64(json, "touches", code->touches);
        as_json_double(json, "line_bytes_used", as_ratio(code->fetched_bytes, code->fetched));
        /* Each miss brings a line from the level below. */
        as_json_u64(json, "bytes_brought", as_reuse_sum(code->misses[AS_REUSE_L1]) << shown->options->shape.shift);
        for (int level = 0; level < AS_REUSE_LEVELS; level++) {
            as_json_object(json, as_reuse_level_names[level]);
            json_causes(json, code->misses[level]);
            as_json_end(json);
        }
        as_json_end(json);
    }
    as_json_end(json);
    free(codes);
}

static void json_threads(struct as_json *json, const struct as_reuse_shown *shown)
{
    as_json_array(json, "by_thread");
    for (size_t i = 0; i < as_reuse_count_threads(shown->exact); i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(shown->exact, i);
        as_json_object(json, NULL);
        as_json_u64(json, "thread", thread->number);
        as_json_u64(json, "process", thread->process);
        as_json_u64(json, "socket", thread->socket);
        as_reuse_json_counts(json, &thread->view->counts, false);
        as_reuse_json_histogram(json, "histogram", &thread->view->distances);
        as_reuse_json_histogram(json, "time_histogram", &thread->view->times);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_working_set(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *view = as_reuse_working_view(shown->exact);
    as_json_object(json, "working_set");
    as_json_u64(json, "interval", shown->options->shape.interval);
    as_json_array(json, "bytes");
    for (size_t i = 0; view && i < view->working_set.len; i++)
        as_json_u64(json, NULL, (uint64_t)view->working_set.data[i] << shown->options->shape.shift);
    as_json_end(json);
    as_json_end(json);
}

static void json_advice(struct as_json *json, const struct as_reuse_shown *shown)
{
    as_json_array(json, "advice");
    for (size_t i = 0; i < shown->n_advice; i++) {
        char *text = as_reuse_advice_text(shown, &shown->advice[i]);
        as_json_object(json, NULL);
        as_json_string(json, "kind", as_reuse_advice_names[shown->advice[i].kind]);
        as_json_double(json, "share", shown->advice[i].share);
        as_reuse_json_location(json, shown, "use", shown->advice[i].use, 0);
        as_reuse_json_location(json, shown, "reuse", shown->advice[i].reuse, 0);
        as_json_string(json, "text", text);
        as_json_end(json);
        free(text);
    }
    as_json_end(json);
}

/* ---- the document ---- */

static void json_shared(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *sockets = as_reuse_all_sockets(shown->exact);
    if (!sockets)
        return;
    as_json_object(json, "shared");
    as_json_u64(json, "sockets", shown->options->sockets);
    as_reuse_json_counts(json, &sockets->counts, true);
    as_reuse_json_histogram(json, "histogram", &sockets->distances);
    as_reuse_json_histogram(json, "time_histogram", &sockets->times);
    json_pairs(json, shown, sockets);
    as_json_end(json);
}

static void json_exact(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    as_json_u64(json, "samples", all->counts.touches);
    as_reuse_json_counts(json, &all->counts, false);
    as_reuse_json_histogram(json, "histogram", &all->distances);
    as_reuse_json_histogram(json, "time_histogram", &all->times);
    json_curve(json, shown);
    json_shared(json, shown);
    json_caches(json, shown);
    json_pairs(json, shown, all);
    json_codes(json, shown);
    as_reuse_json_objects(json, shown);
    as_reuse_json_adjacent(json, shown);
    json_threads(json, shown);
    json_working_set(json, shown);
    as_json_u64(json, "table_bytes", as_reuse_bytes(shown->exact));
    json_advice(json, shown);
    if (shown->options->shape.sampled)
        return;
    as_json_object(json, "exact");
    as_json_double(json, "accuracy", 1); /* it is its own reference */
    as_json_end(json);
}

bool as_reuse_show_json(const struct as_reuse_shown *shown, FILE *out)
{
    const char *part = shown->part;
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = shown->argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_string(json, "source", !shown->native ? "model" : shown->native->how == AS_LENS_COUNTED ? "pmu" : "timer");
    as_json_string(json, "method", shown->estimate ? "watchpoints" : shown->options->shape.sampled ? "lines" : "exact");
    if (shown->options->shape.sampled)
        as_json_double(json, "rate", 1.0 / (double)(UINT64_C(1) << as_reuse_scale(shown->exact)));
    if (shown->machine)
        as_json_string(json, "core", shown->machine->name);
    as_json_u64(json, "granularity", UINT64_C(1) << shown->options->shape.shift);
    if (shown->instructions)
        as_json_u64(json, "instructions", shown->instructions);
    if (part)
        as_json_string(json, "part", part);
    as_json_u64(json, "threads", shown->threads);
    as_json_double(json, "seconds", shown->seconds);
    as_json_i64(json, "exit_status", shown->exit_status);
    if (shown->estimate)
        as_reuse_json_watch(json, shown);
    else
        json_exact(json, shown);
    as_json_end(json);
    return as_json_finish(json);
}
