/* The recordings of perf_hardware.h. Registers and packets are little-endian, whatever the file is. */
#include "perf_hardware.h"

#include <linux/perf_event.h>
#include <string.h>

enum { OP_ID = 11, FETCH_ID = 21, PID = 100, TID = 101 };

/* ---- IBS ---- */

enum {
    IBS_FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                 PERF_SAMPLE_RAW,
    /* Branch target, longer counts, invalid addresses, fused branches, extended fetch control, Zen 4, latency filter.
     */
    CAPS = 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11 | 1 << 12,
};

const struct attr ibs_attrs[2] = {
    {.type = 9,
     .config = 1 << 19,
     .period = 1600,
     .sample_type = IBS_FIELDS,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {OP_ID},
     .n_ids = 1,
     .name = "ibs_op/cnt_ctl=1/"},
    {.type = 10,
     .period = 3200,
     .sample_type = IBS_FIELDS,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {FETCH_ID},
     .n_ids = 1,
     .name = "ibs_fetch//"},
};

static void put_little(struct build *build, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        put_u8(build, (uint8_t)(value >> 8 * i));
}

/* What sample_id_all appends for IBS_FIELDS. */
static void put_ibs_trailer(struct build *build, uint64_t time)
{
    put_u32(build, PID);
    put_u32(build, TID);
    put_u64(build, time);
    put_u64(build, OP_ID);
}

static void put_comm(struct build *build, uint64_t time)
{
    size_t at = record_begin(build, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put_u32(build, PID);
    put_u32(build, TID);
    put_text(build, "prog", 8);
    put_ibs_trailer(build, time);
    record_end(build, at);
}

static void put_map(struct build *build, uint64_t time)
{
    size_t at = record_begin(build, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    put_u32(build, PID);
    put_u32(build, TID);
    put_u64(build, 0x400000);
    put_u64(build, 0x10000);
    put_u64(build, 0);
    put_text(build, "/nowhere/prog", 16);
    put_ibs_trailer(build, time);
    record_end(build, at);
}

static void put_ibs(struct build *build, uint64_t id, uint64_t ip, uint64_t period, const uint64_t *registers,
                    size_t count)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
    put_u64(build, id);
    put_u64(build, ip);
    put_u32(build, PID);
    put_u32(build, TID);
    put_u64(build, 1000 + build->bytes.len); /* later ones are later */
    put_u64(build, period);
    put_u32(build, (uint32_t)(4 + 8 * count));
    put_little(build, CAPS, 4);
    for (size_t i = 0; i < count; i++)
        put_little(build, registers[i], 8);
    record_end(build, at);
}

/* Registers of an operation, those that matter. */
struct op {
    uint64_t ip;
    unsigned tag, completion; /* cycles to retirement */
    uint64_t data;            /* IbsOpData from bit 34 on */
    uint64_t data2, data3, address, target;
    unsigned miss_latency, tlb_latency;
    bool invalid;
};

static void put_op(struct build *build, const struct op *op)
{
    uint64_t control = 100 | UINT64_C(1) << 19 | (op->invalid ? 0 : UINT64_C(1) << 17 | UINT64_C(1) << 18);
    uint64_t registers[] = {control,
                            op->ip,
                            op->data | (uint64_t)op->tag << 16 | op->completion,
                            op->data2,
                            op->data3 | (op->address ? UINT64_C(1) << 17 : 0) | (uint64_t)op->miss_latency << 32 |
                                (uint64_t)op->tlb_latency << 48,
                            op->address,
                            0,
                            op->target};
    put_ibs(build, OP_ID, op->ip, 1600, registers, 8);
}

enum {
    LOAD = 1,
    STORE = 1 << 1,
    TLB1_MISS = 1 << 2,
    TLB2_MISS = 1 << 3,
    TLB1_2M = 1 << 4,
    L1_MISS = 1 << 7,
    MISALIGNED = 1 << 8,
    LOCKED = 1 << 15,
    L2_MISS = 1 << 20,
    WIDTH_4 = 3 << 22,
    WIDTH_8 = 4 << 22,
    OPEN_3 = 3 << 26,
    FROM_NEAR = 2,
    FROM_DRAM = 3,
    FAR_NODE = 1 << 4,
};
static const uint64_t RETURN = UINT64_C(1) << 34, TAKEN = UINT64_C(1) << 35, MISPREDICTED = UINT64_C(1) << 36,
                      BRANCH = UINT64_C(1) << 37, RIP_INVALID = UINT64_C(1) << 38, FUSED = UINT64_C(1) << 39,
                      MICROCODE = UINT64_C(1) << 40;

static void put_ops(struct build *build)
{
    const struct op ops[] = {
        {.ip = 0x401010, /* a load from memory of another node, with page tables walked */
         .tag = 350,
         .completion = 10,
         .data2 = FROM_DRAM | FAR_NODE,
         .data3 = LOAD | L1_MISS | L2_MISS | TLB1_MISS | TLB2_MISS | WIDTH_8 | OPEN_3,
         .address = 0x7f0000001000,
         .miss_latency = 300,
         .tlb_latency = 40},
        {.ip = 0x401010, /* the same one, in L1 */
         .tag = 20,
         .completion = 5,
         .data3 = LOAD | WIDTH_8 | TLB1_2M,
         .address = 0x7f0000001000},
        {.ip = 0x401010, /* in L2 */
         .tag = 40,
         .completion = 6,
         .data3 = LOAD | L1_MISS | WIDTH_8,
         .address = 0x7f0000001040,
         .miss_latency = 14},
        {.ip = 0x401010, /* from another core complex */
         .tag = 130,
         .completion = 7,
         .data2 = FROM_NEAR,
         .data3 = LOAD | L1_MISS | L2_MISS | WIDTH_8,
         .address = 0x7f0000001080,
         .miss_latency = 110},
        {.ip = 0x401020, /* a locked store across lines */
         .tag = 60,
         .completion = 50,
         .data3 = STORE | L1_MISS | LOCKED | MISALIGNED | WIDTH_4,
         .address = 0x60003e},
        {.ip = 0x401030, .tag = 9, .completion = 1, .data = BRANCH | TAKEN | MISPREDICTED | FUSED, .target = 0x401000},
        {.ip = 0x401030, .tag = 8, .completion = 1, .data = BRANCH | TAKEN | FUSED, .target = 0x401000},
        {.ip = 0x401030, .tag = 7, .completion = 1, .data = BRANCH | FUSED, .target = 0x401000},
        {.ip = 0x401050, .tag = 6, .completion = 1, .data = BRANCH | TAKEN | RETURN, .target = 0x402000},
        {.ip = 0x401060, .tag = 5, .completion = 1, .data = MICROCODE | RIP_INVALID},
        {.ip = 0x401040, .invalid = true, .tag = 999, .data3 = LOAD | L1_MISS},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        put_op(build, &ops[i]);
    put_ibs(build, OP_ID, 0x401040, 1600, (uint64_t[]){UINT64_C(3) << 17}, 1); /* too short */
}

static void put_fetches(struct build *build)
{
    const uint64_t valid = UINT64_C(3) << 48, complete = UINT64_C(1) << 50, l1_miss = UINT64_C(1) << 51,
                   physical = UINT64_C(1) << 52, page_2m = UINT64_C(1) << 53, tlb1 = UINT64_C(1) << 55,
                   tlb2 = UINT64_C(1) << 56, randomised = UINT64_C(1) << 57, l2_miss = UINT64_C(1) << 58,
                   ops_miss = UINT64_C(1) << 60, l3_miss = UINT64_C(1) << 61;
    uint64_t far[] = {200 | valid | complete | l1_miss | l2_miss | l3_miss | ops_miss | tlb1 | tlb2 | randomised |
                          UINT64_C(90) << 32,
                      0x402000, 0, 30};
    uint64_t given_up[] = {200 | valid | randomised | UINT64_C(7) << 32, 0x402000, 0, 0};
    uint64_t quick[] = {200 | valid | complete | physical | page_2m | randomised | UINT64_C(4) << 32, 0x402040, 0x9000,
                        0};
    put_ibs(build, FETCH_ID, 0x402000, 3200, far, 4);
    put_ibs(build, FETCH_ID, 0x402000, 3200, given_up, 4);
    put_ibs(build, FETCH_ID, 0x402040, 3200, quick, 4);
}

struct build ibs_records(bool big)
{
    struct build build = {.big = big};
    put_comm(&build, 1);
    put_map(&build, 2);
    put_ops(&build);
    put_fetches(&build);
    return build;
}

struct as_str ibs_file(const struct wrapping *how)
{
    struct wrapping zen4 = *how;
    zen4.cpu_id = "AuthenticAMD,25,97,2";
    struct build records = ibs_records(how->big);
    struct as_str file = wrap(&zen4, ibs_attrs, 2, &records);
    as_str_free(&records.bytes);
    return file;
}
