/* Data sources, branches, transactions, IBS registers and SPE packets: bytes in, attributes out. The layouts are those
 * of the vendors' manuals; none of this ran on such a processor. */
#include "base/alloc.h"
#include "perfdata/ibs_raw.h"
#include "perfdata/mem_source.h"
#include "perfdata/spe_packets.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <stdio.h>

static void expect_source(uint64_t value, const char *wanted)
{
    struct as_str text = {0};
    as_mem_source_text(value, &text);
    assert_string_equal(as_str_get(&text), wanted);
    as_str_free(&text);
}

#define S(a, b) PERF_MEM_S(a, b)

static void test_data_source(void **state)
{
    expect_source(0x68100142,
                  "load, L1 hit, no snoop, TLB L1 or L2 hit"); /* as perf prints it: L1 hit … L1 or L2 hit */
    expect_source(0, "unknown");
    expect_source(S(OP, NA) | S(LVL, NA) | S(SNOOP, NA) | S(TLB, NA) | S(LOCK, NA), "unknown");
    expect_source(S(OP, STORE) | S(LVL, L1) | S(LVL, MISS) | S(LOCK, LOCKED), "store, L1 miss, locked");
    expect_source(S(OP, LOAD) | S(LVL, L3) | S(LVL, HIT) | S(SNOOP, HITM) | S(TLB, WK) | S(TLB, MISS) | S(TLB, L2),
                  "load, L3 hit, snoop hit modified, TLB L2 miss walk");
    expect_source(S(OP, LOAD) | S(LVL, REM_RAM1) | S(LVL, HIT), "load, remote RAM hit");
    expect_source(S(OP, LOAD) | S(LVL, HIT) | S(LVL, REM_CCE1) | S(LVLNUM, ANY_CACHE) | S(REMOTE, REMOTE) | S(HOPS, 2) |
                      S(SNOOPX, FWD),
                  "load, remote cache hit (socket), forwarded");
    expect_source(S(OP, LOAD) | S(LVL, HIT) | S(LVL, LFB) | S(LVLNUM, LFB) | S(BLK, DATA) | S(BLK, ADDR),
                  "load, fill buffer hit, blocked by data, blocked by address");
    expect_source(S(OP, LOAD) | S(LVL, HIT) | UINT64_C(9) << PERF_MEM_LVLNUM_SHIFT, "load, CXL memory hit");
    expect_source(S(OP, PFETCH), "prefetch");
    for (unsigned level = 0; level < AS_MEM_LEVELS; level++)
        assert_non_null(as_mem_level_name(level));
    struct as_mem_source source = as_mem_source_decode(S(OP, LOAD) | S(LVLNUM, PMEM) | S(LOCK, NA) | S(SNOOP, MISS));
    assert_int_equal(source.level, AS_MEM_PERSISTENT);
    assert_false(source.lock_known);
    assert_true(source.snoop_known && source.snooped && source.snoop_miss && !source.snoop_hit);
}

static void test_branches(void **state)
{
    struct as_perf_branch branch = {
        .from = 0x10, .to = 0x20, .mispredicted = true, .abort = true, .cycles = 9, .type = PERF_BR_IND_CALL};
    struct as_str text = {0};
    as_branch_text(&branch, &text);
    assert_string_equal(text.data, "0x10/0x20/M/-/A/9");
    assert_string_equal(as_branch_type_name(&branch), "indirect call");
    branch.type = PERF_BR_EXTEND_ABI;
    branch.new_type = PERF_BR_NEW_FAULT_DATA;
    assert_string_equal(as_branch_type_name(&branch), "data fault");
    branch.new_type = 15;
    assert_string_equal(as_branch_type_name(&branch), "");
    as_str_clear(&text);
    as_transaction_text(PERF_TXN_ELISION | PERF_TXN_CONFLICT | UINT64_C(0x2a) << 32, &text);
    assert_string_equal(text.data, "elision, conflict, code 0x2a");
    as_str_free(&text);
}

/* ---- IBS ---- */

static size_t put_le(uint8_t *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return size;
}

struct raw {
    uint8_t bytes[128];
    size_t size;
};

static struct raw raw_of(uint32_t caps, const uint64_t *registers, size_t count)
{
    struct raw raw = {0};
    raw.size = put_le(raw.bytes, caps, 4);
    for (size_t i = 0; i < count; i++)
        raw.size += put_le(raw.bytes + raw.size, registers[i], 8);
    return raw;
}

enum { CAPS_ZEN3 = 0x3ff, CAPS_ZEN4 = 0xbff, CAPS_ZEN5 = 0x1fff };

static void test_ibs_op(void **state)
{
    uint64_t ctl = 0x1234 | 1 << 17 | 1 << 18 | 1 << 19 | 0x5 << 20 | UINT64_C(0x7654321) << 32;
    uint64_t data = 0x0102 | 0x0304 << 16 | UINT64_C(0xf) << 34 | UINT64_C(1) << 39 | UINT64_C(1) << 40;
    uint64_t data2 = 2 | 1 << 4 | 1 << 5;
    uint64_t data3 = 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 20 | UINT64_C(4) << 22 |
                     UINT64_C(33) << 26 | UINT64_C(500) << 32 | UINT64_C(60) << 48;
    uint64_t registers[] = {ctl, 0x401234, data, data2, data3, 0x7fff1000, 0x12345000, 0x405000, 0x99};
    struct raw raw = raw_of(CAPS_ZEN3, registers, 8);
    struct as_ibs_op op;
    assert_true(as_ibs_op_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0}, &op));
    assert_true(op.valid && op.counts_ops);
    assert_int_equal(op.max_count, 0x51234 << 4);
    assert_int_equal(op.current_count, 0x7654321);
    assert_int_equal(op.rip, 0x401234);
    assert_int_equal(op.completion_to_retire, 0x0102);
    assert_int_equal(op.tag_to_retire, 0x0304);
    assert_true(op.branch && op.is_return && op.taken && op.mispredicted && op.fused && op.microcode);
    assert_int_equal(op.branch_target, 0x405000);
    assert_int_equal(op.source, AS_IBS_LOCAL_CACHE);
    assert_true(op.source_known && op.remote_node && op.owned_hit);
    assert_true(op.load && !op.store && op.locked && op.l1_miss && op.l2_miss && op.l2_miss_known && op.misaligned);
    assert_true(op.tlb_l1_miss && !op.tlb_l2_miss && op.tlb_l2_2m && !op.tlb_l1_1g && !op.prefetch);
    assert_int_equal(op.width, 8);
    assert_int_equal(op.open_requests, 33);
    assert_int_equal(op.miss_latency, 500);
    assert_int_equal(op.tlb_latency, 60);
    assert_int_equal(op.address, 0x7fff1000);
    assert_int_equal(op.physical, 0x12345000);
    assert_int_equal(op.data4, 0);
    assert_false(op.rip_invalid || op.l3_miss_only || op.latency_filter);
    for (size_t size = 0; size < 4 + 7 * 8; size++)
        assert_false(as_ibs_op_decode(raw.bytes, size, (struct as_ibs_cpu){0}, &op));
    assert_true(as_ibs_op_decode(raw.bytes, 4 + 7 * 8, (struct as_ibs_cpu){0}, &op));
    assert_int_equal(op.branch_target, 0);
}

static void test_ibs_op_newer(void **state)
{
    uint64_t registers[9] = {1 << 16 | 1 << 17 | UINT64_C(3) << 59 | UINT64_C(1) << 63,
                             0x401234,
                             UINT64_C(1) << 38,
                             4 | 1 << 6 /* 12 */,
                             0,
                             0xdead,
                             0xbeef,
                             0x1111,
                             0x2222};
    struct raw raw = raw_of(CAPS_ZEN5, registers, 9);
    struct as_ibs_op op;
    assert_true(as_ibs_op_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0}, &op));
    assert_false(op.valid);
    assert_true(op.l3_miss_only && op.latency_filter && op.rip_invalid);
    assert_int_equal(op.latency_threshold, 512);
    assert_int_equal(op.rip, 0);
    assert_int_equal(op.source_code, 12);
    assert_int_equal(op.source, AS_IBS_PEER);
    assert_int_equal(op.address, 0); /* not valid */
    assert_int_equal(op.branch_target, 0);
    assert_int_equal(op.data4, 0x2222);
    registers[3] = 5;
    raw = raw_of(CAPS_ZEN4, registers, 8);
    assert_true(as_ibs_op_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0}, &op));
    assert_int_equal(op.source, AS_IBS_FAR_CACHE);
    assert_false(op.latency_filter);
    for (unsigned i = 0; i <= AS_IBS_RESERVED; i++)
        assert_non_null(as_ibs_source_name(i));
}

static void test_ibs_errata(void **state)
{
    struct as_ibs_cpu milan = as_ibs_cpu("AuthenticAMD,25,1,1");
    assert_int_equal(milan.family, 0x19);
    assert_int_equal(milan.model, 1);
    assert_int_equal(as_ibs_cpu("GenuineIntel,6,85,4").family, 0);
    assert_int_equal(as_ibs_cpu(NULL).family, 0);
    uint64_t registers[7] = {0, 0, 0, 3, 1 | 1 << 16 | 1 << 20 | UINT64_C(7) << 26};
    struct raw raw = raw_of(CAPS_ZEN3, registers, 7);
    struct as_ibs_op op;
    assert_true(as_ibs_op_decode(raw.bytes, raw.size, milan, &op));
    assert_false(op.l2_miss_known || op.source_known);
    assert_int_equal(op.open_requests, 0);
    assert_true(as_ibs_op_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0x19, 0x11}, &op));
    assert_true(op.l2_miss && op.source_known);
    assert_int_equal(op.source, AS_IBS_DRAM);
}

static void test_ibs_fetch(void **state)
{
    uint64_t ctl = 0x100 | 0x20 << 16 | UINT64_C(300) << 32 | UINT64_C(0x1f) << 48 | UINT64_C(1) << 53 |
                   UINT64_C(1) << 55 | UINT64_C(1) << 57 | UINT64_C(1) << 58 | UINT64_C(1) << 60;
    uint64_t registers[] = {ctl, 0x401200, 0x5000, 0xab0042};
    struct raw raw = raw_of(CAPS_ZEN4, registers, 4);
    struct as_ibs_fetch fetch;
    assert_true(as_ibs_fetch_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0}, &fetch));
    assert_true(fetch.valid && fetch.complete && fetch.l1_miss && fetch.l1_miss_known && fetch.l2_miss);
    assert_true(fetch.tlb_l1_miss && !fetch.tlb_l2_miss && fetch.random && fetch.op_cache_miss && !fetch.l3_miss);
    assert_int_equal(fetch.max_count, 0x1000);
    assert_int_equal(fetch.count, 0x200);
    assert_int_equal(fetch.latency, 300);
    assert_int_equal(fetch.page_kib, 2048);
    assert_int_equal(fetch.address, 0x401200);
    assert_int_equal(fetch.physical, 0x5000);
    assert_int_equal(fetch.tlb_latency, 0x42);
    assert_true(as_ibs_fetch_decode(raw.bytes, raw.size, (struct as_ibs_cpu){0x19, 1}, &fetch));
    assert_false(fetch.l1_miss_known);
    assert_int_equal(fetch.page_kib, 16);
    assert_false(as_ibs_fetch_decode(raw.bytes, 4 + 3 * 8 - 1, (struct as_ibs_cpu){0}, &fetch));
}

/* ---- SPE ---- */

struct spe_seen {
    struct as_spe_record records[16];
    size_t count, stop_at;
};

static bool keep_record(void *context, const struct as_spe_record *record)
{
    struct spe_seen *seen = context;
    assert_true(seen->count < 16);
    seen->records[seen->count++] = *record;
    return seen->count != seen->stop_at;
}

/* A load with everything, a branch in the kernel without a timestamp, padding between them. */
static const uint8_t spe_bytes[] = {
    0xb0, 0x34, 0x12, 0x40, 0x00, 0x00, 0x00, 0x00, 0x80, /* PC 0x401234, EL0, non-secure */
    0x99, 0x05, 0x00,                                     /* issue 5 */
    0x98, 0x2a, 0x01,                                     /* total 298 */
    0x49, 0x00,                                           /* load, general register */
    0x52, 0x1e, 0x01,                                     /* retired, L1 access and miss, TLB access, LLC access */
    0xb2, 0x10, 0x00, 0xff, 0x7f, 0x00, 0x00, 0x00, 0x5a, /* data 0x7fff0010, tag 0x5a */
    0x9a, 0x07, 0x00,                                     /* translation 7 */
    0xb3, 0x00, 0x50, 0x34, 0x12, 0x00, 0x00, 0x00, 0x80, /* physical */
    0x43, 0x0e,                                           /* from DRAM */
    0x65, 0x78, 0x56, 0x34, 0x12,                         /* context of EL2 */
    0x71, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* time */
    0x00, 0x00, 0x00,                                     /* padding */
    0xb0, 0x00, 0x10, 0x08, 0x08, 0x00, 0x80, 0xff, 0xa0, /* PC ffff800008081000 in EL1 */
    0x4a, 0x03,                                           /* a conditional, indirect branch */
    0x42, 0x82,                                           /* retired, mispredicted */
    0xb1, 0x00, 0x20, 0x08, 0x08, 0x00, 0x80, 0xff, 0xa0, /* its target */
    0x20, 0xb4, 0x00, 0x30, 0x08, 0x08, 0x00, 0x80, 0xff, 0xa0, /* where the one before went: two bytes of header */
    0x01,                                                       /* end */
};

static void check_spe(const struct spe_seen *seen)
{
    const struct as_spe_record *load = &seen->records[0], *branch = &seen->records[1];
    assert_int_equal(seen->count, 2);
    assert_int_equal(load->has, AS_SPE_PC | AS_SPE_ISSUE | AS_SPE_TOTAL | AS_SPE_TYPE | AS_SPE_EVENTS | AS_SPE_ADDRESS |
                                    AS_SPE_TRANSLATION | AS_SPE_PHYSICAL | AS_SPE_SOURCE | AS_SPE_CONTEXT |
                                    AS_SPE_TIME);
    assert_int_equal(load->pc, 0x401234);
    assert_int_equal(load->exception_level, 0);
    assert_true(load->non_secure && !load->damaged);
    assert_int_equal(load->total, 298);
    assert_int_equal(load->issue, 5);
    assert_int_equal(load->translation, 7);
    assert_int_equal(load->class, AS_SPE_MEMORY);
    assert_false(load->store || load->atomic || load->simd || load->sve);
    assert_int_equal(load->events, 0x11e);
    assert_int_equal(load->address, 0x7fff0010);
    assert_int_equal(load->address_tag, 0x5a);
    assert_int_equal(load->physical, 0x12345000);
    assert_string_equal(as_spe_source_name(load->source), "DRAM");
    assert_int_equal(load->context, 0x12345678);
    assert_int_equal(load->context_level, 2);
    assert_int_equal(load->time, 0x1122334455667788);
    assert_int_equal(branch->has, AS_SPE_PC | AS_SPE_TYPE | AS_SPE_EVENTS | AS_SPE_TARGET | AS_SPE_PREVIOUS);
    assert_int_equal(branch->pc, 0xffff800008081000);
    assert_int_equal(branch->exception_level, 1);
    assert_int_equal(branch->target, 0xffff800008082000);
    assert_int_equal(branch->previous, 0xffff800008083000);
    assert_true(branch->class == AS_SPE_BRANCH && branch->conditional && branch->indirect);
}

static void test_spe(void **state)
{
    /* In two pieces, cut everywhere; then byte by byte. */
    for (size_t cut = 0; cut <= sizeof spe_bytes; cut++) {
        struct spe_seen seen = {0};
        struct as_spe_decoder decoder = {.sink = keep_record, .context = &seen};
        assert_true(as_spe_feed(&decoder, spe_bytes, cut, 0));
        assert_true(as_spe_feed(&decoder, spe_bytes + cut, sizeof spe_bytes - cut, cut));
        check_spe(&seen);
        assert_int_equal(decoder.bad_bytes, 0);
    }
    struct spe_seen seen = {0};
    struct as_spe_decoder decoder = {.sink = keep_record, .context = &seen};
    for (size_t i = 0; i < sizeof spe_bytes; i++)
        assert_true(as_spe_feed(&decoder, spe_bytes + i, 1, i));
    check_spe(&seen);
    struct spe_seen one = {.stop_at = 1};
    struct as_spe_decoder stopped = {.sink = keep_record, .context = &one};
    assert_false(as_spe_feed(&stopped, spe_bytes, sizeof spe_bytes, 0));
}

static void test_spe_alignment_and_noise(void **state)
{
    /* An alignment packet to 16 bytes at offset 35: what stands between it and 48 is nothing. Then bytes that are no
     * packet. */
    static const uint8_t bytes[] = {0x23, 0x00, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0,
                                    0xb0, 0xb0, 0xb0, 0xff, 0xff, 0x98, 0x09, 0x00, 0x01};
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct spe_seen seen = {0};
        struct as_spe_decoder decoder = {.sink = keep_record, .context = &seen};
        assert_true(as_spe_feed(&decoder, bytes, cut, 35));
        assert_true(as_spe_feed(&decoder, bytes + cut, sizeof bytes - cut, 35 + cut));
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.records[0].total, 9);
        assert_true(seen.records[0].damaged);
        assert_int_equal(decoder.bad_bytes, 2);
    }
}

static void test_spe_words(void **state)
{
    struct as_str text = {0};
    as_spe_events_text(AS_SPE_RETIRED | AS_SPE_L1_MISS | AS_SPE_REMOTE | AS_SPE_EMPTY_PREDICATE | UINT64_C(1) << 40,
                       &text);
    assert_string_equal(text.data, "retired, L1D miss, remote, empty predicate");
    as_str_clear(&text);
    as_spe_type_text(&(struct as_spe_record){.class = AS_SPE_MEMORY, .store = true, .atomic = true}, &text);
    assert_string_equal(text.data, "store, atomic");
    as_str_clear(&text);
    as_spe_type_text(&(struct as_spe_record){.class = AS_SPE_OTHER, .conditional = true}, &text);
    assert_string_equal(text.data, "conditional select");
    as_str_free(&text);
    assert_string_equal(as_spe_source_name(1), "");
    /* Atomics: acquire-release store-exclusive. */
    static const uint8_t bytes[] = {0x49, 0x1f, 0x01, 0x49, 0x05, 0x01, 0x48, 0x09, 0x01, 0x48, 0x18, 0x01};
    struct spe_seen seen = {0};
    struct as_spe_decoder decoder = {.sink = keep_record, .context = &seen};
    assert_true(as_spe_feed(&decoder, bytes, sizeof bytes, 0));
    assert_true(seen.records[0].store && seen.records[0].atomic && seen.records[0].exclusive);
    assert_true(seen.records[0].acquire_release);
    assert_true(seen.records[1].store && seen.records[1].simd);
    assert_true(seen.records[2].conditional && !seen.records[2].sve);
    assert_true(seen.records[3].sve && !seen.records[3].conditional);
}

/* Linux's Documentation of perf_event_mmap_page: time_zero, time_mult, time_shift, and a counter of fewer bits. */
static void test_ticks(void **state)
{
    struct as_perf_info info = {.ticks = {.known = true, .shift = 10, .multiplier = 2048, .zero = 500}};
    assert_int_equal(as_perf_ticks_time(&info, 0), 500);
    assert_int_equal(as_perf_ticks_time(&info, 3), 506);
    assert_int_equal(as_perf_ticks_time(&info, 5000), 10500);
    assert_int_equal(as_perf_ticks_time(&info, UINT64_C(1) << 60),
                     (UINT64_C(1) << 61) + 500); /* no overflow on the way */
    info.ticks.cycles = 0xff0;                   /* of 8 bits, of which the last wrapped */
    info.ticks.mask = 0xff;
    assert_int_equal(as_perf_ticks_time(&info, 0x02), 500 + 2 * 0x1002);
    info.ticks.shift = 64;
    assert_true(as_perf_ticks_time(&info, 1) == AS_PERF_NO_TIME);
    assert_true(as_perf_ticks_time(&(struct as_perf_info){0}, 1) == AS_PERF_NO_TIME);
    assert_true(as_perf_ticks_time(NULL, 1) == AS_PERF_NO_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_source), cmocka_unit_test(test_branches),
        cmocka_unit_test(test_ibs_op),      cmocka_unit_test(test_ibs_op_newer),
        cmocka_unit_test(test_ibs_errata),  cmocka_unit_test(test_ibs_fetch),
        cmocka_unit_test(test_spe),         cmocka_unit_test(test_spe_alignment_and_noise),
        cmocka_unit_test(test_ticks),       cmocka_unit_test(test_spe_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
