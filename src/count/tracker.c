/* See tracker.h. Calls and returns go straight to the shadow stack. A jump or taken branch matters only if it leaves
 * its block's function; the extents of functions come from the symbols and are cached for each block.
 *
 * Coroutines and goroutines go from stack to stack: tracker_stacks.c.
 */
#include "count/tracker.h"

#include "count/tracker_stacks.h"
#include "symbol/calltree.h"

static const uint32_t fork_numbers[AS_ARCH_COUNT][4] = {
    [AS_ARCH_X86_64] = {56, 57, 58, 435},
    [AS_ARCH_RISCV64] = {220, 435, 435, 435},
};

struct as_call_tracker *as_call_tracker_new(void)
{
    return as_alloc(sizeof(struct as_call_tracker));
}

static void free_thread(struct as_thread_calls *thread)
{
    as_callpath_free(thread->path);
    as_callpath_free(thread->at_fork);
    *thread = (struct as_thread_calls){0};
}

void as_call_tracker_free(struct as_call_tracker *tracker)
{
    if (!tracker)
        return;
    for (size_t i = 0; i < tracker->threads.len; i++)
        free_thread(&tracker->threads.data[i]);
    for (size_t i = 0; i < tracker->images.len; i++)
        as_call_tree_free(tracker->images.data[i].tree);
    as_vec_free(&tracker->images);
    as_vec_free(&tracker->threads);
    as_vec_free(&tracker->extents);
    as_stacks_free(&tracker->stacks);
    free(tracker);
}

static size_t find_image(struct as_call_tracker *tracker, const struct as_image *image)
{
    for (size_t i = tracker->images.len; i-- > 0;)
        if (tracker->images.data[i].image == image)
            return i;
    struct as_image_calls calls = {.image = image, .tree = as_call_tree_new()};
    as_call_tree_set_resolver(calls.tree, as_calls_function, (void *)image);
    *as_vec_push(&tracker->images) = calls;
    return tracker->images.len - 1;
}

static struct as_thread_calls *calls_of(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    return &tracker->threads.data[thread->number - 1];
}

void as_call_tracker_thread_start(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    while (tracker->threads.len < thread->number)
        *as_vec_push(&tracker->threads) = (struct as_thread_calls){0};
    struct as_thread_calls *calls = calls_of(tracker, thread);
    const struct as_thread_calls *parent = thread->parent ? &tracker->threads.data[thread->parent - 1] : NULL;
    free_thread(calls);
    calls->image = find_image(tracker, thread->image);
    calls->process = thread->process;
    if (parent && parent->at_fork)
        calls->path = as_callpath_fork(parent->at_fork);
}

void as_call_tracker_thread_end(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    free_thread(calls_of(tracker, thread));
}

static const struct as_call_extent *extent_of(struct as_call_tracker *tracker, const struct as_image *image,
                                              const struct as_block *block)
{
    while (tracker->extents.len <= block->index)
        *as_vec_push(&tracker->extents) = (struct as_call_extent){0};
    struct as_call_extent *extent = &tracker->extents.data[block->index];
    if (!extent->known) {
        struct as_location location;
        as_space_find(image->space, block->insns[block->n - 1]->address, &location);
        *extent =
            (struct as_call_extent){.start = location.function_start, .size = location.function_size, .known = true};
    }
    return extent;
}

/* ---- transfers ---- */

/* A handler made the code that it interrupted call a function: so Go's goroutines are preempted. */
static void follow_handler(struct as_call_tracker *tracker, const struct as_thread *thread,
                           struct as_thread_calls *calls, uint64_t address)
{
    if (as_calls_function((void *)thread->image, address) == address)
        as_callpath_call(calls->path, calls->returned, calls->returned, address);
}

uint32_t as_call_tracker_begin(struct as_call_tracker *tracker, const struct as_thread *thread,
                               const struct as_block_exec *exec)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    if (__builtin_expect(!calls->path || calls->signal_arrived || calls->returned, 0)) {
        uint64_t address = exec->block->insns[exec->first]->address;
        if (!calls->path)
            calls->path = as_callpath_new(tracker->images.data[calls->image].tree,
                                          as_calls_function((void *)thread->image, address));
        if (calls->resumed && calls->signal_arrived)
            as_calls_resume(tracker, thread, calls, calls->resumed, 0);
        if (calls->signal_arrived)
            as_callpath_signal(calls->path, address, calls->interrupted);
        else if (calls->returned && calls->returned != address)
            follow_handler(tracker, thread, calls, address);
        calls->signal_arrived = false;
        calls->returned = 0;
    }
    if (__builtin_expect(calls->resumed != 0, 0))
        as_calls_settle(tracker, thread, calls, exec);
    if (__builtin_expect(exec->block->made && exec->first == 0 && !calls->resumed, 0))
        as_callpath_enter(calls->path, exec->block->address, exec->block->insns[0]->id + 1);
    return calls->resumed ? calls->guess : as_callpath_node(calls->path);
}

/* The path is not that of the stack that the thread is on: a return went to a function that has no frame on it. */
static void doubt(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                  uint64_t next)
{
    calls->lent = calls->lent || as_callpath_is_partial(calls->path);
    as_calls_guess(tracker, thread, calls, next);
}

static void follow_return(struct as_call_tracker *tracker, const struct as_thread *thread,
                          const struct as_block_exec *exec)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    uint64_t slot = thread->image->arch == AS_ARCH_X86_64 ? as_calls_accessed(exec, exec->block->link_at) : calls->slot;
    bool moved = calls->moved;
    as_calls_forget_stack(calls);
    if (slot && as_callpath_return_through(calls->path, exec->next, slot, false))
        return;
    if (as_calls_go_to_frame(tracker, thread, calls, exec->next, slot))
        as_callpath_return(calls->path, exec->next);
    else if (moved && slot && as_callpath_top_slot(calls->path))
        as_calls_begin_stack(tracker, thread, calls, exec->next);
    else if (slot && tracker->switches.count && !as_callpath_in_handler(calls->path) &&
             !as_callpath_node_at(calls->path, exec->next, as_calls_function((void *)thread->image, exec->next)))
        doubt(tracker, thread, calls, exec->next);
    else
        as_callpath_return_moved(calls->path, exec->next, slot);
}

static bool follow_jump(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_thread_calls *calls,
                        const struct as_block_exec *exec)
{
    bool switched = calls->moved && as_calls_jump(tracker, thread, calls, exec->next);
    as_calls_forget_stack(calls);
    if (switched)
        return true;
    uint64_t entry = as_calls_function((void *)thread->image, exec->next);
    if (entry == exec->next)
        as_callpath_tail(calls->path, entry);
    else
        as_callpath_land(calls->path, entry);
    return true;
}

/* A path that began in the middle of a function, because what another thread executed before had not been read. */
static void find_beginning(struct as_call_tracker *tracker, const struct as_thread *thread,
                           struct as_thread_calls *calls, const struct as_block_exec *exec)
{
    enum { TRY_EVERY = 4 };
    uint64_t call = exec->block->insns[exec->block->n - 1]->address;
    struct as_stack_target place = {.address = as_calls_function((void *)thread->image, call),
                                    .pointer = as_calls_accessed(exec, exec->block->link_at),
                                    .is_function = true};
    if (!place.pointer || as_callpath_depth(calls->path) > 1 || calls->tries++ % TRY_EVERY)
        return;
    bool lent = calls->lent;
    calls->lent = true;
    if (!as_calls_go_to_pointer(tracker, thread, calls, &place))
        calls->lent = lent;
}

static void follow_call(struct as_call_tracker *tracker, const struct as_thread *thread,
                        const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    struct as_thread_calls *calls = calls_of(tracker, thread);
    as_calls_forget_stack(calls);
    if (as_callpath_is_partial(calls->path))
        find_beginning(tracker, thread, calls, exec);
    const struct as_insn *call = block->insns[block->n - 1];
    as_callpath_call_from(calls->path, block->made ? call->id + 1 : 0, call->address, block->end, exec->next);
    if (thread->image->arch != AS_ARCH_X86_64 || exec->next == block->end)
        return;
    uint64_t slot = as_calls_accessed(exec, block->link_at);
    as_callpath_set_slot(calls->path, slot);
    if (calls->fresh && slot)
        as_stacks_drop(&tracker->stacks, as_calls_owner(thread, calls), slot);
    calls->fresh = false;
}

/* Whether control left the function of a block by a jump. */
static bool jumps_out(struct as_call_tracker *tracker, const struct as_thread *thread, const struct as_block_exec *exec)
{
    const struct as_call_extent *extent = extent_of(tracker, thread->image, exec->block);
    return extent->size != 0 && exec->next - extent->start >= extent->size;
}

bool as_call_tracker_keeps(struct as_call_tracker *tracker, const struct as_thread *thread,
                           const struct as_block *block)
{
    bool jumps = block->last_class == AS_CLASS_BRANCH || block->last_class == AS_CLASS_JUMP;
    struct as_block_exec exec = {.block = block, .next = block->target};
    return jumps && block->target && !as_block_touches_stack(block) && !jumps_out(tracker, thread, &exec);
}

bool as_call_tracker_is_calm(const struct as_call_tracker *tracker, const struct as_thread *thread)
{
    const struct as_thread_calls *calls = &tracker->threads.data[thread->number - 1];
    return calls->path && !calls->moved && !calls->resumed;
}

bool as_call_tracker_end(struct as_call_tracker *tracker, const struct as_thread *thread,
                         const struct as_block_exec *exec)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    if (!calls->path)
        return false;
    bool resumed = calls->resumed;
    if (__builtin_expect(resumed, 0))
        as_calls_settle(tracker, thread, calls, exec);
    as_calls_note_stack(calls, exec);
    as_calls_note_link(calls, exec, thread->image->arch);
    if (!exec->taken || !exec->next)
        return resumed;
    enum as_class class = (enum as_class)exec->block->last_class;
    bool call = class == AS_CLASS_CALL || class == AS_CLASS_CALL_INDIRECT, returns = class == AS_CLASS_RETURN;
    if (!call && !returns && !jumps_out(tracker, thread, exec))
        return resumed;
    if (calls->resumed && returns && thread->image->arch == AS_ARCH_X86_64) {
        as_calls_guess(tracker, thread, calls, exec->next);
        as_calls_forget_stack(calls);
        return true;
    }
    if (calls->resumed)
        as_calls_resume(tracker, thread, calls, calls->resumed, 0);
    if (call)
        follow_call(tracker, thread, exec);
    else if (returns)
        follow_return(tracker, thread, exec);
    else
        follow_jump(tracker, thread, calls, exec);
    return true;
}

void as_call_tracker_syscall(struct as_call_tracker *tracker, const struct as_thread *thread, uint32_t number)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    const uint32_t *forks = fork_numbers[thread->image->arch];
    if (!calls->path || (number != forks[0] && number != forks[1] && number != forks[2] && number != forks[3]))
        return;
    as_callpath_free(calls->at_fork);
    calls->at_fork = as_callpath_fork(calls->path);
}

void as_call_tracker_signal(struct as_call_tracker *tracker, const struct as_thread *thread, uint64_t interrupted)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    calls->signal_arrived = true;
    calls->interrupted = interrupted;
}

void as_call_tracker_signal_return(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    struct as_thread_calls *calls = calls_of(tracker, thread);
    if (calls->path)
        calls->returned = as_callpath_sigreturn(calls->path);
}

void as_call_tracker_forget(struct as_call_tracker *tracker)
{
    for (size_t i = 0; i < tracker->threads.len; i++) {
        size_t image = tracker->threads.data[i].image;
        free_thread(&tracker->threads.data[i]);
        tracker->threads.data[i].image = image;
    }
    as_stacks_free(&tracker->stacks);
    tracker->stacks = (struct as_stacks){0};
}

size_t as_call_tracker_count_images(const struct as_call_tracker *tracker)
{
    return tracker->images.len;
}

const struct as_image *as_call_tracker_image(const struct as_call_tracker *tracker, size_t index)
{
    return tracker->images.data[index].image;
}

uint32_t as_call_tracker_adopt(struct as_call_tracker *tracker, size_t index, const struct as_call_node *node)
{
    return as_call_tree_child(tracker->images.data[index].tree, node);
}

void as_call_node_locate(const struct as_engine *engine, const struct as_image *image, const struct as_call_node *node,
                         struct as_location *location)
{
    if (node->entry)
        as_engine_locate(engine, node->entry - 1, location);
    else
        as_space_find(image->space, node->function, location);
}

const char *as_call_node_name(const struct as_engine *engine, const struct as_image *image,
                              const struct as_call_node *node)
{
    struct as_location location;
    as_call_node_locate(engine, image, node, &location);
    return location.function ? location.function : as_space_name(image->space, node->function);
}

const struct as_call_tree *as_call_tracker_tree(const struct as_call_tracker *tracker, size_t index)
{
    return tracker->images.data[index].tree;
}

size_t as_call_tracker_image_of(const struct as_call_tracker *tracker, const struct as_thread *thread)
{
    return tracker->threads.data[thread->number - 1].image;
}

struct as_stack_switches as_call_tracker_switches(const struct as_call_tracker *tracker)
{
    return tracker->switches;
}
