/* See record_paths.h. The root of each image's tree is left out: threads begin in the functions below it. So are paths that
 * nothing measured was executed on: of a program that is measured in short regions only, these are most. */
#include "record/record_paths.h"

#include "base/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct as_record_paths {
    struct as_record_series *all;
    const struct as_call_tracker *calls;
    struct as_strings *known; /* "parent function address call signal" */
    uint32_t **numbers;       /* by tree and node: the path's number */
    size_t n;
};

static uint32_t call_site(const struct as_record_paths *trees, uint32_t image, const struct as_call_node *node)
{
    const struct as_record_code *code = trees->all->code;
    const struct as_engine *engine = as_model_engine(trees->all->modelled->model);
    const struct as_insn *insn = node->site        ? as_engine_insn(engine, node->site - 1)
                                 : node->call_site ? as_engine_insn_at(engine, image, node->call_site)
                                                   : NULL;
    return insn && insn->id < code->n ? code->number_of[insn->id] : AS_STORE_NONE;
}

static uint32_t add_node(struct as_record_paths *trees, size_t tree, const struct as_call_node *node)
{
    const struct as_image *image = as_call_tracker_image(trees->calls, tree);
    struct as_store_path path = {.parent = node->parent ? trees->numbers[tree][node->parent] : AS_STORE_NONE,
                                 .call_site = call_site(trees, image->number, node),
                                 .call_address = node->call_site,
                                 .signal = node->signal};
    char key[120];
    path.function = as_record_code_function(trees->all->code, image, node, &path.address);
    as_record_code_move(trees->all->code, image, &path.call_address);
    snprintf(key, sizeof key, "%" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIx64 " %d", path.parent, path.function,
             path.address, path.call_address, path.signal);
    size_t before = as_strings_count(trees->known);
    uint32_t number = as_strings_intern(trees->known, key);
    if (number == before)
        as_store_add_path(trees->all->code->writer, &path);
    return number;
}

/* Which nodes of a tree have time, or lead to one that may have. Parents come before their children. */
static bool *used_nodes(const struct as_record_paths *trees, size_t tree, size_t count)
{
    const struct as_call_tree *nodes = as_call_tracker_tree(trees->calls, tree);
    bool *used = as_alloc_array(count + 1, sizeof *used);
    size_t n;
    const struct as_path_key *keys = as_model_paths(trees->all->modelled->model, &n);
    for (size_t i = 0; i < n; i++)
        if (keys[i].tree == tree && keys[i].node < count)
            used[keys[i].node] = true;
    for (size_t i = count; i-- > 1;)
        used[as_call_tree_node(nodes, (uint32_t)i)->parent] |= used[i];
    return used;
}

static void add_tree(struct as_record_paths *trees, size_t tree)
{
    const struct as_call_tree *nodes = as_call_tracker_tree(trees->calls, tree);
    size_t n = as_call_tree_count(nodes);
    bool *used = used_nodes(trees, tree, n);
    trees->numbers[tree] = as_alloc_array(n + 1, sizeof **trees->numbers);
    for (size_t i = 1; i < n; i++) {
        struct as_call_node node = *as_call_tree_node(nodes, (uint32_t)i);
        if (used[i])
            trees->numbers[tree][i] = add_node(trees, tree, &node);
    }
    free(used);
}

/* The thread's number in the profile. Threads without rows share the last number. */
static uint32_t thread_number(const struct as_record_paths *trees, const struct as_path_key *key)
{
    const struct as_record_threads *threads = &trees->all->threads;
    uint32_t found = as_record_thread_of(threads, key->thread, as_call_tracker_image(trees->calls, key->tree)->number);
    return found == AS_STORE_NONE ? threads->list.data[threads->list.len - 1].row : found;
}

/* Finds a path in the profile; returns false for time without a path (there were too many). */
static bool find_path(const struct as_record_paths *trees, uint32_t id, struct as_store_path_component *part)
{
    size_t n;
    const struct as_path_key *keys = as_model_paths(trees->all->modelled->model, &n);
    if (id == 0 || id > n || keys[id - 1].node == 0)
        return false;
    part->series = trees->all->series;
    part->thread = thread_number(trees, &keys[id - 1]);
    part->path = trees->numbers[keys[id - 1].tree][keys[id - 1].node];
    return true;
}

/* For a sampler, counts are samples; for the golden reference, they are executions. */
static void add_part(const struct as_record_paths *trees, const struct as_store_path_component *part, bool components,
                     bool samples)
{
    struct as_store_path_time time = {.series = part->series,
                                      .thread = part->thread,
                                      .path = part->path,
                                      .instruction = AS_STORE_NONE,
                                      .units = part->units,
                                      .samples = samples ? part->samples : 0};
    as_store_add_path_time(trees->all->code->writer, &time);
    if (components)
        as_store_add_path_component(trees->all->code->writer, part);
}

bool as_record_paths_times(const struct as_record_paths *trees, const struct as_pics *pics, bool samples,
                           uint32_t events, uint64_t units, const char *name, struct as_error *err)
{
    uint64_t sum = 0, lost = 0;
    for (size_t i = 0; i < pics->len; i++) {
        const struct as_pics_entry *entry = &pics->data[i];
        struct as_store_path_component part = {.events = entry->events, .units = entry->units, .samples = entry->count};
        sum += entry->units;
        if (!find_path(trees, entry->id, &part))
            lost += entry->units;
        else if (entry->units || samples)
            add_part(trees, &part, events != 0, samples);
    }
    if (lost)
        as_store_add_quality(trees->all->code->writer, "call_paths", (double)lost / (double)sum,
                             trees->all->sampled
                                 ? "part of the time has no call path: no measured region executed that code, or "
                                   "there were too many different ones"
                                 : "part of the time has no call path: there were too many different ones");
    return sum == units || as_error_set(err, "%s: the cycles by call path do not add up to those of the run", name);
}

void as_record_paths_add_time(const struct as_record_paths *trees, uint32_t series, uint32_t path, uint64_t events,
                              uint64_t units)
{
    struct as_store_path_component part = {.events = events, .units = units};
    if (!units || !find_path(trees, path, &part))
        return;
    part.series = series;
    add_part(trees, &part, true, false);
}

static void note_folded(const struct as_record_paths *trees)
{
    uint64_t folded = 0;
    for (size_t i = 0; i < trees->n; i++)
        folded += as_call_tree_folded(as_call_tracker_tree(trees->calls, i));
    char *text =
        as_format("calls are counted as part of their callers, with all of their time: call paths are kept to a "
                  "depth of %s, and at most %s of them",
                  AS_COUNT(AS_CALLPATH_MAX_DEPTH), AS_COUNT(AS_CALL_TREE_MAX_NODES));
    if (folded)
        as_store_add_quality(trees->all->code->writer, "call_paths_folded", (double)folded, text);
    free(text);
}

static void note_switches(const struct as_record_paths *trees)
{
    struct as_stack_switches switches = as_call_tracker_switches(trees->calls);
    if (!switches.count)
        return;
    char *text = as_format("switches between stacks (coroutines and the like): each stack has a call path of its own, "
                           "which begins where the stack was first seen; %s of %s began within a function, its callers "
                           "unknown",
                           AS_COUNT(switches.unknown), AS_COUNT(switches.begun));
    as_store_add_quality(trees->all->code->writer, "stack_switches", (double)switches.count, text);
    free(text);
}

struct as_record_paths *as_record_paths_add(struct as_record_series *all)
{
    struct as_record_paths *trees = as_alloc(sizeof *trees);
    trees->all = all;
    trees->calls = as_model_calls(all->modelled->model);
    trees->known = as_strings_new();
    trees->n = as_call_tracker_count_images(trees->calls);
    trees->numbers = as_alloc_array(trees->n + 1, sizeof *trees->numbers);
    for (size_t i = 0; i < trees->n; i++)
        add_tree(trees, i);
    note_folded(trees);
    note_switches(trees);
    return trees;
}

void as_record_paths_free(struct as_record_paths *trees)
{
    for (size_t i = 0; trees && i < trees->n; i++)
        free(trees->numbers[i]);
    if (!trees)
        return;
    free(trees->numbers);
    as_strings_free(trees->known);
    free(trees);
}
