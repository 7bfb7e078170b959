/* Encodes samples as real units do: Intel's data source, AMD's registers, Arm's packets. See record_unit.h;
 * doc/format/perfdata.md names the fields, src/perfdata decodes them. */
#include "record/record_unit.h"

#include <linux/perf_event.h>

/* ---- PEBS ---- */

/* Whether the line came from another core's cache. */
static bool from_core(const struct as_pmu_sample *sample)
{
    enum { ELSEWHERE = AS_EVENT_L2_HIT | AS_EVENT_LLC_HIT | AS_EVENT_ST_LLC };
    return sample->events & AS_EVENT_COHERENCE && sample->events & AS_EVENT_ST_L1 && !(sample->events & ELSEWHERE);
}

static uint64_t level_of(const struct as_pmu_sample *sample, uint64_t *number)
{
    if (sample->events & AS_EVENT_ST_LLC) {
        *number = PERF_MEM_LVLNUM_RAM;
        return PERF_MEM_LVL_LOC_RAM;
    }
    if (sample->events & AS_EVENT_LLC_HIT || from_core(sample)) { /* the last level finds the core that has it */
        *number = PERF_MEM_LVLNUM_L3;
        return PERF_MEM_LVL_L3;
    }
    if (sample->events & AS_EVENT_L2_HIT) {
        *number = PERF_MEM_LVLNUM_L2;
        return PERF_MEM_LVL_L2;
    }
    bool on_its_way = sample->events & AS_EVENT_ST_L1;
    *number = on_its_way ? PERF_MEM_LVLNUM_LFB : PERF_MEM_LVLNUM_L1;
    return on_its_way ? PERF_MEM_LVL_LFB : PERF_MEM_LVL_L1;
}

/* Of a store, Intel's processors say only whether the line was in the L1 (Linux, arch/x86/events/intel/ds.c). A store of the
 * model leaves its queue after the sample, so that the answer is not known yet unless it is a miss. */
static uint64_t store_source(const struct as_pmu_sample *sample)
{
    bool missed = sample->events & AS_EVENT_ST_L1;
    uint64_t level = missed ? PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS : PERF_MEM_LVL_NA;
    uint64_t number = missed ? PERF_MEM_LVLNUM_L1 : PERF_MEM_LVLNUM_NA;
    return (uint64_t)PERF_MEM_OP_STORE << PERF_MEM_OP_SHIFT | level << PERF_MEM_LVL_SHIFT |
           number << PERF_MEM_LVLNUM_SHIFT;
}

static uint64_t snoop_of(const struct as_pmu_sample *sample)
{
    bool clean = sample->events & AS_EVENT_SNOOP_CLEAN, missed = sample->events & AS_EVENT_SNOOP_MISS;
    if (from_core(sample))
        return clean ? PERF_MEM_SNOOP_HIT : PERF_MEM_SNOOP_HITM;
    return missed && sample->events & AS_EVENT_LLC_HIT ? PERF_MEM_SNOOP_MISS : PERF_MEM_SNOOP_NONE;
}

static uint64_t load_source(const struct as_pmu_sample *sample)
{
    uint64_t number, level = level_of(sample, &number);
    return (uint64_t)PERF_MEM_OP_LOAD << PERF_MEM_OP_SHIFT | (level | PERF_MEM_LVL_HIT) << PERF_MEM_LVL_SHIFT |
           number << PERF_MEM_LVLNUM_SHIFT | snoop_of(sample) << PERF_MEM_SNOOP_SHIFT;
}

uint64_t as_unit_data_source(const struct as_pmu_sample *sample)
{
    bool store = !(sample->access & AS_ACCESS_LOAD), walked = sample->events & AS_EVENT_ST_TLB;
    bool locked = sample->insn_flags & AS_INSN_ATOMIC;
    return (store ? store_source(sample) : load_source(sample)) |
           (uint64_t)(locked ? PERF_MEM_LOCK_LOCKED : PERF_MEM_LOCK_NA) << PERF_MEM_LOCK_SHIFT |
           (uint64_t)(walked ? PERF_MEM_TLB_MISS | PERF_MEM_TLB_WK : PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1)
               << PERF_MEM_TLB_SHIFT;
}

/* ---- IBS ---- */

enum {
    CAP_BRANCH_TARGET = 1 << 5,
    CAP_COUNT_EXTENSION = 1 << 6,
    FROM_LOCAL_CACHE = 2, /* codes of processors before Zen 4 */
    FROM_DRAM = 3,
    NOT_MODIFIED = 1 << 5,
    LINE = 64,
};

static uint64_t bit(unsigned number, bool set)
{
    return (uint64_t)set << number;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static void put_le(uint8_t *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static size_t put_registers(uint8_t *raw, uint32_t caps, const uint64_t *registers, size_t n)
{
    put_le(raw, caps, 4);
    for (size_t i = 0; i < n; i++)
        put_le(raw + 4 + 8 * i, registers[i], 8);
    return 4 + 8 * n;
}

static bool is_branch(const struct as_pmu_sample *sample)
{
    return AS_INSN_CONTROL_CLASSES >> sample->class_ & 1;
}

/* The code for the width of an access: log2 plus 1. */
static uint64_t width_code(uint32_t size)
{
    uint64_t code = 0;
    while (size >> code)
        code++;
    return size & (size - 1) || code > 7 ? 0 : code;
}

static uint64_t data3_of(const struct as_pmu_sample *sample)
{
    bool load = sample->insn_flags & AS_INSN_LOAD, l1_miss = sample->events & AS_EVENT_ST_L1;
    bool walked = sample->events & AS_EVENT_ST_TLB;
    bool crosses = sample->address && sample->address % LINE + sample->size > LINE;
    uint64_t latency = load && l1_miss ? at_most(sample->latency, UINT16_MAX) : 0;
    return bit(0, load) | bit(1, sample->insn_flags & AS_INSN_STORE) | bit(2, walked) | bit(3, walked) |
           bit(7, l1_miss) | bit(8, crosses) | bit(15, sample->insn_flags & AS_INSN_ATOMIC) |
           bit(17, sample->address != 0) | bit(20, l1_miss && !(sample->events & AS_EVENT_L2_HIT)) |
           width_code(sample->size) << 22 | latency << 32;
}

/* A cache of this core complex gives the line; the bit says whether it was modified there (Linux,
 * arch/x86/events/amd/ibs.c, takes 0 for a line that another core had changed). */
static uint64_t data2_of(const struct as_pmu_sample *sample)
{
    if (!(sample->insn_flags & AS_INSN_LOAD))
        return 0;
    if (from_core(sample))
        return FROM_LOCAL_CACHE | (sample->events & AS_EVENT_SNOOP_CLEAN ? NOT_MODIFIED : 0);
    return sample->events & AS_EVENT_ST_LLC    ? FROM_DRAM
           : sample->events & AS_EVENT_LLC_HIT ? FROM_LOCAL_CACHE | NOT_MODIFIED
                                               : 0;
}

static uint64_t data_of(const struct as_pmu_sample *sample)
{
    bool branch = is_branch(sample);
    return at_most(sample->completed, UINT16_MAX) | at_most(sample->retired, UINT16_MAX) << 16 |
           bit(34, sample->class_ == AS_CLASS_RETURN) | bit(35, branch && sample->flags & AS_PIPE_TAKEN) |
           bit(36, branch && sample->flags & AS_PIPE_MISPREDICTED) | bit(37, branch);
}

/* The signature vector, and as many bytes that the record's length is a multiple of eight. */
size_t as_unit_tea(const struct as_pmu_sample *sample, uint8_t raw[AS_UNIT_RAW_MAX])
{
    put_le(raw, sample->events & AS_EVENTS_TEA, 4);
    return 4;
}

size_t as_unit_ibs_op(const struct as_pmu_sample *sample, bool counts_ops, uint8_t raw[AS_UNIT_RAW_MAX])
{
    uint64_t count = at_most(sample->weight / 16, (1 << 23) - 1);
    uint64_t control = (count & 0xffff) | bit(17, true) | bit(18, true) | bit(19, counts_ops) | (count >> 16) << 20;
    bool data = sample->insn_flags & (AS_INSN_LOAD | AS_INSN_STORE);
    uint64_t registers[] = {
        control,         sample->ip, data_of(sample), data ? data2_of(sample) : 0, data ? data3_of(sample) : 0,
        sample->address, 0,          sample->target};
    return put_registers(raw, CAP_BRANCH_TARGET | CAP_COUNT_EXTENSION, registers, 8);
}

size_t as_unit_ibs_fetch(const struct as_pmu_sample *sample, bool random, uint8_t raw[AS_UNIT_RAW_MAX])
{
    bool walked = sample->events & AS_EVENT_DR_TLB;
    bool l2_miss = sample->events & AS_EVENT_DR_L1 && !(sample->events & AS_EVENT_L2_HIT);
    uint64_t control = at_most(sample->weight / 16, 0xffff) | at_most(sample->latency, UINT16_MAX) << 32 |
                       bit(48, true) | bit(49, true) | bit(50, true) | bit(51, sample->events & AS_EVENT_DR_L1) |
                       bit(55, walked) | bit(56, walked) | bit(57, random) | bit(58, l2_miss);
    uint64_t registers[] = {control, sample->ip, 0};
    return put_registers(raw, CAP_COUNT_EXTENSION, registers, 3);
}

/* ---- SPE ---- */

static void put_packet(struct as_str *packets, uint8_t header, uint64_t payload, unsigned size)
{
    uint8_t bytes[9] = {header};
    put_le(bytes + 1, payload, size);
    as_str_add_bytes(packets, bytes, 1 + size);
}

static uint64_t spe_events(const struct as_pmu_sample *sample, bool data, bool branch)
{
    bool l1_miss = data && sample->events & AS_EVENT_ST_L1, llc_miss = data && sample->events & AS_EVENT_ST_LLC;
    return bit(1, true) | bit(2, data) | bit(3, l1_miss) | bit(4, data) | bit(5, sample->events & AS_EVENT_ST_TLB) |
           bit(6, branch && !(sample->flags & AS_PIPE_TAKEN)) | bit(7, branch && sample->flags & AS_PIPE_MISPREDICTED) |
           bit(8, llc_miss || (data && sample->events & AS_EVENT_LLC_HIT)) | bit(9, llc_miss);
}

static void put_operation(struct as_str *packets, const struct as_pmu_sample *sample, bool data, bool branch)
{
    bool indirect = sample->class_ == AS_CLASS_RETURN || sample->class_ == AS_CLASS_JUMP_INDIRECT ||
                    sample->class_ == AS_CLASS_CALL_INDIRECT;
    if (branch)
        put_packet(packets, 0x4a, bit(0, sample->class_ == AS_CLASS_BRANCH) | bit(1, indirect), 1);
    else if (data)
        put_packet(packets, 0x49, !(sample->insn_flags & AS_INSN_LOAD), 1);
    else
        put_packet(packets, 0x48, 0, 1);
}

/* Where a load's data came from, by the codes of Arm's Neoverse cores (Linux, tools/perf/util/arm-spe.c). */
static uint64_t spe_source(const struct as_pmu_sample *sample)
{
    enum { L1 = 0, L2 = 8, PEER_CORE = 9, SYSTEM_CACHE = 0xb, DRAM = 0xe };
    if (from_core(sample))
        return PEER_CORE;
    if (sample->events & AS_EVENT_ST_LLC)
        return DRAM;
    return sample->events & AS_EVENT_LLC_HIT ? SYSTEM_CACHE : sample->events & AS_EVENT_L2_HIT ? L2 : L1;
}

void as_unit_spe(const struct as_pmu_sample *sample, struct as_str *packets)
{
    bool branch = is_branch(sample), data = !branch && sample->insn_flags & (AS_INSN_LOAD | AS_INSN_STORE);
    uint64_t ip = sample->ip & ((UINT64_C(1) << 56) - 1);
    put_packet(packets, 0x52, spe_events(sample, data, branch), 2);
    put_operation(packets, sample, data, branch);
    put_packet(packets, 0x98, at_most(sample->retired, UINT16_MAX), 2);
    put_packet(packets, 0x99, at_most(sample->issued, UINT16_MAX), 2);
    put_packet(packets, 0xb0, ip | bit(61, sample->kernel) | bit(63, true), 8);
    if (data && sample->address)
        put_packet(packets, 0xb2, sample->address & ((UINT64_C(1) << 56) - 1), 8);
    if (data && sample->insn_flags & AS_INSN_LOAD)
        put_packet(packets, 0x43, spe_source(sample), 1);
    put_packet(packets, 0x64, sample->thread, 4);
    put_packet(packets, 0x01, 0, 0);
}
