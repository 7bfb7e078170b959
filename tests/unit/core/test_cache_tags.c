/* Tags against a plain reference: which numbers are there, and which one has to go, for both ways of keeping LRU and for
 * numbers of ways that do not fill a word of marks. */
#include "unit.h"

#include "bed_random.h"
#include "core/tags.h"

enum { MOST_SETS = 64, MOST_WAYS = 72, STEPS = 60000 };

/* The numbers of each set, the youngest first. */
struct reference {
    uint64_t numbers[MOST_SETS][MOST_WAYS];
    uint32_t count[MOST_SETS];
};

static uint32_t place_in(const uint64_t *numbers, uint32_t count, uint64_t number)
{
    uint32_t at = 0;
    while (at < count && numbers[at] != number)
        at++;
    return at;
}

static void take_out(uint64_t *numbers, uint32_t *count, uint32_t at)
{
    memmove(numbers + at, numbers + at + 1, (*count - at - 1) * sizeof *numbers);
    --*count;
}

static void put_first(uint64_t *numbers, uint32_t *count, uint64_t number)
{
    memmove(numbers + 1, numbers, *count * sizeof *numbers);
    numbers[0] = number;
    ++*count;
}

/* A number that is absent takes an empty slot, or that of the oldest. */
static void replace(struct as_tags *tags, uint64_t *numbers, uint32_t *count, uint64_t number)
{
    uint32_t slot = as_tags_victim(tags, number);
    if (*count == tags->ways) {
        assert_int_equal(tags->keys[slot], numbers[*count - 1] + 1);
        take_out(numbers, count, *count - 1);
    } else {
        assert_int_equal(tags->keys[slot], 0);
    }
    tags->flags[slot] = AS_TAGS_DIRTY;
    as_tags_put(tags, slot, number, (struct as_fetched){0});
    assert_int_equal(tags->entries[slot].key, number + 1);
    assert_int_equal(tags->flags[slot], 0);
    put_first(numbers, count, number);
}

static void step(struct as_tags *tags, struct reference *reference, uint64_t number, bool drops)
{
    uint64_t set = number & tags->set_mask, *numbers = reference->numbers[set];
    uint32_t *count = &reference->count[set], at = place_in(numbers, *count, number);
    uint32_t slot = as_tags_search(tags, number);
    assert_int_equal(slot != AS_TAGS_NONE, at < *count);
    assert_int_equal(as_tags_find(tags, number), slot);
    if (slot == AS_TAGS_NONE) {
        replace(tags, numbers, count, number);
        return;
    }
    assert_int_equal(tags->keys[slot], number + 1);
    take_out(numbers, count, at);
    if (drops) {
        as_tags_drop(tags, slot, number);
        return;
    }
    as_tags_use(tags, slot, number);
    put_first(numbers, count, number);
}

/* Numbers of a page table have high bits, too. */
static void run(uint32_t sets, uint32_t ways, bool many)
{
    static struct reference reference;
    struct as_tags tags;
    uint64_t seed = sets + ways;
    reference = (struct reference){0};
    as_tags_init(&tags, sets, ways, many);
    assert_int_equal(tags.stamps == NULL, many && ways <= AS_TAGS_ORDERED);
    for (int i = 0; i < STEPS; i++) {
        uint64_t number = bed_random(&seed) % ((uint64_t)sets * (ways + ways / 2 + 1));
        number |= bed_random(&seed) % 4 ? 0 : UINT64_C(1) << 62;
        as_tags_announce(&tags, number);
        step(&tags, &reference, number, bed_random(&seed) % 16 == 0);
    }
    as_tags_free(&tags);
}

static void keeps_the_youngest(void **state)
{
    static const struct {
        uint32_t sets, ways;
    } shapes[] = {{1, 1},  {64, 1}, {32, 2},  {16, 4}, {16, 8}, {8, 11},
                  {8, 12}, {4, 15}, {16, 16}, {2, 20}, {1, 32}, {1, 72}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        run(shapes[i].sets, shapes[i].ways, false);
        run(shapes[i].sets, shapes[i].ways, true);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_youngest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
