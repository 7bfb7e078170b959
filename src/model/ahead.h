/* Blocks on their way to a thread of their own, so that reading what a program executes and running it in the cores
 * take place on two processors.
 *
 * One thread puts blocks in, another one takes them out in the same order. What both use may be changed only when the
 * blocks are settled: all that were put in have been taken out, and the other thread waits.
 *
 * Blocks lie one behind the other in chunks, which are handed over whole. Waking a thread is a system call, so it is done
 * rarely: the taker sleeps until two chunks are waiting for it, a thread that puts in and finds no room sleeps until half
 * of the chunks are free.
 */
#ifndef AS_MODEL_AHEAD_H
#define AS_MODEL_AHEAD_H

#include "base/error.h"
#include "core/memo.h"

/* A block, and behind it its accesses: their addresses, if `shape` has the rest; else all of them. */
struct as_ahead_block {
    const struct as_body *body;
    struct as_core_access *shape; /* the taking thread's to fill in; NULL: the accesses are here */
    uint64_t next;
    uint32_t path;
    bool taken;
    uint64_t data[];
};

typedef void as_ahead_take(void *context, const struct as_body_run *run, uint32_t path);

struct as_ahead;
/* NULL: there is only one processor, or no thread can be started. */
struct as_ahead *as_ahead_new(as_ahead_take *take, void *context);
void as_ahead_free(struct as_ahead *ahead); /* settles it first */

/* Room for a block with so many accesses, in full, to be filled in; NULL: it has too many. */
struct as_ahead_block *as_ahead_room(struct as_ahead *ahead, size_t accesses);
/* The block that room was made for is there, with so many bytes of data. */
void as_ahead_put(struct as_ahead *ahead, size_t bytes);
void as_ahead_settle(struct as_ahead *ahead);

#endif
