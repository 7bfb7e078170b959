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

/* The instructions of each node with those below it. Parents come before their children. */
static uint64_t *node_totals(const struct as_call_tree *tree, const node_counts *self)
{
    size_t n = as_call_tree_count(tree);
    uint64_t *totals = as_alloc_array(n, sizeof *totals);
    for (size_t i = n; i-- > 0;) {
        totals[i] += self && i < self->len ? self->data[i] : 0;
        if (i)
            totals[as_call_tree_node(tree, (uint32_t)i)->parent] += totals[i];
    }
    return totals;
}

/* What nodes that become one have in common; the caller frees. Two pieces of made code at one address are two functions if
 * they have two names. */
static char *node_key(const struct as_engine *engine, const struct as_image *image, const struct as_call_node *node,
                      uint32_t parent, bool root)
{
    struct as_location location = {0};
    if (node->entry)
        as_call_node_locate(engine, image, node, &location);
    return as_format("%u %" PRIx64 " %d %d %s", parent, node->function, node->signal, root,
                     location.function ? location.function : "");
}

/* Adds an image's tree to the list, combining the call sites of one caller and callee. */
static void list_image(const struct as_call_counter *counter, const struct as_engine *engine, size_t index,
                       call_counts *list)
{
    struct as_strings *merged = as_strings_new(); /* node_key to an index, counted from `first` */
    const struct as_image *image = as_call_tracker_image(counter->tracker, index);
    const struct as_call_tree *tree = as_call_tracker_tree(counter->tracker, index);
    const node_counts *self = index < counter->self.len ? &counter->self.data[index] : NULL;
    size_t n = as_call_tree_count(tree), first = list->len;
    uint32_t *place = as_alloc_array(n, sizeof *place);
    uint64_t *totals = node_totals(tree, self);
    for (size_t i = 0; i < n; i++) {
        const struct as_call_node *node = as_call_tree_node(tree, (uint32_t)i);
        if (i && !totals[i])
            continue;
        uint32_t parent = i ? place[node->parent] : 0;
        char *key = node_key(engine, image, node, parent, i == 0);
        place[i] = as_strings_intern(merged, key);
        free(key);
        if (first + place[i] == list->len)
            *as_vec_push(list) = (struct as_call_count){.image = image->number,
                                                        .node = place[i],
                                                        .parent = parent,
                                                        .function = node->function,
                                                        .entry = node->entry,
                                                        .signal = node->signal};
        struct as_call_count *count = &list->data[first + place[i]];
        count->self += self && i < self->len ? self->data[i] : 0;
        count->total += totals[i];
    }
    as_strings_free(merged);
    free(totals);
    free(place);
}

struct as_call_count *as_call_counter_list(const struct as_call_counter *counter, const struct as_engine *engine,
                                           size_t *n)
{
    call_counts list = {0};
    for (size_t i = 0; i < as_call_tracker_count_images(counter->tracker); i++)
        list_image(counter, engine, i, &list);
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
    struct as_call_node node = {.function = count->function, .entry = count->entry};
    as_call_node_locate(engine, image, &node, &location);
    as_str_add(&name, count->signal ? "(signal) " : "");
    as_str_add(&name, location.function ? location.function : as_space_name(image->space, count->function));
    return as_str_get(&name);
}
