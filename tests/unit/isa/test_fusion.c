/* Macro-fusion, names, and what several threads share in the decoders. */
#include "unit.h"

#include "assay/insn.h"

#include <pthread.h>
#include <stdio.h>

static struct as_insn decode(uint64_t address, const char *bytes, size_t size)
{
    struct as_insn insn;
    assert_true(as_insn_decode(AS_ARCH_X86_64, address, (const uint8_t *)bytes, size, &insn));
    return insn;
}
#define DECODE(address, bytes) decode(address, bytes, sizeof bytes - 1)

static bool fuses(const char *first, size_t first_size, const char *second, size_t second_size)
{
    struct as_insn a = decode(0x1000, first, first_size);
    struct as_insn b = decode(0x1000 + a.length, second, second_size);
    return as_insn_fuses(&a, &b);
}
#define FUSES(first, second) fuses(first, sizeof first - 1, second, sizeof second - 1)

#define JO "\x70\x10"
#define JB "\x72\x10"
#define JE "\x74\x10"
#define JA "\x77\x10"
#define JS "\x78\x10"
#define JL "\x7c\x10"
#define JRCXZ "\xe3\x10"
#define LOOP "\xe2\x10"
#define JMP "\xeb\x10"
#define CMP "\x48\x39\xd8"         /* cmp rax, rbx */
#define CMP_IMM "\x83\xf8\x05"     /* cmp eax, 5 */
#define CMP_MEM "\x48\x3b\x03"     /* cmp rax, [rbx] */
#define CMP_MEM_IMM "\x83\x3b\x05" /* cmp dword ptr [rbx], 5 */
#define TEST "\x85\xc0"            /* test eax, eax */
#define AND "\x21\xd8"             /* and eax, ebx */
#define AND_MEM_DST "\x21\x18"     /* and [rax], ebx */
#define ADD "\x01\xd8"             /* add eax, ebx */
#define SUB "\x48\x83\xe8\x01"     /* sub rax, 1 */
#define INC "\xff\xc0"             /* inc eax */
#define DEC_MEM "\xff\x08"         /* dec dword ptr [rax] */
#define XOR "\x31\xd8"             /* xor eax, ebx */
#define MOV "\x89\xd8"             /* mov eax, ebx */
#define FAR_JE "\x0f\x84\x00\x01\x00\x00"

static void test_pairs(void **state)
{
    (void)state;
    assert_true(FUSES(CMP, JE) && FUSES(CMP, JA) && FUSES(CMP, JB) && FUSES(CMP, JL) && FUSES(CMP, FAR_JE));
    assert_false(FUSES(CMP, JO) || FUSES(CMP, JS));
    assert_true(FUSES(CMP_IMM, JE) && FUSES(CMP_MEM, JE));
    assert_false(FUSES(CMP_MEM_IMM, JE));
    assert_true(FUSES(TEST, JE) && FUSES(TEST, JO) && FUSES(TEST, JS) && FUSES(TEST, JB));
    assert_true(FUSES(AND, JE) && FUSES(AND, JS));
    assert_false(FUSES(AND_MEM_DST, JE));
    assert_true(FUSES(ADD, JB) && FUSES(SUB, JL));
    assert_false(FUSES(ADD, JS));
    assert_true(FUSES(INC, JE) && FUSES(INC, JL));
    assert_false(FUSES(INC, JB) || FUSES(INC, JA) || FUSES(INC, JS));
    assert_false(FUSES(DEC_MEM, JE) || FUSES(XOR, JE) || FUSES(MOV, JE));
    assert_false(FUSES(CMP, LOOP) || FUSES(CMP, JRCXZ) || FUSES(CMP, JMP) || FUSES(CMP, CMP) || FUSES(JE, JE));
}

static void test_only_neighbours(void **state)
{
    (void)state;
    struct as_insn compare = DECODE(0x1000, CMP), apart = DECODE(0x1004, JE), behind = DECODE(0x1003, JE);
    assert_true(as_insn_fuses(&compare, &behind));
    assert_false(as_insn_fuses(&compare, &apart));
    assert_false(as_insn_fuses(&behind, &compare));
}

static void test_not_across_lines(void **state)
{
    (void)state;
    struct as_insn compare = DECODE(0x103d, CMP), behind = DECODE(0x1040, JE);
    assert_false(as_insn_fuses(&compare, &behind));
    /* One byte earlier the branch starts in the same line. */
    compare = DECODE(0x103c, CMP);
    behind = DECODE(0x103f, JE);
    assert_true(as_insn_fuses(&compare, &behind));
}

static void test_never_on_riscv(void **state)
{
    (void)state;
    static const uint8_t sub[] = {0x33, 0x05, 0xb5, 0x40}, bne[] = {0x63, 0x14, 0x05, 0x00};
    struct as_insn first, second;
    assert_true(as_insn_decode(AS_ARCH_RISCV64, 0x1000, sub, sizeof sub, &first));
    assert_true(as_insn_decode(AS_ARCH_RISCV64, 0x1004, bne, sizeof bne, &second));
    assert_false(as_insn_fuses(&first, &second));
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < AS_CLASS_COUNT; i++) {
        enum as_class found = AS_CLASS_COUNT;
        assert_true(as_class_from_name(as_class_name((enum as_class)i), &found));
        assert_int_equal(found, i);
    }
    enum as_class untouched = AS_CLASS_NOP;
    assert_false(as_class_from_name("INT", &untouched));
    assert_false(as_class_from_name("", &untouched));
    assert_int_equal(untouched, AS_CLASS_NOP);
    assert_string_equal(as_class_name(AS_CLASS_COUNT), "unknown");
    assert_string_equal(as_arch_name(AS_ARCH_X86_64), "x86_64");
    assert_string_equal(as_arch_name(AS_ARCH_RISCV64), "riscv64");
    assert_string_equal(as_register_name(AS_ARCH_X86_64, 15), "r15");
    assert_string_equal(as_register_name(AS_ARCH_X86_64, AS_REG_VEC0 + 31), "xmm31");
    assert_string_equal(as_register_name(AS_ARCH_X86_64, AS_REG_MMX0 + 7), "mm7");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, 31), "t6");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, AS_REG_VEC0 + 31), "ft11");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, AS_REG_FP_STATUS), "fcsr");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, AS_REG_NONE), "none");
}

/* All start at once, so that some meet in the first use of the decoder and the formatter. */
static pthread_barrier_t start;

static void *decode_and_print(void *result)
{
    struct as_insn insn;
    char text[100];
    pthread_barrier_wait(&start);
    bool known = as_insn_decode(AS_ARCH_X86_64, 0, (const uint8_t *)CMP, 3, &insn);
    *(bool *)result = known && strcmp(as_insn_text(&insn, text, sizeof text), "cmp rax, rbx") == 0;
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    bool results[THREADS] = {false};
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode_and_print, &results[i]), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(results[i]);
    }
    pthread_barrier_destroy(&start);
}

/* Registers have names as far as there are any. */
static void test_register_names(void **state)
{
    assert_string_equal(as_register_name(AS_ARCH_X86_64, 0), "rax");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, 10), "a0");
    assert_string_equal(as_register_name(AS_ARCH_X86_64, AS_REG_COUNT), "none");
    assert_string_equal(as_register_name(AS_ARCH_RISCV64, AS_REG_COUNT), "none");
    assert_string_equal(as_register_name(AS_ARCH_X86_64, AS_REG_NONE), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), /* first: nothing has been decoded yet */
        cmocka_unit_test(test_register_names),  cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_only_neighbours), cmocka_unit_test(test_not_across_lines),
        cmocka_unit_test(test_never_on_riscv),  cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
