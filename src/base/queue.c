/* A ring of pointers under one mutex. Waiting threads are woken one at a time: each push or pop lets exactly one thread
 * of the other side continue; close wakes all. */
#include "base/queue.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct as_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    size_t capacity, len, first;
    bool closed;
    void *items[];
};

struct as_queue *as_queue_new(size_t capacity)
{
    if (capacity == 0 || capacity > SIZE_MAX / sizeof(void *) / 2)
        abort(); /* a queue without room would block for ever */
    struct as_queue *queue = as_alloc(sizeof *queue + capacity * sizeof queue->items[0]);
    queue->capacity = capacity;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    return queue;
}

bool as_queue_push(struct as_queue *queue, void *item)
{
    if (!item)
        abort(); /* NULL from pop means "closed" */
    pthread_mutex_lock(&queue->mutex);
    while (queue->len == queue->capacity && !queue->closed)
        pthread_cond_wait(&queue->not_full, &queue->mutex);
    bool open = !queue->closed;
    if (open) {
        queue->items[(queue->first + queue->len++) % queue->capacity] = item;
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->mutex);
    return open;
}

void *as_queue_pop(struct as_queue *queue)
{
    void *item = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (queue->len == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    if (queue->len > 0) {
        item = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->len--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

void as_queue_close(struct as_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_full);
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

/* No thread may be inside push or pop any more; items still queued belong to the caller. */
void as_queue_free(struct as_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->not_full);
    pthread_cond_destroy(&queue->not_empty);
    free(queue);
}
