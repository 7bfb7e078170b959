/* The inside of the calling-context tree, for call paths. */
#ifndef AS_SYMBOL_CALLTREE_H
#define AS_SYMBOL_CALLTREE_H

#include "symbol/callpath.h"

/* The node with these properties, made where it is new; its parent where it is too deep or the tree is full. */
uint32_t as_call_tree_child(struct as_call_tree *tree, const struct as_call_node *node);
/* The same, in the place of another node: quicker where it takes that one's place again, as the function behind a stub does. */
uint32_t as_call_tree_instead(struct as_call_tree *tree, uint32_t of, const struct as_call_node *node);
uint64_t as_call_tree_function_of(const struct as_call_tree *tree, uint64_t address);

#endif
