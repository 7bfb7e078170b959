/* How threads go from stack to stack. See tracker_stacks.h.
 *
 * A return whose slot (callpath.h) is on no frame of the thread's stack, or a jump after the stack pointer got a value from
 * elsewhere, switches to another stack. Calls never do: a function that is called on another stack (Go's systemstack) is
 * still called.
 *
 * A jump that resumes a stack does not tell which one: many goroutines wait at the same instruction. The next access
 * relative to the stack pointer does, at the latest that of the next call or return. Until then the thread keeps the path
 * that it left, and its instructions belong to a node that is a guess.
 *
 * A stack can be resumed while the path of another thread still has its frames: Go's scheduler runs as a callee of the
 * goroutine that waits. Then the path is copied; the other thread's is dropped when it goes on with another stack.
 */
#include "count/tracker_stacks.h"

uint64_t as_calls_function(void *context, uint64_t address)
{
    const struct as_image *image = context;
    return as_space_entry(image->space, address);
}

/* ---- stacks ---- */

struct as_stack_owner as_calls_owner(const struct as_thread *thread, const struct as_thread_calls *calls)
{
    return (struct as_stack_owner){.process = thread->process, .image = calls->image};
}

/* The address of the last access of an instruction of the block; 0: not recorded. */
uint64_t as_calls_accessed(const struct as_block_exec *exec, int16_t index)
{
    for (size_t i = exec->n_words; i-- > 0;)
        if (as_access_index(exec->words[i]) == (uint32_t)index)
            return as_access_address(exec->words[i]);
    return 0;
}

/* The stack pointer, by the first access relative to it from instruction `first` on; 0: there is none. */
static uint64_t pointer_in(const struct as_block_exec *exec, uint32_t first)
{
    for (size_t i = 0; i < exec->n_words; i++) {
        uint32_t index = as_access_index(exec->words[i]);
        const struct as_insn *insn = index < exec->end ? exec->block->insns[index] : NULL;
        if (index >= first && insn && insn->n_mem == 1 && insn->mem[0].index == AS_REG_NONE &&
            insn->mem[0].base == as_insn_stack_pointer(insn))
            return as_access_address(exec->words[i]) - (uint64_t)insn->mem[0].disp;
    }
    return 0;
}

void as_calls_note_pointer(struct as_thread_calls *calls, const struct as_block_exec *exec)
{
    int16_t at = exec->block->stack_at;
    uint64_t pointer = pointer_in(exec, (uint32_t)(at + 1));
    calls->pointer = at >= 0 || pointer ? pointer : calls->pointer;
    calls->moved = true;
}

/* RISC-V: where a function keeps its return address. */
void as_calls_note_slots(struct as_thread_calls *calls, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    for (size_t i = 0; i < exec->n_words; i++) {
        uint32_t index = as_access_index(exec->words[i]);
        if (index >= exec->end || !as_insn_is_link(block->insns[index]))
            continue;
        if (block->insns[index]->flags & AS_INSN_STORE)
            as_callpath_set_slot(calls->path, as_access_address(exec->words[i]));
        else
            calls->slot = as_access_address(exec->words[i]);
    }
}

/* The thread goes on with another stack. */
static void go_to(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                  struct as_callpath *path)
{
    if (calls->lent)
        as_callpath_free(calls->path);
    else
        as_stacks_put(&tracker->stacks, as_calls_owner(thread, calls), calls->path);
    calls->path = path;
    calls->lent = calls->fresh = false;
    calls->tries = 0;
    tracker->switches.count++;
}

/* … that nothing is known of. */
void as_calls_begin_stack(struct as_call_tracker *tracker, const struct as_thread *thread,
                          struct as_thread_calls *calls, uint64_t next)
{
    uint64_t entry = as_calls_function((void *)thread->image, next);
    tracker->switches.begun++;
    tracker->switches.unknown += entry != next;
    go_to(tracker, thread, calls, as_callpath_new(tracker->images.data[calls->image].tree, entry));
    calls->fresh = entry == next;
    if (entry != next)
        as_callpath_set_partial(calls->path);
}

/* Whether another thread's path can be that of the stack that a thread goes on with. */
static bool can_lend(const struct as_thread_calls *other, const struct as_thread_calls *calls)
{
    return other != calls && other->path && !other->lent && other->process == calls->process &&
           other->image == calls->image;
}

/* A copy of the path of another thread with a frame that returns to `target` through `slot`, on top; NULL: none has. */
static struct as_callpath *borrow(struct as_call_tracker *tracker, const struct as_thread_calls *calls, uint64_t target,
                                  uint64_t slot)
{
    for (size_t i = 0; i < tracker->threads.len; i++) {
        struct as_thread_calls *other = &tracker->threads.data[i];
        if (!can_lend(other, calls) || !as_callpath_has_return(other->path, target, slot))
            continue;
        other->lent = true;
        struct as_callpath *copy = as_callpath_fork(other->path);
        (void)as_callpath_unwind_to(copy, target, slot);
        return copy;
    }
    return NULL;
}

/* Goes to the stack with a frame that returns to `target` through `slot`, which is on top then. False: there is none. */
bool as_calls_go_to_frame(struct as_call_tracker *tracker, const struct as_thread *thread,
                          struct as_thread_calls *calls, uint64_t target, uint64_t slot)
{
    struct as_callpath *other = NULL;
    if (slot)
        other = as_stacks_take_frame(&tracker->stacks, as_calls_owner(thread, calls), target, slot);
    if (slot && !other)
        other = borrow(tracker, calls, target, slot);
    if (other)
        go_to(tracker, thread, calls, other);
    return other;
}

/* Another thread's path on whose stack a place is, nearer than `*below`, which becomes the distance; NULL: none. */
static struct as_thread_calls *find_lender(struct as_call_tracker *tracker, const struct as_thread_calls *calls,
                                           const struct as_stack_target *place, uint64_t *below)
{
    struct as_thread_calls *lender = NULL;
    for (size_t i = 0; i < tracker->threads.len; i++) {
        struct as_thread_calls *other = &tracker->threads.data[i];
        uint64_t room = can_lend(other, calls) ? as_stack_room(other->path, place) : UINT64_MAX;
        if (room >= *below)
            continue;
        *below = room;
        lender = other;
    }
    return lender;
}

/* Goes to the stack that the pointer is on. What another thread executed there last may not have been read yet: its frames
 * down to the function are the same. False: unknown. */
bool as_calls_go_to_pointer(struct as_call_tracker *tracker, const struct as_thread *thread,
                            struct as_thread_calls *calls, const struct as_stack_target *place)
{
    uint64_t own = calls->lent ? UINT64_MAX : as_stack_room(calls->path, place), nearest = own;
    struct as_thread_calls *lender = find_lender(tracker, calls, place, &nearest);
    uint64_t lent = nearest;
    struct as_callpath *path = as_stacks_take_around(&tracker->stacks, as_calls_owner(thread, calls), place, &nearest);
    if (!path && lender && nearest == lent && as_callpath_has_function(lender->path, place->pointer, place->address)) {
        path = as_callpath_fork(lender->path);
        lender->lent = true;
    }
    if (path)
        go_to(tracker, thread, calls, path);
    else if (own == UINT64_MAX || nearest != own ||
             !as_callpath_has_function(calls->path, place->pointer, place->address))
        return false;
    as_callpath_resume(calls->path, place->pointer, place->address);
    return true;
}

/* ---- jumps that resume a stack ---- */

/* To the stack with a frame that returns to where the jump went, or else is of that function: nearest to the stack
 * pointer, among them the one that the thread was on. A pointer of 0 is unknown. */
static bool resume_in(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                      const struct as_stack_target *place)
{
    uint64_t own = calls->lent ? UINT64_MAX : as_stack_distance(calls->path, place);
    uint64_t below = place->pointer || place->is_function ? own : UINT64_MAX; /* else the others come first */
    struct as_callpath *other = as_stacks_take_near(&tracker->stacks, as_calls_owner(thread, calls), place, below);
    if (!other && own == UINT64_MAX)
        return false;
    if (other)
        go_to(tracker, thread, calls, other);
    if (place->is_function)
        as_callpath_land(calls->path, place->address);
    else
        as_callpath_return(calls->path, place->address);
    return true;
}

/* The thread goes on where it was, on a stack that was copied elsewhere: Go's grow so. No scheduler ran meanwhile, and no
 * other stack waits at the same instruction. */
static bool resume_moved(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                         const struct as_stack_target *place)
{
    uint64_t slot = calls->lent || !place->pointer ? 0 : as_callpath_slot_to(calls->path, place->address);
    enum { MOVERS = 3 }; /* what asks for more room, what copies, and the jump */
    if (!slot || as_callpath_calls_since(calls->path, place->address) > MOVERS ||
        as_stacks_have_return(&tracker->stacks, as_calls_owner(thread, calls), place->address))
        return false;
    as_callpath_move(calls->path, place->pointer - slot);
    as_callpath_return(calls->path, place->address);
    return true;
}

void as_calls_resume(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                     uint64_t next, uint64_t pointer)
{
    struct as_stack_target target = {.address = next, .pointer = pointer};
    struct as_stack_target function = {
        .address = as_calls_function((void *)thread->image, next), .pointer = pointer, .is_function = true};
    calls->resumed = 0;
    if (pointer && as_calls_go_to_pointer(tracker, thread, calls, &function))
        return;
    function.partial = true;
    if (pointer && as_calls_go_to_pointer(tracker, thread, calls, &function))
        return;
    if (!resume_in(tracker, thread, calls, &target) && !resume_moved(tracker, thread, calls, &target) &&
        (pointer || !resume_in(tracker, thread, calls, &function)))
        as_calls_begin_stack(tracker, thread, calls, next);
}

void as_calls_guess(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                    uint64_t next)
{
    uint64_t entry = as_calls_function((void *)thread->image, next);
    calls->resumed = next;
    calls->guess = as_stacks_guess(&tracker->stacks, as_calls_owner(thread, calls), next, entry);
    if (!calls->guess)
        calls->guess = as_callpath_node_at(calls->path, next, entry);
}

/* What a block that was executed since the jump tells about the stack: a return belongs to one frame, a call has the stack
 * pointer. */
void as_calls_settle(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                     const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    bool x86 = thread->image->arch == AS_ARCH_X86_64, left = exec->taken && exec->end == block->n;
    uint64_t slot = x86 && left && block->link_at >= 0 ? as_calls_accessed(exec, block->link_at) : 0;
    uint64_t pointer = pointer_in(exec, exec->first);
    if (left && block->last_class == AS_CLASS_RETURN) {
        if (slot && ((!calls->lent && as_callpath_unwind_to(calls->path, exec->next, slot)) ||
                     as_calls_go_to_frame(tracker, thread, calls, exec->next, slot)))
            calls->resumed = 0;
    } else if (pointer || slot) {
        as_calls_resume(tracker, thread, calls, calls->resumed, pointer ? pointer : slot);
    }
}

/* A jump after the stack pointer came from elsewhere. False: on the same stack, as far as can be known. */
bool as_calls_jump(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                   uint64_t next)
{
    enum { FRAME = 4096 }; /* what a function moves its stack pointer by and jumps on (the lazy resolver) */
    uint64_t entry = as_calls_function((void *)thread->image, next), top = as_callpath_top_slot(calls->path);
    if (!top || (calls->pointer && top - calls->pointer < FRAME))
        return false;
    if (as_calls_go_to_frame(tracker, thread, calls, next, calls->slot)) {
        as_callpath_return(calls->path, next);
    } else if (entry == next) {
        as_calls_begin_stack(tracker, thread, calls, next);
    } else if (calls->pointer) {
        as_calls_resume(tracker, thread, calls, next, calls->pointer);
    } else {
        as_calls_guess(tracker, thread, calls, next);
    }
    return true;
}
