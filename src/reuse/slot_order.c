/* See slot_order.h. */
#include "reuse/slot_order.h"

#include "reuse/huge.h"

#include <string.h>

/* Counting bits and changing a group's numbers is what takes the time: with the instructions for it where the processor has
 * them. With LTO, clang 14 drops the symbol of a function that it has cloned. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define AS_FAST __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define AS_FAST
#endif
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum {
    LINE_BITS = 1 << AS_SLOT_LINE,
    WORDS = LINE_BITS / 64,
    COUNT_BITS = 9, /* of a number in a line's first word */
    GROUP = 1 << AS_SLOT_GROUP,
    FAN = 1 << AS_SLOT_FAN,
    SMALLEST = 1 << 16,
    SPARE = 16 /* numbers for each taken slot after a squeeze: new numbers cost a walk over all uses */
};
static const uint64_t ONES = 0x0040201008040201, COUNTS = UINT64_MAX >> 1; /* 1 in each of the seven; all their bits */

/* ---- memory ---- */

static size_t lines_of(uint32_t size)
{
    return (((size_t)size >> AS_SLOT_LINE) + GROUP - 1) & ~(size_t)(GROUP - 1); /* whole groups */
}

static size_t counts_on(uint32_t size, uint32_t level)
{
    size_t groups = (size_t)size >> (AS_SLOT_LINE + AS_SLOT_GROUP + AS_SLOT_FAN * level);
    return (groups + FAN) & ~(size_t)(FAN - 1); /* whole groups of FAN, and never none */
}

static void make(struct as_slot_order *order, uint32_t size)
{
    order->size = size;
    order->words = as_huge_alloc(size / 8);
    order->lines = as_huge_alloc(lines_of(size) * sizeof *order->lines);
    order->levels = 0;
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++) {
        order->counts[level] = as_huge_alloc(counts_on(size, level) * sizeof(uint32_t));
        order->levels += ((uint64_t)size - 1) >> (AS_SLOT_LINE + AS_SLOT_GROUP + AS_SLOT_FAN * level) > 0;
    }
}

static void unmake(struct as_slot_order *order)
{
    as_huge_free(order->words, order->size / 8);
    as_huge_free(order->lines, lines_of(order->size) * sizeof *order->lines);
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        as_huge_free(order->counts[level], counts_on(order->size, level) * sizeof(uint32_t));
}

void as_slot_order_init(struct as_slot_order *order)
{
    *order = (struct as_slot_order){.next = 64};
    make(order, SMALLEST);
}

void as_slot_order_copy(struct as_slot_order *to, const struct as_slot_order *from)
{
    *to = (struct as_slot_order){.next = from->next, .top = from->top, .taken = from->taken};
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

/* Taken ones in the slot's line before it. */
static ALWAYS_INLINE uint32_t before_in_line(const struct as_slot_order *order, uint32_t slot)
{
    const uint64_t *line = order->words + (size_t)(slot >> AS_SLOT_LINE) * WORDS;
    uint32_t word = slot / 64 % WORDS;
    return (uint32_t)(line[0] >> COUNT_BITS * (word - 1) & ((1 << COUNT_BITS) - 1)) +
           (uint32_t)__builtin_popcountll(line[word] & ((UINT64_C(1) << slot % 64) - 1));
}

static ALWAYS_INLINE uint32_t before(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t n = before_in_line(order, slot) + order->lines[slot >> AS_SLOT_LINE];
    uint32_t group = slot >> (AS_SLOT_LINE + AS_SLOT_GROUP);
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN)
        n += order->counts[level][group];
    return n;
}

AS_FAST uint32_t as_slot_order_behind(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t itself = order->words[slot / 64] >> slot % 64 & 1;
    return order->taken - itself - before(order, slot);
}

/* ---- changes ---- */

/* One more or less in a word: so it is before all later words of its line. */
static ALWAYS_INLINE uint64_t in_later_words(uint32_t slot)
{
    return ONES << COUNT_BITS * (slot / 64 % WORDS) & COUNTS;
}

/* The first slot of a line is about to be taken. */
static __attribute__((noinline)) void begin_line(struct as_slot_order *order, uint32_t line)
{
    if (!line)
        return;
    const uint64_t *last = order->words + (size_t)(line - 1) * WORDS;
    uint32_t n = order->lines[line - 1] + (uint32_t)(last[0] >> COUNT_BITS * (WORDS - 2)) +
                 (uint32_t)__builtin_popcountll(last[WORDS - 1]);
    order->lines[line] = line % GROUP ? (uint16_t)n : 0;
    if (line % GROUP)
        return;
    uint32_t group = line >> AS_SLOT_GROUP;
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN) {
        n += order->counts[level][group - 1];
        order->counts[level][group] = group % FAN ? n : 0;
        if (group % FAN)
            return;
    }
}

static ALWAYS_INLINE uint32_t take_next(struct as_slot_order *order)
{
    uint32_t slot = order->top = order->next;
    if (__builtin_expect(slot % LINE_BITS == 64, 0))
        begin_line(order, slot >> AS_SLOT_LINE);
    order->next = (slot + 1) % LINE_BITS ? slot + 1 : slot + 1 + 64;
    order->words[slot / 64] |= UINT64_C(1) << slot % 64;
    order->words[(size_t)(slot >> AS_SLOT_LINE) * WORDS] += in_later_words(slot);
    return slot;
}

/* Signed numbers, because those compare in one instruction. */
static ALWAYS_INLINE void release(struct as_slot_order *order, uint32_t slot)
{
    uint32_t line = slot >> AS_SLOT_LINE, group = line >> AS_SLOT_GROUP;
    int16_t *lines = (int16_t *)order->lines + (line & ~(uint32_t)(GROUP - 1)), at = line % GROUP;
    order->words[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    order->words[(size_t)line * WORDS] -= in_later_words(slot);
    for (int16_t i = 0; i < GROUP; i++)
        lines[i] -= i > at;
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN) {
        int32_t *counts = (int32_t *)order->counts[level] + (group & ~(uint32_t)(FAN - 1)), in_group = group % FAN;
        for (int32_t i = 0; i < FAN; i++)
            counts[i] -= i > in_group;
    }
}

AS_FAST uint32_t as_slot_order_move(struct as_slot_order *order, uint32_t old)
{
    uint32_t slot = take_next(order);
    if (old)
        release(order, old);
    else
        order->taken++;
    return slot;
}

AS_FAST struct as_slot_moved as_slot_order_renew(struct as_slot_order *order, uint32_t old)
{
    uint32_t behind = order->taken - 1 - before(order, old);
    uint32_t slot = take_next(order);
    release(order, old);
    return (struct as_slot_moved){.slot = slot, .behind = behind};
}

AS_FAST void as_slot_order_drop(struct as_slot_order *order, uint32_t slot)
{
    order->taken--;
    release(order, slot);
}

AS_FAST uint32_t as_slot_order_renumber(const struct as_slot_order *order, uint32_t slot)
{
    return as_slot_order_number(before(order, slot));
}

/* The first n are taken now. */
void as_slot_order_squeeze(struct as_slot_order *order)
{
    uint32_t size = order->size, n = order->taken;
    unmake(order);
    while (size / SPARE < as_slot_order_number(n) && size < UINT32_C(1) << 31)
        size *= 2;
    make(order, size);
    order->next = as_slot_order_number(0);
    order->taken = 0;
    while (order->taken < n) {
        take_next(order);
        order->taken++;
    }
}
