/* How long a use is worth watching when others want its watchpoint: few watchpoints for many uses.
 *
 * Ages are counted in samples, by octave. If of the uses that get into an octave only a part is watched through it, its reach,
 * one that ends there stands for 1 / reach. Watching through an octave costs time and pays where uses end in it. The
 * spread of an estimate is least for the time spent if reach is proportional to the root of the hazard, the ends in the
 * octave by the time that was watched in it (Neyman's allocation), and it cannot rise again: what is given up is gone. So
 * octaves in which nothing ends are pooled with those behind them.
 *
 * Hazards are learned from the uses before. Until then distances are taken to be as frequent in each octave. Reach only
 * says which use is rather given up; the chances are known, so estimates do not depend on what is learned.
 *
 * Pure functions over values. */
#ifndef AS_REUSE_PATIENCE_H
#define AS_REUSE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_PATIENCE_OCTAVES = 24 };

struct as_patience {
    double ended[AS_PATIENCE_OCTAVES], watched[AS_PATIENCE_OCTAVES]; /* uses, and samples times uses */
    double reach[AS_PATIENCE_OCTAVES];
};

void as_patience_init(struct as_patience *patience);
/* A use that stands for `weight` was watched for `age` samples, and ended or was given up. */
void as_patience_learn(struct as_patience *patience, uint64_t age, bool ended, double weight);
/* 1 at age 0, falling. */
double as_patience_reach(const struct as_patience *patience, uint64_t age);
/* Which part of the ends is at this age or later; those that never end are not in it. 1 at age 0, falling. */
double as_patience_later(const struct as_patience *patience, uint64_t age);

#endif
