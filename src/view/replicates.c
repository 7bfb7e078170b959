/* See replicates.h. */
#include "view/replicates.h"

#include <math.h>
#include <string.h>

static bool is_named(const struct as_store_series *series, const char *name)
{
    return series->name && strcmp(series->name, name) == 0;
}

static bool is_replicate(const struct as_store_series *series)
{
    return series->name && strncmp(series->name, AS_STORE_REPLICATE, strlen(AS_STORE_REPLICATE)) == 0;
}

/* What is expected of the regions; false in profiles of older versions. Merged runs may have the same regions, so they count for as
 * many as one of them has. */
static bool find_prior(const struct as_view *view, struct as_region_prior *prior)
{
    const struct as_summary *summary = &view->summary;
    prior->deviation = as_store_estimate_of(view->store, summary->series, AS_STORE_PRIOR, "program");
    prior->regions = as_store_estimate_of(view->store, summary->series, AS_STORE_PRIOR, AS_STORE_PRIOR_REGIONS);
    uint64_t merged = 1;
    if (!as_store_meta_u64(view->store, AS_META_MERGED, &merged) || merged == 0)
        merged = 1;
    if (!(prior->regions >= 1))
        prior->regions = fmax((double)summary->samples / (double)merged, 1);
    return prior->deviation >= 0 && prior->deviation < 1;
}

static void find_separate(const struct as_view *view, struct as_replicates *replicates)
{
    size_t n;
    const struct as_store_series *series = as_store_series(view->store, &n);
    replicates->by_events = replicates->series.len && series[replicates->series.data[0]].events;
    replicates->by_threads = replicates->common != AS_STORE_NONE &&
                             as_store_estimate_of(view->store, replicates->common, AS_STORE_BY_THREADS, "program") == 1;
    if ((view->options.threads.len && !replicates->by_threads) || (view->options.events.len && !replicates->by_events))
        as_vec_clear(&replicates->series);
}

struct as_replicates as_replicates_of(const struct as_view *view)
{
    struct as_replicates replicates = {.common = AS_STORE_NONE, .alike = AS_STORE_NONE};
    size_t n;
    const struct as_store_series *series = as_store_series(view->store, &n);
    if (!view->summary.sampled)
        return replicates;
    for (uint32_t i = 0; i < n; i++)
        if (is_named(&series[i], AS_STORE_REPLICATE_COMMON)) /* profiles of older versions have neither of the two */
            replicates.common = i;
        else if (is_named(&series[i], AS_STORE_REPLICATE_ALIKE))
            replicates.alike = i;
        else if (is_replicate(&series[i]))
            *as_vec_push(&replicates.series) = i;
    find_separate(view, &replicates);
    replicates.has_prior = find_prior(view, &replicates.prior);
    replicates.common_error =
        as_store_estimate_of(view->store, view->summary.series, AS_STORE_PRIOR, AS_STORE_PRIOR_COMMON);
    if (!(replicates.common_error >= 0 && replicates.common_error < 1))
        replicates.common_error = 0;
    return replicates;
}

void as_replicates_free(struct as_replicates *replicates)
{
    as_vec_free(&replicates->series);
}

double as_replicates_error(const struct as_replicates *replicates, double share, double moving, double guessed,
                           const double *values)
{
    size_t n = replicates->series.len;
    double deviation = as_jackknife_deviation(values, n);
    if (replicates->has_prior)
        deviation = as_guessed_share_deviation(share, guessed,
                                               as_region_share_deviation(&replicates->prior, share, moving, deviation));
    return as_jackknife_quantile(n) * deviation;
}
