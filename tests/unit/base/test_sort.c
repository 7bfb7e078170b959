/* Sorting by a number against the library's sort by number and then place. */
#include "base/sort.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };

struct element {
    uint32_t place;
    uint64_t key;
    char more[3];
};

static uint64_t key_of(const void *element)
{
    return ((const struct element *)element)->key;
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static uint64_t next_random(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Keys with these bits alone. */
static void check(size_t n, uint64_t bits)
{
    static struct element own[MOST], other[MOST];
    memset(own, 0, sizeof own);
    for (size_t i = 0; i < n; i++) {
        own[i].place = (uint32_t)i;
        own[i].key = next_random() & bits;
        own[i].more[2] = (char)i;
    }
    memcpy(other, own, sizeof own);
    as_sort(own, n, sizeof *own, key_of);
    qsort(other, n, sizeof *other, by_key_and_place);
    assert_memory_equal(own, other, sizeof own);
}

static void as_the_library(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 63, 64, 65, 1000, MOST};
    static const uint64_t bits[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63 | 1, 0x7ff, 0xfff, 0xff00ff00ff00, 3ull << 62};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t j = 0; j < sizeof bits / sizeof *bits; j++)
            check(counts[i], bits[j]);
}

/* The last two alone are not in order. */
static void nearly_in_order(void **state)
{
    struct element own[100] = {0};
    for (uint32_t i = 0; i < 100; i++)
        own[i] = (struct element){.place = i, .key = i};
    own[99].key = 97;
    as_sort(own, 100, sizeof *own, key_of);
    assert_int_equal(own[97].place, 97);
    assert_int_equal(own[98].place, 99);
    assert_int_equal(own[99].place, 98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_library), cmocka_unit_test(nearly_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
