/* Error estimates of a merged profile. The uncertainty from sampling, and a sampler's distance from the golden
 * reference, are computed again from the rows that were written. The systematic error is a mean over time, so the
 * merged one is the mean of the inputs' errors, weighted by their times; so is the effective part of the samples,
 * and so are the factors of times that are alike in replicates. The errors of sampled runs are such means, too: that is
 * right for runs with the same regions, and for what warming leaves out in all of them; errors of runs with other regions cancel in
 * part, so the mean is more than they have. Other measures cannot be computed from rows: they are kept only if there is a single input. */
#include "merge/merge_internal.h"
#include "score/sampling_error.h"

#include <math.h>

void as_merge_estimates(struct as_merge *merge, struct as_store *store, const uint32_t *series, const uint64_t *units)
{
    size_t n, k;
    const struct as_store_estimate *rows = as_store_estimates(store, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = series[rows[i].series];
        if (number == AS_STORE_NONE || isnan(rows[i].value))
            continue;
        for (k = 0; k < merge->estimates.len; k++) {
            const struct as_merge_estimate *known = &merge->estimates.data[k];
            if (known->series == number && strcmp(known->measure, rows[i].measure) == 0 &&
                strcmp(known->granularity, rows[i].granularity) == 0)
                break;
        }
        if (k == merge->estimates.len)
            *as_vec_push(&merge->estimates) =
                (struct as_merge_estimate){.series = number,
                                           .measure = as_merge_keep(merge, rows[i].measure),
                                           .granularity = as_merge_keep(merge, rows[i].granularity)};
        struct as_merge_estimate *estimate = &merge->estimates.data[k];
        estimate->only = rows[i].value;
        estimate->sum += rows[i].value * (double)units[number];
        estimate->weight += (double)units[number];
        estimate->met++;
    }
}

/* ---- times by group ---- */

struct groups {
    const uint32_t *of; /* by instruction; NULL: each instruction is a group */
    uint64_t *units;    /* the last group holds what belongs to no group */
    size_t n;
};

static bool add_units(void *context, uint32_t number, const void *row)
{
    struct groups *groups = context;
    const struct as_store_time *time = row;
    uint32_t group = groups->of ? groups->of[time->instruction] : time->instruction;
    (void)number;
    groups->units[group < groups->n - 1 ? group : groups->n - 1] += time->units;
    return true;
}

static bool read_groups(struct as_merge *merge, uint32_t series, const char *granularity, struct groups *groups,
                        struct as_error *err)
{
    size_t n = merge->functions_of.len;
    groups->of = strcmp(granularity, "function") == 0 ? merge->functions_of.data
                 : strcmp(granularity, "block") == 0  ? merge->blocks_of.data
                                                      : NULL;
    groups->n = n + 1; /* there are at most as many functions or blocks as instructions; see below */
    for (size_t i = 0; groups->of && i < n; i++)
        if (groups->of[i] != AS_STORE_NONE && groups->of[i] + (size_t)2 > groups->n)
            groups->n = groups->of[i] + (size_t)2;
    groups->units = as_alloc_array(groups->n, sizeof *groups->units);
    return as_store_writer_each(merge->writer, AS_TABLE_TIMES, series, add_units, groups, err);
}

static const struct as_store_series *series_of(const struct as_merge *merge, uint32_t number)
{
    for (size_t i = 0; i < merge->series.len; i++)
        if (merge->series.data[i].number == number)
            return &merge->series.data[i].row;
    return NULL;
}

/* The exact series in the unit of another. */
static uint32_t golden_of(const struct as_merge *merge, uint32_t number)
{
    const char *unit = series_of(merge, number)->unit;
    for (size_t i = 0; unit && i < merge->series.len; i++) {
        const struct as_merge_series *series = &merge->series.data[i];
        if (!series->is_left_out && series->row.exact && series->row.unit && strcmp(series->row.unit, unit) == 0)
            return series->number;
    }
    return AS_STORE_NONE;
}

static bool is_level(const char *granularity)
{
    return strcmp(granularity, "instruction") == 0 || strcmp(granularity, "block") == 0 ||
           strcmp(granularity, "function") == 0;
}

/* The part of a series' samples that as many of equal weight make up for. */
static double effective_of(const struct as_merge *merge, uint32_t series)
{
    for (size_t i = 0; i < merge->estimates.len; i++) {
        const struct as_merge_estimate *estimate = &merge->estimates.data[i];
        if (estimate->series == series && strcmp(estimate->measure, "effective") == 0 && estimate->weight > 0)
            return estimate->sum / estimate->weight;
    }
    return 1;
}

/* The value is NAN if there is none. */
static bool estimate_again(struct as_merge *merge, const struct as_merge_estimate *estimate, double *value,
                           struct as_error *err)
{
    struct groups said = {0}, golden = {0};
    bool is_error = strcmp(estimate->measure, "error") == 0;
    uint32_t truth = is_error ? golden_of(merge, estimate->series) : AS_STORE_NONE;
    *value = NAN;
    if (is_error && truth == AS_STORE_NONE)
        return true;
    bool ok = read_groups(merge, estimate->series, estimate->granularity, &said, err) &&
              (!is_error || read_groups(merge, truth, estimate->granularity, &golden, err));
    if (ok && is_error)
        *value = as_weights_distance(as_weights_of(said.units, said.n), as_weights_of(golden.units, golden.n));
    else if (ok)
        *value = as_sampling_error(as_weights_of(said.units, said.n), NULL,
                                   effective_of(merge, estimate->series) *
                                       (double)series_of(merge, estimate->series)->samples);
    free(said.units);
    free(golden.units);
    return ok;
}

static bool is_mean(const struct as_merge *merge, const struct as_merge_estimate *estimate)
{
    static const char *const always[] = {"systematic", "effective", AS_STORE_FACTOR, AS_STORE_BY_THREADS};
    static const char *const of_sampled[] = {"interval", AS_STORE_PRIOR, "estimate", AS_STORE_COUNTER_ERROR};
    const char *name = series_of(merge, estimate->series)->name;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(estimate->measure, always[i]) == 0)
            return true;
    for (size_t i = 0; name && strcmp(name, AS_STORE_SAMPLED) == 0 && i < sizeof of_sampled / sizeof *of_sampled; i++)
        if (strcmp(estimate->measure, of_sampled[i]) == 0)
            return true;
    return false;
}

bool as_merge_write_estimates(struct as_merge *merge, struct as_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < merge->estimates.len && ok; i++) {
        const struct as_merge_estimate *estimate = &merge->estimates.data[i];
        bool again = (strcmp(estimate->measure, "estimate") == 0 || strcmp(estimate->measure, "error") == 0) &&
                     is_level(estimate->granularity);
        double value = NAN;
        if (estimate->met < merge->n)
            continue;
        if (merge->n == 1)
            value = estimate->only;
        else if (estimate->weight > 0 && is_mean(merge, estimate))
            value = estimate->sum / estimate->weight;
        else if (again && estimate->sum == 0 && strcmp(estimate->measure, "estimate") == 0)
            value = 0; /* the series is exact */
        else if (again)
            ok = estimate_again(merge, estimate, &value, err);
        if (ok && !isnan(value))
            as_store_add_estimate(merge->writer, &(struct as_store_estimate){estimate->series, estimate->measure,
                                                                             estimate->granularity, value});
    }
    return ok;
}
