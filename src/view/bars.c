/* See bars.h. */
#include "view/bars.h"

#include "base/alloc.h"
#include "view/replicates.h"

#include <math.h>
#include <stdlib.h>

/* The sums of all items in a series, and of all of it. */
struct sums {
    double *units, total;
};

/* What is known of the items: in the series, in what its replicates have in common (the same times; and times that a factor of each
 * multiplies), and in each replicate with what they have in common. */
struct known {
    struct sums own, common, alike;
    struct sums *replicates;
    size_t n;
};

static bool read_sums(const struct as_bar_items *items, uint32_t series, struct sums *sums, struct as_error *err)
{
    sums->units = as_alloc_array(items->n + 1, sizeof *sums->units);
    return series == AS_STORE_NONE || items->read(items->context, series, sums->units, &sums->total, err);
}

static void add_sums(struct sums *to, const struct sums *from, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        to->units[i] += factor * from->units[i];
    to->total += factor * from->total;
}

/* The factor of a replicate; 1 in a file without it, or with one that makes no sense. */
static double factor_of(const struct as_view *view, const struct as_replicates *replicates, uint32_t series)
{
    size_t n;
    const char *name = as_store_series(view->store, &n)[series].name;
    if (replicates->alike == AS_STORE_NONE)
        return 1;
    double factor = as_store_estimate_of(view->store, replicates->alike, AS_STORE_FACTOR, name);
    return factor >= 0 && factor < 1e3 ? factor : 1;
}

static bool read_all(const struct as_bar_items *items, const struct as_replicates *replicates, struct known *known,
                     struct as_error *err)
{
    bool ok = read_sums(items, items->view->series, &known->own, err) &&
              read_sums(items, replicates->common, &known->common, err) &&
              read_sums(items, replicates->alike, &known->alike, err);
    known->n = replicates->series.len;
    known->replicates = as_alloc_array(known->n + 1, sizeof *known->replicates);
    for (size_t i = 0; i < known->n && ok; i++) {
        uint32_t series = replicates->series.data[i];
        ok = read_sums(items, series, &known->replicates[i], err);
        if (ok) {
            add_sums(&known->replicates[i], &known->common, items->n, 1);
            add_sums(&known->replicates[i], &known->alike, items->n, factor_of(items->view, replicates, series));
        }
    }
    return ok;
}

static void free_known(struct known *known)
{
    for (size_t i = 0; i < known->n && known->replicates; i++)
        free(known->replicates[i].units);
    free(known->replicates);
}

/* What the item is a share of. */
static double whole_of(const struct as_bar_items *items, const struct sums *sums, size_t item)
{
    uint32_t of = items->of ? items->of[item] : AS_STORE_NONE;
    return of == AS_STORE_NONE ? sums->total : sums->units[of];
}

static double part_of(double units, double whole)
{
    return whole > 0 ? units / whole : 0;
}

static double bar_of(const struct as_bar_items *items, const struct as_replicates *replicates,
                     const struct known *known, size_t item, double *values)
{
    double units = known->own.units[item], whole = whole_of(items, &known->own, item);
    double moving = part_of(units - known->common.units[item], whole - whole_of(items, &known->common, item));
    for (size_t i = 0; i < known->n; i++)
        values[i] = part_of(known->replicates[i].units[item], whole_of(items, &known->replicates[i], item));
    return as_replicates_error(replicates, part_of(units, whole), moving, part_of(known->alike.units[item], whole),
                               values);
}

/* Whether each replicate has time of its own: profiles of older versions have none by call path. */
static bool have_time(const struct known *known)
{
    for (size_t i = 0; i < known->n; i++)
        if (!(known->replicates[i].total > 0))
            return false;
    return known->n > 1;
}

bool as_bars_make(struct as_bars *bars, const struct as_bar_items *items, struct as_error *err)
{
    struct as_replicates replicates = as_replicates_of(items->view);
    struct known known = {0};
    *bars = (struct as_bars){0};
    bool ok = replicates.series.len < 2 || read_all(items, &replicates, &known, err);
    *bars = (struct as_bars){.once = known.common.units,
                             .units = known.own.units,
                             .total = known.own.total,
                             .guessed = known.alike.units,
                             .common = replicates.has_prior ? replicates.common_error : 0};
    if (ok && have_time(&known)) {
        double *values = as_alloc_array(known.n + 1, sizeof *values);
        bars->errors = as_alloc_array(items->n + 1, sizeof *bars->errors);
        for (size_t i = 0; i < items->n; i++)
            bars->errors[i] = bar_of(items, &replicates, &known, i, values);
        free(values);
    }
    free_known(&known);
    as_replicates_free(&replicates);
    return ok;
}

/* Time whose kind nobody knows is of one kind with the share of that: the root of the mean square of what it has of it. */
double as_bar_of_part(const struct as_bars *bars, const struct as_bar_part *part)
{
    double own = fmin(fmax(part->part, 0), 1), usual = fmin(fmax(part->usual, 0), 1);
    double common = bars->common * part->whole * sqrt(own * (1 - own));
    double other = part->plain ? 1 - usual : usual;
    return hypot(part->found, common) + part->guessed * fmin(2 * sqrt(other), 1);
}

static double usual_of(const struct as_bars *bars, size_t signs, size_t key)
{
    return part_of(bars->units[signs + key], bars->units[signs + AS_LEGEND_KEYS + 1]);
}

void as_bars_widen_row(struct as_bars *bars, const struct as_legend *legend, const struct as_store_row *row,
                       size_t item, size_t parts, size_t signs)
{
    for (size_t k = 0; k < row->n_parts; k++) {
        const struct as_store_row_part *part = &row->parts[k];
        struct as_bar_part about = {.found = bars->errors[parts + k],
                                    .part = part_of((double)part->units, (double)row->units),
                                    .whole = part_of(bars->units[item], bars->total),
                                    .guessed = part_of(bars->guessed[item], bars->total),
                                    .usual = usual_of(bars, signs, as_legend_key(legend, part->key)),
                                    .plain = part->key == 0};
        bars->errors[parts + k] = as_bar_of_part(bars, &about);
    }
}

void as_bars_widen_legend(struct as_bars *bars, size_t signs, double guessed)
{
    double all = bars->units[signs + AS_LEGEND_KEYS + 1];
    for (size_t key = 0; key <= AS_LEGEND_KEYS; key++) {
        double share = usual_of(bars, signs, key);
        struct as_bar_part about = {bars->errors[signs + key], share, 1, part_of(guessed, all), share, key == 0};
        bars->errors[signs + key] = as_bar_of_part(bars, &about);
    }
}

void as_bars_free(struct as_bars *bars)
{
    free(bars->errors);
    free(bars->once);
    free(bars->units);
    free(bars->guessed);
    *bars = (struct as_bars){0};
}
