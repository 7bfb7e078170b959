/* Samples of modelled units in the terms of the real ones, decoded again by what reads the real ones' recordings. */
#include "unit.h"

#include "perfdata/ibs_raw.h"
#include "perfdata/mem_source.h"
#include "perfdata/spe_packets.h"
#include "record/record_unit.h"

static const struct as_pmu_sample far_load = {.ip = 0x401000,
                                              .thread = 7,
                                              .weight = 100000,
                                              .address = 0x7fff1234,
                                              .size = 8,
                                              .access = AS_ACCESS_LOAD,
                                              .class_ = AS_CLASS_LOAD,
                                              .insn_flags = AS_INSN_LOAD,
                                              .events = AS_EVENT_ST_L1 | AS_EVENT_ST_LLC | AS_EVENT_ST_TLB,
                                              .latency = 300,
                                              .issued = 3,
                                              .completed = 12,
                                              .retired = 315};
static const struct as_pmu_sample bad_branch = {.ip = 0x401010,
                                                .class_ = AS_CLASS_BRANCH,
                                                .flags = AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED,
                                                .target = 0x401000,
                                                .retired = 9};

static void data_sources(void **state)
{
    static const struct {
        uint32_t events;
        enum as_mem_level level;
    } levels[] = {{0, AS_MEM_L1},
                  {AS_EVENT_ST_L1, AS_MEM_FILL_BUFFER},
                  {AS_EVENT_ST_L1 | AS_EVENT_L2_HIT, AS_MEM_L2},
                  {AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT, AS_MEM_L3},
                  {AS_EVENT_ST_L1 | AS_EVENT_ST_LLC, AS_MEM_RAM}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct as_pmu_sample sample = far_load;
        sample.events = levels[i].events;
        struct as_mem_source source = as_mem_source_decode(as_unit_data_source(&sample));
        assert_int_equal(source.level, levels[i].level);
        assert_true(source.load && source.hit && source.tlb_hit && !source.locked);
    }
    struct as_pmu_sample locked = far_load;
    locked.access = AS_ACCESS_STORE;
    locked.insn_flags = AS_INSN_STORE | AS_INSN_ATOMIC;
    locked.events |= AS_EVENT_COHERENCE;
    struct as_mem_source source = as_mem_source_decode(as_unit_data_source(&locked));
    assert_true(source.store && source.locked && source.tlb_walk && !source.snoop_modified);
    assert_true(source.level == AS_MEM_L1 && source.miss && !source.hit); /* of stores no more is told */
    locked.events = 0;
    source = as_mem_source_decode(as_unit_data_source(&locked));
    assert_true(source.level == AS_MEM_LEVEL_UNKNOWN && !source.hit && !source.miss); /* it drains later */
}

/* A line that came from another core is "modified" for those that tell, and a peer's for SPE. */
static void lines_of_other_cores(void **state)
{
    uint8_t raw[AS_UNIT_RAW_MAX];
    struct as_ibs_op op;
    struct as_ibs_cpu zen4 = as_ibs_cpu("AuthenticAMD,25,17,1");
    struct as_pmu_sample moved = far_load, waited = far_load;
    moved.events = AS_EVENT_ST_L1 | AS_EVENT_COHERENCE;
    waited.events = AS_EVENT_ORDER | AS_EVENT_COHERENCE; /* for a store of its own */
    struct as_mem_source source = as_mem_source_decode(as_unit_data_source(&moved));
    assert_true(source.load && source.level == AS_MEM_L3 && source.snoop_modified);
    source = as_mem_source_decode(as_unit_data_source(&waited));
    assert_true(source.level == AS_MEM_L1 && !source.snoop_modified);
    moved.events |= AS_EVENT_SNOOP_CLEAN;
    source = as_mem_source_decode(as_unit_data_source(&moved));
    assert_true(source.level == AS_MEM_L3 && source.snoop_hit && !source.snoop_modified);
    assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&moved, true, raw), zen4, &op));
    assert_true(op.source == AS_IBS_LOCAL_CACHE && op.owned_hit);
    moved.events = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT | AS_EVENT_SNOOP_MISS;
    source = as_mem_source_decode(as_unit_data_source(&moved));
    assert_true(source.level == AS_MEM_L3 && source.snoop_miss && !source.snoop_hit);
    moved.events = AS_EVENT_ST_L1 | AS_EVENT_COHERENCE;
    assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&moved, true, raw), zen4, &op));
    assert_true(op.source == AS_IBS_LOCAL_CACHE && op.state_known && !op.owned_hit && op.l2_miss);
    moved.events = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT;
    assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&moved, true, raw), zen4, &op));
    assert_true(op.source == AS_IBS_LOCAL_CACHE && op.owned_hit);
}

static void ibs_ops(void **state)
{
    uint8_t raw[AS_UNIT_RAW_MAX];
    struct as_ibs_op op;
    size_t size = as_unit_ibs_op(&far_load, true, raw);
    assert_true(as_ibs_op_decode(raw, size, (struct as_ibs_cpu){0}, &op));
    assert_true(op.valid && op.counts_ops && op.load && !op.store && op.l1_miss && op.l2_miss && op.tlb_l1_miss);
    assert_int_equal(op.max_count, 100000);
    assert_int_equal(op.rip, 0x401000);
    assert_int_equal(op.address, 0x7fff1234);
    assert_true(op.address_valid);
    assert_int_equal(op.width, 8);
    assert_int_equal(op.miss_latency, 300);
    assert_int_equal(op.tag_to_retire, 315);
    assert_int_equal(op.completion_to_retire, 12);
    assert_int_equal(op.source, AS_IBS_DRAM);
    struct as_pmu_sample near = far_load;
    near.events = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT;
    near.size = 12; /* not a width that it has */
    assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&near, false, raw), (struct as_ibs_cpu){0}, &op));
    assert_int_equal(op.source, AS_IBS_LOCAL_CACHE);
    assert_int_equal(op.width, 0);
    assert_false(op.counts_ops);
    assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&bad_branch, true, raw), (struct as_ibs_cpu){0}, &op));
    assert_true(op.branch && op.taken && op.mispredicted && !op.is_return && !op.load);
    assert_int_equal(op.branch_target, 0x401000);
}

static void ibs_accesses_of_two_lines(void **state)
{
    uint8_t raw[AS_UNIT_RAW_MAX];
    struct as_ibs_op op;
    for (uint64_t offset = 56; offset <= 57; offset++) {
        struct as_pmu_sample sample = far_load;
        sample.address = 0x7000 + offset;
        sample.size = 8;
        assert_true(as_ibs_op_decode(raw, as_unit_ibs_op(&sample, true, raw), (struct as_ibs_cpu){0}, &op));
        assert_int_equal(op.misaligned, offset == 57);
    }
}

static void ibs_fetches(void **state)
{
    uint8_t raw[AS_UNIT_RAW_MAX];
    struct as_ibs_fetch fetch;
    struct as_pmu_sample sample = {.ip = 0x402000, .latency = 90, .weight = 3200, .events = AS_EVENT_DR_L1};
    assert_true(as_ibs_fetch_decode(raw, as_unit_ibs_fetch(&sample, true, raw), (struct as_ibs_cpu){0}, &fetch));
    assert_true(fetch.valid && fetch.complete && fetch.l1_miss && fetch.random && !fetch.tlb_l1_miss);
    assert_true(fetch.l2_miss);
    assert_int_equal(fetch.latency, 90);
    assert_int_equal(fetch.address, 0x402000);
    assert_int_equal(fetch.max_count, 3200);
}

static bool keep(void *context, const struct as_spe_record *record)
{
    struct as_spe_record **next = context;
    *(*next)++ = *record;
    return true;
}

static void spe_records(void **state)
{
    struct as_spe_record records[3], *next = records;
    struct as_spe_decoder decoder = {.sink = keep, .context = &next};
    struct as_pmu_sample kernel = {.ip = AS_PMU_KERNEL_TEXT + 8, .kernel = true, .class_ = AS_CLASS_INT};
    struct as_str packets = {0};
    as_unit_spe(&far_load, &packets);
    as_unit_spe(&bad_branch, &packets);
    as_unit_spe(&kernel, &packets);
    assert_true(as_spe_feed(&decoder, (const uint8_t *)packets.data, packets.len, 0));
    assert_int_equal(decoder.bad_bytes, 0);
    assert_int_equal(decoder.records, 3);
    assert_int_equal(records[0].pc, 0x401000);
    assert_int_equal(records[0].address, 0x7fff1234);
    assert_int_equal(records[0].context, 7);
    assert_int_equal(records[0].total, 315);
    assert_int_equal(records[0].issue, 3);
    assert_int_equal(records[0].class, AS_SPE_MEMORY);
    assert_false(records[0].store);
    assert_int_equal(records[0].events, AS_SPE_RETIRED | AS_SPE_L1_ACCESS | AS_SPE_L1_MISS | AS_SPE_TLB_ACCESS |
                                            AS_SPE_TLB_WALK | AS_SPE_LLC_ACCESS | AS_SPE_LLC_MISS);
    assert_true(records[0].has & AS_SPE_SOURCE && records[0].source == 0xe); /* memory */
    assert_int_equal(records[1].class, AS_SPE_BRANCH);
    assert_true(records[1].conditional && !records[1].indirect);
    assert_int_equal(records[1].events, AS_SPE_RETIRED | AS_SPE_MISPREDICTED);
    assert_int_equal(records[2].exception_level, 1);
    as_str_free(&packets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_sources), cmocka_unit_test(lines_of_other_cores),
                                       cmocka_unit_test(ibs_ops),      cmocka_unit_test(ibs_accesses_of_two_lines),
                                       cmocka_unit_test(ibs_fetches),  cmocka_unit_test(spe_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
