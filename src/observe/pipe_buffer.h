/* Buffers of the core model's records, from the producer's side: as_pipe_batch before it is published.
 *
 * The records are an array of fixed size. Blocks whose times are known are put in as edges (assay/edge.h); their records
 * are filled in when the first observer wants them. What only some observers ask for (as_fanout_wants) grows as it is filled; a
 * producer that is not asked for it leaves it empty, and it takes no memory.
 */
#ifndef AS_OBSERVE_PIPE_BUFFER_H
#define AS_OBSERVE_PIPE_BUFFER_H

#include "assay/edge.h"
#include "base/vec.h"
#include "observe/fanout.h"

#include <pthread.h>

struct as_pipe_buffer {
    struct as_pipe_batch batch;
    AS_VEC(struct as_data_access) accesses;
    AS_VEC(uint32_t) owners; /* as long as accesses */
    AS_VEC(struct as_stay) stays;
    uint64_t cycles_before; /* for the batch; 0 from as_pipe_buffer_take */
    struct as_pipe *pipes;  /* aligned to a cache line */
    struct as_edge_batch edges;
    AS_VEC(struct as_edge_run) runs;
    pthread_mutex_t mutex; /* of the following */
    bool expanded;
    AS_VEC(struct as_stay) all_stays; /* with those of edges; empty where no edge has any */
};

/* A buffer without accesses and stays. */
struct as_pipe_buffer *as_pipe_buffer_take(struct as_fanout *fanout);
/* Gives the buffer away with its first n records, and the runs, accesses and stays that were added; 0: nothing is
 * published, and stays are lost. `last`: nothing follows of the thread. Runs may be left out where none has an edge. */
void as_pipe_buffer_publish(struct as_fanout *fanout, struct as_pipe_buffer *buffer, uint32_t thread, size_t n,
                            bool last);

/* Exchanges the buffer's stays, of which a new one has none, for the parts of another AS_VEC. */
void as_pipe_buffer_swap_stays(struct as_pipe_buffer *buffer, struct as_stay **stays, size_t *n, size_t *room);

/* An access of record number `owner` of the buffer. */
static inline void as_pipe_buffer_add_access(struct as_pipe_buffer *buffer, uint32_t owner,
                                             const struct as_data_access *access)
{
    *as_vec_push(&buffer->accesses) = *access;
    *as_vec_push(&buffer->owners) = owner;
}

/* The access of this kind that record number `owner`, the last one in the buffer, made goes on for so many bytes. */
static inline void as_pipe_buffer_grow_access(struct as_pipe_buffer *buffer, uint32_t owner, uint8_t kind,
                                              uint32_t bytes)
{
    for (size_t i = buffer->accesses.len; i-- > 0 && buffer->owners.data[i] == owner;)
        if (buffer->accesses.data[i].kind == kind)
            buffer->accesses.data[i].size = (buffer->accesses.data[i].size + bytes) & 0xffffff;
}

#endif
