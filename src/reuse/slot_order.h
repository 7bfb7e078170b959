/* An order of slots of which some are taken, that tells how many taken ones lie behind a slot: the LRU stack as a line
 * of time. Every use takes the next slot; what was used least recently has the smallest.
 *
 * The slots are bits in lines of 512, a host cache line each. The first 64 bits of a line are no slots: they hold, in 9 bits
 * each, the number of taken slots of the line before each of its other seven words. For each line there is the number of
 * taken slots before it in its group of 32 lines; for each group that of those before it in its group of 16, and so on. A
 * query adds up one number of each level and the bits before the slot in its word. A slot that becomes free changes the
 * numbers behind it in its groups, a host cache line a level, all at once. Slots are taken in order, so the numbers of a
 * line are made when the first of its slots is, and those of lines that are not begun mean nothing. Bits and numbers of
 * 16 M taken slots are at most 20 MiB, all but half a MiB of it lines. */
#ifndef AS_REUSE_SLOT_ORDER_H
#define AS_REUSE_SLOT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_SLOT_LEVELS = 6, AS_SLOT_LINE = 9, AS_SLOT_LINE_SLOTS = 7 * 64, AS_SLOT_GROUP = 5, AS_SLOT_FAN = 4 };

struct as_slot_order {
    uint64_t *words;                  /* of the lines */
    uint16_t *lines;                  /* taken slots before a line in its group … */
    uint32_t *counts[AS_SLOT_LEVELS]; /* … before a group in its own, and so on */
    uint32_t levels;                  /* of `counts` that have more than one number */
    uint32_t size;                    /* numbers of slots, a multiple of 512 */
    uint32_t room;                    /* that memory was asked for; pages of it that were never used take none */
    uint32_t
        roomy; /* from this size on there is room for the most: with large pages, what is not used yet is little beside what is */
    uint32_t next; /* the first that was never taken; 0 is no slot's number, so it can mean none */
    uint32_t top;  /* the one that was taken last */
    uint32_t taken;
};

void as_slot_order_init(struct as_slot_order *order);
void as_slot_order_copy(struct as_slot_order *to, const struct as_slot_order *from);
void as_slot_order_free(struct as_slot_order *order);
uint64_t as_slot_order_bytes(const struct as_slot_order *order);

static inline bool as_slot_order_full(const struct as_slot_order *order)
{
    return order->next >= order->size;
}
/* The number of the slot that is taken as the k-th, from 0 on, of a new order: numbers have gaps. */
static inline uint32_t as_slot_order_number(uint32_t k)
{
    return k / AS_SLOT_LINE_SLOTS * (1 << AS_SLOT_LINE) + 64 + k % AS_SLOT_LINE_SLOTS;
}
/* Taken slots behind `slot`. */
uint32_t as_slot_order_behind(const struct as_slot_order *order, uint32_t slot);
/* Soon one of these will be asked for this slot. Always inline: GCC takes a function that only prefetches for one without
 * an effect, and drops its calls. */
static inline __attribute__((always_inline)) void as_slot_order_prefetch(const struct as_slot_order *order,
                                                                         uint32_t slot)
{
    if (slot >= order->size)
        return;
    __builtin_prefetch(&order->words[slot / 64], 1);
    __builtin_prefetch(&order->lines[slot >> AS_SLOT_LINE], 1);
}
/* Takes the next slot, which there must be, and gives `old` up (0: none). */
uint32_t as_slot_order_move(struct as_slot_order *order, uint32_t old);
void as_slot_order_drop(struct as_slot_order *order, uint32_t slot);

/* When it is full: if most of its slots are taken still, it is given more of them, which costs nothing. Otherwise, ask for
 * the new number of each taken slot, then squeeze. The order of slots stays, and at least as many as are taken are free
 * afterwards. */
bool as_slot_order_extend(struct as_slot_order *order); /* returns false where it is to be squeezed */
uint32_t as_slot_order_renumber(const struct as_slot_order *order, uint32_t slot);
void as_slot_order_squeeze(struct as_slot_order *order);

#endif
