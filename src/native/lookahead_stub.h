/* An instruction as code that can be run here: its bytes with the memory operand replaced by a buffer, between loading and
 * saving registers. One set of registers: not thread-safe. */
#ifndef AS_NATIVE_LOOKAHEAD_STUB_H
#define AS_NATIVE_LOOKAHEAD_STUB_H

#include "isa/x86.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_stubs {
    uint8_t *memory; /* NULL: there are none */
    size_t used;
    uint8_t *operand; /* where the memory operand is while a stub runs: 64 bytes, aligned */
};

bool as_stubs_open(struct as_stubs *stubs); /* false: not on this architecture, or no executable memory */
void as_stubs_close(struct as_stubs *stubs);
bool as_stubs_are_full(const struct as_stubs *stubs);
void as_stubs_clear(struct as_stubs *stubs);
/* NULL: the operand cannot be replaced. `in_memory`: the instruction accesses its memory operand. */
const uint8_t *as_stubs_make(struct as_stubs *stubs, const struct as_x86 *x86, const uint8_t *bytes, bool in_memory);

/* Runs it with these registers (in Assay's order) and status flags; `xstate`: the vector registers, NULL where it has none. */
void as_stub_run(const uint8_t *stub, uint64_t values[16], uint64_t *flags, void *xstate);

#endif
