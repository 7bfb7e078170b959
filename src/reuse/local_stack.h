/* Distances in accesses as distances in distinct granules, for a program with phases.
 *
 * Shen et al. (Locality approximation using time): in an interval of n accesses, the one with k accesses left until the end is the last of
 * its granule with the probability that a time distance is greater than k; the number of distinct granules is the sum of that. They take the
 * whole run as one: an access anywhere has the same chance. In a loop over
 * a large array behind many turns over small ones that is far from right: all of its accesses are, and the formula has a few of them. So
 * the uses are cut into parts by the time at which they were sampled, each part has distances of its own, and the
 * sum over the interval from use to reuse takes each of its accesses by the part that it falls into. With one part it is Shen's formula, and
 * one it is unless the distances of parts differ by more than chance. */
#ifndef AS_REUSE_LOCAL_STACK_H
#define AS_REUSE_LOCAL_STACK_H

#include "reuse/reuse_watch.h"

struct as_local_stack;
/* `accesses` is the number of accesses that time passes with: of a thread where distances are a thread's, of all where they are all threads'.
 * What another thread invalidated is touched again mostly, when is not known: it counts as given up. */
struct as_local_stack *as_local_stack_new(const struct as_watch_outcome *outcomes, size_t n, uint64_t accesses);
void as_local_stack_free(struct as_local_stack *stack);
/* Distinct granules from the use of an outcome to its reuse. */
double as_local_stack_granules(const struct as_local_stack *stack, size_t outcome);

#endif
