/* Exact call paths from the stream of calls and returns: a shadow stack for each thread, and one calling-context tree
 * that all of them share.
 *
 * A call pushes (return address, stack depth key); a return pops to the frame whose return address it goes to, so
 * frames that a longjmp or an exception threw away go with it. A return that matches no frame leaves the stack as it is
 * and only replaces the top function (a context switch by hand). A direct or indirect jump to another function's entry
 * is a tail call: it replaces the top function. A signal handler is a frame of its own kind on top of whatever was
 * interrupted; sigreturn pops to below it. Depth is limited (AS_CALLPATH_MAX_DEPTH); deeper frames are counted and
 * folded into the last one.
 */
#ifndef AS_SYMBOL_CALLPATH_H
#define AS_SYMBOL_CALLPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_CALLPATH_MAX_DEPTH = 4096 };

/* The tree: nodes are numbered densely from 0 (the root, function 0). Shared by all threads of a run, owned by one. */
struct as_call_tree;
struct as_call_tree *as_call_tree_new(void);
void as_call_tree_free(struct as_call_tree *tree);
size_t as_call_tree_count(const struct as_call_tree *tree);

struct as_call_node {
    uint32_t parent;
    uint64_t function;  /* entry address of the callee */
    uint64_t call_site; /* address of the call instruction; 0 for the root, thread entries and signal handlers */
    bool signal;        /* entered as a signal handler */
};
const struct as_call_node *as_call_tree_node(const struct as_call_tree *tree, uint32_t node);

struct as_callpath;
struct as_callpath *as_callpath_new(struct as_call_tree *tree, uint64_t entry);
struct as_callpath *as_callpath_fork(const struct as_callpath *path); /* for a forked child */
void as_callpath_free(struct as_callpath *path);

void as_callpath_call(struct as_callpath *path, uint64_t call_site, uint64_t return_address, uint64_t target);
void as_callpath_return(struct as_callpath *path, uint64_t target);
void as_callpath_tail(struct as_callpath *path, uint64_t site,
                      uint64_t target); /* the caller knows that it left the function */
void as_callpath_signal(struct as_callpath *path, uint64_t handler, uint64_t interrupted);
void as_callpath_sigreturn(struct as_callpath *path);

uint32_t as_callpath_node(const struct as_callpath *path); /* the current node: O(1) */
size_t as_callpath_depth(const struct as_callpath *path);

#endif
