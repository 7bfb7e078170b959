/* See tracker.h. Calls and returns go straight to the shadow stack. A jump or taken branch matters only if it leaves
 * its block's function; the extents of functions come from the symbols and are cached for each block.
 *
 * A return whose slot (callpath.h) is on no frame of the thread's stack, or a jump after the stack pointer got a value from
 * elsewhere, switches to another stack. Calls never do: a function that is called on another stack (Go's systemstack) is
 * still called.
 */
#include "count/tracker.h"

#include "symbol/calltree.h"

#include "base/vec.h"
#include "count/waiting_stacks.h"

struct extent {
    uint64_t start, size; /* size 0: not looked up yet, or unknown */
    bool known;
};

struct image_calls {
    const struct as_image *image;
    struct as_call_tree *tree;
};

struct thread_calls {
    size_t image; /* index of tracker->images */
    struct as_callpath *path, *at_fork;
    bool signal_arrived;
    bool moved;             /* the stack pointer came from elsewhere since the last call or return */
    uint64_t pointer, slot; /* the stack pointer since then; where the link register was loaded from. 0: unknown */
    uint64_t interrupted;
};

struct as_call_tracker {
    AS_VEC(struct image_calls) images;
    AS_VEC(struct thread_calls) threads; /* by number - 1 */
    AS_VEC(struct extent) extents;       /* by block index */
    struct as_stacks stacks;
    struct as_stack_switches switches;
};

static const uint32_t fork_numbers[AS_ARCH_COUNT][4] = {
    [AS_ARCH_X86_64] = {56, 57, 58, 435},
    [AS_ARCH_RISCV64] = {220, 435, 435, 435},
};

struct as_call_tracker *as_call_tracker_new(void)
{
    return as_alloc(sizeof(struct as_call_tracker));
}

static void free_thread(struct thread_calls *thread)
{
    as_callpath_free(thread->path);
    as_callpath_free(thread->at_fork);
    *thread = (struct thread_calls){0};
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

/* The entry of the function at an address, for the shadow stack. */
static uint64_t function_of(void *context, uint64_t address)
{
    const struct as_image *image = context;
    struct as_location location;
    as_space_find(image->space, address, &location);
    return location.function_start ? location.function_start : address;
}

static size_t find_image(struct as_call_tracker *tracker, const struct as_image *image)
{
    for (size_t i = tracker->images.len; i-- > 0;)
        if (tracker->images.data[i].image == image)
            return i;
    struct image_calls calls = {.image = image, .tree = as_call_tree_new()};
    as_call_tree_set_resolver(calls.tree, function_of, (void *)image);
    *as_vec_push(&tracker->images) = calls;
    return tracker->images.len - 1;
}

static struct thread_calls *calls_of(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    return &tracker->threads.data[thread->number - 1];
}

void as_call_tracker_thread_start(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    while (tracker->threads.len < thread->number)
        *as_vec_push(&tracker->threads) = (struct thread_calls){0};
    struct thread_calls *calls = calls_of(tracker, thread);
    const struct thread_calls *parent = thread->parent ? &tracker->threads.data[thread->parent - 1] : NULL;
    free_thread(calls);
    calls->image = find_image(tracker, thread->image);
    if (parent && parent->at_fork)
        calls->path = as_callpath_fork(parent->at_fork);
}

void as_call_tracker_thread_end(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    free_thread(calls_of(tracker, thread));
}

static const struct extent *extent_of(struct as_call_tracker *tracker, const struct as_image *image,
                                      const struct as_block *block)
{
    while (tracker->extents.len <= block->index)
        *as_vec_push(&tracker->extents) = (struct extent){0};
    struct extent *extent = &tracker->extents.data[block->index];
    if (!extent->known) {
        struct as_location location;
        as_space_find(image->space, block->insns[block->n - 1]->address, &location);
        *extent = (struct extent){.start = location.function_start, .size = location.function_size, .known = true};
    }
    return extent;
}

uint32_t as_call_tracker_begin(struct as_call_tracker *tracker, const struct as_thread *thread,
                               const struct as_block_exec *exec)
{
    struct thread_calls *calls = calls_of(tracker, thread);
    if (__builtin_expect(!calls->path || calls->signal_arrived, 0)) {
        uint64_t address = exec->block->insns[exec->first]->address;
        if (!calls->path)
            calls->path =
                as_callpath_new(tracker->images.data[calls->image].tree, function_of((void *)thread->image, address));
        if (calls->signal_arrived)
            as_callpath_signal(calls->path, address, calls->interrupted);
        calls->signal_arrived = false;
    }
    return as_callpath_node(calls->path);
}

/* ---- stacks ---- */

static struct as_stack_owner owner_of(const struct as_thread *thread, const struct thread_calls *calls)
{
    return (struct as_stack_owner){.process = thread->process, .image = calls->image};
}

/* The address of the last access of an instruction of the block; 0: not recorded. */
static uint64_t accessed_by(const struct as_block_exec *exec, int16_t index)
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

static void note_stack(struct thread_calls *calls, const struct as_block_exec *exec)
{
    int16_t at = exec->block->stack_at;
    if (at < 0 && !calls->moved)
        return;
    uint64_t pointer = pointer_in(exec, (uint32_t)(at + 1));
    calls->pointer = at >= 0 || pointer ? pointer : calls->pointer;
    calls->moved = true;
}

/* RISC-V: where a function keeps its return address. */
static void note_link(struct thread_calls *calls, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    if (block->link_at < 0 || block->insns[0]->arch != AS_ARCH_RISCV64)
        return;
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

static void forget_stack(struct thread_calls *calls)
{
    calls->moved = false;
    calls->pointer = calls->slot = 0;
}

/* The thread goes on with another stack. */
static void go_to(struct as_call_tracker *tracker, const struct as_thread *thread, struct thread_calls *calls,
                  struct as_callpath *path)
{
    as_stacks_put(&tracker->stacks, owner_of(thread, calls), calls->path);
    calls->path = path;
    tracker->switches.count++;
}

/* … that nothing is known of. */
static void begin_stack(struct as_call_tracker *tracker, const struct as_thread *thread, struct thread_calls *calls,
                        uint64_t next)
{
    uint64_t entry = function_of((void *)thread->image, next);
    tracker->switches.begun++;
    tracker->switches.unknown += entry != next;
    go_to(tracker, thread, calls, as_callpath_new(tracker->images.data[calls->image].tree, entry));
}

static void follow_return(struct as_call_tracker *tracker, const struct as_thread *thread,
                          const struct as_block_exec *exec)
{
    struct thread_calls *calls = calls_of(tracker, thread);
    uint64_t slot = thread->image->arch == AS_ARCH_X86_64 ? accessed_by(exec, exec->block->link_at) : calls->slot;
    bool moved = calls->moved;
    struct as_callpath *other;
    forget_stack(calls);
    if (slot && as_callpath_return_through(calls->path, exec->next, slot, false))
        return;
    other = slot ? as_stacks_take_return(&tracker->stacks, owner_of(thread, calls), exec->next, slot) : NULL;
    if (other)
        go_to(tracker, thread, calls, other);
    else if (moved && slot && as_callpath_top_slot(calls->path))
        begin_stack(tracker, thread, calls, exec->next);
    else
        as_callpath_return(calls->path, exec->next);
}

/* A jump after the stack pointer came from elsewhere. False: on the same stack, as far as can be known. */
static bool jump_to_stack(struct as_call_tracker *tracker, const struct as_thread *thread, struct thread_calls *calls,
                          uint64_t next)
{
    enum { FRAME = 4096 }; /* what a function moves its stack pointer by and jumps on (the lazy resolver) */
    struct as_stack_owner owner = owner_of(thread, calls);
    uint64_t entry = function_of((void *)thread->image, next), top = as_callpath_top_slot(calls->path);
    struct as_callpath *other = NULL;
    if (!top || (calls->pointer && top - calls->pointer < FRAME))
        return false;
    if (calls->slot)
        other = as_stacks_take_return(&tracker->stacks, owner, next, calls->slot);
    if (!other && entry != next && (other = as_stacks_take_near(&tracker->stacks, owner, next, calls->pointer)))
        as_callpath_return(other, next);
    if (!other && entry != next && as_callpath_slot_of(calls->path, entry))
        return false; /* longjmp */
    if (!other && entry != next && (other = as_stacks_take_function(&tracker->stacks, owner, entry)))
        as_callpath_land(other, entry);
    if (other)
        go_to(tracker, thread, calls, other);
    else
        begin_stack(tracker, thread, calls, next);
    return true;
}

static bool follow_jump(struct as_call_tracker *tracker, const struct as_thread *thread, struct thread_calls *calls,
                        const struct as_block_exec *exec)
{
    const struct extent *extent = extent_of(tracker, thread->image, exec->block);
    if (extent->size == 0 || exec->next - extent->start < extent->size)
        return false;
    bool switched = calls->moved && jump_to_stack(tracker, thread, calls, exec->next);
    forget_stack(calls);
    if (switched)
        return true;
    uint64_t entry = function_of((void *)thread->image, exec->next);
    if (entry == exec->next)
        as_callpath_tail(calls->path, entry);
    else
        as_callpath_land(calls->path, entry);
    return true;
}

static void follow_call(struct as_call_tracker *tracker, const struct as_thread *thread,
                        const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    struct thread_calls *calls = calls_of(tracker, thread);
    forget_stack(calls);
    as_callpath_call(calls->path, block->insns[block->n - 1]->address, block->end, exec->next);
    if (thread->image->arch == AS_ARCH_X86_64 && exec->next != block->end)
        as_callpath_set_slot(calls->path, accessed_by(exec, block->link_at));
}

bool as_call_tracker_end(struct as_call_tracker *tracker, const struct as_thread *thread,
                         const struct as_block_exec *exec)
{
    struct thread_calls *calls = calls_of(tracker, thread);
    if (!calls->path)
        return false;
    note_stack(calls, exec);
    note_link(calls, exec);
    if (!exec->taken || !exec->next)
        return false;
    switch ((enum as_class)exec->block->last_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_CALL_INDIRECT:
        follow_call(tracker, thread, exec);
        return true;
    case AS_CLASS_RETURN:
        follow_return(tracker, thread, exec);
        return true;
    default:
        return follow_jump(tracker, thread, calls, exec);
    }
}

void as_call_tracker_syscall(struct as_call_tracker *tracker, const struct as_thread *thread, uint32_t number)
{
    struct thread_calls *calls = calls_of(tracker, thread);
    const uint32_t *forks = fork_numbers[thread->image->arch];
    if (!calls->path || (number != forks[0] && number != forks[1] && number != forks[2] && number != forks[3]))
        return;
    as_callpath_free(calls->at_fork);
    calls->at_fork = as_callpath_fork(calls->path);
}

void as_call_tracker_signal(struct as_call_tracker *tracker, const struct as_thread *thread, uint64_t interrupted)
{
    struct thread_calls *calls = calls_of(tracker, thread);
    calls->signal_arrived = true;
    calls->interrupted = interrupted;
}

void as_call_tracker_signal_return(struct as_call_tracker *tracker, const struct as_thread *thread)
{
    if (calls_of(tracker, thread)->path)
        as_callpath_sigreturn(calls_of(tracker, thread)->path);
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
    return as_call_tree_child(tracker->images.data[index].tree, node->parent, node->function, node->call_site,
                              node->signal);
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
