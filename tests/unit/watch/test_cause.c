/* The instruction behind a trap, from bytes and registers alone: no debug registers needed. */
#include "watch/cause.h"
#include "watch/operand.h"

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

/* A trap at `ip` of a watch on eight bytes at DATA; no register points there. */
static struct as_cause_query trap_at(struct memory *memory, uint64_t ip)
{
    struct as_cause_query query = {.arch = AS_ARCH_X86_64, .address = DATA, .length = 8, .read = read_memory};
    query.state = (struct as_machine_state){.ip = ip, .known = 0xffff};
    for (int i = 0; i < 16; i++)
        query.state.value[i] = 0x10 + (uint64_t)i;
    query.state.value[RSP] = STACK;
    query.context = memory;
    return query;
}

static struct as_cause answer(const struct as_cause_query *query)
{
    struct as_cause cause;
    as_cause_prepare();
    as_cause_find(query, &cause);
    return cause;
}

static struct as_cause find(struct memory *memory, uint64_t ip, uint8_t reg, uint64_t value, uint64_t start)
{
    struct as_cause_query query = trap_at(memory, ip);
    query.state.value[reg] = value;
    query.known_start = start;
    return answer(&query);
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

/* mov eax, 0x48484848; mov [rdi], eax, between nops: the last byte of the number could be a prefix of the store, but nearly all ways of
 * reading the code come to the store without it. */
static void most_ways_of_reading_decide(void **state)
{
    struct as_cause cause = find(MEMORY(NOPS "\xb8\x48\x48\x48\x48\x89\x07\x90"), CODE + 27, RDI, DATA, 0);
    assert_int_equal(cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(cause.ip, CODE + 25);
    assert_int_equal(cause.size, 4);
    assert_int_equal(cause.length, 2);
    assert_true(cause.ambiguous);
}

static void overwritten_registers_are_plausible(void **state)
{
    struct as_cause cause = find(MEMORY(NOPS "\x48\x8b\x00\x90"), CODE + 23, RAX, 5, 0); /* mov rax, [rax] */
    assert_int_equal(cause.how, AS_CAUSE_PLAUSIBLE);
    assert_int_equal(cause.ip, CODE + 20);
    assert_int_equal(cause.address, 0);
}

/* movsq loads from one address and stores to another, and both registers are eight further afterwards. */
static void a_copy_loads_and_stores(void **state)
{
    struct as_cause_query query = trap_at(MEMORY(NOPS "\x48\xa5\x90"), CODE + 22);
    query.state.value[RSI] = query.state.value[RDI] = DATA + 8; /* onto itself */
    assert_int_equal(answer(&query).access, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    query.state.value[RSI] = DATA + 100;
    assert_int_equal(answer(&query).access, AS_ACCESS_STORE);
    query.state.value[RSI] = DATA + 8;
    query.state.value[RDI] = DATA + 100;
    assert_int_equal(answer(&query).access, AS_ACCESS_LOAD);
}

/* With the direction flag they are eight lower; the flag beside it, of an overflow, says nothing. */
static void a_copy_goes_down(void **state)
{
    enum { DIRECTION = 1 << 10, OVERFLOW = 1 << 11 };
    struct as_cause_query query = trap_at(MEMORY(NOPS "\x48\xa5\x90"), CODE + 22);
    query.state.value[RSI] = DATA + 100;
    query.state.value[RDI] = DATA - 8;
    query.state.flags = DIRECTION;
    assert_int_equal(answer(&query).access, AS_ACCESS_STORE);
    query.state.flags = OVERFLOW;
    assert_int_equal(answer(&query).how, AS_CAUSE_NONE);
    query.state.value[RDI] = DATA + 8;
    assert_int_equal(answer(&query).access, AS_ACCESS_STORE);
}

/* rep movsb in its middle: either pointer may be the one that is near. */
static void a_repeated_copy(void **state)
{
    struct as_cause_query query = trap_at(MEMORY(NOPS "\xf3\xa4\x90"), CODE + 20);
    query.state.value[RSI] = DATA + 1000;
    query.state.value[RDI] = DATA;
    assert_int_equal(answer(&query).access, AS_ACCESS_STORE);
    query.state.value[RSI] = DATA;
    query.state.value[RDI] = DATA + 1000;
    assert_int_equal(answer(&query).access, AS_ACCESS_LOAD);
}

/* A fast string operation reports up to 128 bytes late or early; beyond that it was another one. */
static void repeated_strings_are_near(void **state)
{
    struct as_cause_query query = trap_at(MEMORY(NOPS "\xf3\xaa\x90"), CODE + 20); /* rep stosb, not done yet */
    static const struct {
        int64_t offset;
        enum as_cause_how how;
    } cases[] = {{-128, AS_CAUSE_NONE},
                 {-127, AS_CAUSE_VERIFIED},
                 {0, AS_CAUSE_VERIFIED},
                 {135, AS_CAUSE_VERIFIED},
                 {136, AS_CAUSE_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query.state.value[RDI] = DATA + (uint64_t)cases[i].offset;
        struct as_cause cause = answer(&query);
        assert_int_equal(cause.how, cases[i].how);
        assert_int_equal(cause.ip, cause.how ? CODE + 20 : 0);
        assert_int_equal(cause.access, cause.how ? AS_ACCESS_STORE : 0);
    }
}

/* At the entry of a function: only a call that leads here has pushed the return address. */
static void calls_lead_here(void **state)
{
    /* nop ×20; call rax; nop ×20: the function is at 30 */
    struct memory *by_register = MEMORY(NOPS "\xff\xd0" NOPS);
    by_register->on_stack = CODE + 22;
    struct as_cause_query query = trap_at(by_register, CODE + 30);
    query.address = STACK;
    query.state.value[RAX] = CODE + 30;
    struct as_cause cause = answer(&query);
    assert_int_equal(cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(cause.ip, CODE + 20);
    assert_int_equal(cause.access, AS_ACCESS_STORE);
    query.state.value[RAX] = CODE + 31;
    assert_int_equal(answer(&query).how, AS_CAUSE_NONE);
    /* call +8: from 25 to 33 */
    struct memory *direct = MEMORY(NOPS "\xe8\x08\x00\x00\x00" NOPS);
    direct->on_stack = CODE + 25;
    query.context = direct;
    query.state.ip = CODE + 33;
    assert_int_equal(answer(&query).ip, CODE + 20);
    query.state.ip = CODE + 32;
    assert_int_equal(answer(&query).how, AS_CAUSE_NONE);
    /* call [rbx], whose word at 42 is the function at 30 */
    struct memory *by_memory = MEMORY(NOPS "\xff\x13" NOPS "\x1e\x10\x40\x00\x00\x00\x00\x00");
    by_memory->on_stack = CODE + 22;
    query.context = by_memory;
    query.state.ip = CODE + 30;
    query.state.value[RBX] = CODE + 42;
    assert_int_equal(answer(&query).ip, CODE + 20);
    query.state.value[RBX] = CODE + 41;
    assert_int_equal(answer(&query).how, AS_CAUSE_NONE);
}

/* What an earlier trap found is taken where it still fits, and searched for again where it does not. */
static void earlier_answers_are_checked(void **state)
{
    struct as_cause_query query = trap_at(MEMORY(NOPS "\x48\x89\x07\x90"), CODE + 23);
    query.state.value[RDI] = DATA;
    static const struct {
        uint8_t length, size;
        bool ambiguous;
    } cases[] = {{2, 4, false}, {3, 8, false}, {1, 8, true}, {0, 8, true}, {16, 8, true}, {4, 8, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query.known_length = cases[i].length;
        struct as_cause cause = answer(&query);
        assert_int_equal(cause.size, cases[i].size);
        assert_int_equal(cause.ip, CODE + (cases[i].size == 4 ? 21 : 20));
        assert_int_equal(cause.ambiguous, cases[i].ambiguous);
    }
    query.known_length = 3;
    query.state.value[RDI] = DATA + 8;
    assert_int_equal(answer(&query).how, AS_CAUSE_NONE);
    query = trap_at(MEMORY("\x89\x07\x90"), CODE + 2); /* the length leads before what is mapped */
    query.state.value[RDI] = DATA;
    query.known_length = 3;
    assert_int_equal(answer(&query).ip, CODE);
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

/* Behind any other prefix, too, 67 makes addresses narrow, which nothing else says; behind anything else it is no prefix. */
static void narrow_addresses_are_unknown(void **state)
{
    static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0xf0, 0xf2, 0xf3};
    struct as_machine_state machine = {.known = 0xffff, .value = {[RDI] = DATA}, .knows_segments = true};
    uint64_t address;
    for (size_t i = 0; i < sizeof prefixes; i++) {
        const uint8_t code[] = {prefixes[i], 0x67, 0x8b, 0x07};
        struct as_insn insn = {.arch = AS_ARCH_X86_64,
                               .length = sizeof code,
                               .n_mem = 1,
                               .mem = {{.base = RDI, .index = AS_REG_NONE, .size = 4}}};
        memcpy((void *)insn.bytes, code, sizeof code);
        assert_int_equal(as_operand_before(&insn, 0, &machine, &address), AS_OPERAND_UNKNOWN);
        ((uint8_t *)insn.bytes)[0] = 0x90;
        assert_int_equal(as_operand_before(&insn, 0, &machine, &address), AS_OPERAND_KNOWN);
        assert_int_equal(address, DATA);
        insn.arch = AS_ARCH_RISCV64; /* the same bytes, and no prefixes there */
        ((uint8_t *)insn.bytes)[0] = prefixes[i];
        assert_int_equal(as_operand_before(&insn, 0, &machine, &address), AS_OPERAND_KNOWN);
    }
}

/* An address needs all of its registers. */
static void unknown_registers(void **state)
{
    static const uint8_t bytes[] = {0x48, 0x8b, 0x04, 0x8b}; /* mov rax, [rbx+rcx*4] */
    struct as_machine_state registers = {.known = 0xffff, .value = {[RBX] = DATA, [RCX] = 5}};
    struct as_insn insn;
    uint64_t address;
    assert_true(as_insn_decode(AS_ARCH_X86_64, CODE, bytes, sizeof bytes, &insn));
    assert_int_equal(as_operand_before(&insn, 0, &registers, &address), AS_OPERAND_KNOWN);
    assert_int_equal(address, DATA + 20);
    registers.known = 0xffff & ~(1u << RBX);
    assert_int_equal(as_operand_before(&insn, 0, &registers, &address), AS_OPERAND_UNKNOWN);
    registers.known = 0xffff & ~(1u << RCX);
    assert_int_equal(as_operand_before(&insn, 0, &registers, &address), AS_OPERAND_UNKNOWN);
    registers.known = 1u << RBX | 1u << RCX;
    assert_int_equal(as_operand_before(&insn, 0, &registers, &address), AS_OPERAND_KNOWN);
}

/* Where stack instructions accessed, from the stack pointer behind them. */
static void stack_behind(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t below; /* how far below the stack pointer behind it */
    } cases[] = {
        {"\xc3", 1, 8},                  /* ret */
        {"\xc2\x34\x12", 3, 8 + 0x1234}, /* ret 0x1234 */
        {"\xf2\xc3", 2, 8},              /* bnd ret */
        {"\x50", 1, 0},                  /* push rax */
        {"\x58", 1, 8},                  /* pop rax */
        {"\xe8\x00\x00\x00\x00", 5, 0},  /* call */
        {"\xc9", 1, 8},                  /* leave */
    };
    const struct as_machine_state registers = {.known = 0xffff, .value = {[RSP] = STACK}};
    struct as_insn insn;
    uint64_t address;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(as_insn_decode(AS_ARCH_X86_64, CODE, (const uint8_t *)cases[i].bytes, cases[i].size, &insn));
        assert_int_equal(as_operand_after(&insn, 0, &registers, &address), AS_OPERAND_KNOWN);
        assert_int_equal(address, STACK - cases[i].below);
        assert_int_equal(as_operand_after(&insn, insn.n_mem, &registers, &address), AS_OPERAND_UNKNOWN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_registers),
        cmocka_unit_test(stack_behind),
        cmocka_unit_test(operands_decide),
        cmocka_unit_test(narrow_addresses_are_unknown),
        cmocka_unit_test(known_start_settles),
        cmocka_unit_test(most_ways_of_reading_decide),
        cmocka_unit_test(overwritten_registers_are_plausible),
        cmocka_unit_test(a_copy_loads_and_stores),
        cmocka_unit_test(a_copy_goes_down),
        cmocka_unit_test(a_repeated_copy),
        cmocka_unit_test(repeated_strings_are_near),
        cmocka_unit_test(calls_lead_here),
        cmocka_unit_test(earlier_answers_are_checked),
        cmocka_unit_test(first_instruction_of_a_page),
        cmocka_unit_test(nothing_is_found_in_nothing),
        cmocka_unit_test(any_bytes_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
