/* Data sources of samples as perf c2c counts them: every kind once, by hand. */
#include "unit.h"

#include "base/str.h"
#include "comm/c2c_source.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#define LEVEL(bits) ((uint64_t)(bits) << PERF_MEM_LVL_SHIFT)
#define SNOOP(bits) ((uint64_t)(bits) << PERF_MEM_SNOOP_SHIFT)
#define SNOOPX(bits) ((uint64_t)(bits) << PERF_MEM_SNOOPX_SHIFT)
#define LOAD ((uint64_t)PERF_MEM_OP_LOAD << PERF_MEM_OP_SHIFT)
#define STORE ((uint64_t)PERF_MEM_OP_STORE << PERF_MEM_OP_SHIFT)
#define LOCKED ((uint64_t)PERF_MEM_LOCK_LOCKED << PERF_MEM_LOCK_SHIFT)
#define REMOTE ((uint64_t)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT)
#define HOPS(n) ((uint64_t)(n) << PERF_MEM_HOPS_SHIFT)
#define BLOCKED(bits) ((uint64_t)(bits) << PERF_MEM_BLK_SHIFT)
enum {
    HIT = PERF_MEM_LVL_HIT,
    MISS = PERF_MEM_LVL_MISS,
    L1 = PERF_MEM_LVL_L1,
    L2 = PERF_MEM_LVL_L2,
    L3 = PERF_MEM_LVL_L3,
    FILL = PERF_MEM_LVL_LFB,
    NEAR_RAM = PERF_MEM_LVL_LOC_RAM,
    FAR_RAM1 = PERF_MEM_LVL_REM_RAM1,
    FAR_RAM2 = PERF_MEM_LVL_REM_RAM2,
    FAR_CACHE1 = PERF_MEM_LVL_REM_CCE1,
    FAR_CACHE2 = PERF_MEM_LVL_REM_CCE2,
    S_HIT = PERF_MEM_SNOOP_HIT,
    S_HITM = PERF_MEM_SNOOP_HITM,
    PEER = PERF_MEM_SNOOPX_PEER,
};

static const struct {
    uint64_t source, address;
    const char *counts; /* those that are not 0, in their order */
} cases[] = {
    {LOAD | LEVEL(HIT | L1), 64, "records loads load_l1"},
    {LOAD | LEVEL(HIT | FILL), 64, "records loads load_fill_buffer"},
    {LOAD | LEVEL(HIT | L2), 64, "records loads load_l2"},
    {LOAD | LEVEL(HIT | L2) | SNOOPX(PEER), 64, "records loads load_l2 local_peer"},
    {LOAD | LEVEL(HIT | L3), 64, "records loads load_llc"},
    {LOAD | LEVEL(HIT | L3) | SNOOP(S_HIT), 64, "records loads load_llc"},
    {LOAD | LEVEL(HIT | L3) | SNOOP(S_HITM), 64, "records loads local_hitm"},
    {LOAD | LEVEL(HIT | L3) | SNOOPX(PEER), 64, "records loads load_llc local_peer"},
    {LOAD | LEVEL(MISS | L3) | SNOOP(S_HITM), 64, "records loads load_miss"},
    {LOAD | LEVEL(HIT | PERF_MEM_LVL_UNC), 64, "records loads load_uncached"},
    {LOAD | LEVEL(HIT | PERF_MEM_LVL_IO), 64, "records loads load_io"},
    {LOAD | LEVEL(HIT | NEAR_RAM), 64, "records loads local_dram exclusive"},
    {LOAD | LEVEL(HIT | NEAR_RAM) | SNOOP(S_HIT), 64, "records loads local_dram shared"},
    {LOAD | LEVEL(HIT | FAR_RAM1), 64, "records loads remote_dram exclusive"},
    {LOAD | LEVEL(HIT | FAR_RAM2) | SNOOP(S_HIT), 64, "records loads remote_dram shared"},
    {LOAD | LEVEL(HIT | FAR_CACHE1) | SNOOP(S_HITM), 64, "records loads remote_hitm"},
    {LOAD | LEVEL(HIT | FAR_CACHE2) | SNOOP(S_HIT), 64, "records loads remote_hit"},
    {LOAD | LEVEL(HIT | FAR_CACHE1) | SNOOPX(PEER), 64, "records loads remote_peer"},
    /* Another socket's cache or memory, on a processor that does not say which. */
    {LOAD | LEVEL(HIT | L3) | SNOOP(S_HITM) | REMOTE, 64, "records loads local_hitm remote_hitm remote_dram exclusive"},
    {LOAD | LEVEL(HIT | L3) | SNOOP(S_HITM) | REMOTE | HOPS(1), 64, "records loads local_hitm"},
    {LOAD | LOCKED | LEVEL(HIT | L1), 64, "records locks loads load_l1"},
    {LOAD | LEVEL(HIT | L1) | BLOCKED(PERF_MEM_BLK_DATA), 64, "records loads load_l1 blocked_data"},
    {LOAD | LEVEL(HIT | L1) | BLOCKED(PERF_MEM_BLK_ADDR), 64, "records loads load_l1 blocked_address"},
    {LOAD | LEVEL(HIT | L1), 0, "records loads load_no_address"},
    {STORE | LEVEL(HIT | L1), 64, "records stores store_l1_hit"},
    {STORE | LEVEL(MISS | L1), 64, "records stores store_l1_miss"},
    {STORE | LEVEL(MISS | L2), 64, "records stores"},
    {STORE | LEVEL(HIT | PERF_MEM_LVL_UNC), 64, "records stores store_uncached"},
    {STORE | LEVEL(PERF_MEM_LVL_NA), 64, "records stores store_no_level"},
    {STORE | LEVEL(HIT | L3) | SNOOP(S_HITM), 64, "records stores"},
    {STORE | LEVEL(HIT | L1), 0, "records stores store_no_address"},
    {LOAD | STORE | LEVEL(HIT | L1), 64, "records loads load_l1"},
    {(uint64_t)PERF_MEM_OP_NA << PERF_MEM_OP_SHIFT, 64, "records unparsed"},
};

static void list(const struct as_c2c_counts *counts, struct as_str *text)
{
    const char *name;
    uint64_t value;
    for (size_t i = 0; (name = as_c2c_count(counts, i, &value)); i++) {
        assert_true(value <= 1);
        if (value)
            as_str_addf(text, "%s%s", text->len ? " " : "", name);
    }
}

static void sources(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_c2c_counts counts = {0};
        struct as_str text = {0};
        bool placed = as_c2c_decode(cases[i].source, cases[i].address, &counts);
        list(&counts, &text);
        if (strcmp(as_str_get(&text), cases[i].counts) != 0)
            fail_msg("case %zu: '%s', not '%s'", i, as_str_get(&text), cases[i].counts);
        assert_int_equal(placed, cases[i].address && !counts.unparsed);
        assert_int_equal(as_c2c_hitm(&counts), counts.local_hitm + counts.remote_hitm);
        as_str_free(&text);
    }
}

/* It adds, it does not replace. */
static void sums(void **state)
{
    struct as_c2c_counts counts = {0};
    for (int i = 0; i < 5; i++) {
        assert_true(as_c2c_decode(LOAD | LEVEL(HIT | L3) | SNOOP(S_HITM), 64, &counts));
        assert_true(as_c2c_decode(STORE | LEVEL(HIT | L1), 64, &counts));
    }
    assert_true(counts.records == 10 && counts.loads == 5 && counts.stores == 5);
    assert_true(counts.local_hitm == 5 && counts.store_l1_hit == 5 && as_c2c_hitm(&counts) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sources), cmocka_unit_test(sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
