/* Buffers of the access stream. The engine's thread, on which everything waits, only copies the words that QEMU reported;
 * the first observer that gets the buffer makes accesses of them, on its own thread. */
#ifndef AS_MODEL_ACCESS_BUFFER_H
#define AS_MODEL_ACCESS_BUFFER_H

#include "base/vec.h"
#include "engine/access_words.h"
#include "observe/fanout.h"

#include <pthread.h>

/* The words of one execution of a block. */
struct as_access_piece {
    const struct as_access_codes *codes; /* NULL: these are accesses already, two words each */
    uint32_t n;                          /* words */
};

struct as_access_buffer {
    struct as_access_batch batch; /* without its accesses until they are made */
    AS_VEC(struct as_access_turn) turns;
    AS_VEC(struct as_access_time) times;
    AS_VEC(uint32_t) ended;
    AS_VEC(size_t) turn_pieces; /* for each turn: its first piece */
    uint64_t *words;            /* room for the fan-out's batch, and as much for pieces and accesses */
    struct as_access_piece *pieces;
    struct as_data_access *accesses;
    size_t n_words, n_pieces;
    pthread_mutex_t mutex; /* of making accesses */
    bool made;
};

extern const struct as_buffer_kind as_access_buffers;

struct as_access_buffer *as_access_buffer_take(struct as_fanout *fanout); /* empty */
/* Gives the buffer away; nothing is published where it has no words. */
void as_access_buffer_publish(struct as_fanout *fanout, struct as_access_buffer *buffer);

/* A new turn: what is added from now on is this thread's. `clock`: of the thread, now. */
void as_access_buffer_begin_turn(struct as_access_buffer *buffer, const struct as_thread *thread, uint64_t executed,
                                 uint64_t clock);
/* The last turn that began is over: the clock of its thread. */
void as_access_buffer_end_turn(struct as_access_buffer *buffer, uint64_t clock);

/* A whole execution. There must be room for its words. */
static inline void as_access_buffer_add(struct as_access_buffer *buffer, const struct as_access_codes *codes,
                                        const uint64_t *words, size_t n)
{
    enum { AHEAD = 64 };
    uint64_t *to = buffer->words + buffer->n_words;
    __builtin_prefetch(to + AHEAD, 1); /* an observer on another core has had these lines */
    __builtin_prefetch(buffer->pieces + buffer->n_pieces + AHEAD / 2, 1);
    for (size_t i = 0; i < n; i++)
        to[i] = words[i];
    buffer->pieces[buffer->n_pieces++] = (struct as_access_piece){.codes = codes, .n = (uint32_t)n};
    buffer->n_words += n;
}

/* An access that is one already. There must be room for two words. */
void as_access_buffer_add_made(struct as_access_buffer *buffer, const struct as_data_access *access);

#endif
