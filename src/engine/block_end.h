/* How a block that a stream executes came to its end, and how much of it completed.
 *
 * A block is cut short by a fault in the middle, by QEMU's single-stepped atomics and by code that modifies its own block. A
 * signal record holds where it interrupted the thread and whether the instruction there raised it. The other two start again
 * at the instruction that did not complete, a place to which the block's end does not lead. Where accesses are recorded they
 * must agree: they are reported after they happened, so an instruction that always accesses memory and has no report did not
 * complete.
 */
#ifndef AS_ENGINE_BLOCK_END_H
#define AS_ENGINE_BLOCK_END_H

#include "engine/stream.h"

struct as_ending {
    uint64_t next;                /* where the thread went on, or would have without a signal; 0 unknown */
    bool fault;                   /* the instruction at `next` raised a signal and did not complete */
    bool syscall;                 /* a system call follows */
    bool signal;                  /* a handler follows */
    const struct as_block *block; /* the block at `next`, where one follows */
};

/* How many instructions of the stream's block completed; `words` are its accesses. */
uint32_t as_block_completed(struct as_stream *stream, const uint64_t *words, size_t n, const struct as_ending *ending);
/* The decoder determines what a block accesses; the first execution compares that with what QEMU reported. */
void as_block_check_accesses(struct as_stream *stream, struct as_block *block, const struct as_block_exec *exec);
/* Whether `next` is QEMU's second try of an instruction of `block`. */
bool as_block_is_second_try(const struct as_block *block, const struct as_block *next);
/* Whether `next` comes where all of `block` leads to: it was executed whole. */
static inline bool as_block_is_followed_by(const struct as_block *block, const struct as_block *next)
{
    bool leads = next->address == block->end || as_block_leads_to(block, next->address);
    return leads && !__builtin_expect(next->n == 1 && as_block_is_second_try(block, next), 0);
}
/* Of the accesses of a block that a signal follows, how many are the block's own. */
size_t as_block_without_frame(const struct as_block *block, const uint64_t *words, size_t n);

#endif
