/* The call path of every thread, kept up to date from the stream of block executions.
 *
 * It is not a sink itself: sinks that need paths forward their calls. as_call_tracker_begin, called before a block is
 * processed, returns the node that its instructions belong to; as_call_tracker_end, called after it, follows the
 * control transfer.
 *
 * Code that the program makes (as_block.made) may be replaced by other code at the same address: nodes of such code say by the id
 * of an instruction, plus one, which code it was (as_call_node.entry and site).
 */
#ifndef AS_COUNT_TRACKER_H
#define AS_COUNT_TRACKER_H

#include "engine/engine.h"
#include "symbol/callpath.h"

struct as_call_tracker;
struct as_call_tracker *as_call_tracker_new(void);
void as_call_tracker_free(struct as_call_tracker *tracker);

void as_call_tracker_thread_start(struct as_call_tracker *tracker, const struct as_thread *thread);
void as_call_tracker_thread_end(struct as_call_tracker *tracker, const struct as_thread *thread);
uint32_t as_call_tracker_begin(struct as_call_tracker *tracker, const struct as_thread *thread,
                               const struct as_block_exec *exec);
/* Returns whether the path may be another one now. Needed where the transfer was taken, or as_block_touches_stack. */
bool as_call_tracker_end(struct as_call_tracker *tracker, const struct as_thread *thread,
                         const struct as_block_exec *exec);
/* Whether a block's taken transfer to its only target stays in its function, so that as_call_tracker_end has nothing to do as long as
 * the thread is calm. */
bool as_call_tracker_keeps(struct as_call_tracker *tracker, const struct as_thread *thread,
                           const struct as_block *block);
/* Whether the thread's path is known and its stack pointer did not come from elsewhere of late. */
bool as_call_tracker_is_calm(const struct as_call_tracker *tracker, const struct as_thread *thread);
void as_call_tracker_syscall(struct as_call_tracker *tracker, const struct as_thread *thread, uint32_t number);
void as_call_tracker_signal(struct as_call_tracker *tracker, const struct as_thread *thread, uint64_t interrupted);
void as_call_tracker_signal_return(struct as_call_tracker *tracker, const struct as_thread *thread);

/* How often a thread went on with another stack (coroutines, goroutines, fibres), and how many paths began with that: in
 * an unknown caller where control did not come to the entry of a function. */
struct as_stack_switches {
    uint64_t count, begun, unknown;
};
struct as_stack_switches as_call_tracker_switches(const struct as_call_tracker *tracker);

/* Part of the run was left out: no thread's path is known any more. Each begins anew where it is seen next. */
void as_call_tracker_forget(struct as_call_tracker *tracker);

/* Each image has a tree of its own: addresses mean nothing across images. */
size_t as_call_tracker_count_images(const struct as_call_tracker *tracker);
const struct as_image *as_call_tracker_image(const struct as_call_tracker *tracker, size_t index);
/* Where the function of a node is: as it was when it was called. */
void as_call_node_locate(const struct as_engine *engine, const struct as_image *image, const struct as_call_node *node,
                         struct as_location *location);
/* … and its name, as as_space_name gives it. */
const char *as_call_node_name(const struct as_engine *engine, const struct as_image *image,
                              const struct as_call_node *node);
/* Returns the node of a call in the tree of an image, made if it is new. */
uint32_t as_call_tracker_adopt(struct as_call_tracker *tracker, size_t index, const struct as_call_node *node);
const struct as_call_tree *as_call_tracker_tree(const struct as_call_tracker *tracker, size_t index);
/* Of the image that a thread runs: what its nodes refer to. */
size_t as_call_tracker_image_of(const struct as_call_tracker *tracker, const struct as_thread *thread);

#endif
