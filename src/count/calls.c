/* See calls.h. Calls and returns go straight to the shadow stack. A jump or taken branch is looked at only if it leaves
 * the function that its block is in; functions' extents come from the symbols and are remembered for each block. */
#include "count/calls.h"

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>

typedef AS_VEC(struct as_call_count) call_counts;

struct extent {
    uint64_t start, size; /* size 0: not asked yet, or unknown */
    bool known;
};

struct image_calls {
    const struct as_image *image;
    struct as_call_tree *tree;
    AS_VEC(uint64_t) self; /* by node */
};

struct thread_calls {
    struct image_calls *image;
    struct as_callpath *path, *at_fork;
    bool signal_arrived;
    uint64_t interrupted;
};

struct as_call_counter {
    AS_VEC(struct image_calls *) images;
    AS_VEC(struct thread_calls) threads; /* by number - 1 */
    AS_VEC(struct extent) extents;       /* by block index */
};

static const uint32_t fork_numbers[AS_ARCH_COUNT][4] = {
    [AS_ARCH_X86_64] = {56, 57, 58, 435},
    [AS_ARCH_RISCV64] = {220, 435, 435, 435},
};

struct as_call_counter *as_call_counter_new(void)
{
    return as_alloc(sizeof(struct as_call_counter));
}

static void free_thread(struct thread_calls *thread)
{
    as_callpath_free(thread->path);
    as_callpath_free(thread->at_fork);
    *thread = (struct thread_calls){0};
}

void as_call_counter_free(struct as_call_counter *counter)
{
    if (!counter)
        return;
    for (size_t i = 0; i < counter->threads.len; i++)
        free_thread(&counter->threads.data[i]);
    for (size_t i = 0; i < counter->images.len; i++) {
        as_call_tree_free(counter->images.data[i]->tree);
        as_vec_free(&counter->images.data[i]->self);
        free(counter->images.data[i]);
    }
    as_vec_free(&counter->images);
    as_vec_free(&counter->threads);
    as_vec_free(&counter->extents);
    free(counter);
}

/* The entry of the function at an address, for the shadow stack. */
static uint64_t function_of(void *context, uint64_t address)
{
    const struct as_image *image = context;
    struct as_location location;
    as_space_find(image->space, address, &location);
    return location.function_start ? location.function_start : address;
}

static struct image_calls *image_of(struct as_call_counter *counter, const struct as_image *image)
{
    for (size_t i = counter->images.len; i-- > 0;)
        if (counter->images.data[i]->image == image)
            return counter->images.data[i];
    struct image_calls *calls = as_alloc(sizeof *calls);
    calls->image = image;
    calls->tree = as_call_tree_new();
    as_call_tree_set_resolver(calls->tree, function_of, (void *)image);
    *as_vec_push(&counter->images) = calls;
    return calls;
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_call_counter *counter = context;
    while (counter->threads.len < thread->number)
        *as_vec_push(&counter->threads) = (struct thread_calls){0};
    struct thread_calls *calls = &counter->threads.data[thread->number - 1];
    const struct thread_calls *parent = thread->parent ? &counter->threads.data[thread->parent - 1] : NULL;
    free_thread(calls);
    calls->image = image_of(counter, thread->image);
    if (parent && parent->at_fork)
        calls->path = as_callpath_fork(parent->at_fork);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_call_counter *counter = context;
    free_thread(&counter->threads.data[thread->number - 1]);
}

static const struct extent *extent_of(struct as_call_counter *counter, const struct as_image *image,
                                      const struct as_block *block)
{
    while (counter->extents.len <= block->index)
        *as_vec_push(&counter->extents) = (struct extent){0};
    struct extent *extent = &counter->extents.data[block->index];
    if (!extent->known) {
        struct as_location location;
        as_space_find(image->space, block->insns[block->n - 1]->address, &location);
        *extent = (struct extent){.start = location.function_start, .size = location.function_size, .known = true};
    }
    return extent;
}

static void on_jump(struct as_call_counter *counter, struct thread_calls *calls, const struct as_block_exec *exec)
{
    const struct extent *extent = extent_of(counter, calls->image->image, exec->block);
    if (extent->size == 0 || exec->next - extent->start < extent->size)
        return;
    uint64_t entry = function_of((void *)calls->image->image, exec->next);
    if (entry == exec->next)
        as_callpath_tail(calls->path, entry);
    else
        as_callpath_land(calls->path, entry);
}

static void begin(struct thread_calls *calls, const struct as_block_exec *exec)
{
    uint64_t address = exec->block->insns[exec->first]->address;
    if (!calls->path)
        calls->path = as_callpath_new(calls->image->tree, function_of((void *)calls->image->image, address));
    if (calls->signal_arrived)
        as_callpath_signal(calls->path, address, calls->interrupted);
    calls->signal_arrived = false;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_call_counter *counter = context;
    struct thread_calls *calls = &counter->threads.data[thread->number - 1];
    const struct as_block *block = exec->block;
    if (!calls->path || calls->signal_arrived)
        begin(calls, exec);
    uint32_t node = as_callpath_node(calls->path);
    while (calls->image->self.len <= node)
        *as_vec_push(&calls->image->self) = 0;
    calls->image->self.data[node] += as_block_exec_count(exec);
    if (!exec->taken || !exec->next)
        return;
    switch ((enum as_class)block->last_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_CALL_INDIRECT:
        as_callpath_call(calls->path, block->insns[block->n - 1]->address, block->end, exec->next);
        break;
    case AS_CLASS_RETURN:
        as_callpath_return(calls->path, exec->next);
        break;
    default:
        on_jump(counter, calls, exec);
    }
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_call_counter *counter = context;
    struct thread_calls *calls = &counter->threads.data[thread->number - 1];
    const uint32_t *forks = fork_numbers[thread->image->arch];
    if (!calls->path || (number != forks[0] && number != forks[1] && number != forks[2] && number != forks[3]))
        return;
    as_callpath_free(calls->at_fork);
    calls->at_fork = as_callpath_fork(calls->path);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    struct as_call_counter *counter = context;
    struct thread_calls *calls = &counter->threads.data[thread->number - 1];
    calls->signal_arrived = true;
    calls->interrupted = interrupted;
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    struct as_call_counter *counter = context;
    struct thread_calls *calls = &counter->threads.data[thread->number - 1];
    if (calls->path)
        as_callpath_sigreturn(calls->path);
}

const struct as_sink as_call_counter_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .signal = on_signal,
    .signal_return = on_signal_return,
};

/* Adds an image's tree to the list, with the call sites of one caller and callee taken together. */
static void list_image(const struct image_calls *calls, call_counts *list)
{
    struct as_strings *merged = as_strings_new(); /* "parent function kind" to an index, counted from `first` */
    size_t n = as_call_tree_count(calls->tree), first = list->len;
    uint32_t *place = as_alloc_array(n, sizeof *place);
    for (size_t i = 0; i < n; i++) {
        const struct as_call_node *node = as_call_tree_node(calls->tree, (uint32_t)i);
        char key[64];
        uint32_t parent = i ? place[node->parent] : 0;
        snprintf(key, sizeof key, "%u %" PRIx64 " %d %d", parent, node->function, node->signal, i == 0);
        place[i] = as_strings_intern(merged, key);
        if (first + place[i] == list->len)
            *as_vec_push(list) = (struct as_call_count){.image = calls->image->number,
                                                        .node = place[i],
                                                        .parent = parent,
                                                        .function = node->function,
                                                        .signal = node->signal};
        list->data[first + place[i]].self += i < calls->self.len ? calls->self.data[i] : 0;
    }
    for (size_t i = first; i < list->len; i++)
        list->data[i].total = list->data[i].self;
    for (size_t i = list->len; i-- > first + 1;)
        list->data[first + list->data[i].parent].total += list->data[i].total;
    as_strings_free(merged);
    free(place);
}

struct as_call_count *as_call_counter_list(const struct as_call_counter *counter, size_t *n)
{
    call_counts list = {0};
    for (size_t i = 0; i < counter->images.len; i++)
        list_image(counter->images.data[i], &list);
    *n = list.len;
    return list.data;
}

const char *as_call_count_name(const struct as_engine *engine, const struct as_call_count *count)
{
    static struct as_str name;
    struct as_location location;
    as_str_clear(&name);
    if (count->function == 0)
        return "(all)";
    const struct as_image *image = as_engine_image(engine, count->image);
    as_space_find(image->space, count->function, &location);
    as_str_add(&name, count->signal ? "(signal) " : "");
    as_str_add(&name, location.function ? location.function : as_space_name(image->space, count->function));
    return as_str_get(&name);
}
