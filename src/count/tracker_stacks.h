/* The inside of the call tracker: what it keeps of each thread, and how threads go from stack to stack (tracker_stacks.c). */
#ifndef AS_COUNT_TRACKER_STACKS_H
#define AS_COUNT_TRACKER_STACKS_H

#include "base/vec.h"
#include "count/tracker.h"
#include "count/waiting_stacks.h"

struct as_call_extent {
    uint64_t start, size; /* size 0: not looked up yet, or unknown */
    bool known;
};

struct as_image_calls {
    const struct as_image *image;
    struct as_call_tree *tree;
};

struct as_thread_calls {
    size_t image; /* index of tracker->images */
    struct as_callpath *path, *at_fork;
    bool signal_arrived;
    bool moved;             /* the stack pointer came from elsewhere since the last call or return */
    uint64_t pointer, slot; /* the stack pointer since then; where the link register was loaded from. 0: unknown */
    uint64_t resumed;       /* where a jump went that left the stack of `path` for one not known yet; 0: none did */
    uint32_t guess;         /* … the node of its instructions meanwhile */
    bool lent;              /* another thread goes on with the stack of `path` */
    bool fresh;             /* `path` began with a switch and has called nothing yet */
    uint32_t tries;         /* to find the beginning of `path` */
    uint32_t process;
    uint64_t interrupted, returned; /* where a signal came; where its handler went back to. 0: elsewhere, or none did */
};

struct as_call_tracker {
    AS_VEC(struct as_image_calls) images;
    AS_VEC(struct as_thread_calls) threads; /* by number - 1 */
    AS_VEC(struct as_call_extent) extents;  /* by block index */
    struct as_stacks stacks;
    struct as_stack_switches switches;
};

struct as_stack_owner as_calls_owner(const struct as_thread *thread, const struct as_thread_calls *calls);
uint64_t as_calls_function(void *image, uint64_t address); /* the entry of the function at an address, or the address */
/* The address of the last access of an instruction of the block; 0: not recorded. */
uint64_t as_calls_accessed(const struct as_block_exec *exec, int16_t index);

/* What a block did to the stack pointer and to the link register, and that this is over. Most blocks did nothing to either. */
void as_calls_note_pointer(struct as_thread_calls *calls, const struct as_block_exec *exec);
void as_calls_note_slots(struct as_thread_calls *calls, const struct as_block_exec *exec);

static inline void as_calls_note_stack(struct as_thread_calls *calls, const struct as_block_exec *exec)
{
    if (__builtin_expect(exec->block->stack_at >= 0 || calls->moved, 0))
        as_calls_note_pointer(calls, exec);
}

static inline void as_calls_note_link(struct as_thread_calls *calls, const struct as_block_exec *exec,
                                      enum as_arch arch)
{
    if (arch == AS_ARCH_RISCV64 && exec->block->link_at >= 0 && !calls->resumed)
        as_calls_note_slots(calls, exec);
}

static inline void as_calls_forget_stack(struct as_thread_calls *calls)
{
    calls->moved = false;
    calls->pointer = calls->slot = 0;
}

/* The thread goes on with a stack that nothing is known of. */
void as_calls_begin_stack(struct as_call_tracker *tracker, const struct as_thread *thread,
                          struct as_thread_calls *calls, uint64_t next);
/* … with the one that has a frame which returns to `target` through `slot`, on top then. False: there is none. */
bool as_calls_go_to_frame(struct as_call_tracker *tracker, const struct as_thread *thread,
                          struct as_thread_calls *calls, uint64_t target, uint64_t slot);
/* … with the one that the pointer of the place is on. False: unknown. */
bool as_calls_go_to_pointer(struct as_call_tracker *tracker, const struct as_thread *thread,
                            struct as_thread_calls *calls, const struct as_stack_target *place);
/* It went on at `next`, on a stack that is not known yet. */
void as_calls_guess(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                    uint64_t next);
/* … which a block that it executed since then may show. */
void as_calls_settle(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                     const struct as_block_exec *exec);
/* … or has to be decided. A pointer of 0 is unknown. */
void as_calls_resume(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                     uint64_t next, uint64_t pointer);
/* A jump after the stack pointer came from elsewhere. False: on the same stack, as far as can be known. */
bool as_calls_jump(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                   uint64_t next);

#endif
