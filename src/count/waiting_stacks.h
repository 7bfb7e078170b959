/* The call paths of stacks that nothing executes on at the moment: of coroutines, goroutines and fibres that wait.
 *
 * A thread that leaves a stack puts its path here and takes the one of the stack that it goes on with, which another
 * thread of the process may have left. At most AS_STACKS_MAX are kept; the one that has waited longest is forgotten
 * first.
 */
#ifndef AS_COUNT_WAITING_STACKS_H
#define AS_COUNT_WAITING_STACKS_H

#include "base/vec.h"
#include "symbol/callpath.h"

enum { AS_STACKS_MAX = 1024 };

/* Whose stack: addresses mean nothing across processes, and nodes nothing across images. */
struct as_stack_owner {
    uint32_t process;
    size_t image;
};

struct as_stacks {
    AS_VEC(struct as_stack) list; /* the one that was left last at the end */
};
struct as_stack {
    struct as_stack_owner owner;
    struct as_callpath *path;
};

void as_stacks_free(struct as_stacks *stacks);
void as_stacks_put(struct as_stacks *stacks, struct as_stack_owner owner, struct as_callpath *path);

/* Each returns the path to go on with, which is the caller's then, or NULL. */

/* The one with a frame that returns to `target` through `slot`; the frame is popped. */
struct as_callpath *as_stacks_take_return(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                          uint64_t slot);
/* The one with a frame that returns to `target`, nearest to the stack pointer; where that is unknown (0), the one that
 * has waited longest, as schedulers take turns. */
struct as_callpath *as_stacks_take_near(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                        uint64_t pointer);
/* The one with a frame of `function`, left last. */
struct as_callpath *as_stacks_take_function(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t function);

#endif
