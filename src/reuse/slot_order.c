/* See slot_order.h. */
#include "reuse/slot_order.h"

#include "reuse/huge.h"

#include <string.h>

/* Counting bits and changing a group's numbers is what takes the time: with the instructions for it where the processor has
 * them. With LTO, clang 14 drops the symbol of a function that it has cloned. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define AS_FAST __attribute__((target_clones("avx2", "default")))
#else
#define AS_FAST
#endif
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum {
    LINE_SLOTS = 1 << AS_SLOT_LINE,
    WORDS = LINE_SLOTS / 64,
    GROUP = 1 << AS_SLOT_GROUP,
    FAN = 1 << AS_SLOT_FAN,
    SMALLEST = 1 << 16
};

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
    order->bits = as_huge_alloc(size / 8);
    order->lines = as_huge_alloc(lines_of(size) * sizeof *order->lines);
    order->levels = 0;
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++) {
        order->counts[level] = as_huge_alloc(counts_on(size, level) * sizeof(uint32_t));
        order->levels += ((uint64_t)size - 1) >> (AS_SLOT_LINE + AS_SLOT_GROUP + AS_SLOT_FAN * level) > 0;
    }
}

static void unmake(struct as_slot_order *order)
{
    as_huge_free(order->bits, order->size / 8);
    as_huge_free(order->lines, lines_of(order->size) * sizeof *order->lines);
    for (uint32_t level = 0; level < AS_SLOT_LEVELS; level++)
        as_huge_free(order->counts[level], counts_on(order->size, level) * sizeof(uint32_t));
}

void as_slot_order_init(struct as_slot_order *order)
{
    *order = (struct as_slot_order){.next = 1};
    make(order, SMALLEST);
}

void as_slot_order_copy(struct as_slot_order *to, const struct as_slot_order *from)
{
    *to = (struct as_slot_order){.next = from->next, .taken = from->taken};
    make(to, from->size);
    memcpy(to->bits, from->bits, from->size / 8);
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

/* Taken ones in the slot's line before it. All words are read, so that there is no branch to mispredict. */
static ALWAYS_INLINE uint32_t before_in_line(const struct as_slot_order *order, uint32_t slot)
{
    const uint64_t *words = order->bits + (size_t)(slot >> AS_SLOT_LINE) * WORDS;
    uint32_t at = slot % LINE_SLOTS / 64, n = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        n += (uint32_t)__builtin_popcountll(i < at ? words[i] : 0);
    return n + (uint32_t)__builtin_popcountll(words[at] & ((UINT64_C(1) << slot % 64) - 1));
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
    uint32_t itself = order->bits[slot / 64] >> slot % 64 & 1;
    return order->taken - itself - before(order, slot);
}

/* ---- changes ---- */

/* The first slot of a line is about to be taken. */
static __attribute__((noinline)) void begin_line(struct as_slot_order *order, uint32_t line)
{
    uint32_t n = order->lines[line - 1];
    for (uint32_t i = 0; i < WORDS; i++)
        n += (uint32_t)__builtin_popcountll(order->bits[(size_t)(line - 1) * WORDS + i]);
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
    uint32_t slot = order->next++;
    if (__builtin_expect(slot % LINE_SLOTS == 0, 0))
        begin_line(order, slot >> AS_SLOT_LINE);
    order->bits[slot / 64] |= UINT64_C(1) << slot % 64;
    return slot;
}

static ALWAYS_INLINE void release(struct as_slot_order *order, uint32_t slot)
{
    uint32_t line = slot >> AS_SLOT_LINE, group = line >> AS_SLOT_GROUP;
    uint16_t *lines = order->lines + (line & ~(uint32_t)(GROUP - 1)), at = line % GROUP;
    order->bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    for (uint16_t i = 0; i < GROUP; i++)
        lines[i] -= i > at;
    for (uint32_t level = 0; level < order->levels; level++, group >>= AS_SLOT_FAN) {
        uint32_t *counts = order->counts[level] + (group & ~(uint32_t)(FAN - 1)), in_group = group % FAN;
        for (uint32_t i = 0; i < FAN; i++)
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
    return before(order, slot) + 1;
}

/* The taken ones are 1 to n now. */
void as_slot_order_squeeze(struct as_slot_order *order)
{
    uint32_t size = order->size, n = order->taken;
    unmake(order);
    while (size / 8 < n + 1 && size < UINT32_C(1) << 31) /* new numbers cost a walk over all uses: seldom */
        size *= 2;
    make(order, size);
    order->next = n + 1;
    for (uint32_t word = 0; word <= n / 64; word++)
        order->bits[word] = UINT64_MAX;
    order->bits[0] &= ~UINT64_C(1);
    order->bits[n / 64] &= UINT64_MAX >> (63 - n % 64);
    for (uint32_t line = 1; line <= n >> AS_SLOT_LINE; line++)
        begin_line(order, line);
}
