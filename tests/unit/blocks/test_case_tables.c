/* Tables of jumps: which addresses a function takes, what the file has there, and where a table ends. The code is at 0x1000: what
 * takes an address, an indirect jump, and cases at 0x1010, 0x1020, 0x1030 and 0x1040. The data is at 0x2000, 16 bytes into the file. */
#include "blocks/case_tables.h"

#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE = 0x1000, JUMP = 0x1007, DATA = 0x2000, OFFSET = 16, CASES = 4 };

static const uint64_t cases[CASES] = {0x1010, 0x1020, 0x1030, 0x1040};

struct function {
    struct as_insn insns[3 + CASES];
    size_t n;
};

/* lea DATA(%rip), %rax; jmp *%rax; the cases. */
static struct function x86_function(void)
{
    struct function code = {.n = 2 + CASES};
    int32_t disp = DATA - JUMP;
    code.insns[0] = (struct as_insn){.address = CODE, .length = 7, .bytes = {0x48, 0x8d, 0x05}};
    memcpy(code.insns[0].bytes + 3, &disp, sizeof disp);
    code.insns[1] = (struct as_insn){.address = JUMP, .length = 2, .class_ = AS_CLASS_JUMP_INDIRECT};
    for (size_t i = 0; i < CASES; i++)
        code.insns[2 + i] = (struct as_insn){.address = cases[i], .length = 1};
    for (size_t i = 0; i < code.n; i++)
        code.insns[i].arch = AS_ARCH_X86_64;
    return code;
}

/* The same with jmp *ADDRESS(,%rax,8), which takes the address by itself. */
static struct function x86_indexed(uint64_t first, uint64_t second)
{
    struct function code = x86_function();
    code.insns[0].bytes[1] = 0x8b; /* loads and takes nothing */
    code.insns[1].mem[0] = (struct as_mem_operand){.base = AS_REG_NONE, .index = 0, .scale = 8, .disp = (int64_t)first};
    code.insns[1].n_mem = 1;
    if (second) {
        code.insns[2].mem[0] = code.insns[1].mem[0];
        code.insns[2].mem[0].disp = (int64_t)second;
        code.insns[2].n_mem = 1;
    }
    return code;
}

/* `upper` and `lower` are words of RISC-V, in place of the lea. */
static struct function rv_function(uint32_t upper, uint32_t lower)
{
    struct function code = x86_function();
    memmove(&code.insns[2], &code.insns[1], (1 + CASES) * sizeof *code.insns);
    code.n++;
    memset(code.insns, 0, 2 * sizeof *code.insns);
    memcpy(code.insns[0].bytes, &upper, sizeof upper);
    memcpy(code.insns[1].bytes, &lower, sizeof lower);
    code.insns[0].address = CODE;
    code.insns[1].address = CODE + 4;
    code.insns[0].length = code.insns[1].length = 4;
    for (size_t i = 0; i < code.n; i++)
        code.insns[i].arch = AS_ARCH_RISCV64;
    return code;
}

static as_case_targets find(const struct function *code, const void *data, size_t size)
{
    struct as_elf_segment segments[] = {{.offset = 0, .address = CODE, .file_size = OFFSET},
                                        {.offset = OFFSET, .address = DATA, .file_size = size}};
    struct as_elf elf = {.fd = memfd_create("tables", 0), .segments = {.data = segments, .len = 2}};
    assert_true(elf.fd >= 0 && pwrite(elf.fd, data, size, OFFSET) == (ssize_t)size);
    as_case_targets targets = as_case_targets_find(&elf, code->insns, code->n);
    close(elf.fd);
    return targets;
}

static void expect(const struct function *code, const void *data, size_t size, const uint64_t *want, size_t n)
{
    as_case_targets targets = find(code, data, size);
    assert_int_equal(targets.len, n);
    assert_true(n == 0 || memcmp(targets.data, want, n * sizeof *want) == 0);
    as_vec_free(&targets);
}

/* Entries relative to the table; the fifth leads nowhere. */
static void fill_relative(int32_t table[CASES + 1])
{
    for (size_t i = 0; i < CASES; i++)
        table[i] = (int32_t)cases[i] - DATA;
    table[CASES] = (int32_t)cases[0] + 1 - DATA;
}

static void test_relative(void **state)
{
    struct function code = x86_function();
    int32_t table[CASES + 1];
    fill_relative(table);
    expect(&code, table, sizeof table, cases, CASES);
    code.insns[0].bytes[0] = 0x4c; /* lea into another register */
    code.insns[0].bytes[2] = 0x3d;
    expect(&code, table, sizeof table, cases, CASES);
}

static void test_what_takes_no_address(void **state)
{
    int32_t table[CASES + 1];
    fill_relative(table);
    struct function code = x86_function();
    code.insns[0].bytes[0] = 0x66; /* not a REX prefix */
    expect(&code, table, sizeof table, NULL, 0);
    code = x86_function();
    code.insns[0].bytes[1] = 0x8b; /* mov */
    expect(&code, table, sizeof table, NULL, 0);
    code = x86_function();
    code.insns[0].bytes[2] = 0x04; /* relative to a register */
    expect(&code, table, sizeof table, NULL, 0);
    code = x86_function();
    code.insns[0].length = 8;
    expect(&code, table, sizeof table, NULL, 0);
    code = x86_function();
    code.insns[1].class_ = AS_CLASS_JUMP; /* nothing that a table could be for */
    expect(&code, table, sizeof table, NULL, 0);
    as_case_targets none = as_case_targets_find(NULL, code.insns, code.n);
    assert_int_equal(none.len, 0);
}

/* Three entries may be chance, and a table ends with its file. */
static void test_ends(void **state)
{
    struct function code = x86_function();
    int32_t table[CASES + 1];
    fill_relative(table);
    table[CASES] = table[0];
    expect(&code, table, sizeof table, (uint64_t[]){0x1010, 0x1020, 0x1030, 0x1040, 0x1010}, CASES + 1);
    expect(&code, table, CASES * sizeof *table + 2, cases, CASES);
    expect(&code, table, 3 * sizeof *table, NULL, 0);
    table[3] = 0;
    expect(&code, table, sizeof table, NULL, 0);
}

/* 64 and 32 bits, absolute. */
static void test_absolute(void **state)
{
    struct function code = x86_indexed(DATA, 0);
    uint32_t narrow[CASES + 1] = {0x1010, 0x1020, 0x1030, 0x1040, 0x1041};
    expect(&code, cases, sizeof cases, cases, CASES);
    expect(&code, narrow, sizeof narrow, cases, CASES);
    code.insns[1].mem[0].segment = 1;
    expect(&code, cases, sizeof cases, NULL, 0);
    code = x86_indexed(DATA, 0);
    code.insns[1].mem[0].base = 3;
    expect(&code, cases, sizeof cases, NULL, 0);
    code = x86_indexed(DATA, 0);
    code.insns[1].mem[0].index = AS_REG_NONE;
    expect(&code, cases, sizeof cases, NULL, 0);
}

/* The first of two tables ends where the second begins, though what follows would fit. */
static void test_two(void **state)
{
    struct function code = x86_indexed(DATA + sizeof cases, DATA);
    uint64_t table[2 * CASES];
    for (size_t i = 0; i < 2 * CASES; i++)
        table[i] = cases[i % CASES];
    expect(&code, table, sizeof table, table, 2 * CASES);
}

/* More than is read at once. */
static void test_long(void **state)
{
    enum { LONG = 150 };
    struct function code = x86_indexed(DATA, 0);
    uint64_t table[LONG];
    for (size_t i = 0; i < LONG; i++)
        table[i] = cases[i * i % CASES];
    expect(&code, table, sizeof table, table, LONG);
}

static void test_riscv(void **state)
{
    int32_t table[CASES + 1];
    fill_relative(table);
    enum { AUIPC_A5 = 0x1797, LUI_A5 = 0x27b7, ADDI_A5 = 0x78793, ADDI_A5_OF_A4 = 0x70793, ADDI_A4 = 0x78713 };
    struct function code = rv_function(AUIPC_A5, ADDI_A5); /* a5 = pc + 0x1000 + 0 */
    expect(&code, table, sizeof table, cases, CASES);
    code = rv_function(LUI_A5, ADDI_A5); /* a5 = 0x2000 */
    expect(&code, table, sizeof table, cases, CASES);
    code = rv_function(0x37b7, 0x80078793); /* a5 = 0x3000 - 0x800: behind the data */
    expect(&code, table, sizeof table, NULL, 0);
    code = rv_function(LUI_A5, ADDI_A5_OF_A4);
    expect(&code, table, sizeof table, NULL, 0);
    code = rv_function(LUI_A5, ADDI_A4);
    expect(&code, table, sizeof table, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relative), cmocka_unit_test(test_what_takes_no_address),
        cmocka_unit_test(test_ends),     cmocka_unit_test(test_absolute),
        cmocka_unit_test(test_two),      cmocka_unit_test(test_long),
        cmocka_unit_test(test_riscv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
