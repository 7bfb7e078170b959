/* The call tree of a view: call paths, in which calls from several places of one function are combined. */
#ifndef AS_VIEW_TREE_H
#define AS_VIEW_TREE_H

#include "view/legend.h"
#include "view/view.h"

struct as_tree_node {
    uint32_t function; /* AS_STORE_NONE: only `address` is known */
    uint64_t address;  /* 0: not known, or it has many */
    uint32_t module;   /* of code in no function; else, and if it is not known, AS_STORE_NONE */
    bool signal;
    uint32_t parent, depth; /* parent AS_STORE_NONE: a root */
    uint32_t first, n;      /* children: nodes first … first + n - 1, by time */
    uint64_t self, total;
    uint32_t levels; /* levels of direct recursion that are folded into it; 1: none, or the functions are not known */
    size_t part, self_end, total_end; /* in as_tree.parts: from `part` on its own, then those of its callees */
};

/* Children come after their parents. */
struct as_tree {
    const struct as_view *view;
    struct as_tree_node *nodes;
    size_t n, n_roots; /* roots come first, sorted by time */
    uint64_t total;
    struct as_store_row_part *parts; /* components of each node's self time, nodes in listing order */
    size_t n_parts;
    struct as_legend legend;
    uint32_t *node_of;   /* by the profile's path */
    bool *needs_modules; /* by function: a function of another module has the same name */
    /* By node, for a sampled run: half the 95 % intervals of the shares of self time and of total; NULL: not known. */
    double *self_errors, *total_errors;
    double *part_errors; /* of components, by sign of the legend: as_tree_part_error; NULL: not known */
};

/* Also returns false if the series has no call paths. */
bool as_tree_make(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* The same, with direct recursion folded: a function that calls itself is one node. */
bool as_tree_make_folded(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_tree_free(struct as_tree *tree);
/* Fills both errors (path_errors.c), as as_row_errors_make does for rows. Does nothing for other series, or if only some threads are
 * shown. */
bool as_tree_errors_make(struct as_tree *tree, struct as_error *err) AS_MUST_CHECK;
/* Half the 95 % interval of what a node's self time, or total, has of the components with a sign, as a share of all of the time.
 * `key`: as_legend_key. */
double as_tree_part_error(const struct as_tree *tree, const struct as_tree_node *node, size_t key, bool total);
/* A node's printable name. Roots, and functions whose name exists in another module too, include their module. Returns
 * `name`. */
enum { AS_TREE_NAME_MAX = 2 * AS_SHOW_MAX + 32 };
const char *as_tree_name(const struct as_tree *tree, const struct as_tree_node *node, char name[AS_TREE_NAME_MAX]);
/* The node after this one in listing order, skipping its subtree if `skip`. NONE: it was the last. */
uint32_t as_tree_next(const struct as_tree *tree, uint32_t node, bool skip);

/* Whether times have components; and their sums, by time, in a row that holds nothing else: as_tree_row_free. */
bool as_tree_has_parts(const struct as_tree *tree);
void as_tree_row_self(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_total(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_free(struct as_store_row *row);
/* Used while the tree is built; `node_of`: the node of each path. */
bool as_tree_add_parts(struct as_tree *tree, const uint32_t *node_of, struct as_error *err) AS_MUST_CHECK;

/* Iterates in listing order over the `limit` nodes with the largest totals (0: all), leaving out those whose share of
 * the time is below `least`. */
struct as_tree_walk {
    const struct as_tree *tree;
    bool *shown; /* by node */
    uint32_t node;
    uint64_t left_out; /* number of subtrees skipped so far */
};
struct as_tree_walk as_tree_walk_start(const struct as_tree *tree, size_t limit, double least);
const struct as_tree_node *as_tree_walk_next(struct as_tree_walk *walk); /* NULL: the end; the walk is freed */

#endif
