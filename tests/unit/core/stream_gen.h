/* Random programs for core_bed: a few hundred static instructions with loops and branches of every kind of habit, and a
 * walk through them. The same seed gives the same program. */
#ifndef AS_TESTS_STREAM_GEN_H
#define AS_TESTS_STREAM_GEN_H

#include "core_bed.h"

/* How many of a hundred (of a thousand where said) static instructions are of a kind; the rest are adds. */
struct stream_mix {
    uint32_t mul, div, fp, fp_div, loads, stores, branches, nops;
    uint32_t fences, atomics, serialising, flushing; /* of a thousand */
    uint64_t footprint;                              /* bytes of data */
    uint32_t far;     /* of a hundred accesses: anywhere in it; others near the last one by their base register */
    uint32_t alias;   /* … near the last one by another base register */
    uint32_t late;    /* of a hundred loads and stores: the address comes from a computation */
    uint32_t partial; /* of a hundred accesses: not 8 bytes aligned */
    uint32_t wild;    /* of a hundred branches: go either way at random; others have a habit */
};

/* Forwarding, violations of the memory order, fences, atomics, flushes. */
#define STREAM_MIX_TROUBLE                                                                                             \
    {                                                                                                                  \
        .mul = 8, .fp = 10, .loads = 22, .stores = 14, .branches = 15, .nops = 3, .fences = 10, .atomics = 10,         \
        .serialising = 10, .flushing = 10, .footprint = 512, .far = 20, .alias = 80, .late = 60, .partial = 30,        \
        .wild = 20                                                                                                     \
    }

/* Changes of boom-tip that make it narrow, shallow or odd, for core_bed_open_machine. */
enum { BED_ODD_MACHINES = 11 };
extern const char *const bed_odd_machines[BED_ODD_MACHINES];

void stream_generate(struct core_bed *bed, const struct stream_mix *mix, uint64_t seed, uint32_t n_static,
                     uint32_t n_steps);

#endif
