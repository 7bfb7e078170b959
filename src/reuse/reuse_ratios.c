/* See reuse_ratios.h. */
#include "reuse/reuse_ratios.h"

#include <stdlib.h>

const struct as_reuse_view *as_reuse_last_level(const struct as_reuse *exact)
{
    const struct as_reuse_view *sockets = as_reuse_all_sockets(exact);
    return sockets ? sockets : as_reuse_all_threads(exact);
}

const struct as_reuse_view *as_reuse_working_view(const struct as_reuse *exact)
{
    const struct as_reuse_view *view = as_reuse_all_sockets(exact);
    if (!view && as_reuse_count_threads(exact))
        view = as_reuse_get_thread(exact, 0)->view;
    return view && !view->shape->sampled ? view : NULL; /* intervals of a sample are not those of the run */
}

uint64_t as_reuse_least(const struct as_reuse *exact)
{
    uint64_t least = as_reuse_all_threads(exact)->distances.least;
    return least ? least : 1;
}

double as_reuse_miss_ratio(const struct as_reuse *exact, bool shared, uint64_t granules)
{
    const struct as_reuse_view *view = shared ? as_reuse_last_level(exact) : as_reuse_all_threads(exact);
    const struct as_distances *distances = view->shared ? &view->all : &view->distances;
    double always = (double)(view->counts.cold + view->counts.after_invalidation);
    return view->counts.touches ? (always + as_distances_beyond(distances, granules)) / (double)view->counts.touches
                                : 0;
}

double as_reuse_miss_ratio_error(const struct as_reuse *exact, bool shared, uint64_t granules)
{
    const struct as_reuse_view *view = shared ? as_reuse_last_level(exact) : as_reuse_all_threads(exact);
    if (!view->parts || !view->counts.touches)
        return 0;
    return as_sample_error(view->parts, granules, as_reuse_scale(exact)) / (double)view->counts.touches;
}

void as_reuse_level_misses(const struct as_reuse *exact, int level, uint64_t missed[AS_MISS_CAUSES])
{
    const struct as_reuse_view *all = as_reuse_all_threads(exact), *shared = as_reuse_all_sockets(exact);
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        missed[cause] = all->missed[level][cause] + (shared ? shared->missed[level][cause] : 0);
}

uint64_t as_reuse_sum(const uint64_t causes[AS_MISS_CAUSES])
{
    uint64_t n = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        n += causes[cause];
    return n;
}

/* ---- orders ---- */

static int by_beyond(const void *a, const void *b)
{
    const struct as_reuse_pair *x = *(const struct as_reuse_pair *const *)a,
                               *y = *(const struct as_reuse_pair *const *)b;
    uint64_t x_misses = x->beyond[AS_REUSE_L1] + x->conflicts, y_misses = y->beyond[AS_REUSE_L1] + y->conflicts;
    if (x_misses != y_misses)
        return x_misses < y_misses ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->use != y->use ? (x->use > y->use) - (x->use < y->use) : (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

const struct as_reuse_pair **as_reuse_sorted_pairs(const struct as_reuse_view *view)
{
    const struct as_reuse_pair **sorted = as_alloc_array(view->pairs.len + 1, sizeof *sorted);
    for (size_t i = 0; i < view->pairs.len; i++)
        sorted[i] = &view->pairs.data[i];
    qsort(sorted, view->pairs.len, sizeof *sorted, by_beyond);
    return sorted;
}

struct ranked {
    uint64_t misses;
    uint32_t code;
};

static int by_misses(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->misses != y->misses)
        return x->misses < y->misses ? 1 : -1;
    return (x->code > y->code) - (x->code < y->code);
}

uint32_t *as_reuse_sorted_codes(const struct as_reuse_view *view, int level, size_t *n)
{
    struct ranked *ranked = as_alloc_array(view->codes.len + 1, sizeof *ranked);
    uint32_t *codes = as_alloc_array(view->codes.len + 1, sizeof *codes);
    *n = 0;
    for (size_t i = 0; i < view->codes.len; i++) {
        uint64_t misses = as_reuse_sum(view->codes.data[i].misses[level]);
        if (misses)
            ranked[(*n)++] = (struct ranked){.misses = misses, .code = (uint32_t)i};
    }
    qsort(ranked, *n, sizeof *ranked, by_misses);
    for (size_t i = 0; i < *n; i++)
        codes[i] = ranked[i].code;
    free(ranked);
    return codes;
}
