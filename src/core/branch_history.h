/* Global history of branch outcomes, and its folds: a history of any length XORed down to a few bits, kept up to date
 * with each outcome by a shift and two XORs instead of being computed anew for each prediction.
 *
 * The bits lie in a ring, the newest at `head`. Everything here is in the hot path of every branch, hence inline.
 */
#ifndef AS_CORE_BRANCH_HISTORY_H
#define AS_CORE_BRANCH_HISTORY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { AS_HISTORY_BITS = 1024 }; /* a power of two above the longest history that a machine may ask for */

struct as_branch_history {
    uint32_t head;
    uint8_t bits[AS_HISTORY_BITS];
};

struct as_history_fold {
    uint32_t value, mask;
    uint8_t width;
    uint8_t wrap; /* where the bit that leaves the history has come to lie */
};

static inline void as_history_fold_init(struct as_history_fold *fold, uint32_t length, uint32_t width)
{
    *fold =
        (struct as_history_fold){.mask = (1u << width) - 1, .width = (uint8_t)width, .wrap = (uint8_t)(length % width)};
}

/* The folds first, the history after them: they need the bit that leaves. */
static inline void as_history_fold_push(struct as_history_fold *fold, uint32_t bit, uint32_t leaves)
{
    uint32_t value = fold->value << 1 | bit;
    value ^= leaves << fold->wrap;
    value ^= value >> fold->width;
    fold->value = value & fold->mask;
}

static inline uint32_t as_history_leaving(const struct as_branch_history *history, uint32_t length)
{
    return history->bits[(history->head + length - 1) % AS_HISTORY_BITS];
}

static inline void as_history_push(struct as_branch_history *history, uint32_t bit)
{
    history->head = (history->head - 1) % AS_HISTORY_BITS;
    history->bits[history->head] = (uint8_t)bit;
}

/* Length of the history of table `index` of `count`: geometric, both ends exact, each longer than the one before. */
static inline uint32_t as_history_length(uint32_t index, uint32_t count, uint32_t shortest, uint32_t longest)
{
    if (count < 2 || index == 0)
        return shortest;
    double ratio = (double)longest / shortest;
    uint32_t length = (uint32_t)lround(shortest * pow(ratio, (double)index / (count - 1)));
    uint32_t least = shortest + index < longest ? shortest + index : longest;
    return length > least ? length : least;
}

/* Spreads an address over 32 bits, so that any of them can serve as index or tag. */
static inline uint32_t as_history_key(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#endif
