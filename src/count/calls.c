/* See calls.h. The tracker keeps the paths; this adds up instructions by node. */
#include "count/calls.h"

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "count/tracker.h"

#include <inttypes.h>
#include <stdio.h>

typedef AS_VEC(struct as_call_count) call_counts;
typedef AS_VEC(uint64_t) node_counts;

struct as_call_counter {
    struct as_call_tracker *tracker;
    AS_VEC(node_counts) self; /* by image of the tracker, then by node */
};

struct as_call_counter *as_call_counter_new(void)
{
    struct as_call_counter *counter = as_alloc(sizeof *counter);
    counter->tracker = as_call_tracker_new();
    return counter;
}

void as_call_counter_free(struct as_call_counter *counter)
{
    if (!counter)
        return;
    for (size_t i = 0; i < counter->self.len; i++)
        as_vec_free(&counter->self.data[i]);
    as_vec_free(&counter->self);
    as_call_tracker_free(counter->tracker);
    free(counter);
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    as_call_tracker_thread_start(((struct as_call_counter *)context)->tracker, thread);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    as_call_tracker_thread_end(((struct as_call_counter *)context)->tracker, thread);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_call_counter *counter = context;
    uint32_t node = as_call_tracker_begin(counter->tracker, thread, exec);
    size_t image = as_call_tracker_image_of(counter->tracker, thread);
    while (counter->self.len <= image)
        *as_vec_push(&counter->self) = (node_counts){0};
    node_counts *self = &counter->self.data[image];
    while (self->len <= node)
        *as_vec_push(self) = 0;
    self->data[node] += as_block_exec_count(exec);
    as_call_tracker_end(counter->tracker, thread, exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    as_call_tracker_syscall(((struct as_call_counter *)context)->tracker, thread, number);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    as_call_tracker_signal(((struct as_call_counter *)context)->tracker, thread, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    as_call_tracker_signal_return(((struct as_call_counter *)context)->tracker, thread);
}

const struct as_sink as_call_counter_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .signal = on_signal,
    .signal_return = on_signal_return,
};

/* Adds an image's tree to the list, combining the call sites of one caller and callee. */
static void list_image(const struct as_call_counter *counter, size_t image, call_counts *list)
{
    struct as_strings *merged = as_strings_new(); /* "parent function kind" to an index, counted from `first` */
    const struct as_call_tree *tree = as_call_tracker_tree(counter->tracker, image);
    const node_counts *self = image < counter->self.len ? &counter->self.data[image] : NULL;
    size_t n = as_call_tree_count(tree), first = list->len;
    uint32_t *place = as_alloc_array(n, sizeof *place);
    for (size_t i = 0; i < n; i++) {
        const struct as_call_node *node = as_call_tree_node(tree, (uint32_t)i);
        char key[64];
        uint32_t parent = i ? place[node->parent] : 0;
        snprintf(key, sizeof key, "%u %" PRIx64 " %d %d", parent, node->function, node->signal, i == 0);
        place[i] = as_strings_intern(merged, key);
        if (first + place[i] == list->len)
            *as_vec_push(list) = (struct as_call_count){.image = as_call_tracker_image(counter->tracker, image)->number,
                                                        .node = place[i],
                                                        .parent = parent,
                                                        .function = node->function,
                                                        .signal = node->signal};
        list->data[first + place[i]].self += self && i < self->len ? self->data[i] : 0;
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
    for (size_t i = 0; i < as_call_tracker_count_images(counter->tracker); i++)
        list_image(counter, i, &list);
    *n = list.len;
    return list.data;
}

uint64_t as_call_counter_folded(const struct as_call_counter *counter)
{
    uint64_t folded = 0;
    for (size_t i = 0; i < as_call_tracker_count_images(counter->tracker); i++)
        folded += as_call_tree_folded(as_call_tracker_tree(counter->tracker, i));
    return folded;
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
