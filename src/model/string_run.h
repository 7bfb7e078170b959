/* Repeated string instructions that fill or copy memory (rep stos, rep movs), as processors execute them: in pieces of
 * `back.string_bytes`, not element by element. QEMU reports each element.
 *
 * The first element and the one that opens each piece run through the core, as an iteration; the elements behind it in the
 * same piece take no time of their own, and for observers they make the piece's access longer. A piece lies within an aligned piece of what is written, and within a line of what is read.
 *
 * Not modelled: what the microcode takes to begin (35 to 75 cycles on Zen 4), and that a load of an element in the middle of a piece
 * that is still in the store queue waits for it. Elements that come by falling addresses, and instructions that only read (scas, cmps,
 * lods), run one by one, as they do on processors. */
#ifndef AS_MODEL_STRING_RUN_H
#define AS_MODEL_STRING_RUN_H

#include "engine/engine.h"

/* The last iteration of a thread. */
struct as_string_run {
    const struct as_insn *insn;
    uint64_t next;  /* the address that the next element is written to */
    uint64_t piece; /* of what is written */
    uint64_t line;  /* of what is read; 0: nothing is */
};

/* Whether an execution is one more element of a piece that has run. `bytes` and `line` are powers of two. */
bool as_string_run_has(struct as_string_run *run, uint32_t bytes, uint32_t line, const struct as_block_exec *exec);

#endif
