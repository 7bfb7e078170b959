/* Host threads that run views. Chunks of one view run in order on one thread; then, in the order in which they were
 * given, each goes through the views of the sockets, on another.
 *
 * A worker waits for nothing but its own queue, and the sockets' worker for workers alone, so nothing waits in a circle. */
#ifndef AS_REUSE_REUSE_POOL_H
#define AS_REUSE_REUSE_POOL_H

#include "reuse/lru_stack.h"

struct as_reuse_view;

enum { AS_REUSE_CHUNK = 4096 };
struct as_reuse_chunk {
    struct as_reuse_view *view;
    uint32_t thread, socket;
    size_t n;
    bool done; /* by its view; under the pool's mutex */
    struct as_touch touches[AS_REUSE_CHUNK];
};

struct as_reuse_pool;
/* `behind` is called with every chunk in order, behind its view; NULL for none (as_reuse_pool_behind). */
struct as_reuse_pool *as_reuse_pool_new(uint32_t jobs);
void as_reuse_pool_behind(struct as_reuse_pool *pool, void (*behind)(void *context, struct as_reuse_chunk *chunk),
                          void *context);
struct as_reuse_chunk *as_reuse_pool_take(struct as_reuse_pool *pool); /* empty */
/* `worker` chooses the host thread: always the same for a view. */
void as_reuse_pool_run(struct as_reuse_pool *pool, struct as_reuse_chunk *chunk, uint32_t worker);
void as_reuse_pool_wait(struct as_reuse_pool *pool); /* until all chunks are through */
void as_reuse_pool_free(struct as_reuse_pool *pool);

#endif
