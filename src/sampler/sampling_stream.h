/* The state of samplers at work, and what their two ways share: records (sampling.c), and blocks whose times are known
 * (sampling_edges.c). Private to sampling*.c. */
#ifndef AS_SAMPLER_SAMPLING_STREAM_H
#define AS_SAMPLER_SAMPLING_STREAM_H

#include "assay/edge.h"
#include "base/vec.h"
#include "sampler/sampling.h"

struct as_sampling_sample {
    uint64_t cycle, cycles; /* when, and how many it stands for */
    struct as_attribution truth;
};

/* How far a policy that answers has come. */
struct as_sampling_reader {
    uint64_t cursor;   /* see as_query */
    uint64_t busy;     /* likewise */
    uint64_t answered; /* samples of the thread */
    uint64_t carried;  /* cycles of dropped samples, for the next one */
    bool waits;        /* for the next batch */
};

struct as_sampling_stream {
    uint32_t thread;
    struct as_window window;
    /* Of batches that were passed over (sampling_edges.c): what the last records are in, the youngest last. */
    struct as_edge_run passed[AS_WINDOW_TAIL];
    uint32_t n_passed;
    uint64_t next_cycle;       /* of the next sample; 0: the thread has not started */
    uint64_t taken, forgotten; /* samples put into the queue, and out of it again */
    AS_VEC(struct as_sampling_sample) queue;
    size_t queue_start; /* of what is still in use */
    struct as_sampling_reader truth;
    struct as_sampling_reader *readers; /* one a sampler */
};

struct as_sampling {
    struct as_run_info run;
    struct as_schedule schedule;
    AS_VEC(struct as_sampling_stream *) streams; /* by thread number; NULL where there is none */
    struct as_sampling_result *results;
    size_t n;
    AS_VEC(struct as_pics_tally *) tallies; /* by thread number: one for each sampler; NULL where there are none */
    struct as_pics_tally *merged;           /* of threads that have none of their own any more */
    struct as_pics_tally *paths;            /* one for each sampler, of all threads */
    struct as_thread_limit limit;
    AS_VEC(struct as_pipe) room; /* for the records of edges */
};

struct as_sampling_stream *as_sampling_stream_of(struct as_sampling *sampling, uint32_t thread);
/* A batch of records. */
void as_sampling_observe(void *self, const struct as_pipe_batch *batch);

void as_sampling_edges(void *self, const struct as_edge_batch *batch);
void as_sampling_forget(void *self);

#endif
