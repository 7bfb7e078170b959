/* See whatif_heap.h. */
#include "whatif/whatif_heap.h"

#include "model/guest_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, GRANULE_SHIFT = 4, MOST_BLOCKS = 1 << 20, MOST_BYTES = 1 << 26 };
#define ELSEWHERE                                                                                                      \
    UINT64_C(0x680000000000) /* nothing of a program in QEMU lies there, and no variable (whatif_apart.c) */
#define NO_RULE UINT64_MAX
static const char prefix[] = "heap:";

bool as_heap_is_rule(const char *text)
{
    return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

bool as_heap_parse(const char *text, struct as_heap_rule *rule, struct as_error *err)
{
    const char *name = text + sizeof prefix - 1, *slash = strrchr(name, '/');
    char *end = NULL;
    errno = 0;
    rule->part = slash && slash[1] >= '0' && slash[1] <= '9' ? strtoull(slash + 1, &end, 10) : 0;
    size_t length = slash ? (size_t)(slash - name) : strlen(name);
    if (!length || (slash && (!rule->part || *end || errno || rule->part > MOST_BYTES)))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "'%s' is not heap:FUNCTION or heap:FUNCTION/BYTES, with 1 to %d bytes", text,
                                   MOST_BYTES);
    rule->function = as_strndup(name, length);
    return true;
}

void as_heap_add_rule(struct as_heap *heap, const struct as_heap_rule *rule)
{
    *as_vec_push(&heap->rules) = rule;
    *as_vec_push(&heap->found) = 0;
}

/* ---- what the program allocates ---- */

/* The rule for a return address, as in as_heap.callers. */
static uint64_t rule_of(struct as_heap *heap, struct as_space *space, uint64_t frame)
{
    uint64_t *known = as_map_put(&heap->callers, frame);
    if (*known)
        return *known;
    struct as_location location = {0};
    as_space_find(space, frame - 1, &location);
    *known = NO_RULE;
    for (size_t i = heap->rules.len; i-- > 0 && location.function;)
        if (strcmp(location.function, heap->rules.data[i]->function) == 0)
            *known = i + 1;
    return *known;
}

static uint64_t lines_of(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static void add_block(struct as_heap *heap, size_t rule, uint64_t start, uint64_t size)
{
    uint64_t part = heap->rules.data[rule]->part, parts = part ? (size + part - 1) / part : 1;
    for (size_t i = 0; i < heap->rules.len; i++) /* of two rules for one function the first holds */
        heap->found.data[i] += strcmp(heap->rules.data[i]->function, heap->rules.data[rule]->function) == 0;
    if (heap->blocks.len >= MOST_BLOCKS || size > MOST_BYTES)
        return;
    *as_vec_push(&heap->blocks) =
        (struct as_heap_block){.start = start, .size = size, .part = part, .to = ELSEWHERE + heap->used};
    heap->used += parts * lines_of(part ? part : size);
    heap->low = heap->blocks.len == 1 || start < heap->low ? start : heap->low;
    heap->high = start + size > heap->high ? start + size : heap->high;
    for (uint64_t at = start >> GRANULE_SHIFT; at <= (start + size - 1) >> GRANULE_SHIFT; at++)
        *as_map_put(&heap->granules, at) = heap->blocks.len;
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_heap *heap = context;
    if (number != AS_GUEST_BLOCK_CALL || thread->process != 1 || !thread->image || !args[2])
        return;
    for (int i = 0; i < AS_GUEST_FRAMES && args[3 + i]; i++) {
        uint64_t rule = rule_of(heap, thread->image->space, args[3 + i]);
        if (rule == NO_RULE)
            continue;
        add_block(heap, (size_t)rule - 1, args[1], args[2]);
        return;
    }
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
}

const struct as_sink as_heap_sink = {.syscall = on_syscall, .syscall_return = on_syscall_return};

/* ---- where it lies instead ---- */

uint64_t as_heap_move(const struct as_heap *heap, uint64_t address)
{
    if (address < heap->low || address >= heap->high)
        return address;
    const uint64_t *place = as_map_get(&heap->granules, address >> GRANULE_SHIFT);
    const struct as_heap_block *block = place ? &heap->blocks.data[*place - 1] : NULL;
    if (!block || address - block->start >= block->size)
        return address;
    uint64_t offset = address - block->start;
    return block->part ? block->to + offset / block->part * lines_of(block->part) + offset % block->part
                       : block->to + offset;
}

void as_heap_free(struct as_heap *heap)
{
    as_vec_free(&heap->rules);
    as_vec_free(&heap->found);
    as_vec_free(&heap->blocks);
    as_map_free(&heap->callers);
    as_map_free(&heap->granules);
}
