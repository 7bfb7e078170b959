/* What each bit of AMD's IBS registers says, alone and together with the bits that others need, of old and new processors: a line for each
 * bit that says something, with all that it says, against tests/golden/perf_ibs.txt. */
#include "perfdata/ibs_raw.h"

#include "unit.h"
#include "unit_golden.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

enum { REGISTERS = 10, ALL = 4 + 8 * REGISTERS };

/* A field of what is decoded. */
struct field {
    const char *name;
    size_t offset, size;
};
#define OP(name)                                                                                                       \
    {                                                                                                                  \
#name, offsetof(struct as_ibs_op, name), sizeof(((struct as_ibs_op *)0)->name)                                 \
    }
#define FETCH(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct as_ibs_fetch, name), sizeof(((struct as_ibs_fetch *)0)->name)                           \
    }

static const struct field op_fields[] = {OP(caps),
                                         OP(valid),
                                         OP(max_count),
                                         OP(current_count),
                                         OP(counts_ops),
                                         OP(l3_miss_only),
                                         OP(latency_filter),
                                         OP(latency_threshold),
                                         OP(rip),
                                         OP(rip_invalid),
                                         OP(completion_to_retire),
                                         OP(tag_to_retire),
                                         OP(branch),
                                         OP(taken),
                                         OP(mispredicted),
                                         OP(is_return),
                                         OP(fused),
                                         OP(microcode),
                                         OP(branch_target),
                                         OP(source),
                                         OP(source_code),
                                         OP(source_known),
                                         OP(remote_node),
                                         OP(state_known),
                                         OP(owned_hit),
                                         OP(load),
                                         OP(store),
                                         OP(prefetch),
                                         OP(locked),
                                         OP(l1_miss),
                                         OP(l2_miss),
                                         OP(misaligned),
                                         OP(write_combining),
                                         OP(uncacheable),
                                         OP(no_miss_buffer),
                                         OP(l2_miss_known),
                                         OP(tlb_l1_miss),
                                         OP(tlb_l2_miss),
                                         OP(tlb_l1_2m),
                                         OP(tlb_l1_1g),
                                         OP(tlb_l2_2m),
                                         OP(tlb_l2_1g),
                                         OP(width),
                                         OP(open_requests),
                                         OP(miss_latency),
                                         OP(tlb_latency),
                                         OP(address_valid),
                                         OP(physical_valid),
                                         OP(address),
                                         OP(physical),
                                         OP(data4)};
static const struct field fetch_fields[] = {
    FETCH(caps),        FETCH(valid),         FETCH(max_count),     FETCH(count),    FETCH(latency),
    FETCH(complete),    FETCH(l1_miss),       FETCH(l1_miss_known), FETCH(l2_miss),  FETCH(l2_miss_known),
    FETCH(l3_miss),     FETCH(op_cache_miss), FETCH(l3_miss_only),  FETCH(random),   FETCH(tlb_l1_miss),
    FETCH(tlb_l2_miss), FETCH(page_kib),      FETCH(address),       FETCH(physical), FETCH(physical_valid),
    FETCH(tlb_latency)};

struct raw {
    uint8_t bytes[ALL];
};

static void put(struct raw *raw, uint32_t caps, const uint64_t registers[REGISTERS])
{
    for (int i = 0; i < 4; i++)
        raw->bytes[i] = (uint8_t)(caps >> 8 * i);
    for (int i = 0; i < 8 * REGISTERS; i++)
        raw->bytes[4 + i] = (uint8_t)(registers[i / 8] >> 8 * (i % 8));
}

static uint64_t value_of(const struct field *field, const void *record)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)record + field->offset, field->size);
    return value;
}

static void show(FILE *out, const struct field *fields, size_t n, const void *now, const void *before)
{
    for (size_t i = 0; i < n; i++)
        if (value_of(&fields[i], now) != value_of(&fields[i], before))
            fprintf(out, " %s=%" PRIu64, fields[i].name, value_of(&fields[i], now));
}

static void show_op(FILE *out, const struct as_ibs_op *now, const struct as_ibs_op *before)
{
    show(out, op_fields, sizeof op_fields / sizeof *op_fields, now, before);
}

static void show_fetch(FILE *out, const struct as_ibs_fetch *now, const struct as_ibs_fetch *before)
{
    show(out, fetch_fields, sizeof fetch_fields / sizeof *fetch_fields, now, before);
}

/* Each bit changed in turn. */
static void bits(FILE *out, uint32_t caps, struct as_ibs_cpu cpu, const uint64_t base[REGISTERS], bool fetch)
{
    struct raw raw;
    struct as_ibs_op op, first_op;
    struct as_ibs_fetch fetched, first_fetch;
    put(&raw, caps, base);
    assert_true(as_ibs_op_decode(raw.bytes, sizeof raw.bytes, cpu, &first_op));
    assert_true(as_ibs_fetch_decode(raw.bytes, sizeof raw.bytes, cpu, &first_fetch));
    fprintf(out, "nothing changed:");
    if (fetch)
        show_fetch(out, &first_fetch, &(struct as_ibs_fetch){0});
    else
        show_op(out, &first_op, &(struct as_ibs_op){0});
    fputc('\n', out);
    for (int bit = 0; bit < 64 * (fetch ? 4 : REGISTERS); bit++) {
        uint64_t registers[REGISTERS];
        memcpy(registers, base, sizeof registers);
        registers[bit / 64] ^= UINT64_C(1) << bit % 64;
        put(&raw, caps, registers);
        as_ibs_op_decode(raw.bytes, sizeof raw.bytes, cpu, &op);
        as_ibs_fetch_decode(raw.bytes, sizeof raw.bytes, cpu, &fetched);
        char *text;
        size_t size;
        FILE *line = open_memstream(&text, &size);
        if (fetch)
            show_fetch(line, &fetched, &first_fetch);
        else
            show_op(line, &op, &first_op);
        fclose(line);
        if (size)
            fprintf(out, "register %d, bit %d:%s\n", bit / 64, bit % 64, text);
        free(text);
    }
}

static void each_bit(void **state)
{
    static const uint64_t zero[REGISTERS], branch[REGISTERS] = {[2] = UINT64_C(1) << 37, [4] = 3 << 17},
                                           fetch[REGISTERS] = {UINT64_C(1) << 50 | UINT64_C(1) << 52};
    FILE *out = unit_golden_begin();
    for (int fetching = 0; fetching < 2; fetching++)
        for (int all = 0; all < 2; all++) {
            unit_golden_section(out, "%s, %s", fetching ? "fetch" : "op",
                                all ? "all that there is" : "no capabilities");
            bits(out, all ? UINT32_MAX : 0, (struct as_ibs_cpu){0}, zero, fetching);
            unit_golden_section(out, "… where others say that it counts");
            bits(out, all ? UINT32_MAX : 0, (struct as_ibs_cpu){0x1a, 1}, fetching ? fetch : branch, fetching);
        }
    unit_golden_check(out, "perf_ibs.txt");
}

/* Each capability by itself, with all bits set and none; lengths; and each source of data. */
static void capabilities(void **state)
{
    FILE *out = unit_golden_begin();
    uint64_t registers[REGISTERS];
    struct raw raw;
    struct as_ibs_op op;
    struct as_ibs_fetch fetch;
    for (int bit = -1; bit < 32; bit++) {
        memset(registers, 0xff, sizeof registers);
        registers[2] &= ~(UINT64_C(1) << 38); /* the address is right */
        put(&raw, bit < 0 ? 0 : UINT32_C(1) << bit, registers);
        fprintf(out, "capability %d:", bit);
        as_ibs_op_decode(raw.bytes, sizeof raw.bytes, (struct as_ibs_cpu){0}, &op);
        as_ibs_fetch_decode(raw.bytes, sizeof raw.bytes, (struct as_ibs_cpu){0}, &fetch);
        show_op(out, &op, &(struct as_ibs_op){0});
        show_fetch(out, &fetch, &(struct as_ibs_fetch){0});
        fputc('\n', out);
    }
    for (size_t size = 0; size <= ALL; size++) {
        bool is_op = as_ibs_op_decode(raw.bytes, size, (struct as_ibs_cpu){0}, &op);
        bool is_fetch = as_ibs_fetch_decode(raw.bytes, size, (struct as_ibs_cpu){0}, &fetch);
        fprintf(out, "%zu bytes: %d %d %" PRIx64 " %" PRIx64 " %u\n", size, is_op, is_fetch, op.branch_target, op.data4,
                fetch.tlb_latency);
    }
    for (uint32_t zen4 = 0; zen4 < 2; zen4++)
        for (uint64_t code = 0; code < 32; code++) {
            memset(registers, 0, sizeof registers);
            registers[3] = (code & 7) | (code >> 3) << 6;
            put(&raw, zen4 ? UINT32_MAX : 0, registers);
            as_ibs_op_decode(raw.bytes, sizeof raw.bytes, (struct as_ibs_cpu){0}, &op);
            fprintf(out, "source %" PRIu64 "%s: %u %s\n", code, zen4 ? " since Zen 4" : "", op.source_code,
                    as_ibs_source_name(op.source));
        }
    unit_golden_check(out, "perf_ibs_capabilities.txt");
}

/* Which processors have errata, and which do not record the state of a line. */
static void processors(void **state)
{
    static const struct as_ibs_cpu cpus[] = {{0, 0},       {0x17, 0x31}, {0x19, 0},    {0x19, 0x0f},
                                             {0x19, 0x10}, {0x19, 0x1f}, {0x19, 0x20}, {0x19, 0x5f},
                                             {0x19, 0x60}, {0x19, 0x80}, {0x1a, 0x05}, {0x18, 0x05}};
    FILE *out = unit_golden_begin();
    uint64_t registers[REGISTERS];
    struct raw raw;
    struct as_ibs_op op;
    struct as_ibs_fetch fetch;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        for (int bits = 0; bits < 4; bits++) { /* no miss buffer, prefetch */
            memset(registers, 0xff, sizeof registers);
            registers[4] =
                UINT64_C(1) << 20 | UINT64_C(9) << 26 | (uint64_t)(bits & 1) << 16 | (uint64_t)(bits >> 1) << 21;
            put(&raw, 0, registers);
            as_ibs_op_decode(raw.bytes, sizeof raw.bytes, cpus[i], &op);
            as_ibs_fetch_decode(raw.bytes, sizeof raw.bytes, cpus[i], &fetch);
            fprintf(out, "family %x, model %x, %d: miss %d %d, %u requests, source %d, state %d, fetch %d %d, %u KiB\n",
                    cpus[i].family, cpus[i].model, bits, op.l2_miss_known, op.l2_miss, op.open_requests,
                    op.source_known, op.state_known, fetch.l1_miss_known, fetch.l1_miss, fetch.page_kib);
        }
    unit_golden_check(out, "perf_ibs_processors.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_bit), cmocka_unit_test(capabilities),
                                       cmocka_unit_test(processors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
