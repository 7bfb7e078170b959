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

/* Where a thread goes on: at an address that a frame of the stack returns to, or inside a function that has a frame. */
struct as_stack_target {
    uint64_t address;
    uint64_t pointer; /* the stack pointer there; 0: unknown */
    bool is_function;
    bool partial; /* as_stack_room: of partial paths, not of those with a known beginning */
};
/* From the stack pointer to the slot of the frame; 0 where the pointer is unknown, UINT64_MAX where no frame fits, or it
 * is further than a function moves its pointer. */
uint64_t as_stack_distance(struct as_callpath *path, const struct as_stack_target *place);

/* From the stack pointer up to where the stack of a path begins; UINT64_MAX: it is not on that stack, or that is
 * unknown. */
uint64_t as_stack_room(const struct as_callpath *path, const struct as_stack_target *place);

/* Each returns the path to go on with, which is the caller's then, or NULL. */

/* The one with a frame that returns to `target` through `slot`, which is the top frame then. */
struct as_callpath *as_stacks_take_frame(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target,
                                         uint64_t slot);
/* The one whose stack a pointer is on, which begins next above, if nearer than `*below`, which becomes
 * the distance. NULL also if the function has no frame there. */
struct as_callpath *as_stacks_take_around(struct as_stacks *stacks, struct as_stack_owner owner,
                                          const struct as_stack_target *place, uint64_t *below);
/* The one nearest to a place, if nearer than `below`. Where the pointer is unknown: the one that has waited longest for an
 * address, as schedulers take turns; the one that was left last for a function, if `below` is UINT64_MAX. */
struct as_callpath *as_stacks_take_near(struct as_stacks *stacks, struct as_stack_owner owner,
                                        const struct as_stack_target *place, uint64_t below);
/* The node of the one that has waited longest for the address `target`, if there is one, or has a frame of `function`; 0: none. */
uint32_t as_stacks_guess(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target, uint64_t function);
/* Whether one has a frame that returns to `target`. */
bool as_stacks_have_return(const struct as_stacks *stacks, struct as_stack_owner owner, uint64_t target);
/* A new stack began with a call through `slot`: paths that began so before it ended without being seen to. */
void as_stacks_drop(struct as_stacks *stacks, struct as_stack_owner owner, uint64_t slot);

#endif
