/* Global history of branch outcomes, and its folds: for each table of a predictor, a history of its own length XORed
 * down to a few bits, updated with each outcome instead of being recomputed for each prediction.
 *
 * A fold is a register of `width` bits that rotates by one for each outcome: the new outcome enters at bit 0, and the
 * one that leaves the history is removed at bit length % width, where the rotations have moved it. Nearly constant
 * histories (of a long loop) differ only in the position of one bit, of which a fold keeps the remainder. The index
 * therefore has one fold and the tag two, all of different widths, which together distinguish all positions. Eight
 * tables are updated at a time, in vectors that the compiler maps to the host's; lanes without a table compute unused
 * values. A fold has 16 bits at most, which is why machines have no larger tables.
 *
 * Outcomes are bits of a buffer that fills downwards, the newest at `head`; when it is full, the part still needed moves
 * to its end. Which ones leave with the next sixteen outcomes is known for all but the shortest histories, so that each
 * lane has those ready in a word that is shifted; short histories get each outcome there as soon as it is known. All of
 * this is on the hot path of every branch, hence inline. Who needs the folds seldom pushes several outcomes at once.
 */
#ifndef AS_CORE_BRANCH_HISTORY_H
#define AS_CORE_BRANCH_HISTORY_H

#include "core/machine.h"

#include <math.h>
#include <string.h>

enum {
    AS_HISTORY_LONGEST = 1000,   /* that a machine may ask for */
    AS_HISTORY_KEPT = 1024 + 64, /* outcomes that move to the end of the buffer */
    AS_HISTORY_BUFFER = 4096 + 64,
    AS_HISTORY_LANES = 8,
    AS_HISTORY_GROUPS = AS_TAGE_TABLES_MAX / AS_HISTORY_LANES,
    AS_HISTORY_AHEAD = 16, /* outcomes whose leaving is known ahead */
};

typedef uint16_t as_lanes __attribute__((vector_size(AS_HISTORY_LANES * sizeof(uint16_t)), may_alias));
typedef int16_t as_signed_lanes __attribute__((vector_size(AS_HISTORY_LANES * sizeof(int16_t)), may_alias));

/* One fold of each table. */
struct as_folds {
    as_lanes value[AS_HISTORY_GROUPS];
    as_lanes wrap[AS_HISTORY_GROUPS]; /* bit length % width */
    as_lanes top[AS_HISTORY_GROUPS];  /* bit width - 1: what is shifted out there … */
    as_lanes turn[AS_HISTORY_GROUPS]; /* … comes back at bit 0; and bit width, if there is one, is cleared */
    /* To push several at once: bits of the fold; factors that shift, of which the upper or lower half is kept. */
    as_lanes mask[AS_HISTORY_GROUPS];
    as_lanes down[AS_HISTORY_GROUPS]; /* by width, down */
    as_lanes left[AS_HISTORY_GROUPS],
        right[AS_HISTORY_GROUPS]; /* by length % width: up; by what is left of width: down */
};

struct as_branch_history {
    struct as_folds index, tag, again;
    as_lanes leaving[AS_HISTORY_GROUPS]; /* outcomes that leave: the next one at bit 15, then those behind it */
    as_lanes enters[AS_HISTORY_GROUPS];  /* short histories: the bit of an outcome there; others: 0 */
    uint32_t groups, tables;
    uint32_t head;
    uint32_t narrowest; /* width of all folds */
    uint32_t length[AS_TAGE_TABLES_MAX];
    uint64_t words[AS_HISTORY_BUFFER / 64];
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
    folds->mask[group][lane] = (uint16_t)((1u << width) - 1);
    folds->down[group][lane] = (uint16_t)(1u << (16 - width));
    folds->left[group][lane] = (uint16_t)(1u << length % width);
    folds->right[group][lane] = (uint16_t)(1u << (16 - width + length % width));
}

/* Tables are added in the order of their numbers. */
static inline void as_history_add(struct as_branch_history *history, uint32_t table, uint32_t length,
                                  uint32_t index_bits, uint32_t tag_bits)
{
    uint32_t tag_width = tag_bits - (tag_bits == index_bits);
    uint32_t again_width = tag_width - 1 - (tag_width - 1 == index_bits);
    history->groups = table / AS_HISTORY_LANES + 1;
    history->tables = table + 1;
    history->head = AS_HISTORY_BUFFER - AS_HISTORY_KEPT;
    history->length[table] = length;
    if (length < AS_HISTORY_AHEAD)
        history->enters[table / AS_HISTORY_LANES][table % AS_HISTORY_LANES] =
            (uint16_t)(1u << (AS_HISTORY_AHEAD - length));
    as_folds_init(&history->index, table, length, index_bits);
    as_folds_init(&history->tag, table, length, tag_width);
    as_folds_init(&history->again, table, length, again_width);
    uint32_t narrowest = again_width < index_bits ? again_width : index_bits;
    if (table == 0 || narrowest < history->narrowest)
        history->narrowest = narrowest;
}

/* Outcomes as bits: from the one that is `age` old on, that one lowest. */
static inline uint32_t as_history_bits(const struct as_branch_history *history, uint32_t age)
{
    uint32_t at = history->head + age;
    uint64_t low = history->words[at / 64] >> at % 64, high = history->words[at / 64 + 1] << 1 << (63 - at % 64);
    return (uint32_t)(low | high);
}

static inline void as_history_note(struct as_branch_history *history, bool bit)
{
    if (__builtin_expect(history->head == 0, 0)) {
        history->head = AS_HISTORY_BUFFER - AS_HISTORY_KEPT;
        memcpy(&history->words[history->head / 64], history->words, AS_HISTORY_KEPT / 8);
        memset(history->words, 0, history->head / 8);
    }
    history->head--;
    history->words[history->head / 64] |= (uint64_t)bit << history->head % 64;
}

/* n outcomes, the last one lowest; fewer than 32. */
static inline void as_history_note_many(struct as_branch_history *history, uint32_t bits, uint32_t n)
{
    if (__builtin_expect(history->head < n, 0)) {
        while (n-- > 0)
            as_history_note(history, bits >> n & 1);
        return;
    }
    uint32_t head = history->head -= n, at = head % 64;
    uint64_t some = bits & ((UINT64_C(1) << n) - 1);
    history->words[head / 64] |= some << at;
    history->words[head / 64 + 1] |= some >> 1 >> (63 - at);
}

/* The outcomes that leave with the next sixteen. */
static inline void as_history_look_ahead(struct as_branch_history *history)
{
    for (uint32_t table = 0; table < history->tables; table++)
        if (history->length[table] >= AS_HISTORY_AHEAD)
            ((uint16_t *)history->leaving)[table] =
                (uint16_t)as_history_bits(history, history->length[table] - AS_HISTORY_AHEAD);
}

static inline void as_folds_push(struct as_folds *folds, uint32_t group, as_lanes enters, as_lanes leaves)
{
    as_lanes value = folds->value[group], top = folds->top[group];
    as_lanes over = (as_lanes)((value & top) == top);
    folds->value[group] = (value << 1) ^ enters ^ (leaves & folds->wrap[group]) ^ (over & folds->turn[group]);
}

static inline __attribute__((always_inline)) void as_history_push(struct as_branch_history *history, bool bit)
{
    as_lanes enters = (as_lanes){0} + (uint16_t)bit;
    for (uint32_t group = 0; group < history->groups; group++) {
        as_lanes leaving = history->leaving[group], leaves = (as_lanes)((as_signed_lanes)leaving >> 15);
        as_folds_push(&history->index, group, enters, leaves);
        as_folds_push(&history->tag, group, enters, leaves);
        as_folds_push(&history->again, group, enters, leaves);
        history->leaving[group] = leaving << 1 | (history->enters[group] & -enters);
    }
    as_history_note(history, bit);
    if (__builtin_expect(history->head % AS_HISTORY_AHEAD == 0, 0))
        as_history_look_ahead(history);
}

/* All that the folds behind the next outcomes depend on, and those themselves: of histories that are one group. */
struct as_history_context {
    as_lanes index, tag, again;
    as_lanes leaving; /* with the next ones; short histories: all of their outcomes */
};

/* Which lanes have short histories. */
static inline as_lanes as_history_short(const struct as_branch_history *history)
{
    return (as_lanes)(history->enters[0] != 0);
}

static inline void as_history_show(const struct as_branch_history *history, struct as_history_context *context)
{
    *context = (struct as_history_context){history->index.value[0], history->tag.value[0], history->again.value[0],
                                           history->leaving[0]};
}

static inline bool as_history_same(const struct as_history_context *a, const struct as_history_context *b)
{
    as_lanes differ = (a->index ^ b->index) | (a->tag ^ b->tag) | (a->again ^ b->again) | (a->leaving ^ b->leaving);
    uint64_t words[2];
    memcpy(words, &differ, sizeof words);
    return !(words[0] | words[1]);
}

/* Before n outcomes, of which none is known. False: there are too many of them, or too many tables. */
static inline bool as_history_begin(struct as_branch_history *history, uint32_t n, struct as_history_context *context)
{
    if (history->groups != 1 || n >= AS_HISTORY_AHEAD || history->head < n)
        return false;
    uint32_t known = history->head % AS_HISTORY_AHEAD;
    if (known && known < n)
        as_history_look_ahead(history);
    as_history_show(history, context);
    as_lanes next = (as_lanes){0} + (uint16_t)(UINT16_MAX << (AS_HISTORY_AHEAD - n));
    context->leaving &= next | as_history_short(history);
    return true;
}

/* n outcomes, the last one lowest, come to what they came to before, from the same beginning. */
static inline void as_history_repeat(struct as_branch_history *history, uint32_t outcomes, uint32_t n,
                                     const struct as_history_context *behind)
{
    as_lanes is_short = as_history_short(history);
    uint32_t before = history->head;
    history->index.value[0] = behind->index;
    history->tag.value[0] = behind->tag;
    history->again.value[0] = behind->again;
    history->leaving[0] = (history->leaving[0] << (uint16_t)n & ~is_short) | (behind->leaving & is_short);
    as_history_note_many(history, outcomes, n);
    if ((history->head + AS_HISTORY_AHEAD - 1) / AS_HISTORY_AHEAD * AS_HISTORY_AHEAD < before)
        as_history_look_ahead(history);
}

/* The upper halves of the products. */
static inline as_lanes as_lanes_multiply_high(as_lanes a, as_lanes b)
{
#ifdef __SSE2__
    typedef short as_shorts __attribute__((vector_size(16)));
    return (as_lanes)__builtin_ia32_pmulhuw128((as_shorts)a, (as_shorts)b);
#else
    for (uint32_t i = 0; i < AS_HISTORY_LANES; i++)
        a[i] = (uint16_t)((uint32_t)a[i] * b[i] >> 16);
    return a;
#endif
}

/* n outcomes at once: the fold rotates by n, and so has what leaves. */
static inline void as_folds_push_many(struct as_folds *folds, uint32_t group, uint16_t n, as_lanes enters,
                                      as_lanes leaves)
{
    as_lanes value = folds->value[group], mask = folds->mask[group];
    as_lanes rotated = ((value << n) & mask) | as_lanes_multiply_high(value, folds->down[group] << n);
    as_lanes out = ((leaves * folds->left[group]) & mask) | as_lanes_multiply_high(leaves, folds->right[group]);
    folds->value[group] = rotated ^ enters ^ out;
}

/* Pushes n outcomes, the last one lowest; fewer than `narrowest`. Not to be mixed with as_history_push. */
static inline void as_history_push_many(struct as_branch_history *history, uint32_t bits, uint32_t n)
{
    uint16_t mask = (uint16_t)((1u << n) - 1);
    as_lanes enters = (as_lanes){0} + (uint16_t)(bits & mask);
    as_history_note_many(history, bits, n);
    for (uint32_t group = 0; group < history->groups; group++) {
        const uint32_t *length = &history->length[group * AS_HISTORY_LANES];
        /* Not through memory: small words that are read as one are waited for. */
        as_lanes leaves = {
            (uint16_t)as_history_bits(history, length[0]), (uint16_t)as_history_bits(history, length[1]),
            (uint16_t)as_history_bits(history, length[2]), (uint16_t)as_history_bits(history, length[3]),
            (uint16_t)as_history_bits(history, length[4]), (uint16_t)as_history_bits(history, length[5]),
            (uint16_t)as_history_bits(history, length[6]), (uint16_t)as_history_bits(history, length[7])};
        leaves &= mask;
        as_folds_push_many(&history->index, group, (uint16_t)n, enters, leaves);
        as_folds_push_many(&history->tag, group, (uint16_t)n, enters, leaves);
        as_folds_push_many(&history->again, group, (uint16_t)n, enters, leaves);
    }
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
