/* Encodings of every kind, decoded and shown. The golden file has a line for each mnemonic: how many of them there were, and a digest
 * of what was shown, of what it fuses with, and of its effect on linear forms. Where one changes, so did what counts and models see of that instruction: *.cases say what it should be. */
#include "base/random.h"
#include "insn_show.h"
#include "isa/linear.h"
#include "unit.h"
#include "unit_golden.h"

#include <stdio.h>

enum { ADDRESS = 0x1000, LINE_SIZE = 1000, MOST_NAMES = 3000, NAME_SIZE = 32 };

struct name {
    char name[NAME_SIZE];
    unsigned n;
    uint64_t digest;
};

struct sweep {
    enum as_arch arch;
    unsigned n, unknown;
    struct name names[MOST_NAMES];
};

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static struct name *name_of(struct sweep *sweep, const char *text)
{
    size_t length = strcspn(text, " ");
    assert_true(length < NAME_SIZE);
    for (unsigned i = sweep->n; i-- > 0;) /* the next one is mostly like the last */
        if (strncmp(sweep->names[i].name, text, length) == 0 && !sweep->names[i].name[length])
            return &sweep->names[i];
    assert_true(sweep->n < MOST_NAMES);
    struct name *name = &sweep->names[sweep->n++];
    memcpy(name->name, text, length);
    return name;
}

static void add(struct name *name, uint64_t value)
{
    name->digest = (name->digest ^ value) * UINT64_C(0x100000001b3);
}

/* What linear forms make of it: the values of addresses, and of what it writes. */
static void add_linear(struct name *name, const struct as_insn *insn)
{
    static struct as_linear registers[AS_LINEAR_REGISTERS];
    static uint64_t values[AS_LINEAR_REGISTERS];
    if (!registers[1].known) {
        as_linear_start(registers);
        for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++)
            values[i] = as_random_hash(i);
    }
    for (unsigned i = 0; i < insn->n_mem; i++) {
        struct as_linear address = as_linear_address(insn, i, registers);
        add(name, address.known ? as_linear_value(&address, values) : 1);
    }
    as_linear_step(insn, registers);
    for (unsigned i = 0; i < insn->n_writes; i++) {
        if (insn->writes[i] >= AS_LINEAR_REGISTERS)
            continue;
        struct as_linear *reg = &registers[insn->writes[i]];
        add(name, reg->known ? as_linear_value(reg, values) : 1);
        *reg = (struct as_linear){.known = true};
        reg->factor[insn->writes[i]] = 1;
    }
}

static void decode(struct sweep *sweep, const uint8_t *bytes, size_t size)
{
    struct as_insn insn;
    char line[LINE_SIZE];
    if (!as_insn_decode(sweep->arch, ADDRESS, bytes, size, &insn)) {
        sweep->unknown++;
        return;
    }
    const char *shown = insn_show(&insn, line, sizeof line), *text = strchr(shown, '|') + 2;
    struct name *name = name_of(sweep, text);
    name->n++;
    for (const char *at = shown; *at; at++)
        add(name, (uint8_t)*at);
    add(name, insn.fuse);
    add_linear(name, &insn);
}

static void check(struct sweep *sweep, const char *golden)
{
    FILE *out = unit_golden_begin();
    fprintf(out, "(bad) %u\n", sweep->unknown);
    qsort(sweep->names, sweep->n, sizeof sweep->names[0], compare_names);
    for (unsigned i = 0; i < sweep->n; i++)
        fprintf(out, "%s %u %08x\n", sweep->names[i].name, sweep->names[i].n,
                (unsigned)(as_random_hash(sweep->names[i].digest) >> 32));
    unit_golden_check(out, golden);
    free(sweep);
}

static struct sweep *begin(enum as_arch arch)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    assert_non_null(sweep);
    sweep->arch = arch;
    return sweep;
}

/* ---- x86-64 ---- */

/* What follows the opcode: each register form and memory form of a group, a register with itself, addresses with index, displacement
 * and without base; then a displacement and immediates. */
static const uint8_t forms[][2] = {{0xc1}, {0x03}, {0xc0}, {0x44, 0x8b}, {0x05}, {0xc9}, {0xd1},
                                   {0xd9}, {0xe1}, {0xe9}, {0xf1},       {0xf9}, {0x0b}, {0x13},
                                   {0x1b}, {0x23}, {0x2b}, {0x33},       {0x3b}, {0xe4}, {0x04, 0x25}};
enum { ALL_FORMS = sizeof forms / sizeof forms[0], FEW_FORMS = 5, VECTOR_FORMS = 3 };

static void each_form(struct sweep *sweep, const uint8_t *start, size_t size, unsigned n_forms)
{
    for (unsigned form = 0; form < n_forms; form++) {
        uint8_t bytes[32] = {0};
        memcpy(bytes, start, size);
        memcpy(bytes + size, forms[form], 2);
        bytes[size + 2] = 0x10;
        bytes[size + 3] = 0x02;
        bytes[size + 6] = 0x03;
        decode(sweep, bytes, sizeof bytes);
    }
}

static void sweep_legacy(struct sweep *sweep)
{
    static const uint8_t prefixes[] = {0, 0x66, 0xf3, 0xf2, 0x48, 0xf0, 0x64, 0x67},
                         maps[][2] = {{0}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
    for (unsigned prefix = 0; prefix < sizeof prefixes; prefix++)
        for (unsigned map = 0; map < 4; map++)
            for (unsigned opcode = 0; opcode < 256; opcode++) {
                uint8_t start[4];
                size_t size = 0;
                if (prefixes[prefix])
                    start[size++] = prefixes[prefix];
                for (unsigned i = 0; i < 2 && maps[map][i]; i++)
                    start[size++] = maps[map][i];
                start[size++] = (uint8_t)opcode;
                each_form(sweep, start, size, prefix == 0 && map < 2 ? ALL_FORMS : FEW_FORMS);
            }
}

/* All forms of groups whose register field is part of the opcode, with each prefix that may stand before them. */
static void sweep_groups(struct sweep *sweep)
{
    static const uint8_t prefixes[] = {0x66, 0xf3, 0xf2, 0x48, 0xf0},
                         groups[][3] = {{0x80},       {0x83},       {0xc0},       {0xc1},       {0xd1},
                                        {0xd3},       {0xf6},       {0xf7},       {0xfe},       {0xff},
                                        {0x0f, 0x00}, {0x0f, 0x01}, {0x0f, 0x18}, {0x0f, 0x1e}, {0x0f, 0x71},
                                        {0x0f, 0x72}, {0x0f, 0x73}, {0x0f, 0xae}, {0x0f, 0xba}, {0x0f, 0xc7}};
    for (unsigned prefix = 0; prefix < sizeof prefixes; prefix++)
        for (unsigned group = 0; group < sizeof groups / sizeof groups[0]; group++) {
            uint8_t start[4] = {prefixes[prefix], groups[group][0], groups[group][1]};
            each_form(sweep, start, groups[group][0] == 0x0f ? 3 : 2, ALL_FORMS);
        }
    /* x87 and what is chosen by a whole byte: mod and register, three quarters of them. */
    for (unsigned opcode = 0xd8; opcode <= 0xdf; opcode++)
        for (unsigned form = 0xc0; form < 0x100; form++)
            decode(sweep, (const uint8_t[32]){(uint8_t)opcode, (uint8_t)form}, 32);
    for (unsigned form = 0xc0; form < 0x100; form++) {
        decode(sweep, (const uint8_t[32]){0x0f, 0x01, (uint8_t)form}, 32);
        decode(sweep, (const uint8_t[32]){0xf3, 0x0f, 0x01, (uint8_t)form}, 32);
    }
    for (unsigned suffix = 0; suffix < 256; suffix++) /* 3DNow! */
        decode(sweep, (const uint8_t[32]){0x0f, 0x0f, 0xc1, (uint8_t)suffix}, 32);
}

/* VEX (c4) and XOP (8f): map, then W, the other source xmm2 (or none), length, prefix. */
static void sweep_vex(struct sweep *sweep)
{
    static const uint8_t maps[][2] = {{0xc4, 1}, {0xc4, 2}, {0xc4, 3}, {0x8f, 8}, {0x8f, 9}, {0x8f, 10}};
    for (unsigned map = 0; map < 6; map++)
        for (unsigned kind = 0; kind < 8; kind++) /* length and prefix */
            for (unsigned rest = 0; rest < 3; rest++) {
                const uint8_t second[] = {0x68, 0xe8, 0x78}; /* W0, W1, and W0 without other source */
                if (maps[map][0] == 0x8f && (kind & 3))
                    continue;
                for (unsigned opcode = 0; opcode < 256; opcode++) {
                    const uint8_t start[] = {maps[map][0], (uint8_t)(0xe0 | maps[map][1]),
                                             (uint8_t)(second[rest] | kind), (uint8_t)opcode};
                    each_form(sweep, start, sizeof start, VECTOR_FORMS);
                }
            }
}

/* EVEX: without mask and with k1, of 512 and 128 bits. */
static void sweep_evex(struct sweep *sweep)
{
    static const uint8_t maps[] = {1, 2, 3, 5, 6}, seconds[] = {0x6c, 0xec, 0x7c, 0xfc}, thirds[] = {0x48, 0x49, 0x08};
    for (unsigned map = 0; map < sizeof maps; map++)
        for (unsigned prefix = 0; prefix < 4; prefix++)
            for (unsigned second = 0; second < sizeof seconds; second++)
                for (unsigned third = 0; third < sizeof thirds; third++)
                    for (unsigned opcode = 0; opcode < 256; opcode++) {
                        const uint8_t start[] = {0x62, (uint8_t)(0xf0 | maps[map]), (uint8_t)(seconds[second] | prefix),
                                                 thirds[third], (uint8_t)opcode};
                        each_form(sweep, start, sizeof start, 2);
                    }
}

static void test_x86(void **state)
{
    (void)state;
    struct sweep *sweep = begin(AS_ARCH_X86_64);
    sweep_legacy(sweep);
    sweep_groups(sweep);
    sweep_vex(sweep);
    sweep_evex(sweep);
    check(sweep, "decoded_x86_64.txt");
}

/* ---- RISC-V ---- */

static void decode_word(struct sweep *sweep, uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    decode(sweep, bytes, sizeof bytes);
}

/* Every opcode, function and second register that is part of one; registers that mean something of their own with each function. */
static void test_riscv(void **state)
{
    (void)state;
    static const uint8_t seconds[] = {0, 1, 2, 3, 4, 5, 7, 24}, registers[] = {0, 1, 5, 10},
                         upper[] = {0x00, 0x55, 0xaa, 0xff};
    struct sweep *sweep = begin(AS_ARCH_RISCV64);
    for (uint32_t opcode = 3; opcode < 128; opcode += 4)
        for (uint32_t funct3 = 0; funct3 < 8; funct3++) {
            for (uint32_t funct7 = 0; funct7 < 128; funct7++)
                for (unsigned rs2 = 0; rs2 < sizeof seconds; rs2++)
                    decode_word(sweep, funct7 << 25 | (uint32_t)seconds[rs2] << 20 | 11u << 15 | funct3 << 12 |
                                           10u << 7 | opcode);
            for (unsigned i = 0; i < 64; i++)
                decode_word(sweep, (uint32_t)upper[i >> 4] << 24 | 0x30u << 20 | (uint32_t)registers[i & 3] << 15 |
                                       funct3 << 12 | (uint32_t)registers[i >> 2 & 3] << 7 | opcode);
        }
    for (uint32_t csr = 0; csr < 0x1000; csr++) /* control registers, and the system instructions in their place */
        for (uint32_t funct3 = 0; funct3 < 8; funct3 += 2)
            decode_word(sweep, csr << 20 | funct3 << 12 | 0x73);
    for (unsigned half = 0; half < 0x10000; half += 1 + (half & 1)) /* those of 16 bits */
        if ((half & 3) != 3)
            decode(sweep, (const uint8_t[4]){(uint8_t)half, (uint8_t)(half >> 8)}, 4);
    check(sweep, "decoded_riscv64.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86), cmocka_unit_test(test_riscv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
