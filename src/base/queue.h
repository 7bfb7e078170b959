/* A bounded queue of pointers between threads (mutex and condition variables; items are batches, so this is not hot).
 * push blocks while full, pop while empty. After close, push returns false and pop drains what is left, then NULL. */
#ifndef AS_BASE_QUEUE_H
#define AS_BASE_QUEUE_H

#include "base/error.h"

#include <stddef.h>

struct as_queue;
struct as_queue *as_queue_new(size_t capacity);
bool as_queue_push(struct as_queue *queue, void *item) AS_MUST_CHECK;
void *as_queue_pop(struct as_queue *queue);
void as_queue_close(struct as_queue *queue);
void as_queue_free(struct as_queue *queue);

#endif
