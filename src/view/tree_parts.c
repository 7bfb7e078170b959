/* Components of a call tree. The components of the nodes' self times are stored in listing order, so those of a node
 * and its callees are adjacent; they are added up on demand. See tree.h. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "view/tree.h"

#include <stdlib.h>

bool as_tree_has_parts(const struct as_tree *tree)
{
    return tree->n_parts > 0;
}

static int most_first(const void *a, const void *b)
{
    const struct as_store_row_part *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Adds up parts with the same key. */
static void sum_up(const struct as_store_row_part *parts, size_t n, struct as_store_row *row)
{
    struct as_map index = {0};
    AS_VEC(struct as_store_row_part) sums = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t *at = as_map_put(&index, parts[i].key);
        if (!*at) {
            *as_vec_push(&sums) = (struct as_store_row_part){.key = parts[i].key};
            *at = sums.len;
        }
        sums.data[*at - 1].units += parts[i].units;
        sums.data[*at - 1].samples += parts[i].samples;
    }
    if (sums.len)
        qsort(sums.data, sums.len, sizeof *sums.data, most_first);
    *row = (struct as_store_row){.id = AS_STORE_NONE, .parts = sums.data, .n_parts = sums.len};
    as_map_free(&index);
}

void as_tree_row_self(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row)
{
    sum_up(tree->parts + node->part, node->self_end - node->part, row);
    row->units = node->self;
}

void as_tree_row_total(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row)
{
    sum_up(tree->parts + node->part, node->total_end - node->part, row);
    row->units = node->total;
}

void as_tree_row_free(struct as_store_row *row)
{
    free((void *)row->parts);
}

/* ---- making them ---- */

/* The position of each node in the listing. */
static uint32_t *rank_nodes(const struct as_tree *tree)
{
    uint32_t *rank = as_alloc_array(tree->n + 1, sizeof *rank), next = 0;
    for (uint32_t node = tree->n ? 0 : AS_STORE_NONE; node != AS_STORE_NONE; node = as_tree_next(tree, node, false))
        rank[node] = next++;
    return rank;
}

/* Component i of the profile belongs to the node of that rank. */
struct entry {
    uint32_t rank, node;
    size_t component;
};

static int by_rank(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->component > y->component) - (x->component < y->component);
}

static struct entry *order_components(const struct as_tree *tree, const struct as_store_path_component *components,
                                      size_t n, const uint32_t *node_of)
{
    uint32_t *rank = rank_nodes(tree);
    struct entry *entries = as_alloc_array(n + 1, sizeof *entries);
    for (size_t i = 0; i < n; i++) {
        uint32_t node = node_of[components[i].path];
        entries[i] = (struct entry){.rank = rank[node], .node = node, .component = i};
    }
    if (n)
        qsort(entries, n, sizeof *entries, by_rank);
    free(rank);
    return entries;
}

/* A node without components of its own has an empty run, but may have those of its callees. */
static void set_runs(struct as_tree *tree, const struct entry *entries, size_t n)
{
    size_t at = 0;
    for (uint32_t node = tree->n ? 0 : AS_STORE_NONE; node != AS_STORE_NONE; node = as_tree_next(tree, node, false)) {
        struct as_tree_node *about = &tree->nodes[node];
        about->part = at;
        while (at < n && entries[at].node == node)
            at++;
        about->self_end = about->total_end = at;
    }
    for (size_t i = tree->n; i-- > 0;) { /* backwards: children come after their parents */
        const struct as_tree_node *node = &tree->nodes[i];
        struct as_tree_node *parent = node->parent == AS_STORE_NONE ? NULL : &tree->nodes[node->parent];
        if (parent && node->total_end > parent->total_end)
            parent->total_end = node->total_end;
    }
}

static struct as_legend legend_of(const struct as_tree *tree)
{
    struct as_store_row row;
    sum_up(tree->parts, tree->n_parts, &row);
    struct as_store_rows rows = {.rows = &row, .n = 1};
    struct as_legend legend = as_legend_of(&rows);
    as_tree_row_free(&row);
    return legend;
}

bool as_tree_add_parts(struct as_tree *tree, const uint32_t *node_of, struct as_error *err)
{
    const struct as_view *view = tree->view;
    size_t n;
    struct as_store_path_component *components =
        as_store_path_components(view->store, view->series, view->threads, &n, err);
    if (!components)
        return false;
    struct entry *entries = order_components(tree, components, n, node_of);
    tree->parts = as_alloc_array(n + 1, sizeof *tree->parts);
    tree->n_parts = n;
    for (size_t i = 0; i < n; i++) {
        const struct as_store_path_component *component = &components[entries[i].component];
        tree->parts[i] = (struct as_store_row_part){
            .key = component->events, .units = component->units, .samples = component->samples};
    }
    set_runs(tree, entries, n);
    tree->legend = legend_of(tree);
    free(entries);
    free(components);
    return true;
}
