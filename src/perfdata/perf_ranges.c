/* A treap by start address with reference counts. A function that takes a node owns one reference to it and returns
 * one. Priorities are random, so no file can force a deep tree. */
#include "perfdata/perf_ranges.h"

#include "base/alloc.h"
#include "base/random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

struct as_perf_node {
    struct as_perf_range range;
    struct as_perf_node *left, *right;
    uint64_t priority, references;
};

static uint64_t next_priority(void)
{
    static _Thread_local uint64_t state;
    if (state == 0 && getrandom(&state, sizeof state, GRND_NONBLOCK) != sizeof state)
        state = (uintptr_t)&state;
    return as_random(&state);
}

static struct as_perf_node *refer(struct as_perf_node *node)
{
    if (node != NULL)
        node->references++;
    return node;
}

static void release(struct as_perf_node *node)
{
    while (node != NULL && --node->references == 0) {
        struct as_perf_node *right = node->right;
        release(node->left); /* recursion is at most as deep as the tree: logarithmic */
        free(node);
        node = right;
    }
}

/* Returns a node that may be changed: the node itself, or a copy if others refer to it, too. */
static struct as_perf_node *own(struct as_perf_node *node)
{
    if (node->references == 1)
        return node;
    struct as_perf_node *copy = as_alloc(sizeof *copy);
    *copy = *node;
    copy->references = 1;
    refer(copy->left);
    refer(copy->right);
    release(node);
    return copy;
}

static struct as_perf_node *leaf(const struct as_perf_range *range)
{
    struct as_perf_node *node = as_alloc(sizeof *node);
    node->range = *range;
    node->references = 1;
    node->priority = next_priority();
    return node;
}

static struct as_perf_node *join(struct as_perf_node *left, struct as_perf_node *right)
{
    if (left == NULL || right == NULL)
        return left != NULL ? left : right;
    if (left->priority > right->priority) {
        left = own(left);
        left->right = join(left->right, right);
        return left;
    }
    right = own(right);
    right->left = join(left, right->left);
    return right;
}

/* Splits at an address; a range that lies across it is cut in two. */
static void split(struct as_perf_node *node, uint64_t at, struct as_perf_node **left, struct as_perf_node **right)
{
    if (node == NULL) {
        *left = *right = NULL;
        return;
    }
    node = own(node);
    if (node->range.start >= at) {
        struct as_perf_node *inner;
        split(node->left, at, left, &inner);
        node->left = inner;
        *right = node;
        return;
    }
    struct as_perf_node *inner;
    split(node->right, at, &inner, right);
    node->right = inner;
    *left = node;
    if (node->range.end > at) {
        struct as_perf_range rest = node->range;
        rest.offset += at - rest.start;
        rest.start = at;
        node->range.end = at;
        *right = join(leaf(&rest), *right);
    }
}

void as_perf_ranges_put(struct as_perf_ranges *ranges, const struct as_perf_range *range)
{
    struct as_perf_node *left, *right;
    if (range->start >= range->end)
        return;
    as_perf_ranges_remove(ranges, range->start, range->end);
    split(ranges->root, range->start, &left, &right);
    ranges->root = join(join(left, leaf(range)), right);
}

void as_perf_ranges_remove(struct as_perf_ranges *ranges, uint64_t start, uint64_t end)
{
    struct as_perf_node *left, *middle, *right;
    if (start >= end)
        return;
    split(ranges->root, start, &left, &middle);
    split(middle, end, &middle, &right);
    release(middle);
    ranges->root = join(left, right);
}

struct as_perf_ranges as_perf_ranges_copy(const struct as_perf_ranges *ranges)
{
    return (struct as_perf_ranges){refer(ranges->root)};
}

const struct as_perf_range *as_perf_ranges_find(const struct as_perf_ranges *ranges, uint64_t address)
{
    for (const struct as_perf_node *node = ranges->root; node != NULL;) {
        if (address < node->range.start)
            node = node->left;
        else if (address < node->range.end)
            return &node->range;
        else
            node = node->right;
    }
    return NULL;
}

const struct as_perf_range *as_perf_ranges_before(const struct as_perf_ranges *ranges, uint64_t address)
{
    const struct as_perf_range *best = NULL;
    for (const struct as_perf_node *node = ranges->root; node != NULL;) {
        bool below = node->range.start <= address;
        best = below ? &node->range : best;
        node = below ? node->right : node->left;
    }
    return best;
}

void as_perf_ranges_free(struct as_perf_ranges *ranges)
{
    release(ranges->root);
    ranges->root = NULL;
}
