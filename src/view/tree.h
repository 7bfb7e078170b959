/* The call tree of a view: call paths, with calls from several places of one function taken together. */
#ifndef AS_VIEW_TREE_H
#define AS_VIEW_TREE_H

#include "view/legend.h"
#include "view/view.h"

struct as_tree_node {
    uint32_t function; /* AS_STORE_NONE: `address` tells all */
    uint64_t address;
    bool signal;
    uint32_t parent, depth; /* parent AS_STORE_NONE: a root */
    uint32_t first, n;      /* children: nodes first … first + n - 1, the most time first */
    uint64_t self, total;
    uint32_t levels;                  /* of direct recursion that it stands for; 1: none is folded into it */
    size_t part, self_end, total_end; /* of as_tree.parts: from `part` its own, then those of what it calls */
};

/* Children follow their parents. */
struct as_tree {
    const struct as_view *view;
    struct as_tree_node *nodes;
    size_t n, n_roots; /* roots come first, the most time first */
    uint64_t total;
    struct as_store_row_part *parts; /* components of each node's own time, nodes in the order of a listing */
    size_t n_parts;
    struct as_legend legend;
    uint32_t *node_of;   /* by the profile's path */
    bool *needs_modules; /* by function: one of another module has its name */
};

/* False also where the series has no call paths. */
bool as_tree_make(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* … where a function that calls itself is one node, whatever it calls below that. */
bool as_tree_make_folded(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_tree_free(struct as_tree *tree);
/* A node's name, fit to be shown; roots, and functions whose name another module has too, with their module. Returns
 * `name`. */
enum { AS_TREE_NAME_MAX = 2 * AS_SHOW_MAX + 32 };
const char *as_tree_name(const struct as_tree *tree, const struct as_tree_node *node, char name[AS_TREE_NAME_MAX]);
/* The node after this one in the order of a listing, without what is below it if `skip`. NONE: that was the last. */
uint32_t as_tree_next(const struct as_tree *tree, uint32_t node, bool skip);

/* Whether its times have components; their sums, the most time first, into a row that holds nothing else:
 * as_tree_row_free. */
bool as_tree_has_parts(const struct as_tree *tree);
void as_tree_row_self(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_total(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_free(struct as_store_row *row);
/* While a tree is made; `node_of`: the node of each path. */
bool as_tree_add_parts(struct as_tree *tree, const uint32_t *node_of, struct as_error *err) AS_MUST_CHECK;

/* A walk in the order of a listing, through the `limit` nodes with the largest totals (0: all) and none whose part of
 * the time is below `least`. */
struct as_tree_walk {
    const struct as_tree *tree;
    bool *shown; /* by node */
    uint32_t node;
    uint64_t left_out; /* branches that were skipped so far */
};
struct as_tree_walk as_tree_walk_start(const struct as_tree *tree, size_t limit, double least);
const struct as_tree_node *as_tree_walk_next(struct as_tree_walk *walk); /* NULL: the end, which frees the walk */

#endif
