/* Buffers of the access stream. All other work waits for the engine's thread, so that thread only copies the words that
 * QEMU reported. The first observer that gets a buffer turns the words into accesses, on its own thread. */
#ifndef AS_MODEL_ACCESS_BUFFER_H
#define AS_MODEL_ACCESS_BUFFER_H

#include "base/vec.h"
#include "engine/access_words.h"
#include "observe/fanout.h"

#include <pthread.h>

/* The words of one execution of a block, or of several. */
struct as_access_piece {
    const struct as_access_codes *codes; /* of the block; NULL: see blocks */
    const struct as_block_pages
        *blocks; /* words as in as_exec_words; NULL too: they are accesses already, two words each */
    uint32_t n;  /* number of words */
};

struct as_access_buffer {
    struct as_access_batch batch; /* has no accesses until the first observer makes them */
    AS_VEC(struct as_access_turn) turns;
    AS_VEC(struct as_access_time) times;
    AS_VEC(uint32_t) ended;
    AS_VEC(size_t) turn_pieces; /* for each turn: its first piece */
    uint64_t *words;            /* room for a batch of the fan-out, for pieces and for accesses */
    struct as_access_piece *pieces;
    struct as_data_access *accesses;
    size_t n_words, n_pieces;
    pthread_mutex_t mutex; /* held while accesses are made */
    bool made;
};

extern const struct as_buffer_kind as_access_buffers;

struct as_access_buffer *as_access_buffer_take(struct as_fanout *fanout); /* returns an empty buffer */
/* Hands the buffer over to the observers; a buffer without words is dropped. */
void as_access_buffer_publish(struct as_fanout *fanout, struct as_access_buffer *buffer);

/* Begins a turn: words added from now on belong to this thread. `clock`: the thread's clock now. */
void as_access_buffer_begin_turn(struct as_access_buffer *buffer, const struct as_thread *thread, uint64_t executed,
                                 uint64_t clock);
/* Ends the current turn. `clock`: the clock of its thread. */
void as_access_buffer_end_turn(struct as_access_buffer *buffer, uint64_t clock);

/* Adds a whole execution. The buffer must have room for its words. */
static inline void as_access_buffer_add(struct as_access_buffer *buffer, const struct as_access_codes *codes,
                                        const uint64_t *words, size_t n)
{
    enum { AHEAD = 64 };
    uint64_t *to = buffer->words + buffer->n_words;
    __builtin_prefetch(to + AHEAD, 1); /* an observer on another core has used these lines */
    __builtin_prefetch(buffer->pieces + buffer->n_pieces + AHEAD / 2, 1);
    for (size_t i = 0; i < n; i++)
        to[i] = words[i];
    buffer->pieces[buffer->n_pieces++] = (struct as_access_piece){.codes = codes, .n = (uint32_t)n};
    buffer->n_words += n;
}

/* Adds executions that are still words. The buffer must have room for them. */
void as_access_buffer_add_words(struct as_access_buffer *buffer, const struct as_exec_words *words);

/* Adds a finished access. The buffer must have room for two words. */
void as_access_buffer_add_made(struct as_access_buffer *buffer, const struct as_data_access *access);

#endif
