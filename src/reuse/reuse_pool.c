/* See reuse_pool.h. */
#include "reuse/reuse_pool.h"

#include "base/queue.h"
#include "reuse/reuse_view.h"

#include <pthread.h>

enum { IN_FLIGHT = 32, QUEUE = 64 };

struct worker {
    struct as_reuse_pool *pool;
    struct as_queue *queue;
    pthread_t thread;
};

struct as_reuse_pool {
    uint32_t jobs;
    struct worker *workers, last; /* `last` is the one behind */
    void (*behind)(void *context, struct as_reuse_chunk *chunk);
    void *behind_context;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a chunk is done, or free */
    AS_VEC(struct as_reuse_chunk *) free_chunks;
    size_t made, in_flight;
};

static void give_back(struct as_reuse_pool *pool, struct as_reuse_chunk *chunk)
{
    pthread_mutex_lock(&pool->mutex);
    *as_vec_push(&pool->free_chunks) = chunk;
    pool->in_flight--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

static void run_behind(struct as_reuse_pool *pool, struct as_reuse_chunk *chunk)
{
    if (pool->behind)
        pool->behind(pool->behind_context, chunk);
    give_back(pool, chunk);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (struct as_reuse_chunk *chunk; (chunk = as_queue_pop(worker->queue));) {
        as_reuse_view_run(chunk->view, chunk->thread, chunk->touches, chunk->n);
        pthread_mutex_lock(&worker->pool->mutex);
        chunk->done = true;
        pthread_cond_broadcast(&worker->pool->changed);
        pthread_mutex_unlock(&worker->pool->mutex);
    }
    return NULL;
}

static void *work_behind(void *argument)
{
    struct worker *worker = argument;
    struct as_reuse_pool *pool = worker->pool;
    for (struct as_reuse_chunk *chunk; (chunk = as_queue_pop(worker->queue));) {
        pthread_mutex_lock(&pool->mutex);
        while (!chunk->done)
            pthread_cond_wait(&pool->changed, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        run_behind(pool, chunk);
    }
    return NULL;
}

static bool start(struct worker *worker, struct as_reuse_pool *pool, void *(*function)(void *))
{
    worker->pool = pool;
    worker->queue = as_queue_new(QUEUE);
    if (!pthread_create(&worker->thread, NULL, function, worker))
        return true;
    as_queue_free(worker->queue);
    return false;
}

static void stop(struct worker *worker)
{
    as_queue_close(worker->queue);
    pthread_join(worker->thread, NULL);
    as_queue_free(worker->queue);
}

struct as_reuse_pool *as_reuse_pool_new(uint32_t jobs)
{
    struct as_reuse_pool *pool = as_alloc(sizeof *pool);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    if (!jobs || !start(&pool->last, pool, work_behind))
        return pool; /* on the caller's thread: slower, and the same */
    pool->workers = as_alloc_array(jobs, sizeof *pool->workers);
    while (pool->jobs < jobs && start(&pool->workers[pool->jobs], pool, work))
        pool->jobs++;
    if (!pool->jobs)
        stop(&pool->last);
    return pool;
}

void as_reuse_pool_behind(struct as_reuse_pool *pool, void (*behind)(void *context, struct as_reuse_chunk *chunk),
                          void *context)
{
    pool->behind = behind;
    pool->behind_context = context;
}

struct as_reuse_chunk *as_reuse_pool_take(struct as_reuse_pool *pool)
{
    struct as_reuse_chunk *chunk = NULL;
    pthread_mutex_lock(&pool->mutex);
    while (pool->in_flight >= IN_FLIGHT)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    if (pool->free_chunks.len)
        chunk = pool->free_chunks.data[--pool->free_chunks.len];
    pthread_mutex_unlock(&pool->mutex);
    if (!chunk)
        chunk = as_alloc(sizeof *chunk);
    chunk->n = 0;
    chunk->done = false;
    return chunk;
}

void as_reuse_pool_run(struct as_reuse_pool *pool, struct as_reuse_chunk *chunk, uint32_t worker)
{
    pthread_mutex_lock(&pool->mutex);
    pool->in_flight++;
    pthread_mutex_unlock(&pool->mutex);
    if (!pool->jobs) {
        as_reuse_view_run(chunk->view, chunk->thread, chunk->touches, chunk->n);
        run_behind(pool, chunk);
        return;
    }
    /* Nobody closes the queues meanwhile, so a push cannot fail. */
    if (!as_queue_push(pool->workers[worker % pool->jobs].queue, chunk) || !as_queue_push(pool->last.queue, chunk))
        abort();
}

void as_reuse_pool_wait(struct as_reuse_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->in_flight)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void as_reuse_pool_free(struct as_reuse_pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++)
        stop(&pool->workers[i]);
    if (pool->jobs)
        stop(&pool->last);
    for (size_t i = 0; i < pool->free_chunks.len; i++)
        free(pool->free_chunks.data[i]);
    as_vec_free(&pool->free_chunks);
    free(pool->workers);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->changed);
    free(pool);
}
