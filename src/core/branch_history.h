/* Global history of branch outcomes, and its folds: for each table of a predictor, a history of its own length XORed
 * down to a few bits, updated with each outcome instead of being recomputed for each prediction.
 *
 * A fold is a register of `width` bits that rotates by one for each outcome: the new outcome enters at bit 0, and the
 * one that leaves the history is removed at bit length % width, where the rotations have moved it. Nearly constant
 * histories (of a long loop) differ only in the position of one bit, of which a fold keeps the remainder. The index
 * therefore has one fold and the tag two, all of different widths, which together distinguish all positions. Eight
 * tables are updated at a time, in vectors that the compiler maps to the host's; lanes without a table compute unused
 * values. A fold has 16 bits at most, which is why machines have no larger tables. Outcomes lie in a buffer that fills downwards, the newest at `head`; when it is full, the part still needed
 * moves to its end. All of this is on the hot path of every branch, hence inline.
 */
#ifndef AS_CORE_BRANCH_HISTORY_H
#define AS_CORE_BRANCH_HISTORY_H

#include "core/machine.h"

#include <math.h>
#include <string.h>

enum {
    AS_HISTORY_LONGEST = 1000, /* that a machine may ask for */
    AS_HISTORY_BUFFER = 4 * AS_HISTORY_LONGEST,
    AS_HISTORY_LANES = 8,
    AS_HISTORY_GROUPS = AS_TAGE_TABLES_MAX / AS_HISTORY_LANES
};

typedef uint16_t as_lanes __attribute__((vector_size(AS_HISTORY_LANES * sizeof(uint16_t)), may_alias));

/* One fold of each table. */
struct as_folds {
    as_lanes value[AS_HISTORY_GROUPS];
    as_lanes wrap[AS_HISTORY_GROUPS]; /* bit length % width */
    as_lanes top[AS_HISTORY_GROUPS];  /* bit width - 1: what is shifted out there … */
    as_lanes turn[AS_HISTORY_GROUPS]; /* … comes back at bit 0; and bit width, if there is one, is cleared */
};

struct as_branch_history {
    struct as_folds index, tag, again;
    uint32_t groups;
    uint32_t head;
    uint32_t oldest[AS_TAGE_TABLES_MAX]; /* length - 1: the outcome that leaves next lies there behind the head */
    uint16_t bits[AS_HISTORY_BUFFER];    /* 0 or all ones, as in a lane */
};

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

static inline void as_folds_init(struct as_folds *folds, uint32_t table, uint32_t length, uint32_t width)
{
    uint32_t group = table / AS_HISTORY_LANES, lane = table % AS_HISTORY_LANES;
    folds->wrap[group][lane] = (uint16_t)(1u << length % width);
    folds->top[group][lane] = (uint16_t)(1u << (width - 1));
    folds->turn[group][lane] = (uint16_t)(1u << width | 1);
}

/* Tables are added in the order of their numbers. */
static inline void as_history_add(struct as_branch_history *history, uint32_t table, uint32_t length,
                                  uint32_t index_bits, uint32_t tag_bits)
{
    history->groups = table / AS_HISTORY_LANES + 1;
    history->head = AS_HISTORY_BUFFER - AS_HISTORY_LONGEST;
    history->oldest[table] = length - 1;
    as_folds_init(&history->index, table, length, index_bits);
    tag_bits -= tag_bits == index_bits;
    as_folds_init(&history->tag, table, length, tag_bits);
    as_folds_init(&history->again, table, length, tag_bits - 1 - (tag_bits - 1 == index_bits));
}

static inline void as_folds_push(struct as_folds *folds, uint32_t group, as_lanes enters, as_lanes leaves)
{
    as_lanes value = folds->value[group], top = folds->top[group];
    as_lanes over = (as_lanes)((value & top) == top);
    folds->value[group] = (value << 1) ^ enters ^ (leaves & folds->wrap[group]) ^ (over & folds->turn[group]);
}

static inline __attribute__((always_inline)) void as_history_push(struct as_branch_history *history, bool bit)
{
    uint32_t groups = history->groups;
    const uint16_t *bits = &history->bits[history->head];
    as_lanes enters = (as_lanes){0} + (uint16_t)bit;
    for (uint32_t group = 0; group < groups; group++) {
        const uint32_t *oldest = &history->oldest[group * AS_HISTORY_LANES];
        as_lanes leaves = {bits[oldest[0]], bits[oldest[1]], bits[oldest[2]], bits[oldest[3]],
                           bits[oldest[4]], bits[oldest[5]], bits[oldest[6]], bits[oldest[7]]};
        as_folds_push(&history->index, group, enters, leaves);
        as_folds_push(&history->tag, group, enters, leaves);
        as_folds_push(&history->again, group, enters, leaves);
    }
    if (__builtin_expect(history->head == 0, 0)) {
        history->head = AS_HISTORY_BUFFER - AS_HISTORY_LONGEST;
        memcpy(&history->bits[history->head], history->bits, AS_HISTORY_LONGEST * sizeof *history->bits);
    }
    history->bits[--history->head] = bit ? UINT16_MAX : 0;
}

/* Spreads an address over 32 bits, so that any of them can serve as index or tag. */
static inline uint32_t as_history_key(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Index and tag of eight tables for the branch with this key, before they are cut to each table's size. */
static inline as_lanes as_history_index(const struct as_branch_history *history, uint32_t group, uint32_t key)
{
    return history->index.value[group] ^ (uint16_t)key;
}

static inline as_lanes as_history_tag(const struct as_branch_history *history, uint32_t group, uint32_t key)
{
    as_lanes again = history->again.value[group];
    return (history->tag.value[group] ^ (uint16_t)(key >> 16)) ^ again ^
           again << 3; /* twice, or both folds' bits could change roles */
}

/* Bit i: lane i of both is the same. */
static inline uint32_t as_lanes_equal(as_lanes a, as_lanes b)
{
#ifdef __SSE2__
    typedef short as_shorts __attribute__((vector_size(16)));
    as_shorts equal = (as_shorts)(a == b);
    return (uint32_t)__builtin_ia32_pmovmskb128(__builtin_ia32_packsswb128(equal, (as_shorts){0}));
#else
    uint32_t equal = 0;
    for (uint32_t i = 0; i < AS_HISTORY_LANES; i++)
        equal |= (uint32_t)(a[i] == b[i]) << i;
    return equal;
#endif
}

#endif
