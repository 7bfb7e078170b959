/* See slot_order.h. */
#include "reuse/slot_order.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Counting bits and adding counts is what takes the time: with the instructions for it where the processor has them.
 * With LTO, clang 14 drops the symbol of a function that it has cloned. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define AS_FAST __attribute__((target_clones("avx2", "default")))
#else
#define AS_FAST
#endif

enum { LINE_SLOTS = 1 << AS_SLOT_LINE, WORDS = LINE_SLOTS / 64, FAN = 1 << AS_SLOT_FAN, SMALLEST = 1 << 16 };

static size_t counts_on(uint32_t size, int level)
{
    size_t groups = (size_t)size >> (AS_SLOT_LINE + AS_SLOT_FAN * level);
    return (groups + FAN) & ~(size_t)(FAN - 1); /* whole groups of FAN, and never none */
}

static void make(struct as_slot_order *order, uint32_t size)
{
    order->size = size;
    order->bits = as_alloc_array(size / 64, sizeof *order->bits);
    for (int level = 0; level < AS_SLOT_LEVELS; level++)
        order->counts[level] = as_alloc_array(counts_on(size, level), sizeof(uint32_t));
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
    for (int level = 0; level < AS_SLOT_LEVELS; level++)
        memcpy(to->counts[level], from->counts[level], counts_on(from->size, level) * sizeof(uint32_t));
}

void as_slot_order_free(struct as_slot_order *order)
{
    free(order->bits);
    free(order->ranks);
    for (int level = 0; level < AS_SLOT_LEVELS; level++)
        free(order->counts[level]);
    memset(order, 0, sizeof *order);
}

static inline __attribute__((always_inline)) uint32_t count_line(const uint64_t *words, uint32_t from)
{
    uint32_t first = from / 64, n = (uint32_t)__builtin_popcountll(words[first] >> from % 64);
    for (uint32_t i = first + 1; i < WORDS; i++)
        n += (uint32_t)__builtin_popcountll(words[i]);
    return n;
}

/* Those of a group's counts behind number `at` of it. All are read, so that there is no branch to mispredict. */
static inline __attribute__((always_inline)) uint32_t count_group(const uint32_t *group, uint32_t at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < FAN; i++)
        n += i > at ? group[i] : 0;
    return n;
}

AS_FAST uint32_t as_slot_order_behind(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t from = slot + 1, last = order->next - 1;
    if (from > last)
        return 0;
    uint32_t line = from >> AS_SLOT_LINE, end = last >> AS_SLOT_LINE;
    uint32_t n = count_line(order->bits + (size_t)line * WORDS, from % LINE_SLOTS);
    for (int level = 0; level < AS_SLOT_LEVELS && line != end; level++) {
        n += count_group(order->counts[level] + (line & ~(uint32_t)(FAN - 1)), line % FAN);
        line >>= AS_SLOT_FAN;
        end >>= AS_SLOT_FAN;
    }
    return n;
}

uint32_t as_slot_order_move(struct as_slot_order *order, uint32_t old)
{
    uint32_t slot = order->next++, from = old >> AS_SLOT_LINE, to = slot >> AS_SLOT_LINE;
    order->bits[slot / 64] |= UINT64_C(1) << slot % 64;
    if (!old) {
        order->taken++;
        for (int level = 0; level < AS_SLOT_LEVELS; level++, to >>= AS_SLOT_FAN)
            order->counts[level][to]++;
        return slot;
    }
    order->bits[old / 64] &= ~(UINT64_C(1) << old % 64);
    for (int level = 0; level < AS_SLOT_LEVELS && from != to; level++) {
        order->counts[level][from]--;
        order->counts[level][to]++;
        from >>= AS_SLOT_FAN;
        to >>= AS_SLOT_FAN;
    }
    return slot;
}

void as_slot_order_drop(struct as_slot_order *order, uint32_t slot)
{
    order->taken--;
    order->bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    slot >>= AS_SLOT_LINE;
    for (int level = 0; level < AS_SLOT_LEVELS; level++, slot >>= AS_SLOT_FAN)
        order->counts[level][slot]--;
}

void as_slot_order_squeeze(struct as_slot_order *order)
{
    uint32_t lines = order->size >> AS_SLOT_LINE, n = 0;
    order->ranks = as_realloc_array(order->ranks, lines, sizeof *order->ranks);
    for (uint32_t i = 0; i < lines; i++) {
        order->ranks[i] = n;
        n += order->counts[0][i];
    }
}

AS_FAST uint32_t as_slot_order_renumber(const struct as_slot_order *order, uint32_t slot)
{
    uint32_t line = slot >> AS_SLOT_LINE, in_line = slot % LINE_SLOTS;
    const uint64_t *words = order->bits + (size_t)line * WORDS;
    uint32_t n = order->ranks[line];
    for (uint32_t i = 0; i < in_line / 64; i++)
        n += (uint32_t)__builtin_popcountll(words[i]);
    n += (uint32_t)__builtin_popcountll(words[in_line / 64] & ((UINT64_C(1) << in_line % 64) - 1));
    return n + 1;
}

/* The taken ones are 1 to n now. */
void as_slot_order_squeezed(struct as_slot_order *order)
{
    uint32_t size = order->size, n = order->taken;
    free(order->bits);
    for (int level = 0; level < AS_SLOT_LEVELS; level++)
        free(order->counts[level]);
    free(order->ranks);
    order->ranks = NULL;
    while (size / 8 < n + 1 && size < UINT32_C(1) << 31) /* new numbers cost a walk over all uses: seldom */
        size *= 2;
    make(order, size);
    order->next = n + 1;
    for (uint32_t word = 0; word <= n / 64; word++)
        order->bits[word] = UINT64_MAX;
    order->bits[0] &= ~UINT64_C(1);
    order->bits[n / 64] &= UINT64_MAX >> (63 - n % 64);
    for (uint32_t slot = 1; slot <= n; slot++)
        order->counts[0][slot >> AS_SLOT_LINE]++;
    for (int level = 1; level < AS_SLOT_LEVELS; level++)
        for (size_t i = 0; i < counts_on(size, level - 1); i++)
            if (order->counts[level - 1][i])
                order->counts[level][i >> AS_SLOT_FAN] += order->counts[level - 1][i];
}
