/* Runs threads of a stopped process ahead, on a copy of their memory: what would they access next? The process itself
 * does not move and is not changed, so this costs it nothing but the time that it stands still, and it takes some 100 ns an
 * instruction where a single step by the trap flag takes 2 us, and 11 us in a virtual machine.
 *
 * Most instructions are executed by the processor: the bytes run in a stub, between loading and saving the thread's
 * registers, with the memory operand replaced by a buffer. Control transfers, the stack's instructions and repeated
 * strings are done by hand. Pages are copied from the process when they are first touched; stores change the copy.
 *
 * It ends where the copy cannot go on: at a system call, at an instruction that is neither (bulk state, gathers, bit
 * strings), at memory that is not mapped. Several threads share the copy, and the caller decides whose turn it is. A copy takes 8 MiB at most:
 * all threads end where one of them would need more, because those that went on alone would not meet its stores.
 *
 * x86-64 alone; elsewhere as_lookahead_new returns NULL. Signals must not be handled on the thread that calls
 * as_lookahead_step: the stack pointer is the program's for a moment (as_lookahead_begin blocks them, _end lets them in). */
#ifndef AS_NATIVE_LOOKAHEAD_H
#define AS_NATIVE_LOOKAHEAD_H

#include "watch/operand.h"

#include <sys/types.h>

enum as_lookahead_end {
    AS_LOOKAHEAD_GOES_ON,
    AS_LOOKAHEAD_SYSTEM, /* a system call, or another instruction that enters the kernel */
    AS_LOOKAHEAD_CODE,   /* an instruction that is not supported, or no instruction */
    AS_LOOKAHEAD_MEMORY, /* not mapped, or more than the copy may have */
    AS_LOOKAHEAD_ENDS
};

enum { AS_LOOKAHEAD_XSTATE = 16384 };

struct as_lookahead_thread {
    struct as_machine_state state;                    /* all registers, flags and segments known */
    enum as_lookahead_end end;                        /* once it is not AS_LOOKAHEAD_GOES_ON, the thread stays there */
    _Alignas(64) uint8_t xstate[AS_LOOKAHEAD_XSTATE]; /* as ptrace gives NT_X86_XSTATE */
};

/* One executed instruction, or one iteration of a repeated one. */
struct as_lookahead_step {
    uint64_t ip;
    unsigned n;
    struct {
        uint64_t address;
        uint32_t size;
        uint8_t kind; /* AS_ACCESS_LOAD, AS_ACCESS_STORE, both */
    } accesses[AS_INSN_MAX_MEM];
    uint64_t values[16], flags; /* before it, if it has accesses: see as_lookahead_before */
};

struct as_lookahead;
struct as_lookahead *as_lookahead_new(void);
void as_lookahead_free(struct as_lookahead *ahead);
/* All threads of the process stand still until as_lookahead_end. */
void as_lookahead_begin(struct as_lookahead *ahead, pid_t pid);
void as_lookahead_end(struct as_lookahead *ahead);
/* Memory as the copy has it, between begin and end. False: a byte of it is not mapped. */
bool as_lookahead_read(struct as_lookahead *ahead, uint64_t address, void *bytes, size_t size);
enum as_lookahead_end as_lookahead_step(struct as_lookahead *ahead, struct as_lookahead_thread *thread,
                                        struct as_lookahead_step *step);
/* The thread's registers before its last step, which had accesses. */
struct as_machine_state as_lookahead_before(const struct as_lookahead_thread *thread,
                                            const struct as_lookahead_step *step);

#endif
