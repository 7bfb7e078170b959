/* Caches: contents against a plain reference, misses and MSHRs to the cycle, prefetches, banks. The machine is
 * memory_bed.h's; lines are asked for in pages that the TLB has. */
#include "unit.h"

#include "core/cache.h"
#include "memory_bed.h"

enum {
    L1_SETS = 16,
    L1_WAYS = 4,
    L1_STRIDE = L1_SETS * BED_LINE, /* the same set of L1 */
    L2_STRIDE = 64 * BED_LINE,      /* … of L1 and L2 */
    BASE = 0x100000,
    MISS = AS_EVENT_ST_L1,
};

/* Lines of `bytes` from BASE are in L2 (up to 32 KiB) but not in L1, and everything is quiet. */
static uint64_t fill_l2(struct bed *bed, uint64_t bytes)
{
    uint64_t cycle = 1;
    for (uint64_t at = 0; at < bytes; at += BED_LINE)
        cycle = bed_load(bed, cycle, BASE + at);
    for (uint64_t at = 0; at < 4096; at += BED_LINE) /* one whole L1, of other addresses */
        cycle = bed_load(bed, cycle, 2 * BASE + at);
    return cycle + 1000;
}

/* ---- contents ---- */

/* A list of lines for each set, most recent first. */
struct reference {
    uint64_t lines[L1_SETS][L1_WAYS];
    uint32_t count[L1_SETS];
};

static bool reference_use(struct reference *reference, uint64_t line)
{
    uint64_t *lines = reference->lines[line % L1_SETS];
    uint32_t *count = &reference->count[line % L1_SETS], at = 0;
    while (at < *count && lines[at] != line)
        at++;
    bool hit = at < *count;
    if (!hit && *count < L1_WAYS)
        at = (*count)++;
    else if (!hit)
        at = L1_WAYS - 1;
    memmove(lines + 1, lines, at * sizeof *lines);
    lines[0] = line;
    return hit;
}

static void replaces_the_least_recently_used(void **state)
{
    struct bed bed = bed_open(bed_machine());
    static struct reference reference;
    uint64_t seed = 9, cycle = 1000, hits = 0;
    for (int step = 0; step < 200000; step++) {
        uint64_t line = BASE / BED_LINE + bed_random(&seed) % 100;
        enum as_memory_kind kind = bed_random(&seed) % 3 ? AS_MEMORY_LOAD : AS_MEMORY_STORE;
        struct as_memory_answer answer = bed_ask(&bed, kind, cycle, line * BED_LINE);
        bool hit = reference_use(&reference, line);
        assert_int_equal(!(answer.events & MISS), hit);
        hits += hit;
        cycle += 1000;
    }
    assert_in_range(hits, 100000, 180000);
    bed_close(&bed);
}

static void holds_as_many_of_a_set_as_ways(void **state)
{
    for (uint64_t lines = L1_WAYS; lines <= L1_WAYS + 1; lines++) {
        struct bed bed = bed_open(bed_machine());
        uint64_t cycle = 1;
        for (uint64_t i = 0; i < 10 * lines; i++)
            cycle = bed_load(&bed, cycle, BASE + i % lines * L1_STRIDE);
        struct as_counters counters = bed_count(&bed);
        assert_int_equal(counters.l1d_misses, lines == L1_WAYS ? lines : 10 * lines);
        bed_close(&bed);
    }
}

/* The place of a line that was flushed is the first to be filled, though it was the last to be used. */
static void fills_what_is_empty_first(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t cycle = 1;
    for (uint64_t i = 0; i < L1_WAYS; i++)
        cycle = bed_load(&bed, cycle, BASE + i * L1_STRIDE);
    cycle = bed_ask(&bed, AS_MEMORY_FLUSH, cycle, BASE + (L1_WAYS - 1) * L1_STRIDE).done;
    cycle = bed_load(&bed, cycle, BASE + L1_WAYS * L1_STRIDE);
    for (uint64_t i = 0; i < L1_WAYS - 1; i++)
        assert_int_equal(bed_ask(&bed, AS_MEMORY_LOAD, cycle, BASE + i * L1_STRIDE).events, 0);
    bed_close(&bed);
}

/* ---- misses ---- */

static void has_as_many_misses_as_mshrs(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = fill_l2(&bed, 4096), l2 = BED_L1 + BED_L2;
    for (uint64_t i = 0; i < 9; i++) /* four at a time; an MSHR is free again when its line has arrived */
        assert_int_equal(bed_load(&bed, t, BASE + i * BED_LINE), t + l2 + i / 4 * BED_L2);
    bed_close(&bed);
}

static void merges_misses_of_a_line(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = bed_warm_page(&bed, BASE);
    struct as_counters before = bed_count(&bed);
    struct as_memory_answer first = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    struct as_memory_answer second = bed_ask(&bed, AS_MEMORY_LOAD, t + 5, BASE + 8);
    struct as_memory_answer late = bed_ask(&bed, AS_MEMORY_LOAD, first.done - BED_L1 - 1, BASE + 16);
    struct as_memory_answer after = bed_ask(&bed, AS_MEMORY_LOAD, first.done - BED_L1, BASE + 16);
    assert_int_equal(first.events, MISS | AS_EVENT_ST_LLC);
    assert_int_equal(second.done, first.done);
    assert_int_equal(second.events, first.events);
    assert_int_equal(late.done, first.done);
    assert_int_equal(after.done, first.done);
    assert_int_equal(after.events, 0);
    struct as_counters counters = bed_count(&bed);
    assert_int_equal(counters.l1d_misses - before.l1d_misses, 1);
    assert_int_equal(counters.l1d_merges - before.l1d_merges, 2);
    assert_int_equal(counters.l1d_accesses - before.l1d_accesses, 4);
    assert_int_equal(counters.dram_reads - before.dram_reads, 1);
    bed_close(&bed);
}

/* A later instruction whose access is earlier: as fast as if it had been alone, for another line and for the same. */
static void does_not_delay_what_is_earlier(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = fill_l2(&bed, 4096), l2 = BED_L1 + BED_L2;
    for (uint64_t i = 0; i < 8; i++)
        bed_load(&bed, t + 1000, BASE + i * BED_LINE);
    for (uint64_t i = 8; i < 12; i++)
        assert_int_equal(bed_load(&bed, t, BASE + i * BED_LINE), t + l2);
    assert_int_equal(bed_load(&bed, t + 100, BASE), t + 100 + l2);
    assert_int_equal(bed_load(&bed, t + 100 + l2, BASE), t + 100 + l2 + BED_L1); /* from then on it is there */
    bed_close(&bed);
}

static void writes_back_what_is_dirty(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t cycle = bed_warm_page(&bed, BASE);
    bed_ask(&bed, AS_MEMORY_STORE, cycle, BASE);
    for (uint64_t i = 1; i <= 40; i++) /* leaves L1, L2 and LLC (16 ways; four of these sets are one LLC set apart) */
        cycle = bed_load(&bed, cycle + 1000, BASE + i * 4 * L2_STRIDE);
    assert_int_equal(bed_count(&bed).dram_writes, 1);
    bed_close(&bed);
}

/* ---- prefetches ---- */

/* Slow enough for every prefetch to arrive: only the first line of a page misses, and every other one is announced
 * once. */
static void turns_a_stream_into_hits(void **state)
{
    enum { PAGES = 4 };
    struct as_machine machine = bed_machine();
    machine.memory.l1d.next_line = true;
    struct bed bed = bed_open(machine);
    uint64_t cycle = bed_warm_page(&bed, BASE), missed = 0, announced = 0, lines = PAGES * BED_PAGE / BED_LINE;
    for (uint64_t at = 0; at < PAGES * BED_PAGE; at += 16, cycle += 200) {
        struct as_memory_answer answer = bed_ask(&bed, AS_MEMORY_LOAD, cycle, BASE + at);
        missed += (answer.events & MISS) != 0;
        announced += (answer.events & AS_EVENT_PREFETCHED) != 0;
        if (answer.events & AS_EVENT_PREFETCHED)
            assert_int_equal(answer.done, cycle + BED_L1);
    }
    struct as_counters counters = bed_count(&bed);
    assert_int_equal(missed, PAGES);
    assert_int_equal(announced, lines - PAGES);
    assert_int_equal(counters.l1d_prefetches, lines - PAGES);
    assert_int_equal(counters.l1d_misses, PAGES);
    bed_close(&bed);
}

/* Faster than memory: the access waits for the prefetch under way, for less than a whole miss. */
static void waits_for_a_prefetch_under_way(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1d.next_line = true;
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE), first = bed_load(&bed, t, BASE);
    struct as_memory_answer second = bed_ask(&bed, AS_MEMORY_LOAD, t + 10, BASE + BED_LINE);
    assert_int_equal(second.events, MISS | AS_EVENT_ST_LLC | AS_EVENT_PREFETCHED);
    assert_int_equal(second.done, first + BED_BURST); /* the row was open, the bus was not free */
    bed_close(&bed);
}

static void prefetches_only_with_a_free_mshr(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1d.next_line = true;
    machine.memory.l1d.mshrs = 1;
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE);
    assert_int_equal(bed_count(&bed).prefetches, 0);
    bed_close(&bed);
}

static void prefetches_into_the_level_that_says_so(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.llc.next_line = true;
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE);
    struct as_memory_answer next = bed_ask(&bed, AS_MEMORY_LOAD, t + 1000, BASE + BED_LINE);
    assert_int_equal(next.done, t + 1000 + BED_TO_DRAM);
    assert_int_equal(next.events, MISS | AS_EVENT_LLC_HIT | AS_EVENT_PREFETCHED);
    struct as_counters counters = bed_count(&bed);
    assert_int_equal(counters.llc_prefetches, 2); /* behind the miss, and behind the first use */
    assert_int_equal(counters.prefetches, 2);
    bed_close(&bed);
}

/* The pair is aligned: the odd line brings the even one, and nothing comes behind a pair. */
static void fetches_the_other_line_of_a_pair(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1d.adjacent = true;
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE + BED_LINE);
    struct as_memory_answer even = bed_ask(&bed, AS_MEMORY_LOAD, t + 1000, BASE);
    assert_int_equal(even.done, t + 1000 + BED_L1);
    assert_true(even.events & AS_EVENT_PREFETCHED);
    assert_int_equal(bed_count(&bed).l1d_prefetches, 1); /* its first use starts none */
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, t + 2000, BASE + 2 * BED_LINE).events & MISS);
    assert_int_equal(bed_count(&bed).l1d_prefetches, 2);
    bed_close(&bed);
}

/* A prefetch into L1 that finds a prefetched line in the LLC is not the first use of it. */
static void leaves_the_first_use_to_the_program(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.llc.next_line = true;
    struct bed bed = bed_open(machine);
    uint64_t t = bed_warm_page(&bed, BASE);
    bed_load(&bed, t, BASE);
    bed_ask(&bed, AS_MEMORY_PREFETCH, t + 1000, BASE + BED_LINE);
    assert_int_equal(bed_count(&bed).llc_prefetches, 1);
    bed_close(&bed);
}

/* ---- software, banks ---- */

static void obeys_software(void **state)
{
    struct bed bed = bed_open(bed_machine());
    uint64_t t = bed_warm_page(&bed, BASE);
    struct as_memory_answer asked = bed_ask(&bed, AS_MEMORY_PREFETCH, t, BASE);
    assert_int_equal(asked.done, t);
    assert_int_equal(bed_count(&bed).l1d_prefetches, 1);
    bed_ask(&bed, AS_MEMORY_PREFETCH, t + 1, BASE); /* on its way already */
    assert_int_equal(bed_count(&bed).l1d_prefetches, 1);
    struct as_memory_answer load = bed_ask(&bed, AS_MEMORY_LOAD, t + 1000, BASE);
    assert_int_equal(load.done, t + 1000 + BED_L1);
    assert_int_equal(load.events, AS_EVENT_PREFETCHED);
    assert_int_equal(bed_ask(&bed, AS_MEMORY_LOAD, t + 1001, BASE).events, 0);
    for (uint64_t i = 1; i < 6; i++) /* four MSHRs: the fifth waits for the first to be free again */
        assert_int_equal(bed_ask(&bed, AS_MEMORY_PREFETCH, t + 2000, BASE + i * BED_LINE).done, t + 2000);
    assert_int_equal(bed_count(&bed).l1d_prefetches, 6);
    uint64_t first = bed_ask(&bed, AS_MEMORY_LOAD, t + 2001, BASE + BED_LINE).done;
    assert_true(bed_ask(&bed, AS_MEMORY_LOAD, t + 2001, BASE + 5 * BED_LINE).done > first + BED_L1);
    assert_int_equal(bed_ask(&bed, AS_MEMORY_LOAD, t + 4000, BASE + 5 * BED_LINE).events, 0);
    bed_close(&bed);
}

static void has_one_access_a_bank_and_cycle(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l1d.banks = 8; /* of 8 bytes each */
    struct bed bed = bed_open(machine);
    uint64_t t = bed_load(&bed, bed_warm_page(&bed, BASE), BASE) + 1000;
    assert_int_equal(bed_load(&bed, t, BASE), t + BED_L1);
    assert_int_equal(bed_load(&bed, t, BASE + 8), t + BED_L1);
    struct as_memory_answer third = bed_ask(&bed, AS_MEMORY_LOAD, t, BASE);
    assert_int_equal(third.done, t + 1 + BED_L1);
    assert_int_equal(third.events, AS_EVENT_BANK);
    struct as_memory_answer store = bed_ask(&bed, AS_MEMORY_STORE, t + 1, BASE);
    assert_int_equal(store.done, t + 2);
    assert_int_equal(store.events, AS_EVENT_BANK);
    bed_close(&bed);
}

/* Two banks, by line: three misses of one cycle, two of them to one bank. */
static void has_banks_in_the_last_level(void **state)
{
    struct as_machine machine = bed_machine();
    machine.memory.l2.size = 0;
    machine.memory.llc.banks = 2;
    struct bed bed = bed_open(machine);
    uint64_t t = fill_l2(&bed, 4096), llc = BED_L1 + BED_LLC;
    assert_int_equal(bed_load(&bed, t, BASE), t + llc);
    assert_int_equal(bed_load(&bed, t, BASE + BED_LINE), t + llc);
    assert_int_equal(bed_load(&bed, t, BASE + 2 * BED_LINE), t + 1 + llc);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_the_least_recently_used),
        cmocka_unit_test(holds_as_many_of_a_set_as_ways),
        cmocka_unit_test(fills_what_is_empty_first),
        cmocka_unit_test(has_as_many_misses_as_mshrs),
        cmocka_unit_test(merges_misses_of_a_line),
        cmocka_unit_test(does_not_delay_what_is_earlier),
        cmocka_unit_test(writes_back_what_is_dirty),
        cmocka_unit_test(turns_a_stream_into_hits),
        cmocka_unit_test(waits_for_a_prefetch_under_way),
        cmocka_unit_test(prefetches_only_with_a_free_mshr),
        cmocka_unit_test(prefetches_into_the_level_that_says_so),
        cmocka_unit_test(fetches_the_other_line_of_a_pair),
        cmocka_unit_test(leaves_the_first_use_to_the_program),
        cmocka_unit_test(obeys_software),
        cmocka_unit_test(has_one_access_a_bank_and_cycle),
        cmocka_unit_test(has_banks_in_the_last_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
