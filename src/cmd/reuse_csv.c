/* Reuse distances as CSV: one table, in which `what` says what a row is. See reuse_show.h. */
#include "base/csv.h"
#include "base/ratio.h"
#include "cmd/reuse_show.h"

#include <inttypes.h>
#include <stdlib.h>

/* `name` goes last, quoted where it has to be. */
static void print_row(FILE *out, const char *what, uint32_t thread, uint64_t lo, uint64_t hi, double value,
                      const char *name)
{
    struct as_str quoted = {0};
    as_csv_add_text(&quoted, name, 0);
    fprintf(out, "%s,%u,%" PRIu64 ",%" PRIu64 ",%.15g,%s\n", what, thread, lo, hi, value, as_str_get(&quoted));
    as_str_free(&quoted);
}

/* `counted`: the name says what the distances of a bin come from; NULL: there is none. */
static void csv_bins(FILE *out, const char *what, uint32_t thread, const struct as_distances *distances,
                     const struct as_distances *counted)
{
    uint64_t octaves[AS_DISTANCE_OCTAVES], exact[AS_DISTANCE_OCTAVES] = {0};
    as_distances_octaves(distances, octaves);
    if (counted)
        as_distances_octaves(counted, exact);
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++)
        if (octaves[i])
            print_row(out, what, thread, as_distance_octave_low(i), as_distances_high(distances, i), (double)octaves[i],
                      counted ? as_reuse_how(octaves[i], exact[i]) : "");
}

static void csv_histogram(FILE *out, const char *what, uint32_t thread, const struct as_distances *distances)
{
    csv_bins(out, what, thread, distances, NULL);
}

static void csv_curve(const struct as_reuse_shown *shown, FILE *out)
{
    uint64_t granules = as_reuse_last_level(shown->exact)->counts.cold;
    for (uint64_t lines = as_reuse_least(shown->exact); lines < UINT64_C(1) << 34; lines *= 2) {
        uint64_t bytes = lines << shown->options->shape.shift;
        print_row(out, "miss ratio", 0, bytes, bytes, as_reuse_miss_ratio(shown->exact, false, lines), "");
        print_row(out, "shared miss ratio", 0, bytes, bytes, as_reuse_miss_ratio(shown->exact, true, lines), "");
        if (shown->options->shape.sampled)
            print_row(out, "miss ratio error", 0, bytes, bytes, as_reuse_miss_ratio_error(shown->exact, false, lines),
                      "");
        if (lines > granules)
            break;
    }
}

static void csv_pairs(const struct as_reuse_shown *shown, FILE *out, const struct as_reuse_view *view, const char *what)
{
    enum { MOST = 200 };
    const struct as_reuse_pair **sorted = as_reuse_sorted_pairs(view);
    for (size_t i = 0; i < view->pairs.len && i < MOST; i++) {
        char *use = as_reuse_location_text(shown, sorted[i]->use),
             *reuse = as_reuse_location_text(shown, sorted[i]->reuse);
        char *from = as_reuse_path_text(shown, sorted[i]->use_path),
             *to = as_reuse_path_text(shown, sorted[i]->reuse_path);
        char *name = as_format("%s [%s] -> %s [%s]", use, from, reuse, to);
        for (uint32_t octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
            if (sorted[i]->octaves[octave])
                print_row(out, what, 0, as_distance_octave_low(octave), as_distances_high(&view->distances, octave),
                          (double)sorted[i]->octaves[octave], name);
        free(name);
        free(use);
        free(reuse);
        free(from);
        free(to);
    }
    free(sorted);
}

static void csv_causes(FILE *out, const char *what, const uint64_t misses[AS_MISS_CAUSES], uint64_t lo, uint64_t hi,
                       const char *name)
{
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++) {
        char *label = as_format("%s: %s misses", what, as_miss_cause_names[cause]);
        if (misses[cause])
            print_row(out, label, 0, lo, hi, (double)misses[cause], name);
        free(label);
    }
}

/* The names are the fields of the JSON document. */
static void csv_counts(FILE *out, const char *what, const struct as_reuse_counts *counts, bool shared)
{
    const struct {
        const char *name;
        uint64_t value;
        bool unknown;
    } all[] = {{"accesses", counts->accesses},
               {"touches", counts->touches},
               {"reuses", counts->reuses},
               {"temporal", counts->temporal, counts->left_out},
               {"spatial", counts->reuses - counts->temporal, counts->left_out},
               {"cold", counts->cold},
               {"after_invalidation", counts->after_invalidation},
               {"invalidations", counts->invalidations},
               {"same_core", counts->other},
               {"false_sharing", counts->false_sharing}};
    enum { OF_SHARED = 2 };
    for (size_t i = 0; i < sizeof all / sizeof *all - (shared ? 0 : OF_SHARED); i++)
        if (!all[i].unknown)
            print_row(out, what, 0, 0, 0, (double)all[i].value, all[i].name);
}

static void csv_caches(const struct as_reuse_shown *shown, FILE *out)
{
    uint32_t shift = shown->options->shape.shift;
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        uint64_t lines = shown->options->shape.levels[level].lines, bytes = lines << shift, missed[AS_MISS_CAUSES];
        const char *name = as_reuse_level_names[level];
        if (!lines)
            continue;
        if (lines >= as_reuse_least(shown->exact))
            print_row(out, "cache: predicted", 0, bytes, bytes,
                      as_reuse_miss_ratio(shown->exact, level == AS_REUSE_LLC, lines), name);
        if (shown->options->shape.sampled)
            continue;
        as_reuse_level_misses(shown->exact, level, missed);
        print_row(out, "cache: simulated", 0, bytes, bytes, as_ratio(as_reuse_sum(missed), all->counts.touches), name);
        csv_causes(out, "cache", missed, bytes, bytes, name);
    }
    for (size_t i = 0; i < shown->n_host; i++)
        print_row(out, "host cache: predicted", 0, shown->host[i].bytes, shown->host[i].bytes,
                  as_reuse_miss_ratio(shown->exact, shown->host[i].level > 2, shown->host[i].bytes >> shift), "");
}

static void csv_advice(const struct as_reuse_shown *shown, FILE *out)
{
    for (size_t i = 0; i < shown->n_advice; i++) {
        char *text = as_reuse_advice_text(shown, &shown->advice[i]);
        char *name = as_format("%s: %s", as_reuse_advice_names[shown->advice[i].kind], text);
        print_row(out, "advice", 0, 0, 0, shown->advice[i].share, name);
        free(name);
        free(text);
    }
}

static void csv_codes(const struct as_reuse_shown *shown, FILE *out)
{
    enum { MOST = 200 };
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    size_t n;
    uint32_t *codes = as_reuse_sorted_codes(all, AS_REUSE_L1, &n);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const struct as_reuse_code *code = &all->codes.data[codes[i]];
        struct as_reuse_location location = as_reuse_locate(shown, codes[i]);
        char *text = as_reuse_location_text(shown, codes[i]);
        csv_causes(out, "code", code->misses[AS_REUSE_L1], location.address, location.address, text);
        if (code->fetched)
            print_row(out, "code: bytes used of a line", 0, location.address, location.address,
                      (double)code->fetched_bytes / (double)code->fetched, text);
        free(text);
    }
    free(codes);
}

static void csv_objects(const struct as_reuse_shown *shown, FILE *out)
{
    for (size_t i = 0; shown->objects && i < shown->objects->list.len; i++) {
        const struct as_reuse_object *object = &shown->objects->list.data[i];
        csv_causes(out, "object", object->misses, object->what.start, object->what.end, object->what.name);
        print_row(out, "object: bytes used of a line", 0, object->what.start, object->what.end,
                  as_reuse_object_used(object), object->what.name);
        for (uint32_t octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
            if (object->octaves[octave])
                print_row(out, "object distance", 0, as_distance_octave_low(octave),
                          as_distance_octave_low(octave + 1) - 1, (double)object->octaves[octave], object->what.name);
    }
}

static void csv_working_set(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *view = as_reuse_working_view(shown->exact);
    for (size_t i = 0; view && i < view->working_set.len; i++)
        print_row(out, "working set", 0, i * shown->options->shape.interval,
                  (i + 1) * shown->options->shape.interval - 1,
                  (double)((uint64_t)view->working_set.data[i] << shown->options->shape.shift), "");
}

static void csv_exact(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact), *sockets = as_reuse_all_sockets(shown->exact);
    csv_counts(out, "count", &all->counts, false);
    csv_histogram(out, "distance", 0, &all->distances);
    csv_histogram(out, "time", 0, &all->times);
    for (size_t i = 0; i < as_reuse_count_threads(shown->exact); i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(shown->exact, i);
        csv_histogram(out, "distance", thread->number, &thread->view->distances);
        csv_histogram(out, "time", thread->number, &thread->view->times);
    }
    if (sockets) {
        csv_counts(out, "shared count", &sockets->counts, true);
        csv_histogram(out, "shared distance", 0, &sockets->distances);
        csv_histogram(out, "shared time", 0, &sockets->times);
    }
    csv_curve(shown, out);
    csv_caches(shown, out);
    csv_pairs(shown, out, all, "pair");
    if (sockets)
        csv_pairs(shown, out, sockets, "shared pair");
    csv_codes(shown, out);
    csv_objects(shown, out);
    csv_working_set(shown, out);
    csv_advice(shown, out);
}

static void csv_estimate(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    const struct as_survival *survival = &estimate->survival;
    if (!shown->native || !shown->native->unsure)
        print_row(out, "count", 0, 0, 0, (double)estimate->accesses, "accesses");
    if (shown->native) {
        print_row(out, "count", 0, 0, 0, (double)shown->native->least, "accesses_least");
        print_row(out, "count", 0, 0, 0, (double)shown->native->most, "accesses_most");
    }
    csv_histogram(out, "estimated distance", 0, &estimate->distances);
    csv_bins(out, "estimated time", 0, &estimate->times, shown->native ? &estimate->counted : NULL);
    print_row(out, "estimated share", 0, 0, 0, survival->reused, "share_reused");
    print_row(out, "estimated share", 0, 0, 0, survival->invalidated, "share_invalidated");
    print_row(out, "estimated share", 0, 0, 0, survival->own, "share_own");
    for (uint64_t granules = 1; granules < as_reuse_estimate_sizes(estimate); granules *= 4)
        print_row(out, "estimated miss ratio", 0, granules * shown->watched_bytes, granules * shown->watched_bytes,
                  as_reuse_estimate_ratio(estimate, granules), "");
}

void as_reuse_show_csv(const struct as_reuse_shown *shown, FILE *out)
{
    fprintf(out, "what,thread,lo,hi,value,name\n");
    if (shown->estimate)
        csv_estimate(shown, out);
    if (shown->exact)
        csv_exact(shown, out);
}
