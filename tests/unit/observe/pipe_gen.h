/* Streams of records for the tests of observers and samplers: small hand-made ones, and random ones that keep the rules
 * of include/assay/pipe.h and meet every case (mispredictions, flushes, exceptions, wrong paths, rep iterations, fused
 * pairs, serialised instructions, empty and full pipelines). */
#ifndef TESTS_PIPE_GEN_H
#define TESTS_PIPE_GEN_H

#include "assay/observer.h"

struct pipe_gen {
    uint64_t random; /* state, not 0 */
    uint32_t width;  /* dispatch and commit */
    bool fuse;       /* some instructions commit with the one before and take no slot */
    uint32_t statics, paths;
    uint32_t trouble; /* one in so many instructions has something special; at least 1 */
    bool own_vectors; /* each try of an instruction has its own */
};

uint64_t pipe_gen_random(struct pipe_gen *gen);
uint32_t pipe_gen_below(struct pipe_gen *gen, uint32_t limit);
/* A thread's whole life, the last record marked AS_PIPE_LAST. */
void pipe_gen_fill(struct pipe_gen *gen, struct as_pipe *pipes, size_t n);
struct as_run_info pipe_gen_run(const struct pipe_gen *gen);

/* Hands the records to an observer in batches of random sizes up to `most`, as thread `thread`. */
void pipe_gen_feed(struct pipe_gen *gen, const struct as_observer *ops, void *self, uint32_t thread,
                   const struct as_pipe *pipes, size_t n, uint32_t most);

#endif
