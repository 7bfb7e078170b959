/* The Oracle and the samplers as the paper defines them, one cycle after another over the whole run, with every record
 * looked at for every cycle. Written apart from the ones under test and as plainly as can be. */
#ifndef TESTS_NAIVE_H
#define TESTS_NAIVE_H

#include "observe/attribution.h"

#include <stdbool.h>
#include <stddef.h>

struct naive_run {
    const struct as_pipe *pipes;
    size_t n;
    uint32_t dispatch_width;
};

/* What a cycle is charged to: equal shares to these records (positions), oldest first. n == 0: to none. */
struct naive_answer {
    enum as_state state;
    size_t n, at[AS_GROUP_MAX];
    uint64_t busy; /* of a sampler that tags: the cycle in which the tag is free again */
};

uint64_t naive_cycles(const struct naive_run *run); /* the last commit */
/* The vector that the cycle is charged to, of an instruction that an answer names. */
uint32_t naive_events(const struct as_pipe *pipe, uint64_t cycle);
struct naive_answer naive_oracle(const struct naive_run *run, uint64_t cycle);

/* By the sampler's name, each sample by itself: that a tag may be in use is the caller's to know. */
struct naive_answer naive_sampler(const char *name, const struct naive_run *run, uint64_t cycle);
bool naive_has_one_tag(const char *name);

#endif
