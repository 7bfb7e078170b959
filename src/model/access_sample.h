/* A sample of the granules that a program accesses: as_access_stream_set_sample. The engine passes on few accesses; how many there were
 * follows from the code. */
#ifndef AS_MODEL_ACCESS_SAMPLE_H
#define AS_MODEL_ACCESS_SAMPLE_H

#include "base/vec.h"
#include "model/access_stream.h"

#include <stdatomic.h>

struct as_access_sample {
    const _Atomic uint64_t *threshold; /* threshold of the sampled granules; NULL: all accesses are passed on */
    uint32_t shift;
    AS_VEC(uint32_t) counts; /* by block index: the accesses of a whole execution, + 1; 0: not known yet */
};

/* Whether any of the accesses may touch a sampled granule. An access has at most 64 bytes, so it may reach into the granule of its 64th
 * byte; the exact check follows where it matters. */
bool as_access_sample_meets(const struct as_access_sample *sample, const struct as_shared_ranges *shared,
                            const uint64_t *words, size_t n);

/* Adds to *seen the accesses of an execution, and the granules of them. Its words are those of instructions that do not access the same
 * every time, of accesses that lie in two granules, and of others. */
void as_access_sample_count(struct as_access_sample *sample, struct as_access_sum *seen,
                            const struct as_block_exec *exec);
/* The same of whole executions of a block that always accesses the same; but not … */
void as_access_sample_count_runs(struct as_access_sample *sample, struct as_access_sum *seen,
                                 const struct as_block *block, uint64_t runs);
/* … the second granules of those of their accesses that lie in two. */
void as_access_sample_count_borders(struct as_access_sample *sample, struct as_access_sum *seen,
                                    const struct as_exec_words *words);

/* Counts iterations of a rep instruction and moves those that may touch sampled granules to the front of `kept`, which has room for all of
 * their words. Returns the number of words there. The block has codes, and they are plain. */
size_t as_access_sample_sift_iterations(struct as_access_sample *sample, struct as_access_sum *seen,
                                        const struct as_shared_ranges *shared, const struct as_exec_words *words,
                                        uint64_t *kept);

#endif
