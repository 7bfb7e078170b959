/* See lru_stack.h. */
#include "reuse/lru_stack.h"

void as_lru_stack_init(struct as_lru_stack *stack)
{
    memset(stack, 0, sizeof *stack);
    as_granules_init(&stack->uses, sizeof(struct as_use));
    as_slot_order_init(&stack->order);
}

void as_lru_stack_free(struct as_lru_stack *stack)
{
    as_granules_free(&stack->uses);
    as_slot_order_free(&stack->order);
    as_vec_free(&stack->holes);
}

uint64_t as_lru_stack_bytes(const struct as_lru_stack *stack)
{
    return as_granules_bytes(&stack->uses) + as_slot_order_bytes(&stack->order) +
           stack->holes.cap * sizeof *stack->holes.data;
}

/* ---- holes ---- */

static void add_hole(struct as_lru_stack *stack, uint32_t slot)
{
    size_t at = stack->holes.len;
    *as_vec_push(&stack->holes) = slot;
    uint32_t *heap = stack->holes.data;
    for (; at && heap[(at - 1) / 2] < slot; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = slot;
}

static uint32_t take_top_hole(struct as_lru_stack *stack)
{
    uint32_t *heap = stack->holes.data, top = heap[0], moved = heap[--stack->holes.len];
    size_t n = stack->holes.len, at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1] > heap[child];
        if (heap[child] <= moved)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
    return top;
}

/* ---- new numbers when the slots run out ---- */

static void renumber(void *context, uint64_t first, void *records, size_t n)
{
    struct as_use *uses = records;
    for (size_t i = 0; i < n; i++)
        as_slot_order_prefetch(context, uses[i].slot);
    for (size_t i = 0; i < n; i++)
        if (uses[i].slot)
            uses[i].slot = as_slot_order_renumber(context, uses[i].slot);
}

void as_lru_stack_squeeze(struct as_lru_stack *stack)
{
    if (as_slot_order_extend(&stack->order))
        return;
    as_granules_each(&stack->uses, renumber, &stack->order);
    for (size_t i = 0; i < stack->holes.len; i++) /* the order stays, so it stays a heap */
        stack->holes.data[i] = as_slot_order_renumber(&stack->order, stack->holes.data[i]);
    as_slot_order_squeeze(&stack->order);
}

/* ---- touches ---- */

/* The slot that becomes free when a granule at `slot` (0: nowhere) moves to the top. */
static uint32_t slot_given_up(struct as_lru_stack *stack, uint32_t slot)
{
    if (!stack->holes.len || stack->holes.data[0] < slot)
        return slot;
    uint32_t hole = take_top_hole(stack);
    if (slot)
        add_hole(stack, slot); /* caches that held the granule keep their empty way */
    return hole;
}

struct as_slot_moved as_lru_stack_place(struct as_lru_stack *stack, uint32_t slot, bool reuse)
{
    struct as_slot_moved moved = {.slot = slot};
    if (reuse)
        moved.behind = as_slot_order_behind(&stack->order, slot);
    if (!reuse || moved.behind)
        moved.slot = as_slot_order_move(&stack->order, slot_given_up(stack, slot));
    return moved;
}

bool as_lru_stack_invalidate(struct as_lru_stack *stack, uint64_t key)
{
    struct as_use *use = as_granules_get(&stack->uses, key);
    if (!use || !use->slot || use->invalid)
        return false;
    use->invalid = 1;
    if (stack->distinct)
        return true;
    add_hole(stack, use->slot);
    use->slot = 0;
    return true;
}

static void copy_leaf(void *context, uint64_t first, void *records, size_t n)
{
    struct as_lru_stack *to = context;
    const struct as_use *uses = records;
    for (size_t i = 0; i < n; i++)
        if (uses[i].slot || uses[i].invalid)
            *as_lru_stack_use(to, first + i) = uses[i];
}

void as_lru_stack_copy(struct as_lru_stack *to, struct as_lru_stack *from)
{
    as_lru_stack_init(to);
    as_granules_each(&from->uses, copy_leaf, to);
    as_slot_order_free(&to->order);
    as_slot_order_copy(&to->order, &from->order);
    for (size_t i = 0; i < from->holes.len; i++)
        *as_vec_push(&to->holes) = from->holes.data[i];
    to->granules = from->granules;
    to->distinct = from->distinct;
}

void as_lru_stack_forget(struct as_lru_stack *stack, struct as_use *use)
{
    as_slot_order_drop(&stack->order, use->slot);
    memset(use, 0, sizeof *use);
    stack->granules--;
}
