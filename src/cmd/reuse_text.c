/* Reuse distances as text. See reuse_show.h. */
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/reuse_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BAR = 40 };

static void print_bar(FILE *out, double share)
{
    int n = (int)lround(share * BAR);
    for (int i = 0; i < n && i < BAR; i++)
        fputs("█", out);
}

const char *as_reuse_size_text(uint64_t bytes, char text[32])
{
    const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes;
    size_t unit = 0;
    for (; n >= 1024 && unit < 4; unit++)
        n /= 1024;
    snprintf(text, 32, n < 10 && n != floor(n) ? "%.1f %s" : "%.0f %s", n, units[unit]);
    return text;
}

static void print_number(FILE *out, const char *label, uint64_t n, uint64_t whole)
{
    fprintf(out, "%20s  %s", AS_COUNT(n), label);
    if (whole)
        fprintf(out, " (%.2f %%)", 100 * as_ratio(n, whole));
    fputc('\n', out);
}

static void print_counts(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *view = as_reuse_all_threads(shown->exact);
    const struct as_reuse_view *sockets = as_reuse_all_sockets(shown->exact);
    const struct as_reuse_counts *counts = &view->counts;
    print_number(out, "accesses", counts->accesses, 0);
    if (counts->touches != counts->accesses)
        print_number(out, "touches of granules: some accesses lie in two", counts->touches, 0);
    print_number(out, "reuses in threads", counts->reuses, counts->touches);
    if (!counts->left_out)
        print_number(out, "  of the same bytes (temporal)", counts->temporal, counts->reuses);
    print_number(out, "first touches", counts->cold, counts->touches);
    print_number(out, "invalidations: stores of another thread between use and reuse", counts->invalidations,
                 counts->touches);
    if (!sockets)
        return;
    print_number(out, "reuses in the shared cache, of another thread's lines", sockets->counts.reuses,
                 sockets->counts.touches);
    print_number(out, "  of which false sharing (different bytes, the first written)", sockets->counts.false_sharing,
                 sockets->counts.reuses);
}

void as_reuse_print_histogram(FILE *out, const char *title, const struct as_distances *distances,
                              const struct as_distances *counted)
{
    uint64_t octaves[AS_DISTANCE_OCTAVES], exact[AS_DISTANCE_OCTAVES] = {0}, most = 0;
    uint32_t last = 0;
    as_distances_octaves(distances, octaves);
    if (counted)
        as_distances_octaves(counted, exact);
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++) {
        most = octaves[i] > most ? octaves[i] : most;
        last = octaves[i] ? i : last;
    }
    if (!most)
        return;
    fprintf(out, "\n%s:\n", title);
    for (uint32_t i = 0; i <= last; i++) {
        if (as_distances_joins(distances, i))
            continue;
        fprintf(out, "%16s  %18s %6.2f %%  ", AS_COUNT(as_distance_octave_low(i)), AS_COUNT(octaves[i]),
                100 * as_ratio(octaves[i], distances->total));
        if (counted)
            fprintf(out, "%-7s  ", octaves[i] ? as_reuse_how(octaves[i], exact[i]) : "");
        print_bar(out, as_ratio(octaves[i], most));
        fputc('\n', out);
    }
}

/* ---- the miss-ratio curve ---- */

static void print_marks(const struct as_reuse_shown *shown, FILE *out, uint64_t from, uint64_t to)
{
    char text[32];
    uint32_t shift = shown->options->shape.shift;
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        uint64_t bytes = shown->options->shape.levels[level].lines << shift;
        if (bytes >= from && bytes < to)
            fprintf(out, "  %s of %s: %s, %.2f %%", as_reuse_level_names[level], shown->machine->name,
                    as_reuse_size_text(bytes, text),
                    100 * as_reuse_miss_ratio(shown->exact, level == AS_REUSE_LLC, bytes >> shift));
    }
    for (size_t i = 0; i < shown->n_host; i++) {
        uint64_t bytes = shown->host[i].bytes;
        bool shared = shown->host[i].level > 2;
        if (bytes >= from && bytes < to)
            fprintf(out, "  L%u here: %s, %.2f %%", shown->host[i].level, as_reuse_size_text(bytes, text),
                    100 * as_reuse_miss_ratio(shown->exact, shared, bytes >> shift));
    }
}

static void print_curve(const struct as_reuse_shown *shown, FILE *out)
{
    char text[32];
    uint32_t shift = shown->options->shape.shift;
    const struct as_reuse_view *view = as_reuse_all_threads(shown->exact);
    double floor_ = as_ratio(view->counts.cold + view->counts.after_invalidation, view->counts.touches);
    bool sampled = shown->options->shape.sampled && as_reuse_scale(shown->exact);
    fprintf(out, "\nMisses of a fully associative LRU cache of a thread, by its size%s:\n",
            sampled ? " (+-: how many points it may be off)" : "");
    for (uint64_t lines = as_reuse_least(shown->exact); lines < UINT64_C(1) << 34; lines *= 2) {
        double ratio = as_reuse_miss_ratio(shown->exact, false, lines);
        fprintf(out, "%16s  %6.2f %%  ", as_reuse_size_text(lines << shift, text), 100 * ratio);
        if (sampled)
            fprintf(out, "+-%5.2f  ", 100 * as_reuse_miss_ratio_error(shown->exact, false, lines));
        print_bar(out, ratio);
        print_marks(shown, out, lines << shift, lines << shift << 1);
        fputc('\n', out);
        if (lines << shift >= 32 << 10 && ratio <= floor_)
            break;
    }
}

/* ---- the caches of the machine ---- */

static void print_level(const struct as_reuse_shown *shown, FILE *out, int level)
{
    char text[32];
    const struct as_cache_shape *shape = &shown->options->shape.levels[level];
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact), *shared = as_reuse_all_sockets(shown->exact);
    uint64_t missed[AS_MISS_CAUSES], touches = all->counts.touches;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        missed[cause] = all->missed[level][cause] + (shared ? shared->missed[level][cause] : 0);
    fprintf(out, "  %-4s %9s %5u  %9.3f %%  %9.3f %% ", as_reuse_level_names[level],
            as_reuse_size_text(shape->lines << shown->options->shape.shift, text), shape->ways,
            100 * as_reuse_miss_ratio(shown->exact, level == AS_REUSE_LLC, shape->lines),
            100 * as_ratio(as_reuse_sum(missed), touches));
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        fprintf(out, " %14s", AS_COUNT(missed[cause]));
    fputc('\n', out);
}

static void print_levels(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    if (!as_reuse_has_caches(shown) || shown->options->shape.sampled)
        return;
    fprintf(out,
            "\nCaches of %s, misses of all accesses: as the distances predict, and as LRU caches with sets have them\n"
            "  %-4s %9s %5s  %11s  %11s  %14s %14s %14s %14s\n",
            shown->machine->name, "", "size", "ways", "predicted", "simulated", "cold", "capacity", "conflict",
            "coherence");
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        if (shown->options->shape.levels[level].lines)
            print_level(shown, out, level);
    if (all->fetched)
        fprintf(out, "  of each line that left the L1, %.1f of %u bytes had been used\n",
                (double)all->fetched_bytes / (double)all->fetched, 1u << shown->options->shape.shift);
}

/* ---- code ---- */

static uint64_t median_of(const struct as_reuse_pair *pair)
{
    uint64_t half = 0;
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++)
        if ((half += pair->octaves[i]) * 2 >= pair->count)
            return as_distance_octave_low(i);
    return 0;
}

/* The call path that most of a pair's reuses are on, and how many unless it is all. */
static void print_path(const struct as_reuse_shown *shown, FILE *out, const struct as_reuse_pair *pair,
                       const char *what, uint32_t path)
{
    char *text = as_reuse_path_text(shown, path);
    if (*text && pair->path_count < pair->count)
        fprintf(out, "%71s%s (%s of them): %s\n", "", what, AS_COUNT(pair->path_count), AS_SHOW(text));
    else if (*text)
        fprintf(out, "%71s%s: %s\n", "", what, AS_SHOW(text));
    free(text);
}

static const char *median_text(const struct as_reuse_shown *shown, const struct as_reuse_pair *pair, char text[32])
{
    uint64_t median = median_of(pair), least = as_reuse_least(shown->exact);
    snprintf(text, 32, median < least && least > 1 ? "< %s" : "%s",
             AS_COUNT(median < least && least > 1 ? least : median));
    return text;
}

static void print_pair(const struct as_reuse_shown *shown, FILE *out, const struct as_reuse_pair *pair, bool shared)
{
    char *use = as_reuse_location_text(shown, pair->use), *reuse = as_reuse_location_text(shown, pair->reuse);
    char median[32];
    bool caches = as_reuse_has_caches(shown), sets = caches && !shared && !shown->options->shape.sampled;
    fprintf(out, "  %16s %16s %12s %10s %7.1f %%  %s → %s\n", AS_COUNT(pair->count),
            caches ? AS_COUNT(pair->beyond[AS_REUSE_L1]) : "-", sets ? AS_COUNT(pair->conflicts) : "-",
            median_text(shown, pair, median), 100 * as_ratio(pair->spatial, pair->count), AS_SHOW(use), AS_SHOW(reuse));
    if (pair->use_path != pair->reuse_path)
        print_path(shown, out, pair, "use", pair->use_path);
    print_path(shown, out, pair, pair->use_path != pair->reuse_path ? "reuse" : "both", pair->reuse_path);
    free(use);
    free(reuse);
}

static void print_pairs(const struct as_reuse_shown *shown, FILE *out, const struct as_reuse_view *all,
                        const char *title)
{
    const struct as_reuse_pair **sorted = as_reuse_sorted_pairs(all);
    if (all->pairs.len && shown->top)
        fprintf(out, "\n%s, %s first:\n  %16s %16s %12s %10s %9s\n", title,
                as_reuse_has_caches(shown) ? "those that miss the L1" : "the most frequent", "reuses", "beyond L1",
                "conflicts", "median", "spatial");
    for (size_t i = 0; i < all->pairs.len && i < shown->top; i++)
        print_pair(shown, out, sorted[i], all->shared);
    free(sorted);
}

static void print_codes(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    size_t n;
    uint32_t *codes = as_reuse_sorted_codes(all, AS_REUSE_L1, &n);
    uint64_t whole = as_reuse_sum(all->missed[AS_REUSE_L1]);
    if (n && shown->top)
        fprintf(out, "\nL1 misses by instruction:\n  %14s %8s %12s %12s %12s %12s %6s %10s %11s\n", "misses", "",
                "cold", "capacity", "conflict", "coherence", "bytes", "brought", "from memory");
    for (size_t i = 0; i < n && i < shown->top; i++) {
        const struct as_reuse_code *code = &all->codes.data[codes[i]];
        uint64_t misses = as_reuse_sum(code->misses[AS_REUSE_L1]);
        char *place = as_reuse_location_text(shown, codes[i]);
        fprintf(out, "  %14s %6.2f %%", AS_COUNT(misses), 100 * as_ratio(misses, whole));
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            fprintf(out, " %12s", AS_COUNT(code->misses[AS_REUSE_L1][cause]));
        char brought[32], memory[32];
        fprintf(out, " %6.1f %10s %11s  %s\n", as_ratio(code->fetched_bytes, code->fetched),
                as_reuse_brought_text(shown, code, AS_REUSE_L1, brought),
                as_reuse_brought_text(shown, code, AS_REUSE_LLC, memory), AS_SHOW(place));
        free(place);
    }
    free(codes);
}

static void print_threads(const struct as_reuse_shown *shown, FILE *out)
{
    enum { MOST = 32 };
    size_t n = as_reuse_count_threads(shown->exact);
    if (n < 2)
        return;
    fprintf(out, "\nBy thread:\n  %6s %7s %6s %16s %16s %14s %14s %9s\n", "thread", "process", "socket", "accesses",
            "reuses", "first touches", "invalidations", "L1 misses");
    for (size_t i = 0; i < n && i < MOST; i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(shown->exact, i);
        const struct as_reuse_counts *counts = &thread->view->counts;
        fprintf(out, "  %6u %7u %6u %16s %16s %14s %14s %7.2f %%\n", thread->number, thread->process, thread->socket,
                AS_COUNT(counts->accesses), AS_COUNT(counts->reuses), AS_COUNT(counts->cold),
                AS_COUNT(counts->invalidations),
                100 * as_ratio(as_reuse_sum(thread->view->missed[AS_REUSE_L1]), counts->touches));
    }
    if (n > MOST)
        fprintf(out, "  … and %zu more; --json lists them all\n", n - MOST);
}

/* ---- the working set ---- */

/* The greatest of each of up to 64 stretches as one character. */
static void print_working_set(const struct as_reuse_shown *shown, FILE *out)
{
    enum { COLUMNS = 64 };
    const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    char text[32];
    const struct as_reuse_view *view = as_reuse_working_view(shown->exact);
    if (!view || view->working_set.len < 2 || shown->options->shape.sampled)
        return;
    size_t n = view->working_set.len, columns = n < COLUMNS ? n : COLUMNS;
    uint32_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = view->working_set.data[i] > most ? view->working_set.data[i] : most;
    fprintf(out, "\nWorking set over time, in %s accesses each; at most %s:\n  ",
            AS_COUNT(shown->options->shape.interval),
            as_reuse_size_text((uint64_t)most << shown->options->shape.shift, text));
    for (size_t column = 0; column < columns; column++) {
        uint32_t top = 0;
        for (size_t i = column * n / columns; i < (column + 1) * n / columns; i++)
            top = view->working_set.data[i] > top ? view->working_set.data[i] : top;
        fputs(levels[(uint64_t)top * 7 / most], out);
    }
    fputc('\n', out);
}

static void print_advice(const struct as_reuse_shown *shown, FILE *out)
{
    if (shown->n_advice)
        fprintf(out, "\nWhat could be done:\n");
    for (size_t i = 0; i < shown->n_advice; i++) {
        char *text = as_reuse_advice_text(shown, &shown->advice[i]);
        fprintf(out, "  %s (%.0f %% of %s): %s\n", as_reuse_advice_names[shown->advice[i].kind],
                100 * shown->advice[i].share,
                shown->advice[i].kind == AS_ADVICE_PADDING ? "the reuses between threads" : "the misses",
                AS_SHOW(text));
        free(text);
    }
}

void as_reuse_show_text(const struct as_reuse_shown *shown, FILE *out)
{
    if (shown->estimate) {
        as_reuse_show_watch_text(shown, out);
        return;
    }
    const struct as_reuse_view *sockets = as_reuse_all_sockets(shown->exact);
    char how[AS_REUSE_HOW];
    const char *part = shown->part;
    fprintf(out, "\nReuse distances of '%s'%s%s, %s, in granules of %u byte%s:\n\n", shown->argv[0], part ? ", " : "",
            part ? part : "", as_reuse_method_text(shown, how), 1u << shown->options->shape.shift,
            shown->options->shape.shift ? "s" : "");
    if (!as_reuse_all_threads(shown->exact)->counts.touches) {
        fprintf(out, "No access was seen.\n\n%.3f seconds\n", shown->seconds);
        return;
    }
    print_counts(shown, out);
    as_reuse_print_histogram(out, "Reuse distance in threads, distinct granules in between, from",
                             &as_reuse_all_threads(shown->exact)->distances, NULL);
    if (sockets)
        as_reuse_print_histogram(out, "Reuse distance in the shared cache between threads, from", &sockets->distances,
                                 NULL);
    print_curve(shown, out);
    print_levels(shown, out);
    print_threads(shown, out);
    print_pairs(shown, out, as_reuse_all_threads(shown->exact), "Use and reuse");
    if (sockets)
        print_pairs(shown, out, sockets, "Use and reuse between threads");
    print_codes(shown, out);
    as_reuse_print_objects(shown, out);
    as_reuse_print_adjacent(shown, out);
    print_working_set(shown, out);
    print_advice(shown, out);
    fprintf(out, "\n%.3f seconds, %.1f million accesses a second\n", shown->seconds,
            (double)as_reuse_all_threads(shown->exact)->counts.accesses / 1e6 / fmax(shown->seconds, 1e-9));
}
