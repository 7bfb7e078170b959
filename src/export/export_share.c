/* Divides the time of instructions among paths: see export_view.h. */
#include "export/export_view.h"

#include "base/search.h"

/* The time of a path, and its source: one instruction, or all of a function (instruction NONE). */
struct demand {
    uint32_t thread, function, instruction, path;
    uint64_t units, samples;
};

static int compare_demands(const void *a, const void *b)
{
    const struct demand *x = a, *y = b;
    if ((x->instruction == AS_STORE_NONE) != (y->instruction == AS_STORE_NONE))
        return x->instruction == AS_STORE_NONE ? 1 : -1; /* paths that name an instruction choose first */
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->instruction != y->instruction)
        return x->instruction < y->instruction ? -1 : 1;
    if (x->units != y->units)
        return x->units > y->units ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

static bool same_source(const struct demand *a, const struct demand *b)
{
    return a->thread == b->thread && a->function == b->function && a->instruction == b->instruction;
}

static struct demand *demands_of(const struct as_export_view *view)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(view->store, &n);
    const struct as_store_location *locations = as_store_locations(view->store, &n);
    struct demand *all = as_alloc_array(view->raw.n_paths, sizeof *all);
    for (size_t i = 0; i < view->raw.n_paths; i++) {
        const struct as_store_path_time *time = &view->raw.paths[i];
        uint32_t function =
            time->instruction == AS_STORE_NONE ? paths[time->path].function : locations[time->instruction].function;
        all[i] = (struct demand){.thread = time->thread,
                                 .function = function,
                                 .instruction = time->instruction,
                                 .path = time->path,
                                 .units = time->units,
                                 .samples = time->samples};
    }
    if (view->raw.n_paths > 0)
        qsort(all, view->raw.n_paths, sizeof *all, compare_demands);
    return all;
}

/* ---- the supply ---- */

static bool is_before(const struct as_export_supply *supply, const struct demand *demand)
{
    if (supply->thread != demand->thread)
        return supply->thread < demand->thread;
    if (supply->function != demand->function)
        return supply->function < demand->function;
    return demand->instruction != AS_STORE_NONE && supply->instruction < demand->instruction;
}

static bool serves(const struct as_export_supply *supply, const struct demand *demand)
{
    return supply->thread == demand->thread && supply->function == demand->function &&
           (demand->instruction == AS_STORE_NONE || supply->instruction == demand->instruction);
}

/* The part of the supply that a demand may draw from. */
static struct as_export_supply *source_of(const struct demand *demand, struct as_export_supply *supply, size_t n,
                                          size_t *size)
{
    size_t at = as_search(0, n, i, is_before(&supply[i], demand));
    for (*size = 0; at + *size < n && serves(&supply[at + *size], demand);)
        ++*size;
    return &supply[at];
}

/* ---- sharing ---- */

static void take(struct as_export_view *view, uint32_t path, struct as_export_supply *from, uint64_t units,
                 uint64_t samples)
{
    if (!units && !samples)
        return;
    from->units -= units;
    from->samples -= samples;
    *as_vec_push(&view->cells) = (struct as_export_cell){.thread = from->thread,
                                                         .path = path,
                                                         .instruction = from->instruction,
                                                         .events = from->events,
                                                         .units = units,
                                                         .samples = samples};
}

struct portion {
    uint64_t wanted, all, seen, given;
};

/* Returns the next share of `wanted`, in proportion to `part` of `all`. It never exceeds `part`, and the last shares
 * complete it: sums are rounded, not parts. */
static uint64_t portion_of(struct portion *portion, uint64_t part)
{
    if (portion->all == 0)
        return 0;
    portion->seen += part;
    uint64_t sum = (uint64_t)(((unsigned __int128)portion->wanted * portion->seen + portion->all / 2) / portion->all);
    uint64_t value = sum - portion->given;
    portion->given = sum;
    return value;
}

static void share_in_proportion(struct as_export_view *view, const struct demand *demand,
                                struct as_export_supply *source, size_t n)
{
    struct portion units = {0}, samples = {0};
    for (size_t i = 0; i < n; i++) {
        units.all += source[i].units;
        samples.all += source[i].samples;
    }
    units.wanted = demand->units < units.all ? demand->units : units.all;
    samples.wanted = demand->samples < samples.all ? demand->samples : samples.all;
    for (size_t i = 0; i < n; i++) {
        uint64_t part = portion_of(&units, source[i].units);
        take(view, demand->path, &source[i], part, portion_of(&samples, source[i].samples));
    }
}

/* Continues where the preceding demand stopped. */
static void take_in_turn(struct as_export_view *view, const struct demand *demand, struct as_export_supply *source,
                         size_t n, size_t *at)
{
    uint64_t units = demand->units, samples = demand->samples;
    while (*at < n && (units || samples)) {
        struct as_export_supply *from = &source[*at];
        uint64_t part = units < from->units ? units : from->units;
        uint64_t count = samples < from->samples ? samples : from->samples;
        units -= part;
        samples -= count;
        take(view, demand->path, from, part, count);
        if (from->units && units == 0)
            return; /* the remaining samples belong to other instructions */
        ++*at;
    }
}

static void share_group(struct as_export_view *view, const struct demand *demands, size_t n,
                        struct as_export_supply *source, size_t size)
{
    size_t cells = AS_EXPORT_FINE < view->fine_left ? AS_EXPORT_FINE : view->fine_left;
    size_t fine = size ? cells / size : 0, at = 0;
    view->fine_left -= size * (fine < n ? fine : n);
    for (size_t i = 0; i < n; i++)
        if (i < fine)
            share_in_proportion(view, &demands[i], source, size);
        else
            take_in_turn(view, &demands[i], source, size, &at);
}

void as_export_share(struct as_export_view *view, struct as_export_supply *supply, size_t n)
{
    struct demand *all = demands_of(view);
    view->fine_left = AS_EXPORT_FINE_ALL;
    for (size_t i = 0, next; i < view->raw.n_paths; i = next) {
        size_t size;
        for (next = i + 1; next < view->raw.n_paths && same_source(&all[i], &all[next]);)
            next++;
        struct as_export_supply *source = source_of(&all[i], supply, n, &size);
        share_group(view, &all[i], next - i, source, size);
    }
    free(all);
}
