/* Linear forms: code is followed register by register, and what is known of a register afterwards has the value that the
 * processor would have computed. What code does not write keeps its value; what the forms cannot express is unknown, never
 * wrong. */
#include "isa/linear.h"

#include "unit.h"

enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R13 = 13 };
enum { T0 = 5, S0 = 8, A0 = 10, A1, A2 };
#define CODE_AT UINT64_C(0x401000)
#define MOST_WRITTEN 2

/* Registers at the block's start: far apart, odd, and beyond 32 bits, so that no two forms agree by chance. */
static uint64_t at_start(unsigned reg)
{
    return reg * UINT64_C(0x9e3779b97f4a7c15);
}

static void registers_at_start(enum as_arch arch, uint64_t values[AS_LINEAR_REGISTERS])
{
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++)
        values[i] = at_start(arch == AS_ARCH_X86_64 ? i + 1 : i); /* RISC-V's first is always 0 */
}

#define V(reg) at_start((reg) + 1) /* of an x86-64 register */
#define X(reg) at_start(reg)       /* of a RISC-V one */

struct written {
    unsigned reg;
    bool known;
    uint64_t value;
};

static void step(enum as_arch arch, const char *bytes, size_t size, struct as_linear *registers)
{
    struct as_insn insn;
    for (size_t at = 0; at < size; at += insn.length) {
        assert_true(as_insn_decode(arch, CODE_AT + at, (const uint8_t *)bytes + at, size - at, &insn));
        as_linear_step(&insn, registers);
    }
}

static void check(enum as_arch arch, const char *bytes, size_t size, const struct written written[MOST_WRITTEN])
{
    struct as_linear registers[AS_LINEAR_REGISTERS];
    uint64_t values[AS_LINEAR_REGISTERS];
    registers_at_start(arch, values);
    as_linear_start(registers);
    step(arch, bytes, size, registers);
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++) {
        struct written expected = {i, true, values[i]};
        for (int w = 0; w < MOST_WRITTEN; w++)
            if (written[w].reg == i && (written[w].known || written[w].value))
                expected = written[w];
        assert_int_equal(registers[i].known, expected.known);
        if (expected.known)
            assert_int_equal(as_linear_value(&registers[i], values), expected.value);
    }
}
#define IS(reg, value)                                                                                                 \
    {                                                                                                                  \
        reg, true, value                                                                                               \
    }
#define UNKNOWN(reg)                                                                                                   \
    {                                                                                                                  \
        reg, false, 1                                                                                                  \
    }
#define X86(bytes, ...)                                                                                                \
    check(AS_ARCH_X86_64, bytes, sizeof bytes - 1, (const struct written[MOST_WRITTEN]){__VA_ARGS__})
#define RV(bytes, ...)                                                                                                 \
    check(AS_ARCH_RISCV64, bytes, sizeof bytes - 1, (const struct written[MOST_WRITTEN]){__VA_ARGS__})

static void test_x86_arithmetic(void **state)
{
    X86("\x48\x89\xd8", IS(AX, V(BX)));                                          /* mov rax, rbx */
    X86("\x4d\x89\xc5", IS(R13, V(R8)));                                         /* mov r13, r8 */
    X86("\x48\x01\xd8", IS(AX, V(AX) + V(BX)));                                  /* add rax, rbx */
    X86("\x48\x83\xc0\x05", IS(AX, V(AX) + 5));                                  /* add rax, 5 */
    X86("\x48\x83\xc0\xfb", IS(AX, V(AX) - 5));                                  /* add rax, -5 */
    X86("\x48\x29\xd8", IS(AX, V(AX) - V(BX)));                                  /* sub rax, rbx */
    X86("\x48\x83\xe8\x05", IS(AX, V(AX) - 5));                                  /* sub rax, 5 */
    X86("\x48\xff\xc0", IS(AX, V(AX) + 1));                                      /* inc rax */
    X86("\x48\xff\xc8", IS(AX, V(AX) - 1));                                      /* dec rax */
    X86("\x48\xc1\xe0\x04", IS(AX, V(AX) << 4));                                 /* shl rax, 4 */
    X86("\x48\xc1\xe0\x3f", IS(AX, V(AX) << 63));                                /* shl rax, 63 */
    X86("\x48\xc7\xc0\xfe\xff\xff\xff", IS(AX, (uint64_t)-2));                   /* mov rax, -2 */
    X86("\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11", IS(AX, 0x1122334455667788)); /* mov rax, 0x1122334455667788 */
}

static void test_x86_lea(void **state)
{
    X86("\x48\x8d\x43\x08", IS(AX, V(BX) + 8));                         /* lea rax, [rbx+8] */
    X86("\x48\x8d\x44\x8b\xf8", IS(AX, V(BX) + 4 * V(CX) - 8));         /* lea rax, [rbx+rcx*4-8] */
    X86("\x48\x8d\x04\xcd\x00\x01\x00\x00", IS(AX, 8 * V(CX) + 0x100)); /* lea rax, [rcx*8+0x100] */
    X86("\x4b\x8d\x04\x6c", IS(AX, V(12) + 2 * V(R13)));                /* lea rax, [r12+r13*2] */
    X86("\x48\x8d\x05\x10\x00\x00\x00", IS(AX, CODE_AT + 7 + 0x10));    /* lea rax, [rip+0x10] */
    X86("\x67\x48\x8d\x43\x08", UNKNOWN(AX));                           /* lea rax, [ebx+8] */
    X86("\x8d\x43\x08", UNKNOWN(AX));                                   /* lea eax, [rbx+8] */
}

/* Results of 32 bits clear the upper half, which no form has; two of them are known all the same. */
static void test_x86_narrow(void **state)
{
    X86("\xb8\xfe\xff\xff\xff", IS(AX, 0xfffffffe)); /* mov eax, 0xfffffffe */
    X86("\x31\xc0", IS(AX, 0));                      /* xor eax, eax */
    X86("\x31\xd8", UNKNOWN(AX));                    /* xor eax, ebx */
    X86("\x83\xf0\x05", UNKNOWN(AX));                /* xor eax, 5 */
    X86("\x89\xd8", UNKNOWN(AX));                    /* mov eax, ebx */
    X86("\x83\xc0\x05", UNKNOWN(AX));                /* add eax, 5 */
    X86("\x66\xb8\x05\x00", UNKNOWN(AX));            /* mov ax, 5 */
    X86("\xb0\x05", UNKNOWN(AX));                    /* mov al, 5 */
    X86("\xff\xc0", UNKNOWN(AX));                    /* inc eax */
}

static void test_x86_unknown(void **state)
{
    X86("\x48\x8b\x03", UNKNOWN(AX));              /* mov rax, [rbx] */
    X86("\x48\x03\x03", UNKNOWN(AX));              /* add rax, [rbx] */
    X86("\x48\x0f\xaf\xc3", UNKNOWN(AX));          /* imul rax, rbx */
    X86("\x48\x21\xd8", UNKNOWN(AX));              /* and rax, rbx */
    X86("\x48\xd3\xe0", UNKNOWN(AX));              /* shl rax, cl */
    X86("\x48\xc1\xe8\x04", UNKNOWN(AX));          /* shr rax, 4 */
    X86("\x48\xf7\xe3", UNKNOWN(AX), UNKNOWN(DX)); /* mul rbx */
    X86("\x48\x87\xd8", UNKNOWN(AX), UNKNOWN(BX)); /* xchg rax, rbx */
    X86("\x58", UNKNOWN(AX), UNKNOWN(SP));         /* pop rax */
    X86("\x48\x89\x03");                           /* mov [rbx], rax */
    X86("\x48\x01\x03");                           /* add [rbx], rax */
    X86("\x48\x39\xd8");                           /* cmp rax, rbx */
}

/* Forms go on through several instructions; what is unknown stays so until it is written again. */
static void test_x86_sequences(void **state)
{
    /* lea rax, [rbx+rcx*4]; add rax, rax; sub rax, rbx; inc rax */
    X86("\x48\x8d\x04\x8b\x48\x01\xc0\x48\x29\xd8\x48\xff\xc0", IS(AX, V(BX) + 8 * V(CX) + 1));
    X86("\x48\x89\xd8\x48\x01\xdb", IS(AX, V(BX)), IS(BX, 2 * V(BX))); /* mov rax, rbx; add rbx, rbx */
    X86("\x48\x8b\x03\x48\x01\xc3", UNKNOWN(AX), UNKNOWN(BX));         /* mov rax, [rbx]; add rbx, rax */
    X86("\x48\x8b\x03\x48\x83\xc0\x05", UNKNOWN(AX));                  /* mov rax, [rbx]; add rax, 5 */
    X86("\x48\x8b\x03\x48\x8d\x5c\x41\x08", UNKNOWN(AX), UNKNOWN(BX)); /* mov rax, [rbx]; lea rbx, [rcx+rax*2+8] */
    X86("\x48\x8b\x03\x48\x8d\x58\x08", UNKNOWN(AX), UNKNOWN(BX));     /* mov rax, [rbx]; lea rbx, [rax+8] */
    X86("\x48\x8b\x03\x48\x89\xc8", IS(AX, V(CX)));                    /* mov rax, [rbx]; mov rax, rcx */
    X86("\x31\xc0\x48\x83\xc0\x07\x48\xc1\xe0\x03", IS(AX, 56));       /* xor eax, eax; add rax, 7; shl rax, 3 */
}

static void test_riscv_arithmetic(void **state)
{
    RV("\x13\x85\x85\x00", IS(A0, X(A1) + 8));          /* addi a0, a1, 8 */
    RV("\x13\x85\x85\xff", IS(A0, X(A1) - 8));          /* addi a0, a1, -8 */
    RV("\x13\x05\x80\x7f", IS(A0, 0x7f8));              /* addi a0, x0, 0x7f8 */
    RV("\x13\x95\x35\x00", IS(A0, X(A1) << 3));         /* slli a0, a1, 3 */
    RV("\x13\x95\xf5\x03", IS(A0, X(A1) << 63));        /* slli a0, a1, 63 */
    RV("\x33\x85\xc5\x00", IS(A0, X(A1) + X(A2)));      /* add a0, a1, a2 */
    RV("\x33\x85\xc5\x40", IS(A0, X(A1) - X(A2)));      /* sub a0, a1, a2 */
    RV("\x37\x55\x34\x12", IS(A0, 0x12345000));         /* lui a0, 0x12345 */
    RV("\x37\x55\x34\x82", IS(A0, 0xffffffff82345000)); /* lui a0, 0x82345 */
    RV("\x17\x15\x00\x00", IS(A0, CODE_AT + 0x1000));   /* auipc a0, 1 */
    RV("\x17\xf5\xff\xff", IS(A0, CODE_AT - 0x1000));   /* auipc a0, 0xfffff */
    RV("\x21\x05", IS(A0, X(A0) + 8));                  /* c.addi a0, 8 */
    RV("\x2e\x85", IS(A0, X(A1)));                      /* c.mv a0, a1 */
    RV("\x2e\x95", IS(A0, X(A0) + X(A1)));              /* c.add a0, a1 */
    RV("\x0e\x05", IS(A0, X(A0) << 3));                 /* c.slli a0, 3 */
    RV("\x13\x80\x85\x00", IS(0, 0));                   /* addi x0, a1, 8 */
}

static void test_riscv_unknown(void **state)
{
    RV("\x13\xa5\x85\x00", UNKNOWN(A0));                              /* slti a0, a1, 8 */
    RV("\x13\xd5\x35\x00", UNKNOWN(A0));                              /* srli a0, a1, 3 */
    RV("\x13\x95\x35\x28", UNKNOWN(A0));                              /* bseti a0, a1, 3 */
    RV("\x33\x85\xc5\x02", UNKNOWN(A0));                              /* mul a0, a1, a2 */
    RV("\x33\xf5\xc5\x00", UNKNOWN(A0));                              /* and a0, a1, a2 */
    RV("\x3b\x85\xc5\x00", UNKNOWN(A0));                              /* addw a0, a1, a2 */
    RV("\x03\xb5\x85\x00", UNKNOWN(A0));                              /* ld a0, 8(a1) */
    RV("\x23\xb4\xa5\x00");                                           /* sd a0, 8(a1) */
    RV("\x03\xb5\x85\x00\x13\x05\x85\x00", UNKNOWN(A0));              /* ld a0, 8(a1); addi a0, a0, 8 */
    RV("\x03\xb5\x85\x00\x33\x86\xa5\x40", UNKNOWN(A0), UNKNOWN(A2)); /* ld a0, 8(a1); sub a2, a1, a0 */
    RV("\x03\xb5\x85\x00\x2e\x85", IS(A0, X(A1)));                    /* ld a0, 8(a1); c.mv a0, a1 */
}

/* The address of a prefetch behind other code. */
static bool address_behind(const char *before, size_t size, const char *prefetch, size_t prefetch_size,
                           uint64_t *address)
{
    struct as_linear registers[AS_LINEAR_REGISTERS];
    uint64_t values[AS_LINEAR_REGISTERS];
    struct as_insn insn;
    registers_at_start(AS_ARCH_X86_64, values);
    as_linear_start(registers);
    step(AS_ARCH_X86_64, before, size, registers);
    assert_true(as_insn_decode(AS_ARCH_X86_64, CODE_AT, (const uint8_t *)prefetch, prefetch_size, &insn));
    assert_int_equal(insn.n_mem, 1);
    struct as_linear form = as_linear_address(&insn, 0, registers);
    *address = as_linear_value(&form, values);
    assert_false(as_linear_address(&insn, 1, registers).known); /* it has but one */
    return form.known;
}
#define ADDRESS(before, prefetch, address)                                                                             \
    address_behind(before, sizeof before - 1, prefetch, sizeof prefetch - 1, address)
#define ADD_BX_8 "\x48\x83\xc3\x08"
#define LOAD_CX "\x48\x8b\x0b" /* mov rcx, [rbx] */

static void test_addresses(void **state)
{
    uint64_t address;
    assert_true(ADDRESS("", "\x0f\x18\x0b", &address)); /* prefetcht0 [rbx] */
    assert_int_equal(address, V(BX));
    assert_true(ADDRESS(ADD_BX_8, "\x0f\x18\x4c\x8b\xf0", &address)); /* prefetcht0 [rbx+rcx*4-16] */
    assert_int_equal(address, V(BX) + 8 + 4 * V(CX) - 16);
    assert_true(ADDRESS("", "\x0f\x18\x0d\x00\x10\x00\x00", &address)); /* prefetcht0 [rip+0x1000] */
    assert_int_equal(address, CODE_AT + 7 + 0x1000);
    assert_true(ADDRESS("", "\x0f\x18\x0c\x8d\x40\x00\x00\x00", &address)); /* prefetcht0 [rcx*4+64] */
    assert_int_equal(address, 4 * V(CX) + 64);
    assert_false(ADDRESS("", "\x64\x0f\x18\x0b", &address));          /* prefetcht0 fs:[rbx] */
    assert_false(ADDRESS(LOAD_CX, "\x0f\x18\x4c\x8b\xf0", &address)); /* the index is unknown */
    assert_false(ADDRESS(LOAD_CX, "\x0f\x18\x09", &address));         /* the base is */
    assert_true(ADDRESS(LOAD_CX, "\x0f\x18\x0b", &address));          /* neither is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_arithmetic), cmocka_unit_test(test_x86_lea),
        cmocka_unit_test(test_x86_narrow),     cmocka_unit_test(test_x86_unknown),
        cmocka_unit_test(test_x86_sequences),  cmocka_unit_test(test_riscv_arithmetic),
        cmocka_unit_test(test_riscv_unknown),  cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
