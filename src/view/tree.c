/* See tree.h. */
#include "view/tree.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making it ---- */

/* A node during construction: all paths with one parent, function and kind. */
struct draft {
    struct as_tree_node node;
    uint32_t next, child; /* sibling and first child; AS_STORE_NONE: none */
};

typedef AS_VEC(struct draft) drafts;

static uint32_t draft_of(drafts *all, struct as_map *known, uint32_t parent, const struct as_store_path *path,
                         bool whole_module)
{
    /* A function without a number is identified by its address, inverted so that it differs from all numbers. */
    uint64_t what = path->function != AS_STORE_NONE ? path->function : path->address ^ UINT64_C(1) << 63;
    uint64_t hash[] = {parent, what, path->signal};
    for (uint64_t key = as_hash_bytes(hash, sizeof hash);; key++) {
        uint64_t *found = as_map_put(known, key);
        if (*found == 0) {
            struct draft *draft = as_vec_push(all);
            *draft = (struct draft){.node = {.function = path->function,
                                             .address = whole_module ? 0 : path->address,
                                             .module = AS_STORE_NONE,
                                             .signal = path->signal,
                                             .parent = parent,
                                             .levels = 1,
                                             .depth = parent == AS_STORE_NONE ? 0 : all->data[parent].node.depth + 1},
                                    .next = AS_STORE_NONE,
                                    .child = AS_STORE_NONE};
            *found = all->len;
            return (uint32_t)all->len - 1;
        }
        const struct as_tree_node *node = &all->data[*found - 1].node;
        bool same = node->parent == parent && node->function == path->function && node->signal == path->signal &&
                    (path->function != AS_STORE_NONE || node->address == path->address);
        if (same)
            return (uint32_t)*found - 1;
    }
}

static bool is_recursion(const struct as_tree_node *caller, const struct as_store_path *path)
{
    return path->function != AS_STORE_NONE && path->function == caller->function && !path->signal;
}

/* Returns the draft of each path; the caller frees. */
static uint32_t *add_paths(const struct as_view *view, bool fold, drafts *all)
{
    struct as_map known = {0};
    size_t n;
    const struct as_store_path *paths = as_store_paths(view->store, &n);
    uint32_t *node_of = as_alloc_array(n + 1, sizeof *node_of), *levels = as_alloc_array(n + 1, sizeof *levels);
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = paths[i].parent == AS_STORE_NONE ? AS_STORE_NONE : node_of[paths[i].parent];
        bool folded = fold && parent != AS_STORE_NONE && is_recursion(&all->data[parent].node, &paths[i]);
        bool whole = as_view_is_whole_module(view, paths[i].function);
        node_of[i] = folded ? parent : draft_of(all, &known, parent, &paths[i], whole);
        struct as_tree_node *node = &all->data[node_of[i]].node;
        levels[i] = folded && !whole ? levels[paths[i].parent] + 1 : 1;
        node->levels = levels[i] > node->levels ? levels[i] : node->levels;
        node->self += view->totals.path_self[i];
    }
    free(levels);
    for (size_t i = all->len; i-- > 0;) {
        struct as_tree_node *node = &all->data[i].node;
        node->total += node->self;
        if (node->parent != AS_STORE_NONE)
            all->data[node->parent].node.total += node->total;
    }
    as_map_free(&known);
    return node_of;
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct draft *all = context;
    const struct as_tree_node *x = &all[*(const uint32_t *)a].node, *y = &all[*(const uint32_t *)b].node;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->address > y->address) - (x->address < y->address);
}

/* Numbers the children of each node consecutively, level by level. Returns the numbers by draft; the caller frees. */
static uint32_t *number_nodes(const drafts *all, struct as_tree *tree)
{
    uint32_t *order = as_alloc_array(all->len + 1, sizeof *order),
             *new_number = as_alloc_array(all->len + 1, sizeof *order);
    size_t n = 0;
    for (uint32_t i = 0; i < all->len; i++)
        if (all->data[i].node.parent == AS_STORE_NONE)
            order[n++] = i;
    qsort_r(order, n, sizeof *order, by_total, all->data);
    tree->n_roots = n;
    for (size_t done = 0; done < n; done++) {
        const struct draft *draft = &all->data[order[done]];
        size_t first = n;
        for (uint32_t child = draft->child; child != AS_STORE_NONE; child = all->data[child].next)
            order[n++] = child;
        qsort_r(order + first, n - first, sizeof *order, by_total, all->data);
        new_number[order[done]] = (uint32_t)done;
        tree->nodes[done] = draft->node;
        tree->nodes[done].first = (uint32_t)first;
        tree->nodes[done].n = (uint32_t)(n - first);
        if (draft->node.parent != AS_STORE_NONE)
            tree->nodes[done].parent = new_number[draft->node.parent];
    }
    tree->n = n;
    free(order);
    return new_number;
}

/* Finds functions that have one name in several modules, such as _start in programs and their loaders. */
static void find_namesakes(struct as_tree *tree)
{
    const struct as_view *view = tree->view;
    struct as_map first = {0};
    tree->needs_modules = as_alloc_array(view->n_functions + 1, sizeof *tree->needs_modules);
    for (size_t i = 0; i < tree->n; i++) {
        uint32_t function = tree->nodes[i].function;
        const char *name = as_view_function(view, function);
        if (!name)
            continue;
        uint64_t *known = as_map_put(&first, as_hash_bytes(name, strlen(name)));
        *known = *known ? *known : function + UINT64_C(1);
        const struct as_store_function *other = &view->function[*known - 1];
        if (other->module != view->function[function].module && strcmp(other->name, name) == 0)
            tree->needs_modules[function] = tree->needs_modules[*known - 1] = true;
    }
    as_map_free(&first);
}

/* Finds the modules of nodes without a function: what starts at their address was executed, so it is an instruction. */
static void find_modules(struct as_tree *tree)
{
    const struct as_view *view = tree->view;
    struct as_map modules = {0};
    size_t missing = 0;
    for (size_t i = 0; i < tree->n; i++)
        missing += tree->nodes[i].function == AS_STORE_NONE;
    for (size_t i = 0; missing && i < view->n_locations; i++)
        if (view->location[i].function == AS_STORE_NONE && view->location[i].module != AS_STORE_NONE)
            *as_map_put(&modules, view->location[i].address) = view->location[i].module + UINT64_C(1);
    for (size_t i = 0; missing && i < tree->n; i++) {
        struct as_tree_node *node = &tree->nodes[i];
        const uint64_t *module = node->function == AS_STORE_NONE ? as_map_get(&modules, node->address) : NULL;
        node->module = module ? (uint32_t)(*module - 1) : AS_STORE_NONE;
    }
    as_map_free(&modules);
}

static bool make_tree(struct as_tree *tree, const struct as_view *view, bool fold, struct as_error *err)
{
    drafts all = {0};
    size_t n;
    *tree = (struct as_tree){.view = view};
    if (!view->has_calls)
        return as_error_set(err,
                            "%s: the series %s has no call paths: record it with call chains ('assay record "
                            "--call-graph', 'perf record "
                            "-g'); in a run of the model the golden series has them",
                            as_store_file_name(view->store), view->summary.sampler);
    uint32_t *node_of = tree->node_of = add_paths(view, fold, &all);
    for (uint32_t i = 0; i < all.len; i++) {
        uint32_t parent = all.data[i].node.parent;
        if (parent == AS_STORE_NONE)
            continue;
        all.data[i].next = all.data[parent].child;
        all.data[parent].child = i;
    }
    tree->nodes = as_alloc_array(all.len + 1, sizeof *tree->nodes);
    uint32_t *number_of = number_nodes(&all, tree);
    for (size_t i = 0; i < tree->n_roots; i++)
        tree->total += tree->nodes[i].total;
    as_store_paths(view->store, &n);
    for (size_t i = 0; i < n; i++)
        node_of[i] = number_of[node_of[i]];
    find_namesakes(tree);
    find_modules(tree);
    bool ok = as_tree_add_parts(tree, node_of, err);
    as_vec_free(&all);
    free(number_of);
    return ok;
}

bool as_tree_make(struct as_tree *tree, const struct as_view *view, struct as_error *err)
{
    return make_tree(tree, view, false, err);
}

bool as_tree_make_folded(struct as_tree *tree, const struct as_view *view, struct as_error *err)
{
    return make_tree(tree, view, true, err);
}

void as_tree_free(struct as_tree *tree)
{
    free(tree->nodes);
    free(tree->parts);
    free(tree->node_of);
    free(tree->needs_modules);
    free(tree->self_errors);
    free(tree->total_errors);
    free(tree->part_errors);
}

const char *as_tree_name(const struct as_tree *tree, const struct as_tree_node *node, char name[AS_TREE_NAME_MAX])
{
    const struct as_view *view = tree->view;
    char place[AS_ROW_NAME_MAX];
    const char *function = as_view_function(view, node->function), *signal = node->signal ? "(signal) " : "";
    bool whose = function && (node->parent == AS_STORE_NONE || tree->needs_modules[node->function]);
    const char *module = whose ? as_view_module(view, view->function[node->function].module) : NULL;
    if (function)
        snprintf(name, AS_TREE_NAME_MAX, "%s%s%s%s%s", signal, AS_SHOW(function), module ? " (" : "",
                 module ? AS_SHOW(module) : "", module ? ")" : "");
    else
        snprintf(name, AS_TREE_NAME_MAX, "%s%s", signal, as_view_address(view, node->module, node->address, place));
    return name;
}

/* ---- in listing order ---- */

uint32_t as_tree_next(const struct as_tree *tree, uint32_t node, bool skip)
{
    if (!skip && tree->nodes[node].n)
        return tree->nodes[node].first;
    for (;;) {
        uint32_t parent = tree->nodes[node].parent;
        uint32_t last = parent == AS_STORE_NONE ? (uint32_t)tree->n_roots - 1
                                                : tree->nodes[parent].first + tree->nodes[parent].n - 1;
        if (node < last)
            return node + 1;
        if (parent == AS_STORE_NONE)
            return AS_STORE_NONE;
        node = parent;
    }
}

static int largest_first(const void *a, const void *b, void *context)
{
    const struct as_tree_node *nodes = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].total != nodes[y].total)
        return nodes[x].total < nodes[y].total ? 1 : -1;
    return x < y ? -1 : 1;
}

/* Chooses the nodes to show. A caller has at least the total of its callees and a smaller number, so it is shown with
 * them. */
struct as_tree_walk as_tree_walk_start(const struct as_tree *tree, size_t limit, double least)
{
    struct as_tree_walk walk = {.tree = tree, .node = tree->n ? 0 : AS_STORE_NONE};
    uint32_t *order = as_alloc_array(tree->n + 1, sizeof *order);
    walk.shown = as_alloc_array(tree->n + 1, sizeof *walk.shown);
    for (uint32_t i = 0; i < tree->n; i++)
        order[i] = i;
    qsort_r(order, tree->n, sizeof *order, largest_first, tree->nodes);
    for (size_t i = 0; i < tree->n && (!limit || i < limit); i++)
        walk.shown[order[i]] = as_ratio(tree->nodes[order[i]].total, tree->total) >= least;
    free(order);
    return walk;
}

const struct as_tree_node *as_tree_walk_next(struct as_tree_walk *walk)
{
    while (walk->node != AS_STORE_NONE) {
        uint32_t at = walk->node;
        bool skip = !walk->shown[at];
        walk->left_out += skip && walk->tree->nodes[at].total > 0; /* filters leave paths without time */
        walk->node = as_tree_next(walk->tree, at, skip);
        if (!skip)
            return &walk->tree->nodes[at];
    }
    free(walk->shown);
    walk->shown = NULL;
    return NULL;
}
