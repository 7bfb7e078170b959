/* See slot_order.h. */
#include "reuse/slot_order.h"

#include "reuse/huge.h"
#include "reuse/slot_moves.h"

#include <string.h>

enum {
    SMALLEST = 1 << 16,
    SPARE = 16, /* numbers for each taken slot after a squeeze: new numbers cost a walk over all uses */
    ROOMY = 1 << 24
};
static const uint32_t MOST = UINT32_C(1) << 31;

/* ---- memory ---- */

static size_t lines_of(uint32_t size)
{
    return (((size_t)size >> AS_SLOT_LINE) + AS_SLOT_GROUP_LINES - 1) &
           ~(size_t)(AS_SLOT_GROUP_LINES - 1); /* whole groups */
}

static size_t counts_on(uint32_t size, uint32_t level)
{
    size_t groups = (size_t)size >> (AS_SLOT_LINE + AS_SLOT_GROUP + AS_SLOT_FAN * level);
    return (groups + AS_SLOT_FAN_GROUPS) & ~(size_t)(AS_SLOT_FAN_GROUPS - 1); /* whole groups of FAN, and never none */
}

/* Levels that are new have one group so far, which is the first of its own: no numbers change. */
static void set_size(struct as_slot_order *order, uint32_t size)
{
    order->size = size;
    order->levels = 0;
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        order->levels += ((uint64_t)size - 1) >> (AS_SLOT_LINE + AS_SLOT_GROUP + AS_SLOT_FAN * level) > 0;
}

static void make(struct as_slot_order *order, uint32_t size)
{
    uint32_t room = order->room = size < order->roomy ? size : MOST;
    order->words = as_huge_alloc(room / 8);
    order->lines = as_huge_alloc(lines_of(room) * sizeof *order->lines);
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        order->counts[level] = as_huge_alloc(counts_on(room, level) * sizeof(uint32_t));
    set_size(order, size);
}

static void unmake(struct as_slot_order *order)
{
    as_huge_free(order->words, order->room / 8);
    as_huge_free(order->lines, lines_of(order->room) * sizeof *order->lines);
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        as_huge_free(order->counts[level], counts_on(order->room, level) * sizeof(uint32_t));
}

void as_slot_order_init(struct as_slot_order *order)
{
    *order = (struct as_slot_order){.next = 64, .roomy = ROOMY};
    make(order, SMALLEST);
}

void as_slot_order_copy(struct as_slot_order *to, const struct as_slot_order *from)
{
    *to = (struct as_slot_order){.roomy = from->roomy, .next = from->next, .top = from->top, .taken = from->taken};
    make(to, from->size);
    memcpy(to->words, from->words, from->size / 8);
    memcpy(to->lines, from->lines, lines_of(from->size) * sizeof *from->lines);
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        memcpy(to->counts[level], from->counts[level], counts_on(from->size, level) * sizeof(uint32_t));
}

void as_slot_order_free(struct as_slot_order *order)
{
    unmake(order);
    memset(order, 0, sizeof *order);
}

/* Of the bitmap, as much as slots were taken of. */
uint64_t as_slot_order_bytes(const struct as_slot_order *order)
{
    return order->next / 8 + order->next / 128;
}

/* ---- questions ---- */

AS_FAST uint32_t as_slot_order_behind(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t itself = order->words[slot / 64] >> slot % 64 & 1;
    return order->taken - itself - as_slot_order_before(order, slot);
}

/* ---- changes ---- */

void as_slot_order_begin_line(struct as_slot_order *order, uint32_t line)
{
    if (!line)
        return;
    const uint64_t *last = order->words + (size_t)(line - 1) * AS_SLOT_WORDS;
    uint32_t n = order->lines[line - 1] + (uint32_t)(last[0] >> AS_SLOT_COUNT_BITS * (AS_SLOT_WORDS - 2)) +
                 (uint32_t)__builtin_popcountll(last[AS_SLOT_WORDS - 1]);
    order->lines[line] = line % AS_SLOT_GROUP_LINES ? (uint16_t)n : 0;
    if (line % AS_SLOT_GROUP_LINES)
        return;
    uint32_t group = line >> AS_SLOT_GROUP;
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN) {
        n += order->counts[level][group - 1];
        order->counts[level][group] = group % AS_SLOT_FAN_GROUPS ? n : 0;
        if (group % AS_SLOT_FAN_GROUPS)
            return;
    }
}

AS_FAST uint32_t as_slot_order_move(struct as_slot_order *order, uint32_t old)
{
    uint32_t slot = as_slot_order_take_next(order);
    if (old)
        as_slot_order_release(order, old);
    else
        order->taken++;
    return slot;
}

AS_FAST void as_slot_order_drop(struct as_slot_order *order, uint32_t slot)
{
    order->taken--;
    as_slot_order_release(order, slot);
}

AS_FAST uint32_t as_slot_order_renumber(const struct as_slot_order *order, uint32_t slot)
{
    return as_slot_order_number(as_slot_order_before(order, slot));
}

bool as_slot_order_extend(struct as_slot_order *order)
{
    if (order->size >= order->room || order->size / SPARE > order->taken)
        return false;
    set_size(order, order->size * 2);
    return true;
}

/* The first n are taken now. */
void as_slot_order_squeeze(struct as_slot_order *order)
{
    uint32_t size = order->size, n = order->taken;
    unmake(order);
    while (size / SPARE < as_slot_order_number(n) && size < MOST)
        size *= 2;
    make(order, size);
    order->next = as_slot_order_number(0);
    order->taken = 0;
    while (order->taken < n) {
        as_slot_order_take_next(order);
        order->taken++;
    }
}
