/* See lookahead_stub.h. Registers go through a bank that is addressed relative to the instruction pointer, so that no register
 * is needed to find it, and the stub's own stack pointer is the program's. */
#include "native/lookahead_stub.h"

#include <string.h>
#include <sys/mman.h>

enum { REGION = 1 << 20, OPERAND = 64, LONGEST = 48 };

#ifdef __x86_64__

enum { STATUS = 0x8d5, DIRECTION = 0x400, ALWAYS = 0x202, SAHF = 0xd5, OVERFLOW = 0x800 };

struct bank {
    uint64_t values[16], flags, stack, stub, xstate, mxcsr;
    uint64_t before; /* flags as sahf takes them, and whether there is an overflow; the direction is forwards */
};
__attribute__((visibility("hidden"))) struct bank as_stub_bank;
__attribute__((visibility("hidden"))) extern const uint8_t as_stub_back[];
__attribute__((visibility("hidden"))) void as_stub_enter(void);

void as_stub_run(const uint8_t *stub, uint64_t values[16], uint64_t *flags, void *xstate)
{
    struct bank *bank = &as_stub_bank;
    memcpy(bank->values, values, sizeof bank->values);
    bank->flags = (*flags & (STATUS | DIRECTION)) | ALWAYS;
    bank->stub = (uintptr_t)stub;
    bank->xstate = (uintptr_t)xstate;
    bank->before = (*flags & SAHF) << 8 | (*flags & OVERFLOW ? 1 : 0);
    as_stub_enter();
    /* One by one: a wider load of what was just stored by eight bytes would wait for all of it. */
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        values[i] = *(volatile uint64_t *)&bank->values[i];
    *flags = (*flags & ~(uint64_t)(STATUS | DIRECTION)) | (bank->flags & (STATUS | DIRECTION));
}

bool as_stubs_open(struct as_stubs *stubs)
{
    void *memory = mmap(NULL, REGION, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *stubs = (struct as_stubs){.memory = memory == MAP_FAILED ? NULL : memory};
    stubs->operand = stubs->memory;
    as_stubs_clear(stubs);
    return stubs->memory != NULL;
}

/* Behind the instruction, the way back: jmp through the eight bytes that follow. */
static void add_way_back(uint8_t *at)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    uint64_t back = (uintptr_t)as_stub_back;
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &back, sizeof back);
}
#else

void as_stub_run(const uint8_t *stub, uint64_t values[16], uint64_t *flags, void *xstate)
{
}

bool as_stubs_open(struct as_stubs *stubs)
{
    *stubs = (struct as_stubs){0};
    return false;
}

static void add_way_back(uint8_t *at)
{
}
#endif

void as_stubs_close(struct as_stubs *stubs)
{
    if (stubs->memory)
        munmap(stubs->memory, REGION);
}

void as_stubs_clear(struct as_stubs *stubs)
{
    stubs->used = OPERAND;
}

bool as_stubs_are_full(const struct as_stubs *stubs)
{
    return stubs->used + LONGEST > REGION;
}

static bool is_dropped(uint8_t prefix)
{
    return prefix == 0x64 || prefix == 0x65;
}

/* The operand's encoding becomes that of an address relative to the instruction pointer. Returns the length; 0: it has
 * another form. */
static size_t replace_operand(const struct as_x86 *x86, const uint8_t *bytes, uint8_t *to, const uint8_t *operand)
{
    size_t modrm = x86->insn.raw.modrm.offset, n = 0, legacy = x86->insn.raw.prefix_count;
    if (!modrm || x86->insn.raw.modrm.mod == 3)
        return 0;
    for (size_t i = 0; i < modrm; i++)
        if (i >= legacy || !is_dropped(bytes[i]))
            to[n++] = bytes[i];
    size_t behind = modrm + 1 + (x86->insn.raw.sib.offset ? 1 : 0) + x86->insn.raw.disp.size / 8;
    size_t rest = x86->insn.length - behind;
    int32_t offset = (int32_t)(operand - (to + n + 5 + rest));
    to[n++] = (uint8_t)(x86->insn.raw.modrm.reg << 3 | 5);
    memcpy(to + n, &offset, sizeof offset);
    memcpy(to + n + sizeof offset, bytes + behind, rest);
    return n + sizeof offset + rest;
}

const uint8_t *as_stubs_make(struct as_stubs *stubs, const struct as_x86 *x86, const uint8_t *bytes, bool in_memory)
{
    uint8_t *stub = stubs->memory + stubs->used;
    size_t length = x86->insn.length;
    if (in_memory)
        length = replace_operand(x86, bytes, stub, stubs->operand);
    else
        memcpy(stub, bytes, length);
    if (!length)
        return NULL;
    add_way_back(stub + length);
    stubs->used += LONGEST;
    return stub;
}
