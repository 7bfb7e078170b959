/* Lists of ranges: what goes on becomes one, what is cut keeps its names, and tables of processes. */
#include "base/alloc.h"
#include "model/process_ranges.h"

#include "unit.h"

/* The list is exactly these. */
static void check(const struct as_range_list *list, size_t n, const struct as_shared_range *expected)
{
    assert_int_equal(list->len, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list->data[i].start, expected[i].start);
        assert_int_equal(list->data[i].end, expected[i].end);
        assert_int_equal(list->data[i].physical, expected[i].physical);
    }
}

#define CHECK(list, ...)                                                                                               \
    check(list, sizeof((struct as_shared_range[]){__VA_ARGS__}) / sizeof(struct as_shared_range),                      \
          (const struct as_shared_range[]){__VA_ARGS__})

static void insert(struct as_range_list *list, uint64_t start, uint64_t end, uint64_t physical)
{
    as_range_list_insert(list, (struct as_shared_range){start, end, physical});
}

static void neighbours_become_one(void **state)
{
    struct as_range_list list = {0};
    insert(&list, 50, 50, 7); /* empty */
    assert_int_equal(list.len, 0);
    insert(&list, 40, 50, 1040);
    insert(&list, 10, 20, 1010);
    CHECK(&list, {10, 20, 1010}, {40, 50, 1040});
    insert(&list, 20, 25, 1020); /* goes on behind one */
    CHECK(&list, {10, 25, 1010}, {40, 50, 1040});
    insert(&list, 35, 40, 1035); /* before one */
    CHECK(&list, {10, 25, 1010}, {35, 50, 1035});
    insert(&list, 25, 35, 1025); /* between both */
    CHECK(&list, {10, 50, 1010});
    insert(&list, 50, 60, 2050); /* another name */
    insert(&list, 5, 10, 1004);
    CHECK(&list, {5, 10, 1004}, {10, 50, 1010}, {50, 60, 2050});
    insert(&list, 61, 70, 2061); /* not adjacent */
    insert(&list, 0, 4, 999);
    CHECK(&list, {0, 4, 999}, {5, 10, 1004}, {10, 50, 1010}, {50, 60, 2050}, {61, 70, 2061});
    as_vec_free(&list);
}

static void borders(void **state)
{
    struct as_range_list list = {0};
    insert(&list, 10, 20, 10);
    insert(&list, 30, 40, 130);
    const struct {
        uint64_t address;
        size_t behind;
        bool has;
    } at[] = {{0, 0, false},  {9, 0, false}, {10, 0, true}, {19, 0, true},
              {20, 1, false}, {30, 1, true}, {39, 1, true}, {40, 2, false}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_int_equal(as_range_list_behind(&list, at[i].address), at[i].behind);
        assert_int_equal(as_range_list_has(&list, at[i].address), at[i].has);
    }
    struct as_shared_range part = as_range_part(list.data[1], 33, 35);
    assert_true(part.start == 33 && part.end == 35 && part.physical == 133);
    part = as_range_part(list.data[1], 0, UINT64_MAX);
    assert_true(part.start == 30 && part.end == 40 && part.physical == 130);
    as_vec_free(&list);
}

static void cuts(void **state)
{
    struct as_range_list list = {0};
    insert(&list, 10, 20, 1010);
    insert(&list, 30, 40, 2030);
    insert(&list, 50, 60, 3050);
    as_range_list_cut(&list, 20, 30); /* nothing is there */
    as_range_list_cut(&list, 15, 15);
    as_range_list_cut(&list, 35, 33);
    CHECK(&list, {10, 20, 1010}, {30, 40, 2030}, {50, 60, 3050});
    as_range_list_cut(&list, 13, 16); /* within one */
    CHECK(&list, {10, 13, 1010}, {16, 20, 1016}, {30, 40, 2030}, {50, 60, 3050});
    as_range_list_cut(&list, 18, 55); /* the end of one, all of the next, the beginning of the third */
    CHECK(&list, {10, 13, 1010}, {16, 18, 1016}, {55, 60, 3055});
    as_range_list_cut(&list, 10, 13); /* all of it, and no more */
    CHECK(&list, {16, 18, 1016}, {55, 60, 3055});
    as_range_list_cut(&list, 0, UINT64_MAX);
    assert_int_equal(list.len, 0);
    as_vec_free(&list);
}

struct own {
    struct as_process_ranges memory;
    char *text;
};

static void release(void *process)
{
    free(((struct own *)process)->text);
}

static void processes(void **state)
{
    struct as_process_table table = {.size = sizeof(struct own)};
    struct own *seven = as_process_table_get(&table, 7), *three = as_process_table_get(&table, 3);
    assert_true(seven != three && seven->memory.number == 7 && three->memory.number == 3);
    assert_ptr_equal(as_process_table_get(&table, 7), seven);
    assert_ptr_equal(as_process_table_find(&table, 3), three);
    assert_null(as_process_table_find(&table, 4));
    assert_int_equal(table.list.len, 2);
    seven->text = malloc(8); /* the sanitizer build notices if it is not released */
    insert(&seven->memory.list, 10, 20, 10);
    insert(&seven->memory.list, 30, 45, 130);
    as_process_ranges_refresh(&seven->memory);
    assert_true(seven->memory.ranges.low == 10 && seven->memory.ranges.span == 35 && seven->memory.ranges.n == 2);
    assert_int_equal(as_shared_physical(&seven->memory.ranges, 44), 144);
    assert_int_equal(as_shared_physical(&seven->memory.ranges, 25), 25);
    as_range_list_cut(&seven->memory.list, 0, 100);
    as_process_ranges_refresh(&seven->memory);
    assert_true(seven->memory.ranges.low == 0 && seven->memory.ranges.span == 0 && seven->memory.ranges.n == 0);
    as_process_table_free(&table, release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_become_one), cmocka_unit_test(borders),
                                       cmocka_unit_test(cuts), cmocka_unit_test(processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
