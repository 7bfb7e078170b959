/* The hash maps against a plain array as reference, with keys that collide and keys that are special. */
#include "unit.h"

#include "base/map.h"

#include "base/random.h"

#include <stdbool.h>
#include <stdio.h>

static void finds_nothing_in_an_empty_map(void **state)
{
    struct as_map map = {0};
    assert_null(as_map_get(&map, 0));
    assert_false(as_map_remove(&map, 0));
    as_map_free(&map);
}

static void takes_any_key(void **state)
{
    struct as_map map = {0};
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(*as_map_put(&map, keys[i]), 0);
        *as_map_put(&map, keys[i]) = i + 10;
    }
    assert_int_equal(map.len, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(*as_map_get(&map, keys[i]), i + 10);
    assert_null(as_map_get(&map, 2));
    as_map_free(&map);
}

/* A few hundred keys, put and removed at random: runs of collisions form and are taken apart. */
static void agrees_with_an_array(void **state)
{
    enum { KEYS = 300, STEPS = 100000 };
    static uint64_t value[KEYS];
    static bool present[KEYS];
    struct as_map map = {0};
    uint64_t seed = 1;
    size_t count = 0;
    for (int step = 1; step <= STEPS; step++) {
        uint64_t index = as_random(&seed) % KEYS, key = index << 12;
        if (as_random(&seed) % 3 == 0) {
            assert_int_equal(as_map_remove(&map, key), present[index]);
            count -= present[index];
            present[index] = false;
        } else {
            uint64_t *place = as_map_put(&map, key);
            assert_int_equal(*place, present[index] ? value[index] : 0);
            count += !present[index];
            present[index] = true;
            *place = value[index] = (uint64_t)step;
        }
        uint64_t probe = as_random(&seed) % KEYS, *found = as_map_get(&map, probe << 12);
        assert_int_equal(found != NULL, present[probe]);
        if (found)
            assert_int_equal(*found, value[probe]);
        assert_int_equal(map.len, count);
    }
    as_map_free(&map);
    assert_int_equal(map.cap, 0);
}

/* Addresses of code: multiples of 4 and of a page. A poor hash would make runs as long as the table. */
static void spreads_regular_keys(void **state)
{
    for (int shift = 0; shift <= 44; shift += 4) {
        struct as_map map = {0};
        for (uint64_t i = 0; i < 4096; i++)
            as_map_put(&map, i << shift);
        size_t run = 0, longest = 0;
        for (size_t i = 0; i < map.cap; i++) {
            run = map.slots[i].used ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        assert_true(longest < 200);
        as_map_free(&map);
    }
}

static void interns_densely(void **state)
{
    struct as_strings *strings = as_strings_new();
    const char *first = NULL;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            char text[20];
            snprintf(text, sizeof text, "name-%u", i);
            assert_int_equal(as_strings_intern(strings, text), i);
            assert_string_equal(as_strings_get(strings, i), text);
        }
        first = first ? first : as_strings_get(strings, 0);
        assert_ptr_equal(as_strings_get(strings, 0), first);
    }
    assert_int_equal(as_strings_count(strings), 5000);
    assert_int_equal(as_strings_intern(strings, ""), 5000);
    assert_string_equal(as_strings_get(strings, 5000), "");
    assert_null(as_strings_get(strings, 5001));
    as_strings_free(strings);
    as_strings_free(NULL);
}

static void hashes_every_byte(void **state)
{
    unsigned char bytes[40] = {0};
    uint64_t plain = as_hash_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        assert_int_not_equal(as_hash_bytes(bytes, sizeof bytes), plain);
        bytes[i] = 0;
        assert_int_not_equal(as_hash_bytes(bytes, i), plain);
    }
}

static void tells_counts_apart(void **state)
{
    struct as_map first = {0}, second = {0};
    assert_float_equal(as_map_apart(&first, &second), 0, 0);
    *as_map_put(&first, 1) = 60;
    *as_map_put(&first, 2) = 40;
    assert_float_equal(as_map_apart(&first, &first), 0, 0);
    *as_map_put(&second, 1) = 50;
    *as_map_put(&second, 2) = 40;
    *as_map_put(&second, 3) = 10;
    assert_float_equal(as_map_apart(&first, &second), 0.1, 1e-6);
    *as_map_put(&second, 3) = 910;
    assert_float_equal(as_map_apart(&first, &second), 0.46, 1e-6); /* a part of the larger one: never above 1 */
    as_map_free(&second);
    assert_float_equal(as_map_apart(&first, &second), 0.5, 1e-6);
    as_map_free(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nothing_in_an_empty_map),
        cmocka_unit_test(takes_any_key),
        cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(spreads_regular_keys),
        cmocka_unit_test(interns_densely),
        cmocka_unit_test(hashes_every_byte),
        cmocka_unit_test(tells_counts_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
