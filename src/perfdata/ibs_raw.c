/* Splits register values into fields. Bytes are little-endian, as on the processors themselves. */
#include "perfdata/ibs_raw.h"

#include <stdio.h>
#include <string.h>

enum {
    CAP_BRANCH_TARGET = 1 << 5,
    CAP_COUNT_EXTENSION = 1 << 6,
    CAP_RIP_INVALID = 1 << 7,
    CAP_BRANCH_FUSE = 1 << 8,
    CAP_FETCH_EXTENDED = 1 << 9,
    CAP_DATA4 = 1 << 10,
    CAP_ZEN4 = 1 << 11,
    CAP_LATENCY_FILTER = 1 << 12,
    OP_REGISTERS = 7,
    FETCH_REGISTERS = 3,
};
enum { OP_CTL, OP_RIP, OP_DATA, OP_DATA2, OP_DATA3, OP_LINEAR, OP_PHYSICAL };
enum { FETCH_CTL, FETCH_LINEAR, FETCH_PHYSICAL };

static uint64_t bits(uint64_t value, unsigned low, unsigned count)
{
    return value >> low & ((UINT64_C(1) << count) - 1);
}

static uint64_t load_le(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* Register `index` after the capabilities; 0 if the sample ends before it. */
static uint64_t reg(const uint8_t *raw, size_t size, unsigned index)
{
    size_t at = 4 + 8 * (size_t)index;
    return at + 8 <= size ? load_le(raw + at, 8) : 0;
}

struct as_ibs_cpu as_ibs_cpu(const char *cpu_id)
{
    struct as_ibs_cpu cpu = {0};
    if (cpu_id == NULL || sscanf(cpu_id, "AuthenticAMD,%u,%u", &cpu.family, &cpu.model) != 2)
        return (struct as_ibs_cpu){0};
    return cpu;
}

/* Errata 1238, 1293 and 1347 of family 19h, models 0 to Fh. */
static bool has_errata(struct as_ibs_cpu cpu)
{
    return cpu.family == 0x19 && cpu.model < 0x10;
}

/* Processors of family 19h before Zen 4 do not record the state (Linux arch/x86/events/amd/ibs.c). */
static bool tells_state(struct as_ibs_cpu cpu)
{
    return cpu.family > 0 && !(cpu.family == 0x19 && (cpu.model < 0x10 || (cpu.model >= 0x20 && cpu.model < 0x60)));
}

static void decode_control(uint64_t value, struct as_ibs_op *op)
{
    op->valid = bits(value, 17, 1) && bits(value, 18, 1);
    op->max_count = (uint32_t)bits(value, 0, 16) << 4;
    if (op->caps & CAP_COUNT_EXTENSION)
        op->max_count |= (uint32_t)bits(value, 20, 7) << 20;
    op->current_count = (uint32_t)bits(value, 32, 27);
    op->counts_ops = bits(value, 19, 1);
    op->l3_miss_only = op->caps & CAP_ZEN4 && bits(value, 16, 1);
    op->latency_filter = op->caps & CAP_LATENCY_FILTER && bits(value, 63, 1);
    op->latency_threshold = op->latency_filter ? ((uint32_t)bits(value, 59, 4) + 1) * 128 : 0;
}

static void decode_data(uint64_t value, struct as_ibs_op *op)
{
    op->completion_to_retire = (uint16_t)bits(value, 0, 16);
    op->tag_to_retire = (uint16_t)bits(value, 16, 16);
    op->branch = bits(value, 37, 1);
    op->is_return = op->branch && bits(value, 34, 1);
    op->taken = op->branch && bits(value, 35, 1);
    op->mispredicted = op->branch && bits(value, 36, 1);
    op->rip_invalid = op->caps & CAP_RIP_INVALID && bits(value, 38, 1);
    op->fused = op->caps & CAP_BRANCH_FUSE && bits(value, 39, 1);
    op->microcode = bits(value, 40, 1);
}

static enum as_ibs_source source_of(unsigned code, bool zen4)
{
    static const enum as_ibs_source before[8] = {
        [1] = AS_IBS_RESERVED, [2] = AS_IBS_LOCAL_CACHE, [3] = AS_IBS_DRAM, [4] = AS_IBS_FAR_CACHE,
        [5] = AS_IBS_RESERVED, [6] = AS_IBS_RESERVED,    [7] = AS_IBS_IO};
    static const enum as_ibs_source since[13] = {
        [1] = AS_IBS_LOCAL_CACHE, [2] = AS_IBS_NEAR_CACHE, [3] = AS_IBS_DRAM,      [4] = AS_IBS_RESERVED,
        [5] = AS_IBS_FAR_CACHE,   [6] = AS_IBS_PERSISTENT, [7] = AS_IBS_IO,        [8] = AS_IBS_EXTENSION,
        [9] = AS_IBS_RESERVED,    [10] = AS_IBS_RESERVED,  [11] = AS_IBS_RESERVED, [12] = AS_IBS_PEER};
    if (!zen4)
        return before[code & 7];
    return code < 13 ? since[code] : AS_IBS_RESERVED;
}

static void decode_data2(uint64_t value, struct as_ibs_cpu cpu, struct as_ibs_op *op)
{
    bool zen4 = op->caps & CAP_ZEN4;
    op->source_known = true;
    op->source_code = (uint8_t)(bits(value, 0, 3) | (zen4 ? bits(value, 6, 2) << 3 : 0));
    op->source = source_of(op->source_code, zen4);
    op->remote_node = bits(value, 4, 1);
    op->state_known = tells_state(cpu);
    op->owned_hit = bits(value, 5, 1);
}

static void decode_data3(uint64_t value, struct as_ibs_op *op)
{
    op->load = bits(value, 0, 1);
    op->store = bits(value, 1, 1);
    op->tlb_l1_miss = bits(value, 2, 1);
    op->tlb_l2_miss = bits(value, 3, 1);
    op->tlb_l1_2m = bits(value, 4, 1);
    op->tlb_l1_1g = bits(value, 5, 1);
    op->tlb_l2_2m = bits(value, 6, 1);
    op->l1_miss = bits(value, 7, 1);
    op->misaligned = bits(value, 8, 1);
    op->write_combining = bits(value, 13, 1);
    op->uncacheable = bits(value, 14, 1);
    op->locked = bits(value, 15, 1);
    op->no_miss_buffer = bits(value, 16, 1);
    op->address_valid = bits(value, 17, 1);
    op->physical_valid = bits(value, 18, 1);
    op->tlb_l2_1g = bits(value, 19, 1);
    op->l2_miss = bits(value, 20, 1);
    op->l2_miss_known = true;
    op->prefetch = bits(value, 21, 1);
    unsigned width = (unsigned)bits(value, 22, 4);
    op->width = width >= 1 && width <= 8 ? (uint8_t)(1u << (width - 1)) : 0;
    op->open_requests = (uint8_t)bits(value, 26, 6);
    op->miss_latency = (uint16_t)bits(value, 32, 16);
    op->tlb_latency = (uint16_t)bits(value, 48, 16);
}

bool as_ibs_op_decode(const uint8_t *raw, size_t size, struct as_ibs_cpu cpu, struct as_ibs_op *op)
{
    *op = (struct as_ibs_op){0};
    if (size < 4 + 8 * OP_REGISTERS)
        return false;
    op->caps = (uint32_t)load_le(raw, 4);
    decode_control(reg(raw, size, OP_CTL), op);
    decode_data(reg(raw, size, OP_DATA), op);
    decode_data3(reg(raw, size, OP_DATA3), op);
    if (has_errata(cpu) && (op->no_miss_buffer || op->prefetch)) {
        op->l2_miss = op->l2_miss_known = false; /* unreliable then, as is the source */
        op->open_requests = 0;
    } else
        decode_data2(reg(raw, size, OP_DATA2), cpu, op);
    op->rip = op->rip_invalid ? 0 : reg(raw, size, OP_RIP);
    op->address = op->address_valid ? reg(raw, size, OP_LINEAR) : 0;
    op->physical = op->physical_valid ? reg(raw, size, OP_PHYSICAL) : 0;
    unsigned next = OP_REGISTERS;
    if (op->caps & CAP_BRANCH_TARGET) {
        uint64_t target = reg(raw, size, next++);
        op->branch_target = op->branch ? target : 0;
    }
    if (op->caps & CAP_DATA4)
        op->data4 = reg(raw, size, next);
    return true;
}

bool as_ibs_fetch_decode(const uint8_t *raw, size_t size, struct as_ibs_cpu cpu, struct as_ibs_fetch *fetch)
{
    static const uint32_t pages[4] = {4, 2048, 1048576, 0}, pages_erratum[4] = {4, 16, 2048, 1048576};
    *fetch = (struct as_ibs_fetch){0};
    if (size < 4 + 8 * FETCH_REGISTERS)
        return false;
    uint64_t value = reg(raw, size, FETCH_CTL);
    fetch->caps = (uint32_t)load_le(raw, 4);
    fetch->valid = bits(value, 48, 1) && bits(value, 49, 1);
    fetch->max_count = (uint32_t)bits(value, 0, 16) << 4;
    fetch->count = (uint32_t)bits(value, 16, 16) << 4;
    fetch->latency = (uint16_t)bits(value, 32, 16);
    fetch->complete = bits(value, 50, 1);
    fetch->l1_miss_known = !has_errata(cpu);
    fetch->l1_miss = fetch->l1_miss_known && bits(value, 51, 1);
    fetch->physical_valid = bits(value, 52, 1);
    if (fetch->physical_valid)
        fetch->page_kib = (has_errata(cpu) ? pages_erratum : pages)[bits(value, 53, 2)];
    fetch->tlb_l1_miss = bits(value, 55, 1);
    fetch->tlb_l2_miss = bits(value, 56, 1);
    fetch->random = bits(value, 57, 1);
    fetch->l2_miss_known = fetch->complete;
    fetch->l2_miss = fetch->complete && bits(value, 58, 1);
    if (fetch->caps & CAP_ZEN4) {
        fetch->l3_miss_only = bits(value, 59, 1);
        fetch->op_cache_miss = bits(value, 60, 1);
        fetch->l3_miss = bits(value, 61, 1);
    }
    fetch->address = reg(raw, size, FETCH_LINEAR);
    fetch->physical = fetch->physical_valid ? reg(raw, size, FETCH_PHYSICAL) : 0;
    if (fetch->caps & CAP_FETCH_EXTENDED)
        fetch->tlb_latency = (uint16_t)bits(reg(raw, size, FETCH_REGISTERS), 0, 16);
    return true;
}

const char *as_ibs_source_name(enum as_ibs_source source)
{
    static const char *const names[] = {"none",
                                        "local L3 or core",
                                        "another core complex",
                                        "cache of another node",
                                        "DRAM",
                                        "persistent memory",
                                        "I/O",
                                        "extension memory",
                                        "peer agent",
                                        "reserved"};
    return names[source];
}
