/* Code that a program made while it ran, by the files that runtimes write for profilers:
 *
 *   /tmp/perf-PID.map   lines of START SIZE NAME, in hexadecimal: V8 (--perf-basic-prof), Java agents, Python (-X perf)
 *   jit-PID.dump        perf's jitdump, with the bytes of each piece: V8 (--perf-prof), LLVM, Java agents
 *
 * A piece may lie where another one was before. A caller that knows when an instruction was executed, its bytes, how many
 * others were at its address before, or what had been executed by then, gets the piece that it was in; everyone else the one that
 * came last. Files are untrusted: what is
 * damaged costs names. One that another user owns is not read, as anyone can write to /tmp.
 */
#ifndef AS_SYMBOL_JITCODE_H
#define AS_SYMBOL_JITCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_jit_piece {
    uint64_t start, size;
    const char *name;     /* lives as long as the as_jit */
    const uint8_t *bytes; /* of all of it; NULL: unknown */
    uint64_t time;        /* CLOCK_MONOTONIC, nanoseconds: when it was made; 0: unknown */
    uint32_t order;       /* in its file */
};

/* One instruction, as far as somebody knows it. */
struct as_jit_insn {
    const uint8_t *bytes;
    size_t n;         /* 0: unknown */
    uint32_t version; /* how many others were at its address before it; AS_JIT_LAST: unknown */
    uint64_t time;    /* at which it was executed; 0: unknown */
    /* How many different instructions had been executed at an address by the time that this one first was. A piece whose
     * first instruction was one of them was there. NULL: unknown. */
    uint32_t (*versions)(void *context, uint64_t address);
    void *context;
};
#define AS_JIT_LAST UINT32_MAX

struct as_jit;
struct as_jit *as_jit_new(void);
void as_jit_free(struct as_jit *jit);

/* Reads a file, of either kind; again, where it has grown since. False: there is none that can be used. `since`: seconds
 * of the epoch; an older file was left behind by another process of that number. */
bool as_jit_read(struct as_jit *jit, const char *path, int64_t since);

/* The piece at an address; NULL: none. `insn` may be NULL. */
const struct as_jit_piece *as_jit_find(struct as_jit *jit, uint64_t address, const struct as_jit_insn *insn);
/* Whether the last look-up had nothing to choose by between pieces with different names. */
bool as_jit_is_guess(const struct as_jit *jit);

#endif
