/* How to measure a run that may be too long to be measured completely (sampled.h). */
#ifndef AS_RECORD_SAMPLING_PLAN_H
#define AS_RECORD_SAMPLING_PLAN_H

#include <stdint.h>

#define AS_SAMPLED_ALL UINT64_MAX /* everything between regions */
#define AS_SAMPLED_AUTO (UINT64_MAX - 1)
struct as_sampled_options {
    uint64_t head;   /* instructions measured in full */
    uint64_t unit;   /* instructions of a region */
    uint64_t period; /* of the first stratum */
    uint64_t
        warm; /* instructions before each region; AS_SAMPLED_AUTO: all in the first strata, then what is found out there */
    uint64_t seed;
};
#define AS_SAMPLED_DEFAULT                                                                                             \
    {                                                                                                                  \
        .head = 100000000, .unit = 10000, .period = 200000, .warm = AS_SAMPLED_AUTO, .seed = 1                         \
    }

#endif
