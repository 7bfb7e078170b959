/* The data access of a sample that has none of its own: from the interrupted address, the code there and the saved
 * registers.
 *
 * Where the interrupted instruction accesses memory, it is about to do so: exact. Where it does not, the code is
 * followed to the first one that does, with the registers' values carried along (x86_step.h), over jumps and over
 * conditional branches whose flags are known, returns whose address is in the copy of the stack, indirect jumps through
 * registers or tables: next. A branch on unknown flags, a system call, or an address that needs a value which is not
 * known (thread-local, from a vector register) end the search: none, with the reason and the place. `watch` says that
 * the registers at that place would tell: whoever can wait for the program to come there (code_watch.h) goes on from
 * it.
 *
 * A timer's interrupt arrives where the processor likes to stop: in a short loop always at the same instruction, so the
 * access that follows is always the same one too. `skip` lets so many accesses pass before one is taken; drawn at
 * random for each sample it spreads them over the loop (doc/design/native.md has the numbers). What a passed load
 * brings is not known: where the way or the address depends on it the answer is none. Each round
 * of a string instruction that repeats is an access. Nothing is passed over because it is unknown: that would prefer
 * some kinds of accesses to others.
 */
#ifndef AS_NATIVE_RECONSTRUCT_H
#define AS_NATIVE_RECONSTRUCT_H

#include "native/code_bytes.h"
#include "watch/operand.h"

enum as_reconstructed { AS_RECONSTRUCT_EXACT, AS_RECONSTRUCT_NEXT, AS_RECONSTRUCT_NONE };

enum as_reconstruct_reason {
    AS_RECONSTRUCT_FOUND,
    AS_RECONSTRUCT_NO_REGISTERS, /* none were saved, or the thread was in the kernel */
    AS_RECONSTRUCT_NO_CODE,      /* the bytes could not be read or are no instruction */
    AS_RECONSTRUCT_BRANCH,       /* the way depends on what is not known */
    AS_RECONSTRUCT_ADDRESS,      /* there is an access, its address is not known */
    AS_RECONSTRUCT_FAR,          /* none within AS_RECONSTRUCT_LIMIT instructions */
    AS_RECONSTRUCT_REASONS
};
enum { AS_RECONSTRUCT_LIMIT = 256, AS_RECONSTRUCT_CALLS = 16 };

struct as_reconstruction {
    enum as_reconstructed how;
    enum as_reconstruct_reason reason;
    uint64_t ip;       /* of the instruction that accesses; none: where the search ended, 0: unknown */
    bool watch;        /* none: the registers at ip would tell */
    unsigned left;     /* none: accesses still to pass from ip on */
    unsigned distance; /* instructions from the interrupted one */
    unsigned skipped;  /* accesses passed, from the interrupted one on */
    unsigned n;        /* accesses, 1 or 2 */
    struct {
        uint64_t address;
        uint16_t size;  /* bytes; of one element for string instructions */
        uint8_t access; /* AS_ACCESS_LOAD, AS_ACCESS_STORE or both */
    } accesses[AS_INSN_MAX_MEM];
};

/* The registers of a sample with PERF_SAMPLE_REGS_USER on x86-64. False where it has none, or interrupted the kernel.
 */
bool as_sample_registers(const struct as_perf_sample *sample, struct as_machine_state *state);

void as_reconstruct(struct as_code *code, const struct as_perf_sample *sample, unsigned skip,
                    struct as_reconstruction *result);

/* The same from a state of x86-64 and any source of bytes. */
typedef size_t as_reconstruct_read(void *context, uint64_t address, void *bytes, size_t size);
struct as_reconstruct_source {
    as_reconstruct_read *code, *memory; /* memory: of tables; NULL: none */
    void *context;
    const uint8_t *stack; /* a copy, from the stack pointer up */
    size_t stack_size;
};
void as_reconstruct_from(const struct as_machine_state *state, const struct as_reconstruct_source *source,
                         unsigned skip, struct as_reconstruction *result);

const char *as_reconstruct_reason_text(enum as_reconstruct_reason reason);

#endif
