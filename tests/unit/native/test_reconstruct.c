/* Data accesses from registers and code: by hand for what is decided, and the small interpreter against the processor
 * itself, on random instructions. */
#include "base/random.h"
#include "native/reconstruct.h"
#include "native/x86_step.h"

#include "made_code.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>

static struct as_reconstruction at(const struct as_machine_state *state, const char *code, size_t size, unsigned skip)
{
    struct as_reconstruction result;
    struct code_bytes bytes = {(const uint8_t *)code, size};
    as_reconstruct_from(state, &(struct as_reconstruct_source){.code = read_code_bytes, .context = &bytes}, skip,
                        &result);
    return result;
}
#define AT(state, code) at(state, code, sizeof(code) - 1, 0)
#define AT_SKIP(state, code, skip) at(state, code, sizeof(code) - 1, skip)

static void interrupted_instruction_is_exact(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    struct as_reconstruction found = AT(&regs, "\x48\x8b\x44\x8b\x08"); /* mov rax, [rbx+4*rcx+8] */
    assert_int_equal(found.how, AS_RECONSTRUCT_EXACT);
    assert_int_equal(found.accesses[0].address, regs.value[RBX] + 4 * regs.value[RCX] + 8);
    assert_int_equal(found.accesses[0].size, 8);
    assert_int_equal(found.accesses[0].access, AS_ACCESS_LOAD);
    assert_int_equal(found.distance, 0);
    found = AT(&regs, "\xf0\xff\x07"); /* lock inc dword [rdi] */
    assert_int_equal(found.accesses[0].access, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    found = AT(&regs, "\x53"); /* push rbx */
    assert_int_equal(found.accesses[0].address, regs.value[RSP] - 8);
    found = AT(&regs, "\xa4"); /* movsb */
    assert_int_equal(found.n, 2);
    found = AT(&regs, "\x48\x8b\x05\x10\x00\x00\x00"); /* mov rax, [rip+16] */
    assert_int_equal(found.accesses[0].address, BASE + 7 + 16);
}

static void next_access_follows_the_code(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    /* add rbx, 8; lea rcx, [rbx+rbx]; jmp +1; (hlt); mov [rcx], eax */
    struct as_reconstruction found = AT(&regs, "\x48\x83\xc3\x08\x48\x8d\x0c\x1b\xeb\x01\xf4\x89\x01");
    assert_int_equal(found.how, AS_RECONSTRUCT_NEXT);
    assert_int_equal(found.distance, 3);
    assert_int_equal(found.ip, BASE + 11);
    assert_int_equal(found.accesses[0].address, 2 * (regs.value[RBX] + 8));
    assert_int_equal(found.accesses[0].access, AS_ACCESS_STORE);
    assert_int_equal(found.accesses[0].size, 4);
}

static void branches_are_decided_by_flags(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    static const char code[] = "\x75\x02\x8b\x03\x8b\x01"; /* jne +2; mov eax, [rbx]; mov eax, [rcx] */
    regs.flags = 0;
    assert_int_equal(AT(&regs, code).accesses[0].address, regs.value[RCX]);
    regs.flags = 1 << 6;
    assert_int_equal(AT(&regs, code).accesses[0].address, regs.value[RBX]);
    regs.knows_flags = false;
    struct as_reconstruction found = AT(&regs, code);
    assert_int_equal(found.how, AS_RECONSTRUCT_NONE);
    assert_int_equal(found.reason, AS_RECONSTRUCT_BRANCH);
    /* cmp rax, rcx; jb +2; mov eax, [rbx]; mov eax, [rcx]: the comparison makes the flags known */
    assert_int_equal(AT(&regs, "\x48\x39\xc8\x72\x02\x8b\x03\x8b\x01").accesses[0].address, regs.value[RCX]);
}

static void accesses_can_be_skipped(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    /* call +2; jmp +4; push rbx; pop rdx; ret; mov eax, [rsp]: the call's push, push, pop, return, and the last */
    static const char code[] = "\xe8\x02\x00\x00\x00\xeb\x03\x53\x5a\xc3\x8b\x04\x24";
    const uint64_t rsp = regs.value[RSP], expected[] = {rsp - 8, rsp - 16, rsp - 16, rsp - 8, rsp};
    for (unsigned skip = 0; skip < 5; skip++) {
        struct as_reconstruction found = AT_SKIP(&regs, code, skip);
        assert_int_equal(found.reason, AS_RECONSTRUCT_FOUND);
        assert_int_equal(found.accesses[0].address, expected[skip]);
        assert_int_equal(found.skipped, skip);
        assert_int_equal(found.how, skip ? AS_RECONSTRUCT_NEXT : AS_RECONSTRUCT_EXACT);
    }
    /* mov rbx, [rcx]; mov eax, [rbx]: what was loaded is not known */
    assert_int_equal(AT_SKIP(&regs, "\x48\x8b\x19\x8b\x03", 1).reason, AS_RECONSTRUCT_ADDRESS);
    /* cmp byte [rcx], 0; je +0: nor is the way */
    assert_int_equal(AT_SKIP(&regs, "\x80\x39\x00\x74\x00\x8b\x03", 1).reason, AS_RECONSTRUCT_BRANCH);
}

static void rounds_of_string_instructions_are_accesses(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    static const char code[] = "\xf3\x48\xa5\x8b\x03"; /* rep movsq; mov eax, [rbx] */
    struct as_reconstruction found = AT_SKIP(&regs, code, 3);
    assert_int_equal(found.how, AS_RECONSTRUCT_NEXT);
    assert_int_equal(found.n, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(found.accesses[i].address,
                         regs.value[found.accesses[i].access == AS_ACCESS_LOAD ? RSI : RDI] + 3 * 8);
    assert_int_equal(AT_SKIP(&regs, code, 0).how, AS_RECONSTRUCT_EXACT);
    regs.value[RCX] = 2;
    assert_int_equal(AT_SKIP(&regs, code, 2).reason, AS_RECONSTRUCT_BRANCH); /* behind its end */
    regs.value[RCX] = 100;
    regs.flags = 1 << 10; /* downwards */
    assert_int_equal(AT_SKIP(&regs, code, 3).reason, AS_RECONSTRUCT_BRANCH);
    regs.flags = 0;
    assert_int_equal(AT_SKIP(&regs, "\xf3\xa6\x8b\x03", 1).reason, AS_RECONSTRUCT_BRANCH); /* repe cmpsb may end */
}

static void unknown_is_said(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    assert_int_equal(AT(&regs, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00").reason, AS_RECONSTRUCT_ADDRESS); /* fs:0x28 */
    assert_int_equal(AT(&regs, "\x0f\x05").reason, AS_RECONSTRUCT_BRANCH);                              /* syscall */
    assert_int_equal(AT(&regs, "\x0f\x0b\x06").how, AS_RECONSTRUCT_NONE);                               /* ud2 */
    assert_int_equal(AT(&regs, "\x06").reason, AS_RECONSTRUCT_NO_CODE);
    assert_int_equal(AT(&regs, "\xeb\xfe").reason, AS_RECONSTRUCT_FAR); /* jmp to itself */
    /* bsf rbx, rcx; mov eax, [rbx]: not followed */
    assert_int_equal(AT(&regs, "\x48\x0f\xbc\xd9\x8b\x03").reason, AS_RECONSTRUCT_ADDRESS);
    regs.known &= ~(1u << RBX);
    assert_int_equal(AT(&regs, "\x8b\x03").reason, AS_RECONSTRUCT_ADDRESS);
    assert_int_equal(AT(&regs, "\xff\xe3").reason, AS_RECONSTRUCT_BRANCH); /* jmp rbx */
    regs.ip = 0x1234;
    assert_int_equal(AT(&regs, "\x90").reason, AS_RECONSTRUCT_NO_CODE);
}

/* Returns by the copy of the stack, jumps through registers and tables; and where to go on from when that is not known.
 */
static size_t read_table(void *context, uint64_t address, void *to, size_t size)
{
    uint64_t word = address == 0x5000 ? BASE + 8 : 0;
    (void)context;
    memcpy(to, &word, size);
    return size;
}

static void indirect_ways_are_followed(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    struct as_reconstruction found;
    static const char code[] =
        "\x90\xc3\xff\xe3\xff\x21\x90\x90\x8b\x02"; /* nop; ret; jmp rbx; jmp [rcx]; …; load rdx */
    struct code_bytes bytes = {(const uint8_t *)code, sizeof code - 1};
    uint64_t stack[2] = {BASE + 8, 0};
    struct as_reconstruct_source source = {.code = read_code_bytes,
                                           .memory = read_table,
                                           .context = &bytes,
                                           .stack = (const uint8_t *)stack,
                                           .stack_size = 16};
    as_reconstruct_from(&regs, &source, 1, &found); /* the return's own load is the first */
    assert_int_equal(found.reason, AS_RECONSTRUCT_FOUND);
    assert_int_equal(found.accesses[0].address, regs.value[RDX]);
    source.stack_size = 4;
    as_reconstruct_from(&regs, &source, 3, &found);
    assert_int_equal(found.reason, AS_RECONSTRUCT_BRANCH);
    assert_int_equal(found.ip, BASE + 1);
    assert_int_equal(found.left, 3);
    assert_true(found.watch);
    regs.ip = BASE + 2;
    regs.value[RBX] = BASE + 8;
    as_reconstruct_from(&regs, &source, 0, &found);
    assert_int_equal(found.accesses[0].address, regs.value[RDX]);
    regs.ip = BASE + 4;
    regs.value[RCX] = 0x5000;
    as_reconstruct_from(&regs, &source, 1, &found);
    assert_int_equal(found.accesses[0].address, regs.value[RDX]);
}

static void watching_helps_where_registers_would_tell(void **state)
{
    struct as_machine_state regs = registers_at(BASE);
    /* mov rbx, [rcx]; mov eax, [rbx] */
    struct as_reconstruction found = AT_SKIP(&regs, "\x48\x8b\x19\x8b\x03", 1);
    assert_true(found.watch);
    assert_int_equal(found.ip, BASE + 3);
    assert_int_equal(found.left, 0);
    /* cmp byte [rcx], 0; je +0; mov eax, [rbx], one access passed, the second one wanted */
    found = AT_SKIP(&regs, "\x80\x39\x00\x74\x00\x8b\x03", 2);
    assert_true(found.watch);
    assert_int_equal(found.ip, BASE + 3);
    assert_int_equal(found.left, 1);
    /* nop; mov rax, fs:0x28: no register tells */
    assert_false(AT(&regs, "\x90\x64\x48\x8b\x04\x25\x28\x00\x00\x00").watch);
    assert_false(AT(&regs, "\x90\x0f\x05").watch); /* syscall */
    regs.knows_flags = false;
    assert_false(AT(&regs, "\x75\x02\x8b\x03\x8b\x01").watch); /* what is known of the interrupted one is known */
}

static void samples_give_registers(void **state)
{
    uint64_t values[24];
    for (uint64_t i = 0; i < 24; i++)
        values[i] = 100 + i;
    struct as_perf_sample sample = {.has = PERF_SAMPLE_REGS_USER, .mode = AS_PERF_USER};
    sample.user_regs = (struct as_perf_regs){.abi = 2, .mask = 0xff0fff, .values = values, .count = 20};
    struct as_machine_state regs;
    assert_true(as_sample_registers(&sample, &regs));
    assert_int_equal(regs.value[RAX], 100);
    assert_int_equal(regs.value[RBX], 101);
    assert_int_equal(regs.value[RCX], 102);
    assert_int_equal(regs.value[RDX], 103);
    assert_int_equal(regs.value[RSI], 104);
    assert_int_equal(regs.value[RDI], 105);
    assert_int_equal(regs.value[RBP], 106);
    assert_int_equal(regs.value[RSP], 107);
    assert_int_equal(regs.ip, 108);
    assert_int_equal(regs.flags, 109);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(regs.value[R8 + i], 112 + i); /* the mask leaves ds, es, fs, gs out */
    assert_int_equal(regs.known, 0xffff);
    sample.mode = AS_PERF_KERNEL;
    assert_false(as_sample_registers(&sample, &regs));
    sample.mode = AS_PERF_USER;
    sample.user_regs.count = 3; /* a recording that is cut short */
    as_sample_registers(&sample, &regs);
    assert_int_equal(regs.known, 1u << RAX | 1u << RBX | 1u << RCX);
}

/* ---- against the processor ---- */

#ifdef __x86_64__
struct machine {
    uint64_t regs[16], flags;
};

static uint64_t seed = 88172645463325252u;
static uint64_t next_random(void)
{
    return as_random(&seed);
}

/* One instruction between registers other than rsp and r15, of any width. */
static size_t emit(uint8_t *to)
{
    /* add … cmp, test, mov, adc, sbb: r/m, r */
    static const uint8_t two[] = {0x01, 0x29, 0x21, 0x09, 0x31, 0x39, 0x85, 0x89, 0x11, 0x19};
    uint8_t a = (uint8_t)(next_random() % 15), b = (uint8_t)(next_random() % 15), *at = to;
    a = a == RSP ? RAX : a;
    b = b == RSP ? RDX : b;
    unsigned width = next_random() % 3; /* 16, 32, 64 bits */
    if (width == 0)
        *at++ = 0x66;
    *at++ = (uint8_t)(0x40 | (width == 2 ? 8 : 0) | (b >= 8 ? 4 : 0) | (a >= 8 ? 1 : 0));
    uint8_t direct = (uint8_t)(0xc0 | (b & 7) << 3 | (a & 7));
    switch (next_random() % 8) {
    case 0:
    case 1:
        *at++ = two[next_random() % sizeof two];
        *at++ = direct;
        break;
    case 2: /* group 1 with an 8-bit immediate: add or and sub xor cmp adc sbb */
        *at++ = 0x83;
        *at++ = (uint8_t)(0xc0 | (uint8_t[]){0, 1, 4, 5, 6, 7, 2, 3}[next_random() % 8] << 3 | (a & 7));
        *at++ = (uint8_t)next_random();
        break;
    case 3: /* inc, dec; not, neg */
        *at++ = next_random() % 2 ? 0xff : 0xf7;
        *at = (uint8_t)(0xc0 | (at[-1] == 0xff ? next_random() % 2 : 2 + next_random() % 2) << 3 | (a & 7));
        at++;
        break;
    case 4: /* shl, shr, sar by a constant */
        *at++ = 0xc1;
        *at++ = (uint8_t)(0xc0 | (uint8_t[]){4, 5, 7}[next_random() % 3] << 3 | (a & 7));
        *at++ = (uint8_t)(next_random() % 70);
        break;
    case 5: /* cmov, any condition */
        *at++ = 0x0f;
        *at++ = (uint8_t)(0x40 | next_random() % 16);
        *at++ = direct;
        break;
    case 6: /* set, any condition */
        *at++ = 0x0f;
        *at++ = (uint8_t)(0x90 | next_random() % 16);
        *at++ = direct;
        break;
    default: /* movzx, movsx of 8 and 16 bits, imul, bswap-like strangers too */
        *at++ = 0x0f;
        *at++ = (uint8_t[]){0xb6, 0xb7, 0xbe, 0xbf, 0xaf}[next_random() % 5];
        *at++ = direct;
    }
    return (size_t)(at - to);
}

/* Loads the registers from [r15], runs the code, stores them back. */
static size_t frame(uint8_t *page, const uint8_t *code, size_t size)
{
    uint8_t *at = page;
    static const uint8_t enter[] = {0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56,
                                    0x41, 0x57,                                      /* push what must be kept */
                                    0x49, 0x89, 0xff,                                /* mov r15, rdi */
                                    0x41, 0xff, 0xb7, 0x80, 0,    0,    0,    0x9d}; /* push [r15+128]; popf */
    static const uint8_t leave[] = {0x9c, 0x41, 0x8f, 0x87, 0x80, 0,    0,    0,     /* pushf; pop [r15+128] */
                                    0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};
    memcpy(at, enter, sizeof enter);
    at += sizeof enter;
    for (int i = 0; i < 15; i++) { /* mov reg, [r15+8*i] */
        if (i == RSP)
            continue;
        memcpy(at, (uint8_t[]){(uint8_t)(i >= 8 ? 0x4d : 0x49), 0x8b, (uint8_t)(0x47 | (i & 7) << 3), (uint8_t)(8 * i)},
               4);
        at += 4;
    }
    memcpy(at, code, size);
    at += size;
    for (int i = 0; i < 15; i++) { /* mov [r15+8*i], reg */
        if (i == RSP)
            continue;
        memcpy(at, (uint8_t[]){(uint8_t)(i >= 8 ? 0x4d : 0x49), 0x89, (uint8_t)(0x47 | (i & 7) << 3), (uint8_t)(8 * i)},
               4);
        at += 4;
    }
    memcpy(at, leave, sizeof leave);
    return (size_t)(at - page) + sizeof leave;
}

enum { STATUS = 1 << 0 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 11 };

static void compare(const struct machine *real, const struct as_x86_machine *ours, const struct as_insn *last,
                    unsigned long known[2])
{
    char text[128];
    for (int i = 0; i < 15; i++) {
        if (i == RSP || !(ours->state.known >> i & 1))
            continue;
        known[0]++;
        if (real->regs[i] != ours->state.value[i])
            fail_msg("%s: register %d is %#lx, not %#lx", as_insn_text(last, text, sizeof text), i, real->regs[i],
                     ours->state.value[i]);
    }
    known[1] += (unsigned long)__builtin_popcountll(ours->known_flags);
    if ((real->flags ^ ours->state.flags) & ours->known_flags & STATUS)
        fail_msg("%s: flags %#lx, not %#lx (known %#lx)", as_insn_text(last, text, sizeof text), real->flags,
                 ours->state.flags, ours->known_flags);
}

static void interpreter_agrees_with_the_processor(void **state)
{
    enum { ROUNDS = 20000, LENGTH = 6 };
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long known[2] = {0, 0};
    if (page == MAP_FAILED)
        unit_skip("no memory that can be written and executed");
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t code[LENGTH * 8];
        size_t size = 0;
        struct machine real = {.flags = 0x202 | (next_random() & STATUS)};
        struct as_machine_state start = {.known = 0xffff, .flags = real.flags};
        struct as_x86_machine ours;
        struct as_insn insn;
        for (int i = 0; i < 15; i++) {
            uint64_t value = next_random();
            real.regs[i] = start.value[i] = value >> (next_random() % 3 * 24);
        }
        as_x86_machine_start(&ours, &start, true);
        for (int i = 0; i < LENGTH; i++) {
            size_t n = emit(code + size);
            assert_true(as_insn_decode(AS_ARCH_X86_64, BASE, code + size, n, &insn));
            assert_int_equal(insn.length, n);
            as_x86_machine_step(&ours, &insn);
            size += n;
        }
        frame(page, code, size);
        __builtin___clear_cache((char *)page, (char *)page + 4096);
        ((void (*)(struct machine *))(uintptr_t)page)(&real);
        compare(&real, &ours, &insn, known);
    }
    munmap(page, 4096);
    print_message("%.1f of 14 registers and %.1f of 5 flags known after %d instructions\n", (double)known[0] / ROUNDS,
                  (double)known[1] / ROUNDS, LENGTH);
    assert_true(known[0] > 10 * ROUNDS && known[1] > 2 * ROUNDS);
}

/* Every condition, over every combination of flags. */
static void branches_agree_with_the_processor(void **state)
{
    for (unsigned condition = 0; condition < 16; condition++)
        for (unsigned bits = 0; bits < 32; bits++) {
            static const uint64_t order[] = {1 << 0, 1 << 2, 1 << 6, 1 << 7, 1 << 11};
            struct as_x86_machine machine;
            struct as_machine_state start = {0};
            for (int i = 0; i < 5; i++)
                start.flags |= bits >> i & 1 ? order[i] : 0;
            const uint8_t code[] = {(uint8_t)(0x70 | condition), 0x10};
            struct as_insn insn;
            assert_true(as_insn_decode(AS_ARCH_X86_64, BASE, code, 2, &insn));
            as_x86_machine_start(&machine, &start, true);
            bool o = bits >> 4 & 1, s = bits >> 3 & 1, z = bits >> 2 & 1, p = bits >> 1 & 1, c = bits & 1;
            const bool even[] = {o, c, z, c || z, s, p, s != o, z || s != o};
            assert_int_equal(as_x86_machine_branch(&machine, &insn), even[condition / 2] != (condition & 1));
        }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_instruction_is_exact),
        cmocka_unit_test(next_access_follows_the_code),
        cmocka_unit_test(branches_are_decided_by_flags),
        cmocka_unit_test(accesses_can_be_skipped),
        cmocka_unit_test(rounds_of_string_instructions_are_accesses),
        cmocka_unit_test(unknown_is_said),
        cmocka_unit_test(indirect_ways_are_followed),
        cmocka_unit_test(watching_helps_where_registers_would_tell),
        cmocka_unit_test(samples_give_registers),
#ifdef __x86_64__
        cmocka_unit_test(interpreter_agrees_with_the_processor),
        cmocka_unit_test(branches_agree_with_the_processor),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
