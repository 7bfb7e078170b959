/* What of a variable lies where, and where two places of it part: this program's own variables, by their types. */
#include "own_space.h"
#include "unit.h"

struct pair {
    uint32_t a;
    uint8_t b; /* three bytes of nothing behind it */
    uint64_t c;
};
struct box {
    char head[8];
    struct pair pairs[3];
    union {
        uint64_t whole;
        uint32_t halves[2];
    } either;
    struct { /* without a name */
        uint32_t left, right;
    };
    unsigned bits : 3, more : 9;
};
_Static_assert(sizeof(struct pair) == 16 && sizeof(struct box) == 80, "the numbers below");

volatile struct pair grid[2][3];
static volatile struct box box;
volatile uint32_t single;
volatile uint64_t list[5];

static struct as_space *space;

static uint64_t address(const volatile void *of, uint64_t offset)
{
    return (uint64_t)(uintptr_t)of + offset;
}

static void check_name(const volatile void *of, uint64_t offset, const char *wanted)
{
    char *name = as_space_member(space, address(of, offset));
    if (!name || strcmp(name, wanted) != 0)
        fail_msg("'%s' instead of '%s'", name ? name : "nothing", wanted);
    free(name);
}

static void names(void **state)
{
    static volatile uint16_t within[3]; /* of a function */
    within[1] = 1;
    check_name(grid, 0, "[0][0].a");
    check_name(grid, 2, "[0][0].a+2");
    check_name(grid, 4, "[0][0].b");
    check_name(grid, 5, "[0][0]+5");
    check_name(grid, 16, "[0][1].a");
    check_name(grid, 48, "[1][0].a");
    check_name(grid, 48 + 32 + 8, "[1][2].c");
    check_name(&box, 7, ".head[7]");
    check_name(&box, 8 + 16 + 8, ".pairs[1].c");
    check_name(&box, 56, ".either.whole");
    check_name(&box, 60, ".either.whole+4");
    check_name(&box, 68, ".right");
    check_name(&box, 72, ".bits"); /* the first of those in that byte */
    check_name(&box, 73, ".more+1");
    check_name(&box, 75, "+75");
    check_name(&single, 0, "");
    check_name(&single, 3, "+3");
    check_name(list, 39, "[4]+7");
    check_name(within, 2, "[1]");
    assert_int_equal(as_space_element(space, address(grid, 0)), 48);
    assert_int_equal(as_space_element(space, address(list, 0)), 8);
    assert_int_equal(as_space_element(space, address(&box, 0)), 0);
    assert_int_equal(as_space_element(space, address(&single, 0)), 0);
}

static void check_split(const volatile void *of, const uint64_t offsets[2], uint64_t line,
                        const struct as_member_split *wanted)
{
    struct as_member_split split;
    for (int turn = 0; turn < 2; turn++) { /* in either order */
        assert_true(as_space_split(space, address(of, offsets[turn]), address(of, offsets[!turn]), line, &split));
        assert_int_equal(split.part, wanted->part);
        assert_string_equal(split.name, wanted->name);
        assert_int_equal(split.bytes, wanted->bytes);
        assert_int_equal(split.padded, wanted->padded);
        assert_int_equal(split.whole, wanted->whole);
        assert_int_equal(split.whole_padded, wanted->whole_padded);
        free(split.name);
    }
}
#define OFFSETS(...) ((const uint64_t[2]){__VA_ARGS__})
#define SPLIT(...) (&(const struct as_member_split){__VA_ARGS__})

static void elements(void **state)
{
    check_split(list, OFFSETS(0, 8), 64, SPLIT(AS_PART_ELEMENTS, "", 8, 64, 40, 5 * 64));
    check_split(list, OFFSETS(0, 32), 128, SPLIT(AS_PART_ELEMENTS, "", 8, 128, 40, 5 * 128));
    check_split(grid, OFFSETS(8, 48), 64, SPLIT(AS_PART_ELEMENTS, "", 48, 64, 96, 2 * 64));
    check_split(grid, OFFSETS(48, 48 + 32), 64, SPLIT(AS_PART_ELEMENTS, "[1]", 16, 64, 96, 2 * 3 * 64));
    /* Eight bytes before the array take a line, and the 24 behind it another one. */
    check_split(&box, OFFSETS(8, 24), 64, SPLIT(AS_PART_ELEMENTS, ".pairs", 16, 64, 80, 64 + 3 * 64 + 64));
}

static void members(void **state)
{
    /* `c` of each begins a line of its own, so that a pair has two lines. */
    check_split(grid, OFFSETS(0, 8), 64, SPLIT(AS_PART_MEMBERS, "c", 16, 128, 96, 6 * 128));
    check_split(&box, OFFSETS(8 + 16, 8 + 16 + 8), 64, SPLIT(AS_PART_MEMBERS, "c", 16, 128, 80, 64 + 3 * 128 + 64));
    check_split(&box, OFFSETS(0, 8), 64, SPLIT(AS_PART_MEMBERS, "pairs", 80, 192, 80, 192)); /* 64 and 72 */
    check_split(&box, OFFSETS(0, 56), 16, SPLIT(AS_PART_MEMBERS, "either", 80, 96, 80, 96)); /* 64 and 24 */
}

static void not_apart(void **state)
{
    struct as_member_split split;
    assert_false(as_space_split(space, address(&box, 56), address(&box, 60), 64, &split)); /* a union */
    assert_false(as_space_split(space, address(&box, 0), address(&box, 72), 64, &split));  /* bits */
    assert_false(as_space_split(space, address(&single, 0), address(&single, 0), 64, &split));
    assert_false(as_space_split(space, address(&single, 0), address(list, 0), 64, &split));
    assert_false(as_space_split(space, address(grid, 5), address(grid, 6), 64, &split)); /* nothing lies there */
}

static int set_up(void **state)
{
    space = own_space();
    return 0;
}

static int tear_down(void **state)
{
    as_space_free(space);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(elements), cmocka_unit_test(members),
                                       cmocka_unit_test(not_apart)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
