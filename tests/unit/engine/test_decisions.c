/* Which loads of a block decide where the program goes on, and which blocks store what others can see. */
#include "engine/decisions.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };
struct sample {
    struct as_insn insns[MOST];
    struct as_block *block;
};

static void make(struct sample *sample, enum as_arch arch, const char *bytes, size_t size)
{
    size_t at = 0;
    sample->block = calloc(1, sizeof *sample->block + MOST * sizeof *sample->block->insns);
    for (; at < size && sample->block->n < MOST; at += sample->insns[sample->block->n++].length) {
        struct as_insn *insn = &sample->insns[sample->block->n];
        assert_true(as_insn_decode(arch, 0x401000 + at, (const uint8_t *)bytes + at, size - at, insn));
        sample->block->insns[sample->block->n] = insn;
    }
    as_block_find_decisions(sample->block);
}

static void expect(enum as_arch arch, const char *bytes, size_t size, int decider, bool publishes)
{
    struct sample sample;
    make(&sample, arch, bytes, size);
    assert_int_equal(sample.block->deciders[0], decider);
    assert_int_equal(sample.block->publishes, publishes);
    free(sample.block);
}
#define X86(bytes, decider, publishes) expect(AS_ARCH_X86_64, bytes, sizeof bytes - 1, decider, publishes)
#define RISCV(bytes, decider, publishes) expect(AS_ARCH_RISCV64, bytes, sizeof bytes - 1, decider, publishes)

static void test_looks(void **state)
{
    X86("\x48\x8b\x07\x48\x39\xd8\x75\xf8", 0, false);      /* mov rax, [rdi]; cmp rax, rbx; jne */
    X86("\x90\x80\x3f\x00\x74\xfa", 1, false);              /* nop; cmp byte [rdi], 0; je */
    X86("\x8b\x07\x31\xc0\x39\xd8\x75\xf8", -1, false);     /* mov eax, [rdi]; xor eax, eax; cmp eax, ebx; jne */
    X86("\x48\x8b\x07\xc3", 0, false);                      /* mov rax, [rdi]; ret: the caller looks */
    X86("\x48\x8b\x0f\xc3", -1, false);                     /* mov rcx, [rdi]; ret */
    X86("\x48\x8b\x04\x24\x48\x39\xd8\x75\xf7", -1, false); /* mov rax, [rsp]; …: its own stack */
    RISCV("\x03\xb7\x07\x00\xe3\x1e\xb7\xfe", 0, false);    /* ld a4, 0(a5); bne a4, a1 */
}

static void test_atomics(void **state)
{
    X86("\xf0\x0f\xb1\x17\x75\xfa", 0, true);                  /* lock cmpxchg [rdi], edx; jne */
    X86("\xf0\x0f\xb1\x17\x83\xed\x01\x75\xf7", -1, true);     /* …; sub ebp, 1; jne: nobody looks */
    X86("\xf0\x48\x83\x07\x01\x83\xed\x01\x75\xf6", -1, true); /* lock add [rdi], 1; sub ebp, 1; jne */
    X86("\x87\x07\x85\xc0\x75\xfa", 0, true);                  /* xchg [rdi], eax; test eax, eax; jne */
}

static void test_stores(void **state)
{
    X86("\x48\x89\x07\x83\xed\x01\x75\xf8", -1, true);   /* mov [rdi], rax; sub ebp, 1; jne */
    X86("\x53\x83\xed\x01\x75\xfa", -1, false);          /* push rbx; … */
    RISCV("\x23\xb0\xe7\x00\x6f\x00\x00\x00", -1, true); /* sd a4, 0(a5); j */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
