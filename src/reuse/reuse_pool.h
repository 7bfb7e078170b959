/* Host threads that run views, an epoch at a time: a stretch of the stream, with a chunk of touches for each thread and the
 * order in which they came. Chunks of one view run on one host thread, epoch by epoch; when all of an epoch are done,
 * the views of the sockets go through it in its order, on another host thread.
 *
 * A worker waits for nothing but its own queue, and the sockets' worker for workers alone, so nothing waits in a circle. */
#ifndef AS_REUSE_REUSE_POOL_H
#define AS_REUSE_REUSE_POOL_H

#include "reuse/lru_stack.h"

struct as_reuse_view;

enum { AS_REUSE_CHUNK = 4096 };
struct as_reuse_chunk {
    struct as_reuse_epoch *epoch;
    struct as_reuse_view *view;
    uint32_t worker; /* chooses the host thread: always the same for a view */
    uint32_t thread, socket;
    size_t n;
    struct as_touch touches[AS_REUSE_CHUNK];
};

/* touches[first..end) of a chunk came one after the other. */
struct as_reuse_run {
    struct as_reuse_chunk *chunk;
    uint32_t first, end;
};

struct as_reuse_epoch {
    AS_VEC(struct as_reuse_chunk *) chunks;
    AS_VEC(struct as_reuse_run) runs;
    size_t left; /* chunks that are not done; under the pool's mutex */
};

struct as_reuse_pool;
struct as_reuse_pool *as_reuse_pool_new(uint32_t jobs); /* 0: everything runs on the caller's thread */
/* Called with every epoch in order when its chunks are done; NULL, the start: none. Only while no epoch is under way. */
void as_reuse_pool_behind(struct as_reuse_pool *pool, void (*behind)(void *context, struct as_reuse_epoch *epoch),
                          void *context);
struct as_reuse_epoch *as_reuse_pool_take(struct as_reuse_pool *pool);                                     /* empty */
struct as_reuse_chunk *as_reuse_pool_take_chunk(struct as_reuse_pool *pool, struct as_reuse_epoch *epoch); /* empty */
void as_reuse_pool_run(struct as_reuse_pool *pool, struct as_reuse_epoch *epoch);
void as_reuse_pool_wait(struct as_reuse_pool *pool); /* until all epochs are through */
void as_reuse_pool_free(struct as_reuse_pool *pool);

#endif
