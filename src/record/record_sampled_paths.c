/* The times of call paths in a sampled run. Behind the head, paths are known in the regions alone, where each counts for as many
 * instructions as its region stands for. What functions take there is known better, from the executions of the whole run. So the
 * paths that end in a function are multiplied by what the function takes over what it takes in the regions: a function that calls
 * no other has the same time by itself and in total. Time of code that no region has is on no path. */
#include "record/record_sampled.h"

#include <math.h>

struct functions {
    const struct as_record_series *all;
    double *known,
        *extended; /* by group of instructions, behind the head: the estimate, and the time in regions as paths have it */
};

static struct functions sum_functions(const struct as_record_series *all)
{
    const struct as_grouping *grouping = &all->groups->functions;
    struct functions functions = {.all = all,
                                  .known = as_alloc_array((size_t)grouping->count + 2, sizeof *functions.known),
                                  .extended = as_alloc_array((size_t)grouping->count + 2, sizeof *functions.extended)};
    for (uint32_t id = 0; id < all->code->n; id++) {
        uint32_t group = as_grouping_of(grouping, id);
        double head = as_sampled_head(all->sampled, id);
        functions.known[group] += as_sampled_time(all->sampled, id) - head;
        functions.extended[group] += as_sampled_extended(all->sampled, id) - head;
    }
    return functions;
}

/* The first instruction of the function that a path ends in; NULL: not known. */
static const struct as_insn *entry_of(const struct as_record_series *all, uint32_t path)
{
    size_t n;
    const struct as_model *model = all->modelled->model;
    const struct as_path_key *keys = as_model_paths(model, &n);
    if (path == 0 || path > n || keys[path - 1].node == 0)
        return NULL;
    const struct as_call_tracker *calls = as_model_calls(model);
    uint32_t tree = keys[path - 1].tree;
    const struct as_call_node *node = as_call_tree_node(as_call_tracker_tree(calls, tree), keys[path - 1].node);
    const struct as_engine *engine = as_model_engine(model);
    return node->entry ? as_engine_insn(engine, node->entry - 1)
                       : as_engine_insn_at(engine, as_call_tracker_image(calls, tree)->number, node->function);
}

/* The group of instructions of the function that a path ends in; the last one for those of which it is not known. */
static uint32_t function_of(const struct as_record_series *all, uint32_t path)
{
    const struct as_grouping *grouping = &all->groups->functions;
    const struct as_insn *entry = entry_of(all, path);
    return entry && entry->id < all->code->n ? as_grouping_of(grouping, entry->id) : grouping->count + 1;
}

/* The time of a path: in the head as it was measured, and behind it as much of its function's as it has in regions. */
static double time_of(const struct functions *functions, uint32_t path)
{
    const struct as_sampled *sampled = functions->all->sampled;
    uint32_t function = function_of(functions->all, path);
    double known = functions->known[function], extended = functions->extended[function];
    return as_sampled_path_head(sampled, path) +
           as_sampled_path_regions(sampled, path) * (known > 0 && extended > 0 ? known / extended : 1);
}

/* Code that is on the path of another function can make all paths together longer than the run. */
static void limit(double *units, size_t n, double most)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += units[i];
    for (size_t i = 0; sum > most && i < n; i++)
        units[i] *= most / sum;
}

/* What is left is rounding, which the largest path takes, or time without a path. */
static void add_rest(struct as_pics *paths, uint64_t units)
{
    static const double rounding = 1e-6;
    uint64_t sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < paths->len; i++) {
        sum += paths->data[i].units;
        largest = paths->data[i].units > paths->data[largest].units ? i : largest;
    }
    if (sum == units || paths->len == 0)
        return;
    if (sum > units || (double)(units - sum) < rounding * (double)units)
        paths->data[largest].units += units - sum; /* modulo 2^64 */
    else
        as_pics_push(paths, &(struct as_pics_entry){.units = units - sum});
}

struct as_pics as_record_sampled_paths(const struct as_record_series *all)
{
    struct as_pics paths = as_sampled_path_pics(all->sampled);
    if (as_sampled_summary(all->sampled)->units == 0)
        return paths;
    struct functions functions = sum_functions(all);
    double whole = (double)as_sampled_summary(all->sampled)->units;
    double *units = as_alloc_array(paths.len + 1, sizeof *units);
    for (size_t i = 0, next; i < paths.len; i = next) {
        double sum = 0;
        for (next = i; next < paths.len && paths.data[next].id == paths.data[i].id; next++)
            sum += (double)paths.data[next].units;
        double time = time_of(&functions, paths.data[i].id);
        for (size_t part = i; part < next; part++)
            units[part] = sum > 0 ? (double)paths.data[part].units / sum * time : 0;
    }
    limit(units, paths.len, whole);
    for (size_t i = 0; i < paths.len; i++)
        paths.data[i].units = (uint64_t)llround(units[i]);
    add_rest(&paths, as_sampled_summary(all->sampled)->units);
    free(units);
    free(functions.known);
    free(functions.extended);
    return paths;
}

/* ---- replicates ---- */

/* Functions behind the head: the time of their paths; that in the regions of a replicate; what they take, and take in the
 * replicate. */
struct regions {
    double *time, *replicate, *known, *replicate_known;
};

static struct regions new_regions(size_t n)
{
    return (struct regions){.time = as_alloc_array(n, sizeof(double)),
                            .replicate = as_alloc_array(n, sizeof(double)),
                            .known = as_alloc_array(n, sizeof(double)),
                            .replicate_known = as_alloc_array(n, sizeof(double))};
}

static void free_regions(struct regions *regions)
{
    free(regions->time);
    free(regions->replicate);
    free(regions->known);
    free(regions->replicate_known);
}

/* A path's time behind the head. */
static double behind_head(const struct as_record_series *all, uint32_t path, double units)
{
    return fmax(units - as_sampled_path_head(all->sampled, path), 0);
}

static void add_known(const struct as_record_series *all, uint32_t group, struct regions *regions)
{
    for (uint32_t id = 0; id < all->code->n; id++) {
        uint32_t function = as_grouping_of(&all->groups->functions, id);
        double head = as_sampled_head(all->sampled, id);
        regions->known[function] += as_sampled_time(all->sampled, id) - head;
        regions->replicate_known[function] += (double)as_sampled_replicate(all->sampled, group, id) - head;
    }
}

/* What a path has of its function's time behind the head in a replicate: the part that it has in the regions of the replicate. */
static double replicate_of(const struct regions *regions, uint32_t function, double own)
{
    double known = regions->known[function], factor = known > 0 ? regions->replicate_known[function] / known : 1;
    return regions->replicate[function] > 0
               ? own / regions->replicate[function] * regions->time[function] * fmax(factor, 0)
               : 0;
}

static void make_replicate(const struct as_record_series *all, const double *units, const uint32_t *functions,
                           uint32_t group, struct as_path_replicates *to)
{
    struct regions regions = new_regions((size_t)all->groups->functions.count + 2);
    add_known(all, group, &regions);
    for (uint32_t path = 0; path < to->n; path++) {
        regions.time[functions[path]] += behind_head(all, path, units[path]);
        regions.replicate[functions[path]] += as_sampled_path_replicate(all->sampled, group, path);
    }
    for (uint32_t path = 0; path < to->n; path++)
        to->units[group][path] =
            units[path] - behind_head(all, path, units[path]) +
            replicate_of(&regions, functions[path], as_sampled_path_replicate(all->sampled, group, path));
    free_regions(&regions);
}

struct as_path_replicates as_record_sampled_path_replicates(const struct as_record_series *all,
                                                            const struct as_pics *paths)
{
    struct as_path_replicates replicates = {0};
    as_model_paths(all->modelled->model, &replicates.n);
    replicates.n++;
    double *units = as_alloc_array(replicates.n, sizeof *units);
    uint32_t *functions = as_alloc_array(replicates.n, sizeof *functions);
    for (size_t i = 0; i < paths->len; i++)
        units[paths->data[i].id] += (double)paths->data[i].units;
    for (uint32_t path = 0; path < replicates.n; path++)
        functions[path] = function_of(all, path);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        replicates.units[group] = as_alloc_array(replicates.n, sizeof(double));
        make_replicate(all, units, functions, group, &replicates);
    }
    free(units);
    free(functions);
    return replicates;
}

void as_path_replicates_free(struct as_path_replicates *replicates)
{
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        free(replicates->units[group]);
}
