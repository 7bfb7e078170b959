/* Binary search against a look at every element. */
#include "base/search.h"

#include "unit.h"

enum { MOST = 40 };

static size_t look(const int *items, size_t n, int wanted)
{
    size_t at = 0;
    while (at < n && items[at] < wanted)
        at++;
    return at;
}

static void as_by_looking(void **state)
{
    int items[MOST];
    for (size_t n = 0; n <= MOST; n++) {
        for (size_t i = 0; i < n; i++)
            items[i] = (int)(i / 3 * 2); /* with duplicates and gaps */
        for (int wanted = -1; wanted <= (int)MOST; wanted++)
            assert_int_equal(as_search(0, n, i, items[i] < wanted), look(items, n, wanted));
    }
}

static void of_a_part(void **state)
{
    const int items[] = {9, 1, 2, 3, 0};
    assert_int_equal(as_search(1, (size_t)4, i, items[i] < 3), 3);
    assert_int_equal(as_search(1, (size_t)4, i, items[i] < 9), 4);
    assert_int_equal(as_search(1, (size_t)4, i, items[i] < 1), 1);
    assert_int_equal(as_search(4, (size_t)4, i, items[i] < 1), 4);
}

/* No sum of two bounds overflows. */
static void of_large_numbers(void **state)
{
    uint64_t wanted = UINT64_MAX - 3;
    assert_true(as_search(UINT64_MAX / 2, UINT64_MAX, i, i < wanted) == wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_by_looking),
        cmocka_unit_test(of_a_part),
        cmocka_unit_test(of_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
