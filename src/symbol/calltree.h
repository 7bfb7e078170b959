/* The inside of the calling-context tree, for call paths. */
#ifndef AS_SYMBOL_CALLTREE_H
#define AS_SYMBOL_CALLTREE_H

#include "symbol/callpath.h"

/* The child of `parent` with these properties, made where it is new; `parent` itself where it is too deep or the tree
 * is full. */
uint32_t as_call_tree_child(struct as_call_tree *tree, uint32_t parent, uint64_t function, uint64_t call_site,
                            bool signal);
uint64_t as_call_tree_function_of(const struct as_call_tree *tree, uint64_t address);

#endif
