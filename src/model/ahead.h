/* A queue of blocks to a second thread, so that reading what a program executes and simulating it in the cores run on
 * two processors. Words of the caller's own can be put in, too.
 *
 * One thread puts blocks in, the other takes them out in the same order. State that both use may be changed only after
 * the queue is settled: every block has been taken out, and the second thread waits.
 *
 * A block is put together in a place of its own, and copied from there past the host's caches: the thread that takes has read all
 * of the queue's memory before. Blocks are stored back to back in chunks, which are handed over whole. Waking a thread is a system call, so it is
 * done rarely: the consumer sleeps until two chunks are waiting for it, and a producer that finds no room sleeps until
 * half of the chunks are free.
 */
#ifndef AS_MODEL_AHEAD_H
#define AS_MODEL_AHEAD_H

#include "base/error.h"
#include "core/memo.h"

/* A block, followed by its accesses: only their addresses if `shape` has the rest, else complete ones. Behind them comes
 * what was foreseen of its control transfers, a word of 32 bits for each. */
struct as_ahead_block {
    const struct as_body *body;   /* NULL: so many words as `path` says, for as_ahead_words */
    struct as_core_access *shape; /* filled in by the consumer; NULL: the accesses are stored here */
    uint64_t next;
    uint32_t path;
    uint32_t taken; /* 0 or 1; in the queue, with how many words it takes there */
    uint64_t data[];
};

typedef void as_ahead_take(void *context, const struct as_body_run *run, uint32_t path);
typedef void as_ahead_words(void *context, const uint64_t *words, size_t n);
/* These addresses are accessed a few blocks from now. Whether that is worth knowing is asked now and then, with none (n 0). */
typedef bool as_ahead_announce(void *context, const uint64_t *addresses, size_t n);

struct as_ahead;
/* Both functions are called on the second thread. Returns NULL if there is only one processor, or if no thread can be
 * started. */
struct as_ahead *as_ahead_new(as_ahead_take *take, as_ahead_words *take_words, as_ahead_announce *announce,
                              void *context);
void as_ahead_free(struct as_ahead *ahead); /* settles the queue first */

/* Returns room for a block with this many complete accesses and control transfers, for the caller to fill; NULL: it has too
 * many. */
struct as_ahead_block *as_ahead_room(struct as_ahead *ahead, size_t accesses, size_t controls);
/* Puts in the block that room was made for, with this many bytes of accesses and this many control transfers. */
void as_ahead_put(struct as_ahead *ahead, size_t bytes, size_t controls);
enum { AS_AHEAD_WORDS = 512 };
void as_ahead_put_words(struct as_ahead *ahead, const uint64_t *words, size_t n); /* AS_AHEAD_WORDS at most */
void as_ahead_settle(struct as_ahead *ahead);
/* Hands over all that was put in so far; returns a number for as_ahead_wait. */
uint64_t as_ahead_hand_over(struct as_ahead *ahead);
/* Waits until all that had been put in has been taken out when the number was returned. */
void as_ahead_wait(struct as_ahead *ahead, uint64_t number);

#endif
