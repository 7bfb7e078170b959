/* Recognises instructions whose bytes do not determine their memory accesses: there may be none, or several. */
#ifndef AS_PLUGIN_VARIES_H
#define AS_PLUGIN_VARIES_H

#include "assay/insn.h"

/* True for all instructions that the decoders mark AS_INSN_COND_MEM, AS_INSN_MULTI_MEM or AS_INSN_REP, and for some
 * more; a test checks that. It does not use a decoder, because it runs in QEMU at every translation. */
bool as_insn_varies(enum as_arch arch, const uint8_t *bytes, size_t size);

/* Whether the instruction is a prefetch or a cache-line flush, for which QEMU reports no access. True for all that the
 * decoders mark AS_INSN_PREFETCH or AS_INSN_CACHE_FLUSH, and for some more. */
bool as_insn_hints(enum as_arch arch, const uint8_t *bytes, size_t size);

/* What an instruction says about what an atomic found in memory, or about the flags that it left. */
enum as_answer {
    AS_ANSWER_NONE,  /* nothing: what comes later may ask for flags */
    AS_ANSWER_VALUE, /* an atomic that gives what it found to a register */
    AS_ANSWER_FLAGS, /* … to the flags alone (x86) */
    AS_ANSWER_READ,  /* no atomic: it reads the flags */
    AS_ANSWER_LOST   /* no atomic: it gives the flags other values */
};
/* Not a decoder, as above: an instruction that sets flags may count as AS_ANSWER_NONE, one that reads them never does. */
enum as_answer as_insn_answer(enum as_arch arch, const uint8_t *bytes, size_t size);

/* RISC-V's load-reserved and store-conditional. */
enum as_reservation { AS_RESERVATION_NONE, AS_RESERVATION_MADE, AS_RESERVATION_USED };
enum as_reservation as_insn_reservation(enum as_arch arch, const uint8_t *bytes, size_t size);

/* Whether an instruction gives the stack pointer a value from elsewhere: later accesses of its block show which. */
bool as_insn_moves_stack(enum as_arch arch, const uint8_t *bytes, size_t size);
/* Whether all that an instruction accesses lies near the stack pointer. Not seen: what would take a closer look. */
bool as_insn_only_stack(enum as_arch arch, const uint8_t *bytes, size_t size);
/* Whether an instruction stores or loads a return address. */
bool as_insn_links(enum as_arch arch, const uint8_t *bytes, size_t size);

#endif
