/* See tracker.h. Calls and returns go straight to the shadow stack. A jump or taken branch matters only if it leaves
 * its block's function; the extents of functions come from the symbols and are cached for each block. */
#include "count/tracker.h"

#include "base/vec.h"

struct extent {
    uint64_t start, size; /* size 0: not asked yet, or unknown */
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
    uint64_t interrupted;
};

struct as_call_tracker {
    AS_VEC(struct image_calls) images;
    AS_VEC(struct thread_calls) threads; /* by number - 1 */
    AS_VEC(struct extent) extents;       /* by block index */
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

static bool follow_jump(struct as_call_tracker *tracker, const struct as_thread *thread, struct as_callpath *path,
                        const struct as_block_exec *exec)
{
    const struct extent *extent = extent_of(tracker, thread->image, exec->block);
    if (extent->size == 0 || exec->next - extent->start < extent->size)
        return false;
    uint64_t entry = function_of((void *)thread->image, exec->next);
    if (entry == exec->next)
        as_callpath_tail(path, entry);
    else
        as_callpath_land(path, entry);
    return true;
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

bool as_call_tracker_end(struct as_call_tracker *tracker, const struct as_thread *thread,
                         const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    struct as_callpath *path = calls_of(tracker, thread)->path;
    if (!exec->taken || !exec->next || !path)
        return false;
    switch ((enum as_class)block->last_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_CALL_INDIRECT:
        as_callpath_call(path, block->insns[block->n - 1]->address, block->end, exec->next);
        return true;
    case AS_CLASS_RETURN:
        as_callpath_return(path, exec->next);
        return true;
    default:
        return follow_jump(tracker, thread, path, exec);
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
}

size_t as_call_tracker_count_images(const struct as_call_tracker *tracker)
{
    return tracker->images.len;
}

const struct as_image *as_call_tracker_image(const struct as_call_tracker *tracker, size_t index)
{
    return tracker->images.data[index].image;
}

const struct as_call_tree *as_call_tracker_tree(const struct as_call_tracker *tracker, size_t index)
{
    return tracker->images.data[index].tree;
}

size_t as_call_tracker_image_of(const struct as_call_tracker *tracker, const struct as_thread *thread)
{
    return tracker->threads.data[thread->number - 1].image;
}
