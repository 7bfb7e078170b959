/* The decoders against tables of instructions (*.cases), cut short, and on bytes of every kind. */
#include "base/random.h"
#include "insn_check.h"
#include "insn_show.h"
#include "unit.h"

#include <ctype.h>
#include <stdio.h>

/* The fuzz targets decode random bytes under sanitizers, too. */
enum { ADDRESS = 0x1000, LINE_SIZE = 1000, RANDOM = UNIT_SANITIZED ? 200000 : 1000000 };

static size_t parse_bytes(const char *line, uint8_t *bytes)
{
    size_t count = 0;
    unsigned value;
    for (const char *at = line; isxdigit((unsigned char)at[0]) && count < AS_INSN_MAX_BYTES; at += 3) {
        assert_int_equal(sscanf(at, "%2x", &value), 1);
        bytes[count++] = (uint8_t)value;
    }
    return count;
}

/* Calls `action` with each line of a case file. Returns how many there are. */
static unsigned each_case(enum as_arch arch, void (*action)(enum as_arch, const char *line))
{
    char path[500], line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/%s.cases", ISA_CASES, as_arch_name(arch));
    FILE *file = fopen(path, "r");
    unsigned count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        action(arch, line);
        count++;
    }
    fclose(file);
    return count;
}

static unsigned seen_classes;

static void check_case(enum as_arch arch, const char *line)
{
    /* What follows the instruction must not matter. */
    static const uint8_t followers[] = {0x00, 0x90, 0xff, 0x66};
    for (unsigned i = 0; i < sizeof followers; i++) {
        uint8_t bytes[2 * AS_INSN_MAX_BYTES];
        char seen[LINE_SIZE];
        struct as_insn insn;
        memset(bytes, followers[i], sizeof bytes);
        size_t size = parse_bytes(line, bytes);
        bool known = as_insn_decode(arch, ADDRESS, bytes, sizeof bytes, &insn);
        assert_string_equal(insn_show(&insn, seen, sizeof seen), line);
        assert_int_equal(insn.length, size);
        assert_true(known);
        const char *wrong = insn_check(&insn, bytes, sizeof bytes, known);
        if (wrong)
            fail_msg("%s: %s", line, wrong);
        seen_classes |= 1u << insn.class_;
    }
}

static void test_x86_cases(void **state)
{
    (void)state;
    assert_true(each_case(AS_ARCH_X86_64, check_case) >= 500);
}

static void test_riscv_cases(void **state)
{
    (void)state;
    assert_true(each_case(AS_ARCH_RISCV64, check_case) >= 560);
}

static void test_every_class_has_a_case(void **state)
{
    (void)state;
    assert_int_equal(seen_classes, (1u << AS_CLASS_COUNT) - 1 - (1u << AS_CLASS_UNKNOWN));
}

/* In memory of exactly the size: the address sanitizer sees a byte too many. A part of an instruction is none. */
static void check_cut(enum as_arch arch, const char *line)
{
    uint8_t bytes[AS_INSN_MAX_BYTES];
    size_t whole = parse_bytes(line, bytes);
    for (size_t size = 0; size <= whole; size++) {
        uint8_t *exact = malloc(size ? size : 1);
        struct as_insn insn;
        assert_non_null(exact);
        memcpy(exact, bytes, size);
        bool known = as_insn_decode(arch, ADDRESS, exact, size, &insn);
        assert_int_equal(known, size == whole);
        assert_true(size == whole || insn.class_ == AS_CLASS_UNKNOWN);
        assert_null(insn_check(&insn, exact, size, known));
        free(exact);
    }
}

static void test_cut_short(void **state)
{
    (void)state;
    each_case(AS_ARCH_X86_64, check_cut);
    each_case(AS_ARCH_RISCV64, check_cut);
}

static void check_text_sizes(enum as_arch arch, const char *line)
{
    uint8_t bytes[AS_INSN_MAX_BYTES];
    struct as_insn insn;
    char whole[200];
    as_insn_decode(arch, ADDRESS, bytes, parse_bytes(line, bytes), &insn);
    as_insn_text(&insn, whole, sizeof whole);
    for (size_t size = 1; size <= strlen(whole) + 1; size++) {
        char *part = malloc(size);
        assert_ptr_equal(as_insn_text(&insn, part, size), part);
        assert_int_equal(strlen(part), size - 1);
        assert_memory_equal(part, whole, size - 1);
        free(part);
    }
}

static void test_text_fits(void **state)
{
    (void)state;
    each_case(AS_ARCH_X86_64, check_text_sizes);
    each_case(AS_ARCH_RISCV64, check_text_sizes);
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    return as_random(&random_state);
}

/* Returns whether it was an instruction. */
static bool check_bytes(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    struct as_insn insn, again;
    char text[200];
    memset(&insn, 0xaa, sizeof insn);
    memset(&again, 0x55, sizeof again);
    bool known = as_insn_decode(arch, ADDRESS, bytes, size, &insn);
    const char *wrong = insn_check(&insn, bytes, size, known);
    if (wrong)
        fail_msg("%s %02x %02x %02x %02x %02x %02x %02x %02x (%s): %s", as_arch_name(arch), bytes[0], bytes[1],
                 size > 2 ? bytes[2] : 0, size > 3 ? bytes[3] : 0, size > 4 ? bytes[4] : 0, size > 5 ? bytes[5] : 0,
                 size > 6 ? bytes[6] : 0, size > 7 ? bytes[7] : 0, as_insn_text(&insn, text, sizeof text), wrong);
    /* No byte of the record is left over from before. */
    as_insn_decode(arch, ADDRESS, bytes, size, &again);
    assert_memory_equal(&insn, &again, sizeof insn);
    return known;
}

/* Half of the strings get an opcode map or a vector prefix, which pure chance seldom gives. */
static void randomise_x86(uint8_t *bytes)
{
    static const uint8_t starts[][3] = {
        {0x0f}, {0x66, 0x0f}, {0xf3, 0x0f}, {0xf2, 0x0f}, {0x0f, 0x38}, {0x66, 0x0f, 0x38}, {0x66, 0x0f, 0x3a},
        {0xf0}, {0x48},       {0xf3},       {0xc5},       {0x67}};
    for (unsigned i = 0; i < 16; i += 8) {
        uint64_t bits = random_bits();
        memcpy(bytes + i, &bits, 8);
    }
    uint64_t choice = random_bits();
    if (choice & 1) {
        const uint8_t *start = starts[(choice >> 8) % (sizeof starts / sizeof starts[0])];
        for (unsigned i = 0; i < 3 && start[i]; i++)
            bytes[i] = start[i];
    } else if ((choice & 6) == 2) {
        bytes[0] = 0xc4;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (1 + choice % 3));
    } else if ((choice & 6) == 4) {
        bytes[0] = 0x62;
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + choice % 6));
        bytes[2] |= 0x7c;
    }
}

static void test_random_x86(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned i = 0; i < RANDOM; i++) {
        uint8_t bytes[16];
        randomise_x86(bytes);
        known += check_bytes(AS_ARCH_X86_64, bytes, sizeof bytes);
    }
    assert_true(known > RANDOM / 5 * 2);
}

/* How many of the halfwords are instructions of RV64GC is a matter of counting the reserved ones. */
static void test_all_compressed(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned half = 0; half < 0x10000; half++) {
        uint8_t bytes[2] = {(uint8_t)half, (uint8_t)(half >> 8)};
        if ((half & 3) != 3)
            known += check_bytes(AS_ARCH_RISCV64, bytes, sizeof bytes);
    }
    assert_int_equal(known, 46744);
}

static void test_random_riscv(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned i = 0; i < RANDOM; i++) {
        uint32_t word = (uint32_t)random_bits() | 3;
        uint8_t bytes[4];
        memcpy(bytes, &word, sizeof word);
        known += check_bytes(AS_ARCH_RISCV64, bytes, sizeof bytes);
    }
    assert_true(known > RANDOM / 10);
}

static void test_not_instructions(void **state)
{
    (void)state;
    static const struct {
        enum as_arch arch;
        uint8_t bytes[4];
        unsigned length;
        const char *text;
    } cases[] = {
        {AS_ARCH_X86_64, {0x06, 0x90, 0x90, 0x90}, 1, "(bad)"},       /* push es: not in 64-bit mode */
        {AS_ARCH_X86_64, {0xf0, 0x90, 0x90, 0x90}, 1, "(bad)"},       /* lock nop */
        {AS_ARCH_X86_64, {0xc5, 0xf8, 0x74, 0x10}, 1, "(bad)"},       /* jkzd, of Knights Corner only */
        {AS_ARCH_RISCV64, {0x04, 0x00, 0x90, 0x90}, 2, ".2byte 0x4"}, /* reserved: addi4spn of 0 */
        {AS_ARCH_RISCV64, {0x01, 0x61, 0x90, 0x90}, 2, ".2byte 0x6101"},
        {AS_ARCH_RISCV64, {0xff, 0xff, 0xff, 0xff}, 4, ".4byte 0xffffffff"},
        {AS_ARCH_RISCV64, {0x53, 0x50, 0x00, 0x00}, 4, ".4byte 0x5053"}, /* reserved rounding mode */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct as_insn insn;
        char text[50];
        assert_false(as_insn_decode(cases[i].arch, ADDRESS, cases[i].bytes, 4, &insn));
        assert_int_equal(insn.class_, AS_CLASS_UNKNOWN);
        assert_int_equal(insn.length, cases[i].length);
        assert_int_equal(insn.n_uops, 1);
        assert_string_equal(as_insn_text(&insn, text, sizeof text), cases[i].text);
    }
}

/* aesencwide256kl writes eight vector registers and the flags: the lists hold the first ones, nothing else is touched.
 */
static void test_more_registers_than_fit(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0xf3, 0x0f, 0x38, 0xd8, 0x10};
    struct as_insn insn;
    assert_true(as_insn_decode(AS_ARCH_X86_64, ADDRESS, bytes, sizeof bytes, &insn));
    assert_int_equal(insn.n_reads, AS_INSN_MAX_READS);
    assert_int_equal(insn.n_writes, AS_INSN_MAX_WRITES);
    assert_int_equal(insn.reads[0], AS_REG_INT0); /* the address comes first and is never lost */
    for (unsigned i = 0; i < AS_INSN_MAX_WRITES; i++)
        assert_int_equal(insn.writes[i], AS_REG_VEC0 + i);
    assert_null(insn_check(&insn, bytes, sizeof bytes, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_cases),
        cmocka_unit_test(test_riscv_cases),
        cmocka_unit_test(test_every_class_has_a_case),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_text_fits),
        cmocka_unit_test(test_random_x86),
        cmocka_unit_test(test_all_compressed),
        cmocka_unit_test(test_random_riscv),
        cmocka_unit_test(test_not_instructions),
        cmocka_unit_test(test_more_registers_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
