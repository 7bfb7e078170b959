/* The plugin's quick look at an instruction's bytes against the decoders: it must see everything that the decoder marks
 * as varying or as a hint, and may see more, but not so much that nothing is gained. */
#include "base/random.h"
#include "engine/engine.h"
#include "plugin/varies.h"
#include "unit.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>

enum { HINTS = AS_INSN_PREFETCH | AS_INSN_CACHE_FLUSH };

static uint64_t seed = 42;

static uint64_t random_bits(void)
{
    return as_random(&seed);
}

struct tally {
    bool real; /* the bytes are of a program, not random: compilers write to the stack pointer in few ways */
    uint64_t decoded, varying, hinting, said_varying, said_hinting;
    uint64_t on_stack, said_on_stack;
};

/* Whether it accesses memory, and all that it accesses lies near the stack pointer. */
static bool is_on_stack(enum as_arch arch, const struct as_insn *insn)
{
    enum { NEAR = 2048 }; /* an offset in RISC-V, and in x86 a little more than what is recognised */
    uint8_t pointer = AS_REG_INT0 + (arch == AS_ARCH_X86_64 ? 4 : 2);
    bool any = false;
    for (uint8_t i = 0; i < insn->n_mem; i++) {
        const struct as_mem_operand *operand = &insn->mem[i];
        if (operand->access && (operand->base != pointer || operand->index != AS_REG_NONE || operand->segment ||
                                operand->disp < -NEAR || operand->disp > NEAR))
            return false;
        any |= operand->access != 0;
    }
    return any;
}

static void describe(const char *what, const struct as_insn *insn)
{
    char text[160], bytes[3 * AS_INSN_MAX_BYTES + 1] = "";
    for (uint8_t i = 0; i < insn->length; i++)
        snprintf(bytes + 3 * i, 4, "%02x ", insn->bytes[i]);
    fail_msg("%s: %s%s", what, bytes, as_insn_text(insn, text, sizeof text));
}

static bool has(const uint8_t *numbers, uint8_t n, uint8_t number)
{
    return n && memchr(numbers, number, n);
}

/* Whether an instruction is an atomic that tells what it found. On RISC-V into a register, and not by a store-conditional. */
static bool has_answer(enum as_arch arch, const struct as_insn *insn)
{
    bool tells = arch == AS_ARCH_X86_64 || (insn->n_writes > 0 && !(insn->flags & AS_INSN_VARIES));
    return insn->flags & AS_INSN_ATOMIC && tells;
}

/* Those that read flags and write them may only keep some, as shifts by cl do. Calls and returns lose the flags by convention. */
static void look_at_answer(enum as_arch arch, const struct as_insn *insn)
{
    enum as_answer answer = as_insn_answer(arch, insn->bytes, insn->length);
    bool passes = insn->class_ == AS_CLASS_CALL || insn->class_ == AS_CLASS_RETURN;
    bool reads = has(insn->reads, insn->n_reads, AS_REG_FLAGS),
         writes = has(insn->writes, insn->n_writes, AS_REG_FLAGS);
    if (has_answer(arch, insn) != (answer == AS_ANSWER_VALUE || answer == AS_ANSWER_FLAGS))
        describe("is an atomic, and is not seen, or the other way round", insn);
    if (insn->flags & AS_INSN_ATOMIC)
        return;
    if (reads && !writes && answer != AS_ANSWER_READ)
        describe("reads flags, and is not seen", insn);
    if (answer == AS_ANSWER_LOST && !writes && !passes)
        describe("does not write flags, as is said", insn);
}

/* Decodes one instruction and holds the quick look against it. Returns its length. */
static size_t look(enum as_arch arch, const uint8_t *bytes, size_t size, struct tally *tally)
{
    struct as_insn insn;
    bool known = as_insn_decode(arch, 0x401000, bytes, size, &insn);
    if (!known)
        return insn.length;
    bool said_varying = as_insn_varies(arch, bytes, insn.length),
         said_hinting = as_insn_hints(arch, bytes, insn.length);
    tally->decoded++;
    tally->varying += (insn.flags & AS_INSN_VARIES) != 0;
    tally->hinting += (insn.flags & HINTS) != 0;
    tally->said_varying += said_varying;
    tally->said_hinting += said_hinting;
    if (insn.flags & AS_INSN_VARIES && !said_varying)
        describe("varies, and is not seen", &insn);
    if (insn.flags & HINTS && !said_hinting)
        describe("is a hint, and is not seen", &insn);
    look_at_answer(arch, &insn);
    if (as_insn_is_link(&insn) && !as_insn_links(arch, bytes, insn.length))
        describe("stores or loads a return address, and is not seen", &insn);
    if (tally->real && as_insn_moves_pointer(&insn) && !as_insn_moves_stack(arch, bytes, insn.length))
        describe("moves the stack pointer, and is not seen", &insn);
    bool accesses = insn.flags & (AS_INSN_LOAD | AS_INSN_STORE), on_stack = is_on_stack(arch, &insn);
    bool said_on_stack = as_insn_only_stack(arch, bytes, insn.length);
    tally->on_stack += on_stack;
    tally->said_on_stack += on_stack && said_on_stack;
    if (accesses && said_on_stack && !on_stack && !(insn.flags & AS_INSN_VARIES))
        describe("does not only access the stack, as is said", &insn);
    return insn.length;
}

/* Random bytes behind what leads to the rarer maps: prefixes, REX, VEX, EVEX, XOP, 0f 38, 0f 3a. */
static void fill_x86(uint8_t bytes[16])
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0xf0, 0x67, 0x2e, 0x64, 0x48, 0x41, 0x4f};
    static const uint8_t strings[] = {0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac,
                                      0xad, 0xae, 0xaf, 0x6c, 0x6d, 0x6e, 0x6f};
    uint64_t low = random_bits(), high = random_bits(), choice = random_bits();
    size_t at = 0;
    memcpy(bytes, &low, 8);
    memcpy(bytes + 8, &high, 8);
    for (uint64_t n = choice & 3; n > 0; n--)
        bytes[at++] = prefixes[(choice >> (8 + 4 * n)) % sizeof prefixes];
    switch (choice >> 3 & 15) {
    case 0:
    case 1:
        bytes[at++] = 0x0f;
        bytes[at] = choice >> 40 & 1 ? 0x38 : 0x3a;
        break;
    case 2:
    case 3:
    case 4:
        bytes[at] = 0xc4; /* VEX with three bytes, mostly of a real map */
        bytes[at + 1] = (uint8_t)((bytes[at + 1] & 0xe0) | (choice >> 40 & 3));
        break;
    case 5:
        bytes[at] = 0xc5;
        break;
    case 6:
        bytes[at] = 0x62;
        bytes[at + 1] &= 0xf3;
        bytes[at + 2] |= 4;
        break;
    case 7:
        bytes[at] = strings[(choice >> 40) % sizeof strings];
        break;
    case 8:
    case 9:
    case 10:
        bytes[at] = 0x0f;
        break;
    case 11:
        bytes[at++] = 0x0f;
        bytes[at] = choice >> 40 & 1 ? 0xf7 : choice >> 41 & 1 ? 0xae : 0x18;
        break;
    case 12:
        bytes[at] = 0x8f; /* XOP, or pop */
        break;
    default:
        break;
    }
}

static void test_x86_random(void **state)
{
    enum { ROUNDS = UNIT_SANITIZED ? 1000000 : 4000000 };
    struct tally tally = {0};
    uint8_t bytes[16];
    for (int i = 0; i < ROUNDS; i++) {
        fill_x86(bytes);
        look(AS_ARCH_X86_64, bytes, sizeof bytes, &tally);
    }
    /* The bytes were such that this says something. */
    assert_true(tally.decoded > ROUNDS / 3);
    assert_true(tally.varying > ROUNDS / 100);
    assert_true(tally.hinting > ROUNDS / 1000);
}

static void look_word(uint32_t word, struct tally *tally)
{
    uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    look(AS_ARCH_RISCV64, bytes, sizeof bytes, tally);
}

/* All of the AMO opcode but the registers, of which a few. */
static void test_riscv_amo(void **state)
{
    static const uint32_t registers[] = {0, 1, 2, 10, 31};
    struct tally tally = {0};
    for (uint32_t top = 0; top < 128; top++)
        for (uint32_t width = 0; width < 8; width++)
            for (uint32_t i = 0; i < 125; i++)
                look_word(top << 25 | registers[i / 25] << 20 | registers[i / 5 % 5] << 15 | width << 12 |
                              registers[i % 5] << 7 | 0x2f,
                          &tally);
    assert_int_equal(tally.varying, 2 * 4 * 125); /* sc.w and sc.d, with each of aq and rl */
    assert_int_equal(tally.said_varying, tally.varying);
}

/* Every prefetch and line operation, with every register. */
static void test_riscv_hints(void **state)
{
    struct tally tally = {0};
    for (uint32_t operation = 0; operation < 32; operation++)
        for (uint32_t base = 0; base < 32; base++) {
            look_word(operation << 20 | base << 15 | 0x6013, &tally);
            look_word(operation << 20 | base << 15 | 0x200f, &tally);
        }
    assert_int_equal(tally.hinting, 4 * 32); /* prefetch.r and .w, cbo.inval and .flush */
}

static void test_riscv_random(void **state)
{
    enum { ROUNDS = UNIT_SANITIZED ? 1000000 : 4000000 };
    struct tally tally = {0};
    for (int i = 0; i < ROUNDS; i++)
        look_word((uint32_t)random_bits(), &tally);
    for (uint32_t half = 0; half < 65536; half++)
        look_word(half, &tally);
    assert_true(tally.decoded > ROUNDS / 4);
    assert_true(tally.said_varying * 100 < tally.decoded);
    assert_true(tally.said_on_stack * 10 > tally.on_stack * 7); /* all but atomics */
}

/* A shared object's executable segment, as it lies in memory. */
struct text {
    const uint8_t *start;
    size_t size;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    struct text *text = context;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            *text = (struct text){.start = (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                                  .size = info->dlpi_phdr[i].p_memsz};
    return 1;
}

static void test_libc(void **state)
{
#if defined(__x86_64__)
    struct text text = {0};
    struct tally tally = {.real = true};
    dl_iterate_phdr(find_libc, &text);
    if (!text.size)
        unit_skip("no libc.so in this process");
    for (size_t at = 0; at < text.size;)
        at += look(AS_ARCH_X86_64, text.start + at, text.size - at, &tally);
    assert_true(tally.decoded > 100000);
    assert_true(tally.varying > 100);
    assert_true(tally.said_on_stack * 10 > tally.on_stack * 8 && tally.on_stack > 10000);
    assert_true(tally.hinting > 10);
    assert_true(tally.said_varying * 10 < tally.decoded); /* otherwise little is gained */
    assert_true(tally.said_hinting * 100 < tally.decoded);
#else
    unit_skip("the libc of this machine is not x86-64");
#endif
}

static void check_answer(enum as_arch arch, const char *bytes, size_t size, enum as_answer expected)
{
    assert_int_equal(as_insn_answer(arch, (const uint8_t *)bytes, size), expected);
}

/* What an atomic found: in a register, in the flags, or lost. */
static void test_answers_of_atomics(void **state)
{
    check_answer(AS_ARCH_X86_64, "\xf0\x48\x83\x00\x01", 5, AS_ANSWER_FLAGS);     /* lock add $1, (%rax) */
    check_answer(AS_ARCH_X86_64, "\xf0\xff\x08", 3, AS_ANSWER_FLAGS);             /* lock decl (%rax) */
    check_answer(AS_ARCH_X86_64, "\xf0\x48\x0f\xba\x28\x03", 6, AS_ANSWER_FLAGS); /* lock bts $3, (%rax) */
    check_answer(AS_ARCH_X86_64, "\xf0\x48\x0f\xab\x08", 5, AS_ANSWER_FLAGS);     /* lock bts %rcx, (%rax) */
    check_answer(AS_ARCH_X86_64, "\xf0\x48\x0f\xc1\x08", 5, AS_ANSWER_VALUE);     /* lock xadd %rcx, (%rax) */
    check_answer(AS_ARCH_X86_64, "\xf0\x0f\xb1\x11", 4, AS_ANSWER_VALUE);         /* lock cmpxchg %edx, (%rcx) */
    check_answer(AS_ARCH_X86_64, "\x87\x08", 2, AS_ANSWER_VALUE);                 /* xchg %ecx, (%rax) */
    check_answer(AS_ARCH_RISCV64, "\x2f\x30\xb5\x00", 4, AS_ANSWER_NONE);         /* amoadd.d zero, a1, (a0) */
    check_answer(AS_ARCH_RISCV64, "\xaf\x35\xb5\x00", 4, AS_ANSWER_VALUE);        /* amoadd.d a1, a1, (a0) */
    check_answer(AS_ARCH_RISCV64, "\xaf\x25\x05\x10", 4, AS_ANSWER_VALUE);        /* lr.w a1, (a0) */
    check_answer(AS_ARCH_RISCV64, "\xaf\x25\xb5\x18", 4, AS_ANSWER_NONE);         /* sc.w a1, a1, (a0) */
    check_answer(AS_ARCH_X86_64, "\x74\x05", 2, AS_ANSWER_READ);                  /* je */
    check_answer(AS_ARCH_X86_64, "\x11\xc8", 2, AS_ANSWER_READ);                  /* adc %ecx, %eax */
    check_answer(AS_ARCH_X86_64, "\x83\xd8\x00", 3, AS_ANSWER_READ);              /* sbb $0, %eax */
    check_answer(AS_ARCH_X86_64, "\xd1\xd8", 2, AS_ANSWER_READ);                  /* rcr %eax */
    check_answer(AS_ARCH_X86_64, "\x0f\x94\xc0", 3, AS_ANSWER_READ);              /* sete %al */
    check_answer(AS_ARCH_X86_64, "\xa8\x0f", 2, AS_ANSWER_LOST);                  /* test $15, %al */
    check_answer(AS_ARCH_X86_64, "\xf6\xc3\x0f", 3, AS_ANSWER_LOST);              /* test $15, %bl */
    check_answer(AS_ARCH_X86_64, "\xf7\xc1\x0f\x00\x00\x00", 6, AS_ANSWER_LOST);  /* test $15, %ecx */
    check_answer(AS_ARCH_X86_64, "\xf7\xd9", 2, AS_ANSWER_LOST);                  /* neg %ecx */
    check_answer(AS_ARCH_X86_64, "\xf7\xd1", 2, AS_ANSWER_NONE);                  /* not %ecx */
    check_answer(AS_ARCH_X86_64, "\x66\x0f\x2e\xc1", 4, AS_ANSWER_LOST);          /* ucomisd %xmm1, %xmm0 */
    check_answer(AS_ARCH_X86_64, "\x48\x89\xc3", 3, AS_ANSWER_NONE);              /* mov %rax, %rbx */
}

/* Cut short, which QEMU never does: no byte beyond the size is read (the sanitizer build is the judge). */
static void test_short(void **state)
{
    for (int i = 0; i < 200000; i++) {
        size_t size = random_bits() % 5;
        uint8_t bytes[16], *exact = malloc(size + 1);
        assert_non_null(exact);
        fill_x86(bytes);
        memcpy(exact, bytes, size);
        uint8_t *shrunk = realloc(exact, size ? size : 1);
        as_insn_varies(AS_ARCH_X86_64, shrunk, size);
        as_insn_hints(AS_ARCH_X86_64, shrunk, size);
        as_insn_varies(AS_ARCH_RISCV64, shrunk, size);
        as_insn_hints(AS_ARCH_RISCV64, shrunk, size);
        free(shrunk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_random),  cmocka_unit_test(test_riscv_amo),
        cmocka_unit_test(test_riscv_hints), cmocka_unit_test(test_riscv_random),
        cmocka_unit_test(test_libc),        cmocka_unit_test(test_answers_of_atomics),
        cmocka_unit_test(test_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
