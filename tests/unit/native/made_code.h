/* Code as bytes at an address, and registers with values that tell them apart, for what decodes around an interrupt. */
#ifndef AS_TESTS_MADE_CODE_H
#define AS_TESTS_MADE_CODE_H

#include "native/reconstruct.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };
#define BASE UINT64_C(0x401000)

struct code_bytes {
    const uint8_t *data;
    size_t size;
};

/* As as_read_code: from BASE on. */
static inline size_t read_code_bytes(void *context, uint64_t address, void *to, size_t size)
{
    const struct code_bytes *bytes = context;
    if (address < BASE || address - BASE >= bytes->size)
        return 0;
    size_t left = bytes->size - (size_t)(address - BASE);
    size = size < left ? size : left;
    memcpy(to, bytes->data + (address - BASE), size);
    return size;
}

/* rax 0x10000, rcx 0x20000 and so on. */
static inline struct as_machine_state registers_at(uint64_t ip)
{
    struct as_machine_state state = {.ip = ip, .known = 0xffff, .knows_flags = true};
    for (int i = 0; i < 16; i++)
        state.value[i] = 0x10000 * (uint64_t)(i + 1);
    return state;
}

#endif
