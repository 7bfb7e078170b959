/* Stacks merged by their functions: the data of flame graphs. Nodes are numbered from 1, parents before their children;
 * 0 is the root. */
#ifndef AS_EXPORT_TREE_H
#define AS_EXPORT_TREE_H

#include "export/export_frames.h"

struct as_export_node {
    uint32_t parent, frame, depth; /* frame: the first one that led here */
};

/* The time of a thread in a node itself. */
struct as_export_leaf {
    uint32_t thread, node;
    uint64_t units, samples;
};

struct as_export_tree {
    AS_VEC(struct as_export_node) nodes;  /* by number - 1 */
    AS_VEC(struct as_export_leaf) leaves; /* by thread, in the order in which they were added */
};

/* `by_name`: functions of the same name are one node, wherever they are defined, and threads are added up. */
void as_export_tree_build(struct as_export_tree *tree, struct as_export_frames *frames, bool by_name);
void as_export_tree_free(struct as_export_tree *tree);
/* Writes the frames of a node, innermost first, at most `most`; returns how many there are. */
size_t as_export_tree_stack(const struct as_export_tree *tree, uint32_t node, uint32_t *frames, size_t most);

#endif
