/* Records by granule against a plain table, for granules side by side and for those megabytes apart; and the memory that they take. */
#include "unit.h"

#include "base/map.h"
#include "base/random.h"
#include "reuse/granules.h"

enum { TOUCHES = UNIT_SANITIZED ? 20000 : 200000, REGION = 1 << (AS_GRANULES_LEAF + AS_GRANULES_REGION) };

struct visited {
    const struct as_map *truth;
    uint64_t records;
};

static void compare_leaf(void *context, uint64_t first, void *records, size_t n)
{
    struct visited *visited = context;
    const uint64_t *values = records;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *want = as_map_get(visited->truth, first + i);
        assert_int_equal(values[i], want ? *want : 0);
        visited->records += values[i] != 0;
    }
}

/* Regions that have one leaf, a list of a few, and a table; 300 of them, so that most begin as lists. */
static uint64_t next_key(uint64_t *seed)
{
    uint64_t region = as_random_below(seed, 300), leaves = region % 3 == 0 ? 1 : region % 3 == 1 ? 40 : 2000;
    return region * REGION + (as_random_below(seed, leaves) << AS_GRANULES_LEAF) + as_random_below(seed, 3);
}

static void same_as_a_table(void **state)
{
    struct as_granules granules;
    struct as_map truth = {0};
    uint64_t seed = 7;
    as_granules_init(&granules, sizeof(uint64_t));
    for (int i = 0; i < TOUCHES; i++) {
        uint64_t key = next_key(&seed), other = next_key(&seed);
        ++*(uint64_t *)as_granules_put(&granules, key);
        ++*as_map_put(&truth, key);
        const uint64_t *found = as_granules_get(&granules, other), *want = as_map_get(&truth, other);
        assert_int_equal(found ? *found : 0, want ? *want : 0);
    }
    struct visited visited = {.truth = &truth};
    as_granules_each(&granules, compare_leaf, &visited);
    assert_int_equal(visited.records, truth.len);
    as_granules_free(&granules);
    as_map_free(&truth);
}

/* The place of a leaf that is not made yet stays where it is while `moves` does. */
static void places_move_with_the_count(void **state)
{
    enum { REGIONS = 100 };
    struct as_granules granules;
    as_granules_init(&granules, sizeof(uint64_t));
    for (uint64_t region = 0; region < REGIONS; region++) {
        char **leaf = as_granules_leaf(&granules, region * REGION);
        for (uint64_t other = 1; other < 100; other++) {
            uint64_t moves = granules.moves;
            as_granules_leaf(&granules, region * REGION + (other << AS_GRANULES_LEAF));
            char **now = as_granules_leaf(&granules, region * REGION);
            assert_true(now == leaf || granules.moves > moves);
            leaf = now;
        }
    }
    assert_int_equal(granules.moves, 2 * (REGIONS - 64)); /* the others have tables from the start */
    as_granules_free(&granules);
}

/* One granule in each 8 MiB of lines: as many bytes a granule as where they lie a page apart, not a table each. */
static void memory_of_huge_steps(void **state)
{
    enum { GRANULES = 20000 };
    struct as_granules granules;
    as_granules_init(&granules, 16);
    for (uint64_t i = 0; i < GRANULES; i++)
        as_granules_put(&granules, i * REGION);
    assert_true(as_granules_bytes(&granules) < (2 << 20) + GRANULES * 400);
    as_granules_free(&granules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_a_table), cmocka_unit_test(places_move_with_the_count),
                                       cmocka_unit_test(memory_of_huge_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
