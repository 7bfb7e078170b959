/* The random streams of the core's tests. Their bounds on how far the core may be from its references were measured on
 * these very streams, so the generator is not base/random.h's. */
#ifndef AS_TESTS_BED_RANDOM_H
#define AS_TESTS_BED_RANDOM_H

#include <stdint.h>

static inline uint64_t bed_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

#endif
