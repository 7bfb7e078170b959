/* Warming without times leaves the caches and TLBs as the same accesses leave them when each has all the time that it
 * needs; it counts nothing; a core that was emptied begins behind its last commit. */
#include "core/core.h"
#include "memory_bed.h"
#include "unit.h"

enum { ACCESSES = 20000, FAR_APART = 10000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Half of the accesses are to a few pages, the others anywhere in a megabyte. */
static uint64_t random_address(uint64_t *seed)
{
    uint64_t random = next_random(seed);
    return 0x100000 + (random & 1 ? next_random(seed) % (1 << 20) : next_random(seed) % (1 << 13));
}

static enum as_memory_kind random_kind(uint64_t *seed)
{
    static const enum as_memory_kind kinds[] = {AS_MEMORY_LOAD, AS_MEMORY_LOAD,  AS_MEMORY_STORE,
                                                AS_MEMORY_LOAD, AS_MEMORY_STORE, AS_MEMORY_PREFETCH};
    uint64_t random = next_random(seed);
    return random % 64 == 0 ? AS_MEMORY_FLUSH : kinds[random % 6];
}

static struct as_machine machine_with_tlbs(bool next_line)
{
    struct as_machine machine = bed_machine();
    machine.memory.dtlb = (struct as_tlb_machine){.entries = 16, .ways = 4};
    machine.memory.l2tlb = (struct as_tlb_machine){.entries = 64, .ways = 4, .latency = 4};
    machine.memory.l1d.next_line = machine.memory.l2.next_line = next_line;
    machine.memory.l2.adjacent = machine.memory.llc.adjacent = next_line;
    machine.memory.fault_cycles = 100;
    return machine;
}

/* An access with its fault, at a time when nothing else is under way. Returns its events. */
static uint32_t access_alone(struct bed *bed, uint64_t *cycle, enum as_memory_kind kind, uint64_t address)
{
    if (kind == AS_MEMORY_STORE && as_memory_translate(bed->memory, *cycle, address).fault)
        as_memory_translate(bed->memory, *cycle += FAR_APART, address);
    struct as_memory_answer answer = as_memory_access(bed->memory, kind, *cycle += FAR_APART, address, 8);
    if (answer.fault)
        answer = as_memory_access(bed->memory, kind, *cycle += FAR_APART, address, 8);
    *cycle += FAR_APART;
    return answer.events;
}

static void compare_contents(bool next_line)
{
    struct bed timed = bed_open(machine_with_tlbs(next_line)), warm = bed_open(machine_with_tlbs(next_line));
    uint64_t seed = 1, cycle = 1, code = 1;
    for (int i = 0; i < ACCESSES; i++) {
        uint64_t address = random_address(&seed) & ~7ull, pc = 0x10000 + next_random(&code) % (1 << 15);
        enum as_memory_kind kind = random_kind(&seed);
        access_alone(&timed, &cycle, kind, address);
        as_memory_warm(warm.memory, kind, address, 8);
        as_memory_fetch(timed.memory, cycle += FAR_APART, pc);
        as_memory_warm_fetch(warm.memory, pc);
    }
    uint64_t now = cycle;
    for (int i = 0; i < ACCESSES; i++) { /* each look changes both alike */
        uint64_t address = random_address(&seed) & ~7ull, pc = 0x10000 + next_random(&code) % (1 << 15);
        assert_int_equal(access_alone(&timed, &cycle, AS_MEMORY_LOAD, address),
                         access_alone(&warm, &now, AS_MEMORY_LOAD, address));
        assert_int_equal(as_memory_fetch(timed.memory, cycle += FAR_APART, pc).events,
                         as_memory_fetch(warm.memory, now += FAR_APART, pc).events);
    }
    bed_close(&timed);
    bed_close(&warm);
}

static void test_contents(void **state)
{
    compare_contents(false);
}

static void test_contents_with_prefetching(void **state)
{
    compare_contents(true);
}

static void test_counts_nothing(void **state)
{
    struct bed bed = bed_open(machine_with_tlbs(true));
    struct as_counters counters = {0}, none = {0};
    uint64_t seed = 7;
    for (int i = 0; i < ACCESSES; i++) {
        as_memory_warm(bed.memory, random_kind(&seed), random_address(&seed), 16);
        as_memory_warm_fetch(bed.memory, random_address(&seed));
    }
    as_memory_count(bed.memory, &counters);
    assert_memory_equal(&counters, &none, sizeof counters);
    bed_close(&bed);
}

/* An access that crosses lines brings both. */
static void test_two_lines(void **state)
{
    struct bed bed = bed_open(bed_machine());
    as_memory_warm(bed.memory, AS_MEMORY_LOAD, 0x1000 + BED_LINE - 4, 8);
    assert_int_equal(as_memory_access(bed.memory, AS_MEMORY_LOAD, 100, 0x1000, 8).done, 100 + BED_L1);
    assert_int_equal(as_memory_access(bed.memory, AS_MEMORY_LOAD, 100, 0x1000 + BED_LINE, 8).done, 100 + BED_L1);
    assert_true(as_memory_access(bed.memory, AS_MEMORY_LOAD, 100, 0x1000 + 2 * BED_LINE, 8).done > 100 + BED_L1);
    bed_close(&bed);
}

static void copies_what_is_there(void **state)
{
    struct bed from = bed_open(machine_with_tlbs(false)), to = bed_open(machine_with_tlbs(false));
    uint64_t seed = 3, cycle = 1, other = 1;
    for (int i = 0; i < ACCESSES; i++)
        access_alone(&from, &cycle, AS_MEMORY_LOAD, random_address(&seed) & ~7ull);
    as_uncore_copy(to.uncore, from.uncore);
    for (int i = 0; i < ACCESSES; i++) {
        uint64_t address = random_address(&seed) & ~7ull;
        assert_int_equal(access_alone(&to, &other, AS_MEMORY_LOAD, address),
                         access_alone(&from, &cycle, AS_MEMORY_LOAD, address));
    }
    bed_close(&from);
    bed_close(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),        cmocka_unit_test(test_contents_with_prefetching),
        cmocka_unit_test(test_counts_nothing),  cmocka_unit_test(test_two_lines),
        cmocka_unit_test(copies_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
