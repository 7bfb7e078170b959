/* Reconstructs the data access of a sample that has no address of its own: from the interrupted address, the code there
 * and the saved registers.
 *
 * If the interrupted instruction accesses memory, it is about to do so: exact. Otherwise the code is followed to the
 * first instruction that does, carrying the registers' values along (x86_step.h), over jumps, over conditional branches
 * whose flags are known, returns whose address is in the copy of the stack, and indirect jumps through registers or
 * tables: next. The search ends at a branch on unknown flags, at a system call, or at an address that needs an unknown
 * value (thread-local, from a vector register): none, with the reason and the place. `watch` is set if the registers at
 * that place would be enough: code_watch.h can wait for the program to reach it and continue from there.
 *
 * A timer's interrupt arrives where the processor prefers to stop. In a short loop that is always the same instruction,
 * so the access that follows is always the same too. `skip` passes over that many accesses before one is taken; a
 * random value for each sample spreads the samples over the loop (doc/design/native.md has the numbers). The value that
 * a passed load returns is unknown; if the path or the address depends on it, the answer is none. Each iteration of a
 * repeated string instruction is an access. An unknown access is never passed over, because that would favour some
 * kinds of accesses.
 */
#ifndef AS_NATIVE_RECONSTRUCT_H
#define AS_NATIVE_RECONSTRUCT_H

#include "native/code_bytes.h"
#include "watch/operand.h"

enum as_reconstructed { AS_RECONSTRUCT_EXACT, AS_RECONSTRUCT_NEXT, AS_RECONSTRUCT_NONE };

enum as_reconstruct_reason {
    AS_RECONSTRUCT_FOUND,
    AS_RECONSTRUCT_NO_REGISTERS, /* no registers were saved, or the thread was in the kernel */
    AS_RECONSTRUCT_NO_CODE,      /* the bytes could not be read or are not an instruction */
    AS_RECONSTRUCT_BRANCH,       /* the path depends on an unknown value */
    AS_RECONSTRUCT_ADDRESS,      /* there is an access, but its address is unknown */
    AS_RECONSTRUCT_FAR,          /* no access within AS_RECONSTRUCT_LIMIT instructions */
    AS_RECONSTRUCT_REASONS
};
enum { AS_RECONSTRUCT_LIMIT = 256, AS_RECONSTRUCT_CALLS = 16 };

struct as_reconstruction {
    enum as_reconstructed how;
    enum as_reconstruct_reason reason;
    uint64_t ip;       /* of the accessing instruction; for none: where the search ended, 0: unknown */
    bool watch;        /* for none: the registers at ip would be enough */
    unsigned left;     /* for none: accesses still to pass from ip on */
    unsigned distance; /* instructions from the interrupted one */
    unsigned skipped;  /* accesses passed, from the interrupted one on */
    unsigned n;        /* number of accesses, 1 or 2 */
    struct {
        uint64_t address;
        uint16_t size;  /* in bytes; of one element for string instructions */
        uint8_t access; /* AS_ACCESS_LOAD, AS_ACCESS_STORE or both */
    } accesses[AS_INSN_MAX_MEM];
};

/* Reads the registers of a sample with PERF_SAMPLE_REGS_USER on x86-64. Returns false if it has none, or interrupted
 * the kernel.
 */
bool as_sample_registers(const struct as_perf_sample *sample, struct as_machine_state *state);

void as_reconstruct(struct as_code *code, const struct as_perf_sample *sample, unsigned skip,
                    struct as_reconstruction *result);

/* The same from an x86-64 state and any source of bytes. */
typedef size_t as_reconstruct_read(void *context, uint64_t address, void *bytes, size_t size);
struct as_reconstruct_source {
    as_reconstruct_read *code, *memory; /* memory: reads tables; NULL: not available */
    void *context;
    const uint8_t *stack; /* a copy, from the stack pointer up */
    size_t stack_size;
};
void as_reconstruct_from(const struct as_machine_state *state, const struct as_reconstruct_source *source,
                         unsigned skip, struct as_reconstruction *result);

const char *as_reconstruct_reason_text(enum as_reconstruct_reason reason);

#endif
