/* An order of slots of which some are taken, that tells how many taken ones lie behind a slot: the LRU stack as a line
 * of time. Every use takes the next slot; what was used least recently has the smallest.
 *
 * The slots are a bitmap; counts of taken slots stand above it, one for each 512 slots, then one for each 16 of the
 * counts below. A query adds up at most 15 counts a level, and none on the levels where the slot lies in the last group:
 * recent slots cost little. Bitmap and counts of 16 M taken slots are 5 MiB. */
#ifndef AS_REUSE_SLOT_ORDER_H
#define AS_REUSE_SLOT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_SLOT_LEVELS = 6, AS_SLOT_LINE = 9, AS_SLOT_FAN = 4 };

struct as_slot_order {
    uint64_t *bits;
    uint32_t *counts[AS_SLOT_LEVELS];
    uint32_t *ranks; /* while the slots are being renumbered: taken ones before each line of 512 */
    uint32_t size;   /* slots, a multiple of 512 */
    uint32_t next;   /* the first that was never taken; slot 0 is never taken, so it can mean none */
    uint32_t taken;
};

void as_slot_order_init(struct as_slot_order *order);
void as_slot_order_copy(struct as_slot_order *to, const struct as_slot_order *from);
void as_slot_order_free(struct as_slot_order *order);

static inline bool as_slot_order_full(const struct as_slot_order *order)
{
    return order->next == order->size;
}
/* Taken slots behind `slot`. */
uint32_t as_slot_order_behind(const struct as_slot_order *order, uint32_t slot);
/* Soon one of these will be asked for this slot. */
static inline void as_slot_order_prefetch(const struct as_slot_order *order, uint32_t slot)
{
    if (slot >= order->size)
        return;
    __builtin_prefetch(&order->bits[slot / 64], 1);
    __builtin_prefetch(&order->counts[0][slot >> AS_SLOT_LINE], 1);
}
/* Takes the next slot, which there must be, and gives `old` up (0: none). */
uint32_t as_slot_order_move(struct as_slot_order *order, uint32_t old);
void as_slot_order_drop(struct as_slot_order *order, uint32_t slot);

/* When it is full: squeeze, ask for the new number of each taken slot, done. The order of slots stays, and at least as
 * many as are taken are free afterwards. */
void as_slot_order_squeeze(struct as_slot_order *order);
uint32_t as_slot_order_renumber(const struct as_slot_order *order, uint32_t slot);
void as_slot_order_squeezed(struct as_slot_order *order);

#endif
