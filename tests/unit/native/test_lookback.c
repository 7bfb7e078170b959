/* Accesses before an interrupted instruction: which instructions are certain, and which addresses. */
#include "native/lookback.h"

#include "made_code.h"
#include "unit.h"

/* Bytes before the interrupted instruction, with a run of nops in front, and those from it on. */
struct program {
    struct code_bytes code; /* those that there are */
    uint8_t bytes[256];
};

static void begin(struct program *program)
{
    *program = (struct program){.code = {program->bytes, 32}};
    memset(program->bytes, 0x90, program->code.size);
}

static uint64_t put(struct program *program, const char *code, size_t size)
{
    memcpy(program->bytes + program->code.size, code, size);
    program->code.size += size;
    return BASE + program->code.size;
}

static struct as_lookback back(const char *before, size_t n_before, const char *from, size_t n_from)
{
    struct program program;
    struct as_lookback_code code;
    struct as_lookback found;
    begin(&program);
    uint64_t ip = put(&program, before, n_before);
    put(&program, from, n_from);
    struct as_machine_state state = registers_at(ip);
    as_lookback_find(ip, read_code_bytes, &program.code, &code);
    as_lookback_from(&state, &code, read_code_bytes, &program.code, &found);
    return found;
}
#define BACK(before, from) back(before, sizeof(before) - 1, from, sizeof(from) - 1)
#define NOPS "\x90\x90\x90\x90\x90\x90\x90\x90"
#define LOCK_ADD "\xf0\x48\x83\x07\x01" /* lock add qword [rdi], 1 */

/* The interrupt waits for the atomic and comes behind it. */
static void the_atomic_before_is_found(void **state)
{
    struct as_lookback found = BACK(LOCK_ADD "\x48\x8b\x0b", NOPS); /* …; mov rcx, [rbx] */
    assert_int_equal(found.n, 2);
    assert_int_equal(found.accesses[0].address, 0x40000); /* rbx */
    assert_int_equal(found.accesses[0].access, AS_ACCESS_LOAD);
    assert_int_equal(found.accesses[1].address, 0x80000); /* rdi */
    assert_int_equal(found.accesses[1].access, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    assert_int_equal(found.accesses[1].size, 8);
    assert_int_equal(found.accesses[1].ip, BASE + 32);
    found = BACK("\xf0\x48\x83\x05\x10\x00\x00\x00\x01", NOPS); /* lock add qword [rip+16], 1 */
    assert_int_equal(found.n, 1);
    assert_int_equal(found.accesses[0].address, BASE + 32 + 9 + 16);
}

static void constants_are_undone(void **state)
{
    struct as_lookback found = BACK("\x48\x89\x07\x48\x83\xc7\x08", NOPS); /* mov [rdi], rax; add rdi, 8 */
    assert_int_equal(found.n, 1);
    assert_int_equal(found.accesses[0].address, 0x80000 - 8);
    found = BACK("\x48\x89\x07\x48\x8d\x7f\xf0", NOPS); /* …; lea rdi, [rdi-16] */
    assert_int_equal(found.n, 1);
    assert_int_equal(found.accesses[0].address, 0x80000 + 16);
    found = BACK("\x50\x53", NOPS); /* push rax; push rbx */
    assert_int_equal(found.n, 2);
    assert_int_equal(found.accesses[0].address, 0x50000); /* rsp */
    assert_int_equal(found.accesses[1].address, 0x50000 + 8);
}

static void what_is_overwritten_has_no_address(void **state)
{
    assert_int_equal(BACK("\x48\x8b\x1b", NOPS).n, 0);                 /* mov rbx, [rbx] */
    assert_int_equal(BACK("\x48\x89\x07\x48\x83\xe7\xf8", NOPS).n, 0); /* mov [rdi], rax; and rdi, -8 */
    assert_int_equal(BACK("\x48\x89\x07\x83\xc7\x08", NOPS).n, 0);     /* …; add edi, 8: the upper half is gone */
    assert_int_equal(BACK("\x48\x89\x07\x48\x31\xc7", NOPS).n, 0);     /* …; xor rdi, rax */
    assert_int_equal(BACK("\x48\x89\x03\x48\x83\xf7\x01", NOPS).n, 1); /* mov [rbx], rax; xor rdi, 1: another one */
    assert_int_equal(BACK("\x64\x48\x89\x04\x25\0\0\0\0", NOPS).n, 0); /* mov fs:[0], rax */
}

static void jumps_that_lead_there_end_the_way(void **state)
{
    assert_int_equal(BACK(LOCK_ADD, "\x90\xeb\xfd").n, 0);            /* nop; jmp to the nop: from where did it come? */
    assert_int_equal(BACK(LOCK_ADD, "\x90\x75\xf8").n, 1);            /* jne to the atomic: behind it, only from it */
    assert_int_equal(BACK(LOCK_ADD "\x8b\x0b", "\x90\x75\xfb").n, 1); /* jne to the load behind it */
    assert_int_equal(BACK(LOCK_ADD, "\x90\x0f\x85\xf9\xff\xff\xff").n, 0); /* the same with four bytes */
    assert_int_equal(BACK(LOCK_ADD, "\x90\xe9\xf5\xff\xff\xff").n, 1);     /* to the atomic */
    /* jne over the atomic; the atomic: the jump may have been taken */
    assert_int_equal(BACK("\x75\x05" LOCK_ADD, NOPS).n, 0);
}

/* Behind padding something begins that is entered from elsewhere; inside of a long nop, most bytes decode to `add [rax], al`. */
static void padding_ends_the_way(void **state)
{
    static const char entry[] = "\xc3\x66\x2e\x0f\x1f\x84\0\0\0\0\0"; /* ret; nop of ten bytes */
    assert_int_equal(back(entry, sizeof entry - 1, NOPS, 8).n, 0);
    static const char aligned[] = LOCK_ADD "\x0f\x1f\x40\0"; /* the atomic; nop of four bytes */
    assert_int_equal(back(aligned, sizeof aligned - 1, NOPS, 8).n, 0);
    assert_int_equal(BACK(LOCK_ADD "\xf3\x0f\x1e\xfa", NOPS).n, 0);    /* endbr64 */
    assert_int_equal(BACK(LOCK_ADD, "\x90\xe8\xfa\xff\xff\xff").n, 0); /* a call to the interrupted instruction */
}

/* Finds the way back from behind an atomic. Returns where that is. */
static uint64_t find_behind_atomic(struct program *program, struct as_lookback_code *code)
{
    begin(program);
    uint64_t ip = put(program, LOCK_ADD, sizeof LOCK_ADD - 1);
    put(program, NOPS, 8);
    as_lookback_find(ip, read_code_bytes, &program->code, code);
    return ip;
}

static void no_data_in_the_first_pages(void **state)
{
    struct program program;
    struct as_lookback_code code;
    struct as_lookback found;
    uint64_t ip = find_behind_atomic(&program, &code);
    static const uint64_t addresses[] = {1, 65535, 65536, UINT64_C(1) << 47, UINT64_MAX - 63};
    for (size_t i = 0; i < 5; i++) {
        struct as_machine_state regs = registers_at(ip);
        regs.value[RDI] = addresses[i];
        as_lookback_from(&regs, &code, read_code_bytes, &program.code, &found);
        assert_int_equal(found.n, addresses[i] == 65536);
    }
}

static void only_what_was_surely_executed(void **state)
{
    assert_int_equal(BACK(LOCK_ADD "\x74\x10", NOPS).n, 1);       /* je, not taken */
    assert_int_equal(BACK(LOCK_ADD "\xeb\x10", NOPS).n, 0);       /* jmp */
    assert_int_equal(BACK(LOCK_ADD "\xe8\x10\0\0\0", NOPS).n, 0); /* call */
    assert_int_equal(BACK(LOCK_ADD "\x0f\x05", NOPS).n, 0);       /* syscall */
    assert_int_equal(BACK(LOCK_ADD "\xf3\x48\xa5", NOPS).n, 0);   /* rep movsq */
}

static void code_that_changed_is_not_guessed(void **state)
{
    struct program program;
    struct as_lookback_code code;
    struct as_lookback found;
    uint64_t ip = find_behind_atomic(&program, &code);
    memcpy(program.bytes + 32, NOPS, 5);
    struct as_machine_state regs = registers_at(ip);
    as_lookback_from(&regs, &code, read_code_bytes, &program.code, &found);
    assert_int_equal(found.n, 0);
    as_lookback_find(BASE + 4096, read_code_bytes, &program.code, &code); /* nothing is mapped there */
    assert_int_equal(code.n, 0);
    as_lookback_find(BASE, read_code_bytes, &program.code, &code); /* nor before that */
    assert_int_equal(code.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_atomic_before_is_found),
        cmocka_unit_test(constants_are_undone),
        cmocka_unit_test(what_is_overwritten_has_no_address),
        cmocka_unit_test(jumps_that_lead_there_end_the_way),
        cmocka_unit_test(padding_ends_the_way),
        cmocka_unit_test(no_data_in_the_first_pages),
        cmocka_unit_test(only_what_was_surely_executed),
        cmocka_unit_test(code_that_changed_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
