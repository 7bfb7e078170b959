/* What the plugin sees in the bytes of instructions (plugin/varies.h), of every opcode, against a golden file. A line names what is seen of an
 * opcode, and of which operands, as bits of a hexadecimal number; an opcode of which nothing is seen has none. */
#include "unit.h"

#include "base/str.h"
#include "plugin/varies.h"
#include "unit_golden.h"

enum { LOOKS = 10 };
static const char *const functions[] = {"0 of ", "1 of ", "2 of ", "3 of ", "4 of ", "5 of ", "6 of ", "7 of "};
static const char *const names[LOOKS] = {"varies",      "hints",       "value", "flags", "reads flags",
                                         "loses flags", "moves stack", "stack", "links", "reserves"};

/* What is seen, a bit for each of the names. */
static unsigned look(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    enum as_answer answer = as_insn_answer(arch, bytes, size);
    const bool seen[LOOKS] = {as_insn_varies(arch, bytes, size),
                              as_insn_hints(arch, bytes, size),
                              answer == AS_ANSWER_VALUE,
                              answer == AS_ANSWER_FLAGS,
                              answer == AS_ANSWER_READ,
                              answer == AS_ANSWER_LOST,
                              as_insn_moves_stack(arch, bytes, size),
                              as_insn_only_stack(arch, bytes, size),
                              as_insn_links(arch, bytes, size),
                              as_insn_reservation(arch, bytes, size) != AS_RESERVATION_NONE};
    unsigned bits = 0;
    for (size_t i = 0; i < LOOKS; i++)
        bits |= (unsigned)seen[i] << i;
    return bits;
}

/* Lines that are the same but for the opcode, one after the other, are one. */
static struct {
    FILE *out;
    const char *name;
    unsigned first, last;
    struct as_str text;
} line;

static void end_line(void)
{
    if (line.text.len && line.first == line.last)
        fprintf(line.out, "%s%02x: %s\n", line.name, line.first, as_str_get(&line.text));
    else if (line.text.len)
        fprintf(line.out, "%s%02x-%02x: %s\n", line.name, line.first, line.last, as_str_get(&line.text));
    as_str_clear(&line.text);
}

/* What is seen of n operands. */
static void show(FILE *out, const char *name, unsigned opcode, const unsigned *seen, size_t n)
{
    struct as_str text = {0};
    for (size_t what = 0; what < LOOKS; what++) {
        uint64_t operands = 0, all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
        for (size_t i = 0; i < n; i++)
            operands |= (uint64_t)(seen[i] >> what & 1) << i;
        if (operands)
            as_str_addf(&text, "%s%s", text.len ? ", " : "", names[what]);
        if (operands && operands != all)
            as_str_addf(&text, " %llx", (unsigned long long)operands);
    }
    if (line.name != name || strcmp(as_str_get(&line.text), as_str_get(&text)) != 0) {
        end_line();
        line.out = out;
        line.name = name;
        line.first = opcode;
        as_str_add(&line.text, as_str_get(&text));
    }
    line.last = opcode;
    as_str_free(&text);
}

static void begin_section(FILE *out, const char *title)
{
    end_line();
    unit_golden_section(out, "%s", title);
}

/* Operands of x86: eight registers or operations with memory at [rsp + 8], and with the registers rax to rdi by turns. */
static void look_at_x86(FILE *out, const char *title, const char *prefix, size_t length)
{
    begin_section(out, title);
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        unsigned seen[16];
        for (unsigned i = 0; i < 16; i++) {
            uint8_t bytes[16] = {0};
            memcpy(bytes, prefix, length);
            bytes[length] = (uint8_t)opcode;
            bytes[length + 1] = (uint8_t)(i < 8 ? 0x44 | i << 3 : 0xc0 | (i & 7) << 3 | (i & 7));
            bytes[length + 2] = i < 8 ? 0x24 : 0;
            bytes[length + 3] = i < 8 ? 8 : 0;
            seen[i] = look(AS_ARCH_X86_64, bytes, length + 8);
        }
        show(out, "", opcode, seen, 16);
    }
}

/* The shapes of an operand in memory: every mod and r/m, a SIB byte that is the stack pointer alone or has an index, displacements. */
static void look_at_addresses(FILE *out)
{
    static const uint8_t displacements[][4] = {{0, 0, 0, 0}, {0xff, 1, 0, 0}, {0, 2, 0, 0},
                                               {0, 0, 1, 0}, {0, 0, 0, 1},    {0xf8, 0xff, 0xff, 0xff}};
    begin_section(out, "mov, mod and SIB byte: every r/m, with displacements of four bytes by turns");
    for (unsigned sib = 0x23; sib <= 0x25; sib++)
        for (unsigned mod = 0; mod < 4; mod++) {
            unsigned seen[48];
            for (unsigned i = 0; i < 48; i++) {
                uint8_t bytes[8] = {0x8b, (uint8_t)(mod << 6 | i / 6), (uint8_t)sib};
                memcpy(bytes + 3, displacements[i % 6], 4);
                seen[i] = look(AS_ARCH_X86_64, bytes, 7);
            }
            show(out, functions[mod], sib, seen, 48);
        }
}

/* Every byte in front of mov [rsp + 8], movsb and add [rsp + 8]. */
static void look_at_prefixes(FILE *out)
{
    static const uint8_t behind[][4] = {{0x8b, 0x44, 0x24, 8}, {0xa4}, {0x01, 0x44, 0x24, 8}, {0x89, 0xc4}};
    unit_golden_section(
        out, "every byte in front of a load from the stack, movsb, an addition to the stack and mov esp, eax");
    for (unsigned prefix = 0; prefix < 256; prefix++) {
        unsigned seen[4];
        for (unsigned i = 0; i < 4; i++) {
            uint8_t bytes[8] = {(uint8_t)prefix};
            memcpy(bytes + 1, behind[i], 4);
            seen[i] = look(AS_ARCH_X86_64, bytes, 6);
        }
        show(out, "", prefix, seen, 4);
    }
}

/* Instructions that end before they are whole. */
static void look_at_short(FILE *out)
{
    static const char *const texts[] = {"\x0f\x18\x44\x24\x08", "\xc4\xe2\x79\x8e\x04", "\xc5\xf9\xf7\x04",
                                        "\x48\x8b\xa4\x24\x08", "\xf0\xff\x44\x24\x08", "\x8b\x84\x24\xff\x01",
                                        "\xff\x54\x24\x08\x90", "\x8b\x84\x24\x08",     "\x48\x94\x90\x90\x90",
                                        "\x8f\x44\x24\x08\x90"};
    begin_section(out, "cut behind each byte: bit 0 is the first");
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        unsigned seen[9];
        uint8_t bytes[16] = {0};
        memcpy(bytes, texts[i], strlen(texts[i]));
        for (size_t size = 1; size <= 9; size++) {
            uint8_t *exact = malloc(size); /* the sanitizer build sees what reads further */
            assert_non_null(exact);
            memcpy(exact, bytes, size);
            seen[size - 1] = look(AS_ARCH_X86_64, exact, size);
            free(exact);
        }
        show(out, "", i, seen, 9);
    }
}

static void look_at_riscv_words(FILE *out)
{
    static const uint32_t registers[] = {0, 1, 2, 5};
    begin_section(out, "RISC-V, opcode by opcode and its function: rd, rs1 and rs2 are x0, x1, x2, x5 by turns");
    for (uint32_t opcode = 3; opcode < 128; opcode += 4)
        for (uint32_t function = 0; function < 8; function++) {
            unsigned seen[64];
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t word = opcode | function << 12 | registers[i & 3] << 7 | registers[i >> 2 & 3] << 15 |
                                registers[i >> 4] << 20;
                seen[i] = look(AS_ARCH_RISCV64, (const uint8_t *)&word, 4);
            }
            show(out, functions[function], opcode, seen, 64);
        }
    begin_section(out, "RISC-V's atomics, by their function");
    for (uint32_t function = 0; function < 32; function++) {
        unsigned seen[4];
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t word = 0x2f | 3 << 12 | registers[i] << 7 | 5 << 15 | function << 27;
            seen[i] = look(AS_ARCH_RISCV64, (const uint8_t *)&word, 4);
        }
        show(out, "", function, seen, 4);
    }
}

static void look_at_riscv_halves(FILE *out)
{
    static const uint32_t registers[] = {0, 1, 2, 5};
    unit_golden_section(out,
                        "RISC-V's short instructions, quadrant and function: rd and rs2 are x0, x1, x2, x5 by turns");
    for (uint32_t quadrant = 0; quadrant < 3; quadrant++)
        for (uint32_t function = 0; function < 16; function++) {
            unsigned seen[16];
            for (uint32_t i = 0; i < 16; i++) {
                uint16_t half = (uint16_t)(quadrant | function << 12 | registers[i & 3] << 7 | registers[i >> 2] << 2);
                seen[i] = look(AS_ARCH_RISCV64, (const uint8_t *)&half, 2);
            }
            show(out, functions[quadrant], function, seen, 16);
        }
}

static void every_opcode(void **state)
{
    FILE *out = unit_golden_begin();
    look_at_x86(out, "x86, opcodes of one byte", "", 0);
    look_at_x86(out, "with REX.W", "\x48", 1);
    look_at_x86(out, "with REX.WR and REX.WB", "\x4c", 1);
    look_at_x86(out, "with REX.WB", "\x49", 1);
    look_at_x86(out, "behind 0f", "\x0f", 1);
    look_at_x86(out, "with lock", "\xf0", 1);
    look_at_x86(out, "with lock, behind 0f", "\xf0\x0f", 2);
    look_at_x86(out, "with two bytes of VEX", "\xc5\xf8", 2);
    look_at_x86(out, "with three bytes of VEX, map 1", "\xc4\xe1\x78", 3);
    look_at_x86(out, "with three bytes of VEX, map 2", "\xc4\xe2\x78", 3);
    look_at_prefixes(out);
    look_at_addresses(out);
    look_at_short(out);
    look_at_riscv_words(out);
    look_at_riscv_halves(out);
    end_line();
    as_str_free(&line.text);
    unit_golden_check(out, "plugin_looks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_opcode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
