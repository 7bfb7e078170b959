/* See reuse_pool.h. */
#include "reuse/reuse_pool.h"

#include "base/queue.h"
#include "reuse/reuse_view.h"

#include <pthread.h>

enum { IN_FLIGHT = 4, QUEUE = 256 };

struct worker {
    struct as_reuse_pool *pool;
    struct as_queue *queue;
    pthread_t thread;
};

struct as_reuse_pool {
    uint32_t jobs;
    struct worker *workers, last; /* `last` is the one behind */
    void (*behind)(void *context, struct as_reuse_epoch *epoch);
    void *behind_context;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* an epoch's chunks are done, or it is through */
    AS_VEC(struct as_reuse_epoch *) free_epochs;
    AS_VEC(struct as_reuse_chunk *) free_chunks;
    size_t in_flight;
};

static void run_behind(struct as_reuse_pool *pool, struct as_reuse_epoch *epoch)
{
    if (pool->behind)
        pool->behind(pool->behind_context, epoch);
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < epoch->chunks.len; i++)
        *as_vec_push(&pool->free_chunks) = epoch->chunks.data[i];
    *as_vec_push(&pool->free_epochs) = epoch;
    pool->in_flight--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

static void run_chunk(struct as_reuse_chunk *chunk)
{
    as_reuse_view_run(chunk->view, chunk->thread, chunk->touches, chunk->n);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct as_reuse_pool *pool = worker->pool;
    for (struct as_reuse_chunk *chunk; (chunk = as_queue_pop(worker->queue));) {
        run_chunk(chunk);
        pthread_mutex_lock(&pool->mutex);
        if (--chunk->epoch->left == 0)
            pthread_cond_broadcast(&pool->changed);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

static void *work_behind(void *argument)
{
    struct worker *worker = argument;
    struct as_reuse_pool *pool = worker->pool;
    for (struct as_reuse_epoch *epoch; (epoch = as_queue_pop(worker->queue));) {
        pthread_mutex_lock(&pool->mutex);
        while (epoch->left)
            pthread_cond_wait(&pool->changed, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        run_behind(pool, epoch);
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

void as_reuse_pool_behind(struct as_reuse_pool *pool, void (*behind)(void *context, struct as_reuse_epoch *epoch),
                          void *context)
{
    pool->behind = behind;
    pool->behind_context = context;
}

struct as_reuse_epoch *as_reuse_pool_take(struct as_reuse_pool *pool)
{
    struct as_reuse_epoch *epoch = NULL;
    pthread_mutex_lock(&pool->mutex);
    while (pool->in_flight >= IN_FLIGHT)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    if (pool->free_epochs.len)
        epoch = pool->free_epochs.data[--pool->free_epochs.len];
    pthread_mutex_unlock(&pool->mutex);
    if (!epoch)
        epoch = as_alloc(sizeof *epoch);
    as_vec_clear(&epoch->chunks);
    as_vec_clear(&epoch->runs);
    return epoch;
}

struct as_reuse_chunk *as_reuse_pool_take_chunk(struct as_reuse_pool *pool, struct as_reuse_epoch *epoch)
{
    struct as_reuse_chunk *chunk = NULL;
    pthread_mutex_lock(&pool->mutex);
    if (pool->free_chunks.len)
        chunk = pool->free_chunks.data[--pool->free_chunks.len];
    pthread_mutex_unlock(&pool->mutex);
    if (!chunk)
        chunk = as_alloc(sizeof *chunk);
    chunk->n = 0;
    chunk->epoch = epoch;
    return *as_vec_push(&epoch->chunks) = chunk;
}

void as_reuse_pool_run(struct as_reuse_pool *pool, struct as_reuse_epoch *epoch)
{
    pthread_mutex_lock(&pool->mutex);
    pool->in_flight++;
    epoch->left = pool->jobs ? epoch->chunks.len : 0;
    pthread_mutex_unlock(&pool->mutex);
    if (!pool->jobs) {
        for (size_t i = 0; i < epoch->chunks.len; i++)
            run_chunk(epoch->chunks.data[i]);
        run_behind(pool, epoch);
        return;
    }
    /* The chunks first: the epoch is gone as soon as the last worker has it. Nobody closes the queues meanwhile, so a
     * push cannot fail. */
    for (size_t i = 0; i < epoch->chunks.len; i++)
        if (!as_queue_push(pool->workers[epoch->chunks.data[i]->worker % pool->jobs].queue, epoch->chunks.data[i]))
            abort();
    if (!as_queue_push(pool->last.queue, epoch))
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
    for (size_t i = 0; i < pool->free_epochs.len; i++) {
        as_vec_free(&pool->free_epochs.data[i]->chunks);
        as_vec_free(&pool->free_epochs.data[i]->runs);
        free(pool->free_epochs.data[i]);
    }
    as_vec_free(&pool->free_chunks);
    as_vec_free(&pool->free_epochs);
    free(pool->workers);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->changed);
    free(pool);
}
