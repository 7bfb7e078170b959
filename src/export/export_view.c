/* See export_view.h. */
#include "export/export_view.h"

#include "base/map.h"
#include "export/export_internal.h"

const char *as_export_unit(const struct as_store_series *series)
{
    return series->unit && series->unit[0] ? series->unit : "units";
}

static int compare_supply(const void *a, const void *b)
{
    const struct as_export_supply *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->instruction != y->instruction)
        return x->instruction < y->instruction ? -1 : 1;
    return x->events < y->events ? -1 : x->events > y->events;
}

static int compare_cells(const void *a, const void *b)
{
    const struct as_export_cell *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->instruction != y->instruction)
        return x->instruction < y->instruction ? -1 : 1;
    return x->events < y->events ? -1 : x->events > y->events;
}

static int compare_masks(const void *a, const void *b)
{
    const struct as_export_mask *x = a, *y = b;
    if (x->units != y->units)
        return x->units > y->units ? -1 : 1;
    return x->events < y->events ? -1 : x->events > y->events;
}

typedef AS_VEC(struct as_export_supply) as_export_supplies;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Writes the components of one time. The remainder is time without events; components beyond the time are cut. */
static size_t split_time(const struct as_export_view *view, const struct as_store_time *time, size_t at,
                         as_export_supplies *all)
{
    const struct as_store_raw *raw = &view->raw;
    struct as_export_supply part = {.thread = time->thread,
                                    .function =
                                        as_store_locations(view->store, &(size_t){0})[time->instruction].function,
                                    .instruction = time->instruction};
    uint64_t units = time->units, samples = time->samples;
    size_t base = SIZE_MAX;
    for (; at < raw->n_components && raw->components[at].instruction == time->instruction &&
           raw->components[at].thread == time->thread;
         at++) {
        part.events = raw->components[at].events;
        part.units = least(units, raw->components[at].units);
        part.samples = least(samples, raw->components[at].samples);
        units -= part.units;
        samples -= part.samples;
        base = part.events == 0 ? all->len : base;
        *as_vec_push(all) = part;
    }
    if (units || samples) {
        if (base == SIZE_MAX) {
            base = all->len;
            part.events = part.units = part.samples = 0;
            *as_vec_push(all) = part;
        }
        all->data[base].units += units;
        all->data[base].samples += samples;
    }
    return at;
}

static bool before(const struct as_store_component *part, const struct as_store_time *time)
{
    return part->instruction != time->instruction ? part->instruction < time->instruction : part->thread < time->thread;
}

/* Returns false if the sum exceeds 63 bits, which no format could hold. */
static bool gather(struct as_export_view *view, as_export_supplies *all, struct as_error *err)
{
    const struct as_store_raw *raw = &view->raw;
    size_t at = 0;
    for (size_t i = 0; i < raw->n_times; i++) {
        const struct as_store_time *time = &raw->times[i];
        if (__builtin_add_overflow(view->units, time->units, &view->units) || view->units > INT64_MAX ||
            __builtin_add_overflow(view->samples, time->samples, &view->samples) || view->samples > INT64_MAX)
            return as_error_set(err, "%s: the times of series %s add up to more than 63 bits",
                                as_store_file_name(view->store), view->series->name);
        while (at < raw->n_components && before(&raw->components[at], time))
            at++; /* components without a time are skipped */
        at = split_time(view, time, at, all);
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof *all->data, compare_supply);
    return true;
}

static void add_masks(struct as_export_view *view)
{
    struct as_map known = {0};
    for (size_t i = 0; i < view->cells.len; i++) {
        const struct as_export_cell *cell = &view->cells.data[i];
        uint64_t *index = as_map_put(&known, cell->events);
        if (*index == 0) {
            *as_vec_push(&view->masks) = (struct as_export_mask){.events = cell->events};
            *index = view->masks.len;
        }
        view->masks.data[*index - 1].units += cell->units;
        view->masks.data[*index - 1].samples += cell->samples;
    }
    as_map_free(&known);
    if (view->masks.len > 0)
        qsort(view->masks.data, view->masks.len, sizeof *view->masks.data, compare_masks);
}

static void make_cells(struct as_export_view *view, as_export_supplies *all)
{
    as_export_share(view, all->data, all->len);
    for (size_t i = 0; i < all->len; i++) {
        const struct as_export_supply *left = &all->data[i];
        if (left->units || left->samples)
            *as_vec_push(&view->cells) = (struct as_export_cell){.thread = left->thread,
                                                                 .path = AS_STORE_NONE,
                                                                 .instruction = left->instruction,
                                                                 .events = left->events,
                                                                 .units = left->units,
                                                                 .samples = left->samples};
    }
    if (view->cells.len > 0)
        qsort(view->cells.data, view->cells.len, sizeof *view->cells.data, compare_cells);
    add_masks(view);
}

static bool find_series(struct as_export_view *view, const char *name, struct as_error *err)
{
    size_t n;
    const struct as_store_series *all = as_store_series(view->store, &n);
    view->number = as_store_find_series(view->store, name);
    if (view->number == AS_STORE_NONE && name)
        return as_export_no_series(view->store, name, err);
    if (view->number == AS_STORE_NONE)
        return as_error_set(err, "%s has no series: nothing was measured", as_store_file_name(view->store));
    view->series = &all[view->number];
    return true;
}

bool as_export_view_open(struct as_export_view *view, struct as_store *store, const struct as_export_options *options,
                         struct as_error *err)
{
    as_export_supplies all = {0};
    *view = (struct as_export_view){.store = store};
    bool ok = find_series(view, options->series, err) &&
              as_store_raw(store, view->number, options->threads, &view->raw, err) && gather(view, &all, err);
    if (ok) {
        view->has_components = view->raw.n_components > 0;
        make_cells(view, &all);
    }
    as_vec_free(&all);
    if (!ok)
        as_export_view_free(view);
    return ok;
}

void as_export_view_free(struct as_export_view *view)
{
    as_store_raw_free(&view->raw);
    as_vec_free(&view->cells);
    as_vec_free(&view->masks);
}
