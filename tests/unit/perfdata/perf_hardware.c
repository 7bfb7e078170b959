/* The recordings of perf_hardware.h. Registers and packets are little-endian, whatever the file is. */
#include "perf_hardware.h"

#include <linux/perf_event.h>
#include <string.h>

enum { OP_ID = 11, FETCH_ID = 21, SPE_ID = 11, PID = 100, TID = 101, OTHER_TID = 102 };

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

/* What sample_id_all appends: for IBS_FIELDS, and with a processor for SPE_FIELDS. */
static void put_trailer(struct build *build, uint64_t time, uint32_t tid, int cpu)
{
    put_u32(build, PID);
    put_u32(build, tid);
    put_u64(build, time);
    if (cpu >= 0) {
        put_u32(build, (uint32_t)cpu);
        put_u32(build, 0);
    }
    put_u64(build, OP_ID);
}

static void put_comm(struct build *build, const char *name, uint32_t tid, uint64_t time, int cpu)
{
    size_t at = record_begin(build, PERF_RECORD_COMM, tid == TID ? PERF_RECORD_MISC_COMM_EXEC : 0);
    put_u32(build, PID);
    put_u32(build, tid);
    put_text(build, name, 8);
    put_trailer(build, time, tid, cpu);
    record_end(build, at);
}

static void put_map(struct build *build, const char *name, uint64_t time, int cpu)
{
    size_t at = record_begin(build, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    put_u32(build, PID);
    put_u32(build, TID);
    put_u64(build, 0x400000);
    put_u64(build, 0x10000);
    put_u64(build, 0);
    put_text(build, name, 16);
    put_trailer(build, time, TID, cpu);
    record_end(build, at);
}

static void put_ibs_of(struct build *build, uint32_t caps, uint64_t id, uint64_t ip, uint64_t period,
                       const uint64_t *registers, size_t count)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
    put_u64(build, id);
    put_u64(build, ip);
    put_u32(build, PID);
    put_u32(build, TID);
    put_u64(build, 1000 + build->bytes.len); /* later ones are later */
    put_u64(build, period);
    put_u32(build, (uint32_t)(4 + 8 * count));
    put_little(build, caps, 4);
    for (size_t i = 0; i < count; i++)
        put_little(build, registers[i], 8);
    record_end(build, at);
}

static void put_ibs(struct build *build, uint64_t id, uint64_t ip, uint64_t period, const uint64_t *registers,
                    size_t count)
{
    put_ibs_of(build, CAPS, id, ip, period, registers, count);
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
    UNCACHEABLE = 1 << 14,
    LOCKED = 1 << 15,
    NO_BUFFER = 1 << 16,
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
        {.ip = 0x401014, /* the same line twice on its way; where from, is not known */
         .tag = 70,
         .completion = 2,
         .data3 = LOAD | L1_MISS | L2_MISS | NO_BUFFER | WIDTH_8,
         .address = 0x7f00000010c0,
         .miss_latency = 44},
        {.ip = 0x401018, /* a device: that caches missed it says nothing */
         .tag = 400,
         .completion = 3,
         .data3 = LOAD | L1_MISS | L2_MISS | UNCACHEABLE | WIDTH_4,
         .address = 0x7f0000f00000,
         .miss_latency = 999},
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
    put_comm(&build, "prog", TID, 1, -1);
    put_map(&build, "/nowhere/prog", 2, -1);
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

/* ---- SPE ---- */

enum {
    SPE_FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
    RETIRED = 1 << 1,
    L1_ACCESS = 1 << 2,
    L1_MISSED = 1 << 3,
    TLB_ACCESS = 1 << 4,
    WALKED = 1 << 5,
    WAS_NOT_TAKEN = 1 << 6,
    WAS_MISPREDICTED = 1 << 7,
    LLC_ACCESS = 1 << 8,
    LLC_MISSED = 1 << 9,
    WAS_REMOTE = 1 << 10,
    PARTIAL = 1 << 17,
    MEMORY = 0x49,
    BRANCHES = 0x4a,
    EXEC_TIME = 3000, /* when the program calls execve, in nanoseconds; what follows is in ticks */
    BEFORE = 100,
    AFTER = 600,
};

const struct attr spe_attrs[2] = {
    {.type = 8,
     .config = 1,
     .period = 1024,
     .sample_type = SPE_FIELDS,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {SPE_ID},
     .n_ids = 1,
     .name = "arm_spe_0/ts_enable=1/"},
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_DUMMY,
     .period = 1,
     .sample_type = SPE_FIELDS,
     .flags = FLAG_SAMPLE_ID_ALL,
     .ids = {FETCH_ID},
     .n_ids = 1,
     .name = "dummy:u"},
};

struct spe {
    uint64_t pc, address, target;
    unsigned level, context, class, type, total, issue, translation;
    int source; /* 0: none; else one more */
    uint32_t events;
    uint64_t time; /* ticks; 0: none, it ends without */
};

static void put_packet(struct build *build, uint8_t header, uint64_t payload, unsigned size)
{
    put_u8(build, header);
    put_little(build, payload, size);
}

static void put_spe(struct build *build, const struct spe *spe)
{
    put_packet(build, 0x62, spe->events, 4);
    if (spe->class)
        put_packet(build, (uint8_t)spe->class, spe->type, 1);
    if (spe->total) {
        put_packet(build, 0x98, spe->total, 2);
        put_packet(build, 0x99, spe->issue, 2);
    }
    if (spe->translation)
        put_packet(build, 0x9a, spe->translation, 2);
    if (spe->pc)
        put_packet(build, 0xb0, (spe->pc & ((UINT64_C(1) << 56) - 1)) | (uint64_t)spe->level << 61 | UINT64_C(1) << 63,
                   8);
    if (spe->address)
        put_packet(build, 0xb2, spe->address, 8);
    if (spe->target)
        put_packet(build, 0xb1, spe->target | UINT64_C(1) << 63, 8);
    if (spe->context)
        put_packet(build, 0x64, spe->context, 4);
    if (spe->source)
        put_packet(build, 0x43, (uint64_t)spe->source - 1, 1);
    if (spe->time)
        put_packet(build, 0x71, spe->time, 8);
    else
        put_u8(build, 1);
}

struct trace {
    struct build build;
    size_t piece;
};

static void put_buffer(struct build *build, uint32_t index, uint32_t tid, uint32_t cpu, struct trace *trace)
{
    enum { START = 0x1000 };
    while (trace->build.bytes.len % 8 != 0)
        put_u8(&trace->build, 0);
    size_t all = trace->build.bytes.len, piece = trace->piece ? trace->piece : all;
    for (size_t done = 0; done < all; done += piece) {
        size_t size = piece < all - done ? piece : all - done, at = record_begin(build, 71, 0);
        put_u64(build, size);
        put_u64(build, START + done);
        put_u64(build, 0);
        put_u32(build, index);
        put_u32(build, tid);
        put_u32(build, cpu);
        put_u32(build, 0);
        record_end(build, at);
        as_str_add_bytes(&build->bytes, trace->build.bytes.data + done, size);
    }
    as_str_free(&trace->build.bytes);
    trace->build = (struct build){0};
}

/* Threads by their context packets. */
void put_spe_trace(struct build *trace)
{
    static const struct spe records[] = {
        {.pc = 0x401010, /* a load from memory, before the execve */
         .context = TID,
         .class = MEMORY,
         .events = RETIRED | L1_ACCESS | L1_MISSED | TLB_ACCESS | WALKED | LLC_ACCESS | LLC_MISSED | WAS_REMOTE,
         .address = 0x7f0000001000,
         .total = 200,
         .issue = 12,
         .translation = 30,
         .source = 0xe + 1,
         .time = BEFORE},
        {.pc = 0x401010, /* the same address in the other program: in L1 */
         .context = TID,
         .class = MEMORY,
         .events = RETIRED | L1_ACCESS | TLB_ACCESS,
         .address = 0x7f0000001000,
         .total = 6,
         .issue = 2,
         .translation = 1,
         .time = AFTER},
        {.pc = 0x401010, /* likewise, with a source that the processor's manual does not name */
         .context = TID,
         .class = MEMORY,
         .events = RETIRED | L1_ACCESS | L1_MISSED | LLC_ACCESS,
         .address = 0x7f0000001040,
         .total = 50,
         .issue = 3,
         .source = 0x7 + 1,
         .time = AFTER + 1},
        {.pc = 0x401030,
         .context = OTHER_TID,
         .class = BRANCHES,
         .type = 1,
         .events = RETIRED | WAS_MISPREDICTED,
         .target = 0x401000,
         .total = 9,
         .issue = 1,
         .time = AFTER + 2},
        {.pc = 0x401030,
         .context = OTHER_TID,
         .class = BRANCHES,
         .type = 1,
         .events = RETIRED | WAS_NOT_TAKEN,
         .target = 0x401034,
         .total = 4,
         .issue = 1,
         .time = AFTER + 3},
        {.pc = 0xffff800010001000, .level = 1, .context = TID, .class = 0x48, .events = 0, .time = AFTER + 4},
        {.events = RETIRED, .time = AFTER + 5}, /* of no instruction */
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        put_spe(trace, &records[i]);
}

/* The buffer of a thread; those of processors on which one is known to run; that of one on which none is. */
static void put_without_context(struct build *build, size_t piece)
{
    struct trace trace = {.piece = piece};
    put_spe(&trace.build, &(struct spe){.pc = 0x401020, /* an atomic store */
                                        .class = MEMORY,
                                        .type = 0x01 | 0x02 | 0x04,
                                        .events = RETIRED | L1_ACCESS,
                                        .address = 0x600040,
                                        .total = 30,
                                        .issue = 4,
                                        .time = AFTER});
    put_buffer(build, 1, OTHER_TID, UINT32_MAX, &trace);
    put_spe(&trace.build,
            &(struct spe){.pc = 0x401040, .class = MEMORY, .type = 0x08, .events = RETIRED | PARTIAL, .time = AFTER});
    put_spe(&trace.build,
            &(struct spe){.pc = 0x401040, .class = MEMORY, .type = 0x04, .events = RETIRED}); /* no time of its own */
    put_u8(&trace.build, 0xff);                                                               /* no packet */
    put_spe(&trace.build, &(struct spe){.pc = 0x401044, .events = RETIRED, .time = AFTER + 9});
    put_buffer(build, 2, UINT32_MAX, 1, &trace);
    put_spe(&trace.build, &(struct spe){.pc = 0x401048, .events = RETIRED, .time = AFTER});
    put_buffer(build, 3, UINT32_MAX, 7, &trace);
    put_spe(&trace.build, &(struct spe){.pc = 0x401060, .events = RETIRED, .time = AFTER});
    put_buffer(build, 4, UINT32_MAX, 5, &trace);
    put_spe(&trace.build, &(struct spe){.pc = 0x401064, .events = RETIRED, .time = AFTER});
    put_buffer(build, 5, UINT32_MAX, 6, &trace);
}

static void put_words(struct build *build, uint32_t type, const uint64_t *words, size_t count)
{
    size_t at = record_begin(build, type, 0);
    for (size_t i = 0; i < count; i++)
        put_u64(build, words[i]);
    record_end(build, at);
}

void put_spe_processes(struct build *build)
{
    put_comm(build, "first", TID, 1, 0);
    put_map(build, "/nowhere/first", 2, 0);
    put_comm(build, "second", TID, EXEC_TIME, 0);
    put_map(build, "/nowhere/second", EXEC_TIME + 1, 0);
    put_comm(build, "other", OTHER_TID, EXEC_TIME + 2, 0);
    size_t at = record_begin(build, PERF_RECORD_SWITCH, 0);
    put_trailer(build, EXEC_TIME + 3, OTHER_TID, 1);
    record_end(build, at);
    at = record_begin(build, PERF_RECORD_ITRACE_START, 0);
    put_u32(build, PID);
    put_u32(build, TID);
    put_trailer(build, EXEC_TIME + 4, 0, 5);
    record_end(build, at);
    at = record_begin(build, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT); /* and in comes the other */
    put_u32(build, PID);
    put_u32(build, OTHER_TID);
    put_trailer(build, EXEC_TIME + 5, TID, 6);
    record_end(build, at);
}

void put_spe_truncated(struct build *build)
{
    size_t at = record_begin(build, PERF_RECORD_AUX, 0);
    put_u64(build, 0);
    put_u64(build, 64);
    put_u64(build, PERF_AUX_FLAG_TRUNCATED);
    put_trailer(build, 4000, TID, 0);
    record_end(build, at);
}

/* What perf says of a trace before it comes: its kind, and the processors' clock. */
static void put_spe_head(struct build *build)
{
    size_t at = record_begin(build, 70, 0);
    put_u32(build, AS_PERF_AUX_ARM_SPE);
    put_u32(build, 0);
    put_u64(build, 8);
    record_end(build, at);
    put_words(build, 79, (uint64_t[]){SPE_TICKS_SHIFT, SPE_TICKS_MULTIPLIER, SPE_TICKS_ZERO}, 3);
}

/* In the order of perf: what it says of the trace, then the kernel's records with the trace among them, not sorted. */
struct build spe_records(bool big, size_t piece)
{
    struct build build = {.big = big};
    put_spe_head(&build);
    struct trace trace = {.piece = piece};
    put_spe_trace(&trace.build);
    put_buffer(&build, 0, UINT32_MAX, 0, &trace);
    put_spe_processes(&build);
    put_without_context(&build, piece);
    put_spe_truncated(&build);
    return build;
}

struct as_str spe_file(const struct wrapping *how, size_t piece)
{
    struct wrapping neoverse = *how;
    neoverse.cpu_id = "0x00000000413fd0c1";
    struct build records = spe_records(how->big, piece);
    struct as_str file = wrap(&neoverse, spe_attrs, 2, &records);
    as_str_free(&records.bytes);
    return file;
}

struct as_str spe_unknown_threads_file(void)
{
    enum { BUFFER_TID = 301, CONTEXT_TID = 302 };
    struct build build = {0};
    struct trace trace = {0};
    put_spe_head(&build);
    put_spe(&trace.build, &(struct spe){.pc = 0x401000, .events = RETIRED, .time = AFTER});
    put_buffer(&build, 0, BUFFER_TID, UINT32_MAX, &trace);
    put_spe(&trace.build, &(struct spe){.pc = 0x401004, .context = CONTEXT_TID, .events = RETIRED, .time = AFTER});
    put_buffer(&build, 1, UINT32_MAX, 0, &trace);
    put_spe(&trace.build, &(struct spe){.pc = 0x401008, .context = CONTEXT_TID, .events = RETIRED, .time = AFTER});
    put_buffer(&build, 2, BUFFER_TID, UINT32_MAX, &trace);
    struct as_str file = wrap(&(struct wrapping){0}, spe_attrs, 2, &build);
    as_str_free(&build.bytes);
    return file;
}

/* ---- a bit at a time ---- */

struct as_str spe_bits_file(void)
{
    struct build build = {0};
    struct trace trace = {0};
    put_spe_head(&build);
    for (unsigned i = 0; i < SPE_EVENT_BITS; i++)
        put_spe(&trace.build, &(struct spe){.pc = 0x401000 + 4 * i,
                                            .context = TID,
                                            .class = MEMORY,
                                            .events = RETIRED | UINT32_C(1) << i,
                                            .address = 0x600040,
                                            .time = AFTER + i});
    put_buffer(&build, 0, UINT32_MAX, 0, &trace);
    put_comm(&build, "prog", TID, 1, 0);
    put_map(&build, "/nowhere/prog", 2, 0);
    struct as_str file = wrap(&(struct wrapping){.cpu_id = "0x00000000413fd0c1"}, spe_attrs, 2, &build);
    as_str_free(&build.bytes);
    return file;
}

struct as_str spe_sources_file(const char *cpu_id)
{
    struct build build = {0};
    struct trace trace = {0};
    put_spe_head(&build);
    for (int i = 0; i < SPE_SOURCES; i++)
        put_spe(&trace.build, &(struct spe){.pc = 0x401000 + 4 * (uint64_t)i,
                                            .context = TID,
                                            .class = MEMORY,
                                            .events = RETIRED,
                                            .address = 0x600040,
                                            .source = i + 1,
                                            .time = AFTER + (uint64_t)i});
    put_buffer(&build, 0, UINT32_MAX, 0, &trace);
    put_comm(&build, "prog", TID, 1, 0);
    put_map(&build, "/nowhere/prog", 2, 0);
    struct as_str file = wrap(&(struct wrapping){.cpu_id = cpu_id}, spe_attrs, 2, &build);
    as_str_free(&build.bytes);
    return file;
}

struct as_str ibs_pages_file(const char *cpu_id)
{
    const uint64_t valid = UINT64_C(3) << 48, complete = UINT64_C(1) << 50, physical = UINT64_C(1) << 52;
    struct build build = {0};
    put_comm(&build, "prog", TID, 1, -1);
    put_map(&build, "/nowhere/prog", 2, -1);
    for (unsigned i = 0; i < IBS_PAGES; i++) {
        uint64_t address = 0x401000 + 4 * i;
        put_ibs(&build, FETCH_ID, address, 3200,
                (uint64_t[]){200 | valid | complete | physical | (uint64_t)i << 53, address, 0x9000, 0}, 4);
    }
    struct as_str file = wrap(&(struct wrapping){.cpu_id = cpu_id}, ibs_attrs, 2, &build);
    as_str_free(&build.bytes);
    return file;
}

struct as_str ibs_bits_file(void)
{
    struct build build = {0};
    put_comm(&build, "prog", TID, 1, -1);
    put_map(&build, "/nowhere/prog", 2, -1);
    for (unsigned i = 0; i < IBS_DATA4_BITS; i++) {
        uint64_t registers[] = {100 | UINT64_C(7) << 17,
                                0x401000 + 4 * i,
                                0,
                                0,
                                LOAD | WIDTH_8 | UINT64_C(1) << 17,
                                0x7f0000001000,
                                0,
                                0,
                                1u << i};
        put_ibs_of(&build, CAPS | 1 << 10, OP_ID, 0x401000 + 4 * i, 1600, registers, 9);
    }
    struct as_str file = wrap(&(struct wrapping){.cpu_id = "AuthenticAMD,21,96,1"}, ibs_attrs, 2, &build);
    as_str_free(&build.bytes);
    return file;
}
