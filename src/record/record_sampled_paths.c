/* The times of call paths in a sampled run. Paths are known in the regions alone, where each counts for as many instructions as
 * its region stands for. What functions take is known better, from the executions of the whole run. So the paths that end
 * in a function are multiplied by what the function takes over what it takes in the regions: a function that calls no other
 * has the same time by itself and in total. Time of code that no region has is on no path. */
#include "record/record_sampled.h"

#include <math.h>

struct functions {
    const struct as_record_series *all;
    double *known, *extended; /* by group of instructions: the estimate, and the time in regions as paths have it */
    double scale;             /* of paths to `extended` */
};

static struct functions sum_functions(const struct as_record_series *all)
{
    const struct as_grouping *grouping = &all->groups->functions;
    struct functions functions = {.all = all,
                                  .known = as_alloc_array((size_t)grouping->count + 2, sizeof *functions.known),
                                  .extended = as_alloc_array((size_t)grouping->count + 2, sizeof *functions.extended)};
    double extended = 0;
    for (uint32_t id = 0; id < all->code->n; id++) {
        uint32_t group = as_grouping_of(grouping, id);
        functions.known[group] += as_sampled_time(all->sampled, id);
        functions.extended[group] += as_sampled_extended(all->sampled, id);
        extended += as_sampled_extended(all->sampled, id);
    }
    functions.scale = extended / (double)as_sampled_summary(all->sampled)->units;
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

static double factor_of(const struct functions *functions, uint32_t path)
{
    const struct as_insn *entry = entry_of(functions->all, path);
    if (!entry || entry->id >= functions->all->code->n)
        return 1;
    uint32_t group = as_grouping_of(&functions->all->groups->functions, entry->id);
    return functions->extended[group] > 0 ? functions->scale * functions->known[group] / functions->extended[group] : 1;
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
    if (as_sampled_phases(all->sampled) || as_sampled_summary(all->sampled)->units == 0)
        return paths; /* rows and paths of simulation points have the same weights */
    struct functions functions = sum_functions(all);
    double whole = (double)as_sampled_summary(all->sampled)->units;
    double *units = as_alloc_array(paths.len + 1, sizeof *units);
    for (size_t i = 0; i < paths.len; i++)
        units[i] = (double)paths.data[i].units * factor_of(&functions, paths.data[i].id);
    limit(units, paths.len, whole);
    for (size_t i = 0; i < paths.len; i++)
        paths.data[i].units = (uint64_t)llround(units[i]);
    add_rest(&paths, as_sampled_summary(all->sampled)->units);
    free(units);
    free(functions.known);
    free(functions.extended);
    return paths;
}
