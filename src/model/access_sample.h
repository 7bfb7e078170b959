/* A sample of the granules that a program accesses: as_access_stream_set_sample. */
#ifndef AS_MODEL_ACCESS_SAMPLE_H
#define AS_MODEL_ACCESS_SAMPLE_H

#include "model/access_stream.h"

#include <stdatomic.h>

struct as_access_sample {
    const _Atomic uint64_t *threshold; /* threshold of the sampled granules; NULL: all accesses are passed on */
    uint32_t shift;
    struct as_access_sum seen;
};

/* Whether any access of the execution may touch a sampled granule. An access has at most 64 bytes, so it may reach into
 * the granule of its 64th byte; the exact check follows where it matters. All are counted. */
bool as_access_sample_meets(struct as_access_sample *sample, const struct as_shared_ranges *shared,
                            const struct as_block_exec *exec);

#endif
