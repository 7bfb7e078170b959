/* What each touch does to an order of slots: see slot_order.h. Inline, because a touch takes a few dozen instructions, and
 * the code around it can be built for the processor at hand (AS_FAST). */
#ifndef AS_REUSE_SLOT_MOVES_H
#define AS_REUSE_SLOT_MOVES_H

#include "reuse/slot_order.h"

/* Counting bits and changing a group's numbers is what takes the time: with the instructions for it where the processor has
 * them. With LTO, clang 14 drops the symbol of a function that it has cloned. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define AS_FAST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define AS_FAST
#endif
#define AS_FAST_PART inline __attribute__((always_inline))

enum {
    AS_SLOT_LINE_BITS = 1 << AS_SLOT_LINE,
    AS_SLOT_WORDS = AS_SLOT_LINE_BITS / 64,
    AS_SLOT_COUNT_BITS = 9, /* of a number in a line's first word */
    AS_SLOT_GROUP_LINES = 1 << AS_SLOT_GROUP,
    AS_SLOT_FAN_GROUPS = 1 << AS_SLOT_FAN
};

/* The first slot of a line is about to be taken. */
void as_slot_order_begin_line(struct as_slot_order *order, uint32_t line);

/* ---- questions ---- */

/* Taken ones in the slot's line before it. */
static AS_FAST_PART uint32_t as_slot_before_in_line(const struct as_slot_order *order, uint32_t slot)
{
    const uint64_t *line = order->words + (size_t)(slot >> AS_SLOT_LINE) * AS_SLOT_WORDS;
    uint32_t word = slot / 64 % AS_SLOT_WORDS;
    return (uint32_t)(line[0] >> AS_SLOT_COUNT_BITS * (word - 1) & ((1 << AS_SLOT_COUNT_BITS) - 1)) +
           (uint32_t)__builtin_popcountll(line[word] & ((UINT64_C(1) << slot % 64) - 1));
}

static AS_FAST_PART uint32_t as_slot_order_before(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t n = as_slot_before_in_line(order, slot) + order->lines[slot >> AS_SLOT_LINE];
    uint32_t group = slot >> (AS_SLOT_LINE + AS_SLOT_GROUP);
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN)
        n += order->counts[level][group];
    return n;
}

/* ---- changes ---- */

/* One more or less in a word: so it is before all later words of its line. */
static AS_FAST_PART uint64_t as_slot_in_later_words(uint32_t slot)
{
    const uint64_t ones = 0x0040201008040201, counts = UINT64_MAX >> 1; /* 1 in each of the seven; all their bits */
    return ones << AS_SLOT_COUNT_BITS * (slot / 64 % AS_SLOT_WORDS) & counts;
}

static AS_FAST_PART uint32_t as_slot_order_take_next(struct as_slot_order *order)
{
    uint32_t slot = order->top = order->next;
    if (__builtin_expect(slot % AS_SLOT_LINE_BITS == 64, 0))
        as_slot_order_begin_line(order, slot >> AS_SLOT_LINE);
    order->next = (slot + 1) % AS_SLOT_LINE_BITS ? slot + 1 : slot + 1 + 64;
    order->words[slot / 64] |= UINT64_C(1) << slot % 64;
    order->words[(size_t)(slot >> AS_SLOT_LINE) * AS_SLOT_WORDS] += as_slot_in_later_words(slot);
    return slot;
}

/* Signed numbers, because those compare in one instruction. */
static AS_FAST_PART void as_slot_order_release(struct as_slot_order *order, uint32_t slot)
{
    uint32_t line = slot >> AS_SLOT_LINE, group = line >> AS_SLOT_GROUP;
    int16_t *lines = (int16_t *)order->lines + (line & ~(uint32_t)(AS_SLOT_GROUP_LINES - 1)),
            at = line % AS_SLOT_GROUP_LINES;
    order->words[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    order->words[(size_t)line * AS_SLOT_WORDS] -= as_slot_in_later_words(slot);
    for (int16_t i = 0; i < AS_SLOT_GROUP_LINES; i++)
        lines[i] -= i > at;
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN) {
        int32_t *counts = (int32_t *)order->counts[level] + (group & ~(uint32_t)(AS_SLOT_FAN_GROUPS - 1)),
                in_group = group % AS_SLOT_FAN_GROUPS;
        for (int32_t i = 0; i < AS_SLOT_FAN_GROUPS; i++)
            counts[i] -= i > in_group;
    }
}

/* Takes the next slot, which there must be, for a granule that had none. */
static AS_FAST_PART uint32_t as_slot_order_begin(struct as_slot_order *order)
{
    order->taken++;
    return as_slot_order_take_next(order);
}

/* … and gives `old` up, which is taken. */
struct as_slot_moved {
    uint32_t slot, behind; /* the new one, and how many lay behind the old one */
};

static AS_FAST_PART struct as_slot_moved as_slot_order_renew(struct as_slot_order *order, uint32_t old)
{
    uint32_t behind = order->taken - 1 - as_slot_order_before(order, old);
    uint32_t slot = as_slot_order_take_next(order);
    as_slot_order_release(order, old);
    return (struct as_slot_moved){.slot = slot, .behind = behind};
}

#endif
