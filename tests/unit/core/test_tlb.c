/* TLB reach, walks to the cycle, first touches. The data cache is warm wherever only translation is looked at. */
#include "unit.h"

#include "memory_bed.h"

enum { BASE = 0x4000000, LEVELS = 3, SECOND = 7 };

/* 4 entries, an L2 TLB of 16, three levels. */
static struct as_machine small_tlbs(void)
{
    struct as_machine machine = bed_machine();
    machine.memory.itlb = machine.memory.dtlb = (struct as_tlb_machine){.entries = 4, .ways = 4};
    machine.memory.l2tlb = (struct as_tlb_machine){.entries = 16, .ways = 1, .latency = SECOND};
    machine.memory.walk_levels = LEVELS;
    return machine;
}

static struct as_memory_answer translate(struct bed *bed, uint64_t cycle, uint64_t page)
{
    return as_memory_translate(bed->memory, cycle, BASE + page * BED_PAGE);
}

/* Neighbouring pages share the lines of all three tables: after one walk the others find them in L2. */
static uint64_t walk_one(struct bed *bed)
{
    translate(bed, 1, 0);
    return 10000;
}

static void knows_as_many_pages_as_entries(void **state)
{
    for (uint64_t pages = 4; pages <= 5; pages++) {
        struct bed bed = bed_open(small_tlbs());
        uint64_t cycle = 1;
        for (uint64_t i = 0; i < 10 * pages; i++)
            cycle = translate(&bed, cycle + 1, i % pages).done;
        assert_int_equal(bed_count(&bed).dtlb_misses, pages == 4 ? 4 : 50);
        assert_int_equal(bed_count(&bed).page_walks, pages);
        assert_int_equal(bed_count(&bed).l2tlb_misses, pages);
        bed_close(&bed);
    }
}

static void takes_one_access_a_level(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t t = walk_one(&bed);
    struct as_memory_answer walked = translate(&bed, t, 1);
    assert_int_equal(walked.done, t + SECOND + LEVELS * BED_L2);
    assert_int_equal(walked.events, AS_EVENT_ST_TLB);
    struct as_memory_answer again = translate(&bed, walked.done, 1);
    assert_int_equal(again.done, walked.done);
    assert_int_equal(again.events, 0);
    assert_int_equal(bed_count(&bed).walk_accesses, 2 * LEVELS);
    bed_close(&bed);
}

/* Eight entries of 8 bytes are a line: the ninth page's lowest table lies in another one, from memory. */
static void caches_page_tables_by_line(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t t = walk_one(&bed);
    assert_int_equal(translate(&bed, t, 7).done, t + SECOND + LEVELS * BED_L2);
    uint64_t far = translate(&bed, t + 1000, 8).done - (t + 1000);
    assert_int_equal(far, SECOND + LEVELS * BED_L2 + BED_LLC + BED_ROW_HIT);
    bed_close(&bed);
}

/* At page 0 all indices are 0: the tables are still different lines. */
static void keeps_the_tables_apart(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    as_memory_translate(bed.memory, 1, 0);
    assert_int_equal(bed_count(&bed).dram_reads, LEVELS);
    bed_close(&bed);
}

/* A page that is used between any two others stays, for data and for code. */
static void replaces_the_least_recently_used(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t cycle = 10000;
    for (uint64_t page = 0; page < 20; page++) {
        bed_load(&bed, cycle += 1000, BASE);
        as_memory_fetch(bed.memory, cycle, BASE);
        bed_load(&bed, cycle += 1000, BASE + page * (BED_PAGE + BED_LINE));
        as_memory_fetch(bed.memory, cycle, BASE + page * (BED_PAGE + BED_LINE));
    }
    assert_int_equal(bed_count(&bed).dtlb_misses, 20);
    assert_int_equal(bed_count(&bed).itlb_misses, 20);
    bed_close(&bed);
}

static void finds_old_pages_in_the_second_level(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    walk_one(&bed);
    for (uint64_t page = 1; page <= 4; page++)
        translate(&bed, 10000 * page, page);
    struct as_memory_answer old = translate(&bed, 90000, 0);
    assert_int_equal(old.done, 90000 + SECOND);
    assert_int_equal(old.events, AS_EVENT_ST_TLB);
    translate(&bed, 100000, 16); /* direct-mapped: takes the place of page 0 there */
    for (uint64_t page = 1; page <= 4; page++)
        translate(&bed, 100000 + 10000 * page, page);
    assert_int_equal(translate(&bed, 200000, 0).done, 200000 + SECOND + LEVELS * BED_L2);
    bed_close(&bed);
}

static void waits_for_a_walk_under_way(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t t = walk_one(&bed), walks = bed_count(&bed).page_walks;
    uint64_t done = translate(&bed, t, 1).done;
    struct as_memory_answer second = translate(&bed, t + 3, 1);
    assert_int_equal(second.done, done);
    assert_int_equal(second.events, AS_EVENT_ST_TLB);
    /* a later instruction, an earlier cycle: its own walk, as long as that one */
    assert_int_equal(translate(&bed, t - 500, 1).done, t - 500 + SECOND + LEVELS * BED_L2);
    assert_int_equal(bed_count(&bed).page_walks - walks, 1);
    bed_close(&bed);
}

static void walks_as_many_as_there_are_walkers(void **state)
{
    for (uint32_t walkers = 1; walkers <= 2; walkers++) {
        struct as_machine machine = small_tlbs();
        machine.memory.walkers = walkers;
        struct bed bed = bed_open(machine);
        uint64_t t = walk_one(&bed), walk = LEVELS * BED_L2;
        assert_int_equal(translate(&bed, t, 1).done, t + SECOND + walk);
        assert_int_equal(translate(&bed, t, 2).done, t + SECOND + (walkers == 1 ? 2 : 1) * walk);
        assert_int_equal(translate(&bed, t, 3).done, t + SECOND + (walkers == 1 ? 3 : 2) * walk);
        bed_close(&bed);
    }
}

static void adds_the_walk_to_the_access(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t t = walk_one(&bed);
    bed_load(&bed, t, BASE + BED_PAGE);
    for (uint64_t page = 2; page <= 5; page++)
        translate(&bed, t + 1000 * page, page);
    struct as_memory_answer load = bed_ask(&bed, AS_MEMORY_LOAD, t + 9000, BASE + BED_PAGE);
    assert_int_equal(load.done, t + 9000 + SECOND + BED_L1);
    assert_int_equal(load.events, AS_EVENT_ST_TLB);
    /* stores were translated when they executed */
    for (uint64_t page = 2; page <= 5; page++)
        translate(&bed, t + 10000 + page, page);
    assert_int_equal(bed_ask(&bed, AS_MEMORY_STORE, t + 20000, BASE + BED_PAGE).done, t + 20000);
    bed_close(&bed);
}

static void does_without_a_second_level(void **state)
{
    struct as_machine machine = small_tlbs();
    machine.memory.l2tlb = (struct as_tlb_machine){0};
    struct bed bed = bed_open(machine);
    uint64_t t = walk_one(&bed);
    assert_int_equal(translate(&bed, t, 1).done, t + LEVELS * BED_L2);
    assert_int_equal(bed_count(&bed).l2tlb_misses, 0);
    bed_close(&bed);
}

static void is_shared_by_code_in_the_second_level(void **state)
{
    struct bed bed = bed_open(small_tlbs());
    uint64_t t = walk_one(&bed);
    translate(&bed, t, 1);
    uint64_t walks = bed_count(&bed).page_walks;
    struct as_memory_answer fetch = as_memory_fetch(bed.memory, t + 1000, BASE + BED_PAGE);
    assert_true(fetch.events & AS_EVENT_DR_TLB);
    assert_int_equal(bed_count(&bed).page_walks, walks);
    assert_int_equal(bed_count(&bed).itlb_misses, 1);
    bed_close(&bed);
}

/* ---- first touches ---- */

static struct as_machine with_faults(void)
{
    struct as_machine machine = small_tlbs();
    machine.memory.fault_cycles = 1000;
    return machine;
}

static void faults_once_a_page(void **state)
{
    struct bed bed = bed_open(with_faults());
    uint64_t cycle = 1;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t address = BASE + i % 20 * BED_PAGE + i * 8;
        struct as_memory_answer answer = bed_ask(&bed, AS_MEMORY_LOAD, cycle, address);
        assert_int_equal(answer.fault, i < 20);
        if (answer.fault) {
            assert_int_equal(answer.events, AS_EVENT_ST_TLB);
            answer = bed_ask(&bed, AS_MEMORY_LOAD, answer.done + 1000, address);
            assert_false(answer.fault);
        }
        cycle = answer.done;
    }
    assert_int_equal(bed_count(&bed).page_faults, 20);
    assert_true(translate(&bed, cycle, 30).fault); /* stores too, when they are translated */
    assert_false(translate(&bed, cycle, 30).fault);
    bed_close(&bed);
}

static void does_not_fault_for_code_and_prefetches(void **state)
{
    struct bed bed = bed_open(with_faults());
    assert_false(as_memory_fetch(bed.memory, 100, BASE).fault);
    assert_false(bed_ask(&bed, AS_MEMORY_PREFETCH, 5000, BASE + BED_PAGE).fault);
    assert_int_equal(bed_count(&bed).l1d_prefetches, 0); /* … which is dropped */
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, 10000, BASE + BED_PAGE).fault);
    assert_int_equal(bed_count(&bed).page_faults, 1);
    bed_close(&bed);
}

static void shares_pages_within_a_process_only(void **state)
{
    struct as_machine machine = with_faults();
    struct bed bed = bed_open(machine);
    struct as_memory *thread = as_memory_new(&machine, bed.uncore, 1), *other = as_memory_new(&machine, bed.uncore, 2);
    as_memory_set_process(other, 1);
    assert_true(translate(&bed, 1, 0).fault);
    assert_false(as_memory_translate(thread, 1000, BASE).fault);
    assert_true(as_memory_translate(other, 1000, BASE).fault);
    as_memory_free(thread);
    as_memory_free(other);
    bed_close(&bed);
}

static void translates_both_pages_of_an_access(void **state)
{
    struct bed bed = bed_open(with_faults());
    uint64_t address = BASE + BED_PAGE - 4;
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, 1000, address).fault);
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, 2000, address).fault);
    assert_false(bed_ask(&bed, AS_MEMORY_LOAD, 3000, address).fault);
    assert_int_equal(bed_count(&bed).page_faults, 2);
    assert_int_equal(bed_count(&bed).l1d_misses, 2);
    bed_close(&bed);
}

/* Pages that were touched unseen do not fault, in their own process alone. */
static void knows_pages_that_were_touched_unseen(void **state)
{
    struct as_machine machine = small_tlbs();
    machine.memory.fault_cycles = 100;
    struct bed bed = bed_open(machine), other = bed_open(machine);
    as_memory_set_process(bed.memory, 3);
    as_memory_set_process(other.memory, 3);
    as_uncore_touch(bed.uncore, &bed.machine, 3, BASE, BASE + 2 * BED_PAGE);
    as_uncore_touch(bed.uncore, &bed.machine, 4, BASE + 2 * BED_PAGE, BASE + 3 * BED_PAGE);
    assert_false(translate(&bed, 1, 0).fault);
    assert_false(translate(&bed, 1, 1).fault);
    assert_true(translate(&bed, 1, 2).fault);
    assert_true(translate(&bed, 1, 3).fault);
    as_uncore_copy(other.uncore, bed.uncore);
    assert_false(translate(&other, 1, 1).fault);
    assert_false(translate(&other, 1, 3).fault);
    assert_true(translate(&other, 1, 4).fault);
    bed_close(&bed);
    bed_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_as_many_pages_as_entries),
        cmocka_unit_test(takes_one_access_a_level),
        cmocka_unit_test(caches_page_tables_by_line),
        cmocka_unit_test(keeps_the_tables_apart),
        cmocka_unit_test(replaces_the_least_recently_used),
        cmocka_unit_test(finds_old_pages_in_the_second_level),
        cmocka_unit_test(waits_for_a_walk_under_way),
        cmocka_unit_test(walks_as_many_as_there_are_walkers),
        cmocka_unit_test(adds_the_walk_to_the_access),
        cmocka_unit_test(does_without_a_second_level),
        cmocka_unit_test(knows_pages_that_were_touched_unseen),
        cmocka_unit_test(is_shared_by_code_in_the_second_level),
        cmocka_unit_test(faults_once_a_page),
        cmocka_unit_test(does_not_fault_for_code_and_prefetches),
        cmocka_unit_test(shares_pages_within_a_process_only),
        cmocka_unit_test(translates_both_pages_of_an_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
