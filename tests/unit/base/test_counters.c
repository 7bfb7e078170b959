/* The table of counters, and how those of two cores add up: against numbers written down here. */
#include "base/counters.h"

#include "unit.h"

static void names_are_unique_and_wholes_exist(void **state)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        assert_ptr_equal(as_counter_find(counter->name), counter);
        assert_int_equal(counter->whole != NULL, counter->of != NULL);
        if (counter->whole)
            assert_non_null(as_counter_find(counter->whole));
    }
    assert_null(as_counter_find("teapots"));
}

static void values_are_where_the_table_says(void **state)
{
    struct as_counters counters = {.instructions = 7, .dram_row_hits = 9, .kernel_cycles = 11};
    assert_int_equal(as_counter_value(&counters, as_counter_find("instructions")), 7);
    assert_int_equal(as_counter_value(&counters, as_counter_find("dram_row_hits")), 9);
    assert_int_equal(as_counter_value(&counters, as_counter_find("kernel_cycles")), 11);
    assert_int_equal(sizeof counters, as_counter_count * sizeof(uint64_t));
}

/* What comes later on the same core is added, each counter by itself; what was before is taken off again. */
static void later_counters_are_appended(void **state)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        struct as_counters first = {0}, later = {0};
        if (counter->adds == AS_COUNTER_DERIVED)
            continue;
        memcpy((char *)&first + i * sizeof(uint64_t), &(uint64_t){40}, sizeof(uint64_t));
        memcpy((char *)&later + i * sizeof(uint64_t), &(uint64_t){2}, sizeof(uint64_t));
        assert_int_equal(as_counter_value(&first, counter), 40);
        as_counters_append(&first, &later);
        assert_int_equal(as_counter_value(&first, counter), 42);
        as_counters_subtract(&first, &later, counter->adds);
        assert_int_equal(as_counter_value(&first, counter), 40);
    }
}

static void own_counters_are_summed(void **state)
{
    struct as_counters total = {0}, first = {.uops = 3, .l1d_prefetches = 5, .walk_accesses = 8, .l2_merges = 1},
                       second = {.uops = 4, .l1d_prefetches = 2, .walk_accesses = 4, .l2_merges = 6};
    as_counters_add(&total, &first);
    as_counters_add(&total, &second);
    assert_int_equal(total.uops, 7);
    assert_int_equal(total.l1d_prefetches, 7);
    assert_int_equal(total.walk_accesses, 12);
    assert_int_equal(total.l2_merges, 7);
}

/* The core that stopped last has seen everything of what they share, in whichever order the two are added. */
static void shared_counters_are_taken_once(void **state)
{
    struct as_counters early = {.llc_misses = 10, .dram_reads = 12, .elapsed_cycles = 100},
                       late = {.llc_misses = 30, .dram_reads = 33, .elapsed_cycles = 250};
    for (int swapped = 0; swapped < 2; swapped++) {
        struct as_counters total = {0};
        as_counters_add(&total, swapped ? &late : &early);
        as_counters_add(&total, swapped ? &early : &late);
        assert_int_equal(total.llc_misses, 30);
        assert_int_equal(total.dram_reads, 33);
        assert_int_equal(total.elapsed_cycles, 250);
    }
}

static void derived_counters_follow_from_the_sums(void **state)
{
    struct as_counters total = {0},
                       one = {.l1i_prefetches = 1, .l1d_prefetches = 2, .l2_prefetches = 4, .llc_prefetches = 8};
    one.dram_reads = 20;
    one.dram_writes = 3;
    as_counters_derive(&one);
    assert_int_equal(one.prefetches, 15);
    assert_int_equal(one.dram_requests, 23);
    as_counters_add(&total, &one);
    as_counters_add(&total, &one);
    assert_int_equal(total.prefetches, 2 * (1 + 2 + 4) + 8);
    assert_int_equal(total.dram_requests, 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_wholes_exist), cmocka_unit_test(values_are_where_the_table_says),
        cmocka_unit_test(later_counters_are_appended),       cmocka_unit_test(own_counters_are_summed),
        cmocka_unit_test(shared_counters_are_taken_once),    cmocka_unit_test(derived_counters_follow_from_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
