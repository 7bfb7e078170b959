/* See sort.h. Keys are sorted with the places of their elements, a digit at a time, the lowest first; bits in which no two keys differ
 * are passed over. Elements move once, at the end. */
#include "base/sort.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, FEW = 64 };

struct keyed {
    uint64_t key;
    size_t at;
};

static size_t digit_of(const struct keyed *keyed, unsigned shift)
{
    return keyed->key >> shift & (DIGIT_VALUES - 1);
}

static void sort_by_digit(const struct keyed *from, size_t n, unsigned shift, struct keyed *to)
{
    size_t places[DIGIT_VALUES] = {0}, place = 0;
    for (size_t i = 0; i < n; i++)
        places[digit_of(&from[i], shift)]++;
    for (size_t value = 0; value < DIGIT_VALUES; value++) {
        size_t count = places[value];
        places[value] = place;
        place += count;
    }
    for (size_t i = 0; i < n; i++)
        to[places[digit_of(&from[i], shift)]++] = from[i];
}

/* Returns which of the two arrays has them sorted. */
static struct keyed *sort_many(struct keyed *keys, struct keyed *other, size_t n, uint64_t differing)
{
    while (differing) {
        unsigned shift = (unsigned)__builtin_ctzll(differing);
        sort_by_digit(keys, n, shift, other);
        struct keyed *sorted = other;
        other = keys;
        keys = sorted;
        differing &= ~((uint64_t)(DIGIT_VALUES - 1) << shift);
    }
    return keys;
}

static struct keyed *sort_few(struct keyed *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct keyed keyed = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1].key > keyed.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = keyed;
    }
    return keys;
}

void as_sort(void *elements, size_t n, size_t size, as_sort_key *key_of)
{
    struct keyed *keys = as_alloc_array(2 * n + 1, sizeof *keys);
    uint64_t differing = 0;
    size_t in_order = 1;
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct keyed){.key = key_of((const char *)elements + i * size), .at = i};
        differing |= keys[i].key ^ keys[0].key;
        in_order += i > 0 && keys[i].key >= keys[i - 1].key;
    }
    if (in_order < n) {
        const struct keyed *sorted = n < FEW ? sort_few(keys, n) : sort_many(keys, keys + n, n, differing);
        char *copy = as_alloc_array(n, size);
        memcpy(copy, elements, n * size);
        for (size_t i = 0; i < n; i++)
            memcpy((char *)elements + i * size, copy + sorted[i].at * size, size);
        free(copy);
    }
    free(keys);
}
