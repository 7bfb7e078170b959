/* Reuse distances from samples and watchpoints, as text and as JSON. See reuse_show.h. */
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/reuse_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_USES = 30 }; /* of equal weight: a share that they estimate may be off by ten points */

/* What the estimate is an estimate of: the threads' reuses, or those in the shared cache. */
static const struct as_reuse_view *truth_of(const struct as_reuse_shown *shown)
{
    if (!shown->exact)
        return NULL;
    return shown->shared ? as_reuse_last_level(shown->exact) : as_reuse_all_threads(shown->exact);
}

/* ---- text ---- */

static void print_counts(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    const struct as_watch_result *result = &estimate->result;
    if (shown->native && shown->native->unsure)
        fprintf(out, "%20s  to %s accesses: the run was too short to say how many\n", AS_COUNT(shown->native->least),
                AS_COUNT(shown->native->most));
    else
        fprintf(out, "%20s  accesses\n", AS_COUNT(estimate->accesses));
    fprintf(out, "%20s  sampled, %s of them watched\n", AS_COUNT(result->samples), AS_COUNT(result->armed));
    fprintf(out, "%20s  were reused (%.2f %% of all uses, estimated)\n", AS_COUNT(result->reuses),
            100 * estimate->survival.reused);
    fprintf(out, "%20s  were invalidated (%.2f %%)\n", AS_COUNT(result->invalidations),
            100 * estimate->survival.invalidated);
    if (shown->shared)
        fprintf(out, "%20s  were used again by their own thread first (%.2f %%)\n", AS_COUNT(result->own),
                100 * estimate->survival.own);
    fprintf(out, "%20s  never came again (%.2f %%)\n", AS_COUNT(result->never), 100 * estimate->survival.never);
    fprintf(out, "%20s  were given up for others; as good as %.0f uses of equal weight\n", AS_COUNT(result->given_up),
            estimate->survival.effective);
    if (estimate->survival.effective < FEW_USES)
        fprintf(out, "%20s  so few tell little: a %s, or a longer run, gives more\n", "",
                shown->native ? "higher --rate" : "smaller --period");
    if (shown->pmu)
        fprintf(out, "%20s  overflows were missed by the PMU (%s)\n", AS_COUNT(shown->missed), AS_SHOW(shown->pmu));
    if (result->relaxed)
        fprintf(out, "%20s  reuses in the relaxed sense: another thread had stored before it was watched\n",
                AS_COUNT(result->relaxed));
}

static void print_accuracy(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *truth = truth_of(shown);
    if (truth && shown->estimate->times.total == 0)
        fprintf(out, "\nAgainst every access: no accuracy, because no reuse was watched to its end\n");
    else if (truth)
        fprintf(out, "\nAgainst every access: accuracy %.1f %% in accesses, %.1f %% in distinct granules\n",
                100 * as_reuse_accuracy(&shown->estimate->times, &truth->times),
                100 * as_reuse_accuracy(&shown->estimate->distances, &truth->distances));
}

static void print_paths(const struct as_reuse_shown *shown, const struct as_estimated_pair *pair, FILE *out)
{
    char *use = as_reuse_path_text(shown, pair->use_path), *reuse = as_reuse_path_text(shown, pair->reuse_path);
    bool same = strcmp(use, reuse) == 0;
    if (!same && *use)
        fprintf(out, "%29suse: %s\n", "", AS_SHOW(use));
    if (*reuse)
        fprintf(out, "%29s%s: %s\n", "", same ? "both" : "reuse", AS_SHOW(reuse));
    free(use);
    free(reuse);
}

static void print_pairs(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    if (estimate->pairs.len && shown->top)
        fprintf(out, "\nUse and reuse:\n  %8s %16s\n", "samples", "mean distance");
    for (size_t i = 0; i < estimate->pairs.len && i < shown->top; i++) {
        const struct as_estimated_pair *pair = &estimate->pairs.data[i];
        char *use = as_reuse_location_text(shown, (uint32_t)pair->use);
        char *reuse = as_reuse_location_text(shown, (uint32_t)pair->reuse);
        fprintf(out, "  %8s %16s  %s → %s\n", AS_COUNT(pair->samples), AS_COUNT((uint64_t)llround(pair->distance)),
                AS_SHOW(use), AS_SHOW(reuse));
        print_paths(shown, pair, out);
        free(use);
        free(reuse);
    }
}

static void print_native(const struct as_reuse_native_info *info, FILE *out)
{
    fprintf(out, "%20s  outcomes were found by looking ahead, the others by watchpoints (%s traps)\n",
            AS_COUNT(info->looked), AS_COUNT(info->traps));
    if (info->how != AS_LENS_COUNTED && info->rate > 0)
        fprintf(out, "%20.3f  accesses a nanosecond, from %s measurements; a trap takes %.1f us\n", info->rate,
                AS_COUNT(info->rates), info->trap / 1e3);
    if (info->how == AS_LENS_ASSUMED)
        fprintf(out, "%20s  access a nanosecond is assumed: no rate could be measured\n", "1");
    if (info->how != AS_LENS_COUNTED && !info->unsure)
        fprintf(out, "%20s  to %s accesses, in all likelihood; timed distances may be off by a factor of %.1f\n",
                AS_COUNT(info->least), AS_COUNT(info->most), as_reuse_native_off(info));
    fprintf(out, "%20.3f  seconds the program stood still, of %.3f\n", info->stopped, info->seconds);
}

void as_reuse_show_watch_text(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    const char *part = shown->part;
    fprintf(out, "\nReuse distances of '%s'%s%s%s %s, from samples and watchpoints of %u bytes on %s machine:\n\n",
            shown->argv[0], part ? ", " : "", part ? part : "", part ? "," : "",
            shown->shared ? "in the shared cache" : "in threads", shown->watched_bytes,
            shown->native ? "this" : "the modelled");
    print_counts(shown, out);
    if (shown->native)
        print_native(shown->native, out);
    as_reuse_print_histogram(out, "Time distance, accesses in between, from", &estimate->times,
                             shown->native ? &estimate->counted : NULL);
    as_reuse_print_histogram(out, "Reuse distance, distinct granules in between (from the times), from",
                             &estimate->distances, NULL);
    print_accuracy(shown, out);
    print_pairs(shown, out);
    fprintf(out, "\n%.3f seconds\n", shown->seconds);
}

/* ---- JSON ---- */

static void json_exact(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_view *truth = truth_of(shown);
    if (!truth)
        return;
    as_json_object(json, "exact");
    as_json_double(json, "accuracy", as_reuse_accuracy(&shown->estimate->times, &truth->times));
    as_json_double(json, "accuracy_distinct", as_reuse_accuracy(&shown->estimate->distances, &truth->distances));
    as_reuse_json_counts(json, &truth->counts, truth->shared);
    as_reuse_json_histogram(json, "histogram", &truth->distances);
    as_reuse_json_histogram(json, "time_histogram", &truth->times);
    as_json_end(json);
}

static void json_pairs(struct as_json *json, const struct as_reuse_shown *shown)
{
    enum { MOST = 200 };
    double all = 0;
    for (size_t i = 0; i < shown->estimate->pairs.len; i++)
        all += shown->estimate->pairs.data[i].weight;
    as_json_array(json, "pairs");
    for (size_t i = 0; i < shown->estimate->pairs.len && i < MOST; i++) {
        const struct as_estimated_pair *pair = &shown->estimate->pairs.data[i];
        as_json_object(json, NULL);
        as_reuse_json_location(json, shown, "use", (uint32_t)pair->use, pair->use_path);
        as_reuse_json_location(json, shown, "reuse", (uint32_t)pair->reuse, pair->reuse_path);
        as_json_u64(json, "samples", pair->samples);
        as_json_double(json, "share", all > 0 ? pair->weight / all : 0);
        as_json_double(json, "time", pair->distance);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_native(struct as_json *json, const struct as_reuse_native_info *info)
{
    static const char *const how[] = {"counted", "timed", "assumed"};
    as_json_object(json, "native");
    as_json_string(json, "how", how[info->how]);
    as_json_u64(json, "accesses_least", info->least);
    as_json_u64(json, "accesses_most", info->most);
    as_json_double(json, "processor_seconds", info->processor);
    as_json_double(json, "stopped_seconds", info->stopped);
    as_json_u64(json, "looked", info->looked);
    as_json_u64(json, "without", info->without);
    as_json_u64(json, "watched_already", info->twice);
    as_json_u64(json, "traps", info->traps);
    as_json_u64(json, "armings", info->armings);
    as_json_u64(json, "refused", info->refused);
    as_json_u64(json, "rates", info->rates);
    as_json_double(json, "accesses_per_nanosecond", info->rate);
    as_json_double(json, "faster_when_warm", info->gain);
    as_json_double(json, "trap_nanoseconds", info->trap);
    as_json_end(json);
}

void as_reuse_json_watch(struct as_json *json, const struct as_reuse_shown *shown)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    const struct as_watch_result *result = &estimate->result;
    if (shown->pmu) {
        as_json_string(json, "pmu", shown->pmu);
        as_json_u64(json, "missed", shown->missed);
    }
    as_json_u64(json, "samples", result->samples);
    bool unsure = shown->native && shown->native->unsure;
    if (unsure)
        as_json_null(json, "accesses");
    else
        as_json_u64(json, "accesses", estimate->accesses);
    as_json_u64(json, "invalidations", (uint64_t)llround(estimate->survival.invalidated * (double)estimate->accesses));
    as_reuse_json_histogram(json, "histogram", &estimate->distances);
    as_reuse_json_bins(json, "time_histogram", &estimate->times, shown->native ? &estimate->counted : NULL,
                       shown->native ? as_reuse_native_off(shown->native) : 1);
    as_json_array(json, "miss_ratio");
    for (uint64_t granules = 1; granules < as_reuse_estimate_sizes(estimate); granules *= 4) {
        as_json_object(json, NULL);
        as_json_u64(json, "bytes", granules * shown->watched_bytes);
        as_json_double(json, "ratio", as_reuse_estimate_ratio(estimate, granules));
        as_json_end(json);
    }
    as_json_end(json);
    as_json_object(json, "watched");
    as_json_string(json, "where", shown->shared ? "shared cache" : "threads");
    as_json_u64(json, "bytes", shown->watched_bytes);
    as_json_u64(json, "armed", result->armed);
    as_json_u64(json, "dropped", result->dropped);
    as_json_u64(json, "busy", result->busy);
    as_json_u64(json, "traps", result->traps);
    as_json_u64(json, "stale", result->stale);
    as_json_u64(json, "reused", result->reuses);
    as_json_u64(json, "invalidated", result->invalidations);
    as_json_u64(json, "own", result->own);
    as_json_u64(json, "given_up", result->given_up);
    as_json_u64(json, "never", result->never);
    as_json_u64(json, "relaxed", result->relaxed);
    as_json_u64(json, "lost", result->lost);
    as_json_double(json, "share_reused", estimate->survival.reused);
    as_json_double(json, "share_invalidated", estimate->survival.invalidated);
    as_json_double(json, "share_own", estimate->survival.own);
    as_json_double(json, "effective", estimate->survival.effective);
    as_json_end(json);
    if (shown->native)
        json_native(json, shown->native);
    json_exact(json, shown);
    json_pairs(json, shown);
}
