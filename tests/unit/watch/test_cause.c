/* The instruction behind a trap, from bytes and registers alone: no debug registers needed. */
#include "watch/cause.h"

#include "unit.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
#define CODE UINT64_C(0x401000)
#define STACK UINT64_C(0x7fff0000)
#define DATA UINT64_C(0x600000)

/* Code from CODE on, a word of stack at STACK; nothing else is mapped. */
struct memory {
    const uint8_t *code;
    size_t size;
    uint64_t on_stack;
};

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct memory *memory = context;
    if (address == STACK && size == 8) {
        memcpy(bytes, &memory->on_stack, 8);
        return 8;
    }
    if (address < CODE || address - CODE >= memory->size)
        return 0;
    size_t left = memory->size - (size_t)(address - CODE);
    size = size < left ? size : left;
    memcpy(bytes, memory->code + (address - CODE), size);
    return size;
}

static struct as_cause find(struct memory *memory, uint64_t ip, uint8_t reg, uint64_t value, uint64_t start)
{
    struct as_cause cause;
    struct as_cause_query query = {.arch = AS_ARCH_X86_64, .address = DATA, .length = 8, .read = read_memory};
    query.state = (struct as_machine_state){.ip = ip, .known = 0xffff};
    for (int i = 0; i < 16; i++)
        query.state.value[i] = 0x10 + (uint64_t)i;
    query.state.value[RSP] = STACK;
    query.state.value[reg] = value;
    query.context = memory;
    query.known_start = start;
    as_cause_prepare();
    as_cause_find(&query, &cause);
    return cause;
}

#define MEMORY(text) (&(struct memory){.code = (const uint8_t *)(text), .size = sizeof(text) - 1})

static void operands_decide(void **state)
{
    /* nop ×20; mov [rdi], rax; nop */
#define NOPS "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
    struct as_cause cause = find(MEMORY(NOPS "\x48\x89\x07\x90"), CODE + 23, RDI, DATA, 0);
    assert_int_equal(cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(cause.ip, CODE + 20); /* not at 21, where it is the same without its prefix */
    assert_int_equal(cause.size, 8);
    assert_int_equal(cause.access, AS_ACCESS_STORE);
    assert_true(cause.ambiguous);
    /* the pointer is elsewhere: it was not that one */
    assert_int_equal(find(MEMORY(NOPS "\x48\x89\x07\x90"), CODE + 23, RDI, DATA + 64, 0).how, AS_CAUSE_NONE);
    /* touching the last byte of eight is enough */
    assert_int_equal(find(MEMORY(NOPS "\x88\x07\x90"), CODE + 22, RDI, DATA + 7, 0).how, AS_CAUSE_VERIFIED);
}

/* What looks like a prefix belongs to the instruction before; a known start says so. */
static void known_start_settles(void **state)
{
    /* mov al, 0x48; mov [rdi], eax: all but the known start is consistent with "mov [rdi], rax" */
    struct as_cause cause = find(MEMORY("\xb0\x48\x89\x07\x90"), CODE + 4, RDI, DATA, CODE);
    assert_int_equal(cause.ip, CODE + 2);
    assert_int_equal(cause.size, 4);
    assert_false(cause.ambiguous);
}

static void overwritten_registers_are_plausible(void **state)
{
    struct as_cause cause = find(MEMORY(NOPS "\x48\x8b\x00\x90"), CODE + 23, RAX, 5, 0); /* mov rax, [rax] */
    assert_int_equal(cause.how, AS_CAUSE_PLAUSIBLE);
    assert_int_equal(cause.ip, CODE + 20);
    assert_int_equal(cause.address, 0);
}

/* The page before is not mapped: the first bytes of a page are looked at all the same. */
static void first_instruction_of_a_page(void **state)
{
    struct as_cause cause = find(MEMORY("\x48\x89\x07\x90"), CODE + 3, RDI, DATA, 0);
    assert_int_equal(cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(cause.ip, CODE);
}

static void nothing_is_found_in_nothing(void **state)
{
    assert_int_equal(find(MEMORY("\x90"), 0x1234, RDI, DATA, 0).how, AS_CAUSE_NONE);
    assert_int_equal(find(MEMORY("\x90"), 0, RDI, DATA, 0).how, AS_CAUSE_NONE);
    assert_int_equal(find(MEMORY("\x90"), UINT64_MAX, RDI, DATA, 0).how, AS_CAUSE_NONE);
    assert_int_equal(find(MEMORY("\x90\x90"), CODE + 1, RDI, DATA, 0).how, AS_CAUSE_NONE);
}

/* Any bytes, any registers: an answer within them, and the same one twice. */
static void any_bytes_do(void **state)
{
    uint64_t seed = 42;
    for (int round = 0; round < 5000; round++) {
        uint8_t code[160];
        for (size_t i = 0; i < sizeof code; i++)
            code[i] = (uint8_t)((seed = seed * UINT64_C(6364136223846793005) + 1) >> 56);
        struct memory memory = {.code = code, .size = sizeof code, .on_stack = CODE + (seed >> 32) % 200};
        uint64_t ip = CODE + (seed >> 40) % 170;
        struct as_cause first = find(&memory, ip, (uint8_t)(seed >> 60), DATA, round % 2 ? CODE : 0);
        struct as_cause again = find(&memory, ip, (uint8_t)(seed >> 60), DATA, round % 2 ? CODE : 0);
        assert_int_equal(first.ip, again.ip);
        assert_int_equal(first.how, again.how);
        assert_true(first.how == AS_CAUSE_NONE || (first.ip >= CODE && first.ip < CODE + sizeof code));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_decide),
        cmocka_unit_test(known_start_settles),
        cmocka_unit_test(overwritten_registers_are_plausible),
        cmocka_unit_test(first_instruction_of_a_page),
        cmocka_unit_test(nothing_is_found_in_nothing),
        cmocka_unit_test(any_bytes_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
