/* Exact call paths from the stream of calls and returns: a shadow stack for each thread, and one calling-context tree
 * that all of them share.
 *
 * A call pushes its return address; a return pops to the nearest frame with the return address that it goes to, so
 * frames that a longjmp or an exception threw away go with it. A jump to another function's entry is a tail call: it
 * replaces the top function. Landing in the middle of another function (longjmp, an exception's handler, a return that
 * matches no frame) pops to the nearest frame of that function, if there is one, and else replaces the top function. A call to the instruction right
 * behind it (how position-independent code finds its address) is not a call. A signal handler is a frame of its own kind
 * on top of whatever was interrupted; sigreturn pops to below it; its return into the trampoline replaces its function.
 *
 * A path is that of one stack. A frame's *slot* is the address at which its return address lies; with slots a return
 * belongs to one frame of one stack, so code that keeps the paths of several stacks (count/waiting_stacks.h) can find the one that
 * a coroutine goes on with. A frame whose slot is unknown (0) matches by its return address alone. What cannot be decided
 * without slots: after a longjmp inside a recursion, which instance of the recursive function was meant. The innermost
 * is taken; the next return to a frame outside of the recursion puts it right.
 *
 * Bounded: paths deeper than AS_CALLPATH_MAX_DEPTH and nodes beyond AS_CALL_TREE_MAX_NODES share the node of their
 * caller (counted as folded; returns still match exactly); a thread keeps at most AS_CALLPATH_MAX_FRAMES frames and
 * forgets the older half of them then. Every operation takes constant time, amortised.
 */
#ifndef AS_SYMBOL_CALLPATH_H
#define AS_SYMBOL_CALLPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AS_CALLPATH_MAX_DEPTH = 4096,
    AS_CALLPATH_MAX_FRAMES = 1 << 20,
    AS_CALL_TREE_MAX_NODES = 1 << 20,
};

/* The tree: nodes are numbered densely from 0 (the root, function 0). Shared by all threads of a run, owned by one. */
struct as_call_tree;
struct as_call_tree *as_call_tree_new(void);
void as_call_tree_free(struct as_call_tree *tree);
size_t as_call_tree_count(const struct as_call_tree *tree);
uint64_t as_call_tree_folded(const struct as_call_tree *tree); /* calls that got no node of their own */

/* Finds the function of an address: returns its entry, or the address itself where that is unknown. Called only for
 * returns that match no frame. Without one, such a return counts as entering a function at its target. */
typedef uint64_t as_function_of(void *context, uint64_t address);
void as_call_tree_set_resolver(struct as_call_tree *tree, as_function_of *function_of, void *context);

struct as_call_node {
    uint32_t parent;
    uint64_t function;  /* entry address of the callee */
    uint64_t call_site; /* address of the call instruction, in the parent (also where a tail call replaced the callee);
                           0 for the root, thread entries and signal handlers */
    bool signal;        /* entered as a signal handler */
    /* Of code that the program made, which may be other code later: the numbers of the callee's first instruction and of
     * the call instruction, as the caller counts them, from 1; 0: not such code. */
    uint32_t entry, site;
};
/* Valid until the next call, tail call, landing or signal on any path of the tree. */
const struct as_call_node *as_call_tree_node(const struct as_call_tree *tree, uint32_t node);

struct as_callpath;
struct as_callpath *as_callpath_new(struct as_call_tree *tree, uint64_t entry);
struct as_callpath *as_callpath_fork(const struct as_callpath *path); /* for a forked child; shares the tree */
void as_callpath_free(struct as_callpath *path);

void as_callpath_call(struct as_callpath *path, uint64_t call_site, uint64_t return_address, uint64_t target);
/* … by an instruction of code that the program made; as_call_node.site says which. */
void as_callpath_call_from(struct as_callpath *path, uint32_t site, uint64_t call_site, uint64_t return_address,
                           uint64_t target);
/* Control is at `address`, and what lies there is made code, with this instruction (as_call_node.entry). If the top function
 * begins there, its path is that of this version of the code. */
void as_callpath_enter(struct as_callpath *path, uint64_t address, uint32_t entry);
void as_callpath_return(struct as_callpath *path, uint64_t target);
/* Where the return address of the top frame lies. */
void as_callpath_set_slot(struct as_callpath *path, uint64_t slot);
/* A return to `target` through `slot`: pops to the frame that has both. False: there is none, and nothing changes.
 * `exact`: frames without a slot do not count. */
bool as_callpath_return_through(struct as_callpath *path, uint64_t target, uint64_t slot, bool exact);
bool as_callpath_has_return(const struct as_callpath *path, uint64_t target, uint64_t slot); /* … exactly */
/* Makes the frame that has exactly both the top one. False: there is none, and nothing changes. */
bool as_callpath_unwind_to(struct as_callpath *path, uint64_t target, uint64_t slot);
void as_callpath_move(struct as_callpath *path, uint64_t distance); /* the stack moved, and all slots with it */
/* A return to `target` through a slot that no frame has. If it is the top frame's return address, the stack was moved
 * since (Go's stacks grow so), and the slots of all frames with it. */
void as_callpath_return_moved(struct as_callpath *path, uint64_t target, uint64_t slot);
/* The slot of the nearest frame that returns to `target`, or that is of `function`; 0: none, or unknown. */
uint64_t as_callpath_slot_to(const struct as_callpath *path, uint64_t target);
size_t as_callpath_calls_since(const struct as_callpath *path, uint64_t target); /* frames from that one on */
uint64_t as_callpath_slot_of(const struct as_callpath *path, uint64_t function);
uint64_t as_callpath_top_slot(const struct as_callpath *path); /* 0: unknown, or a signal handler's */
bool as_callpath_in_handler(const struct as_callpath *path);   /* the top frame is a signal handler's */
/* It began in the middle of a function: the callers of the entry are unknown. */
void as_callpath_set_partial(struct as_callpath *path);
bool as_callpath_is_partial(const struct as_callpath *path);
/* Where its stack begins, nearly: the highest slot of a call by the entry; 0: unknown. */
uint64_t as_callpath_base(const struct as_callpath *path);
/* Control is in the middle of `function` with this stack pointer: frames below it are gone. Whether one of the others is of
 * the function; pops to it if there is one. */
bool as_callpath_has_function(const struct as_callpath *path, uint64_t pointer, uint64_t function);
void as_callpath_resume(struct as_callpath *path, uint64_t pointer, uint64_t function);
/* The node after a return to `target`, or else of the nearest frame of `function`; 0: neither has a frame. */
uint32_t as_callpath_node_at(const struct as_callpath *path, uint64_t target, uint64_t function);
/* A jump to the entry `target` of another function than the one that it is in (the caller knows that it left it). */
void as_callpath_tail(struct as_callpath *path, uint64_t target);
/* A jump into the middle of another function, whose entry is `function`. */
void as_callpath_land(struct as_callpath *path, uint64_t function);
void as_callpath_signal(struct as_callpath *path, uint64_t handler, uint64_t interrupted);
uint64_t as_callpath_sigreturn(struct as_callpath *path); /* returns what was interrupted; 0: unknown */

uint32_t as_callpath_node(const struct as_callpath *path); /* the current node: O(1) */
size_t as_callpath_depth(const struct as_callpath *path);  /* frames on the stack; 1 in the entry function */

#endif
