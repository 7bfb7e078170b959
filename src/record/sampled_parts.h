/* What parts of the time differ by between the groups of regions: the components of instructions and of call paths, commit states,
 * counters. From what each group has, the same parts in the replicates (sampled.h): where those of the whole estimate are the time of
 * an instruction in the proportions of its regions, those of a replicate are its time there in the proportions of the regions that are
 * left. So the parts of each instruction add up to its time in every replicate. */
#ifndef AS_RECORD_SAMPLED_PARTS_H
#define AS_RECORD_SAMPLED_PARTS_H

#include "base/counters.h"
#include "base/map.h"
#include "base/vec.h"
#include "observe/pics.h"
#include "observe/stacks.h"

#include <stdint.h>

enum { AS_SAMPLED_GROUPS = 10, AS_SAMPLED_COUNTERS = sizeof(struct as_counters) / sizeof(uint64_t) };

/* Units by group of something that has two numbers: an instruction or a path, and its events or its state. */
struct as_group_part {
    uint32_t id, key;
    double units[AS_SAMPLED_GROUPS];
};
struct as_group_parts {
    struct as_map index;
    AS_VEC(struct as_group_part) list;
};
double *as_group_parts_at(struct as_group_parts *parts, uint32_t id, uint32_t key); /* valid until the next call */
const double *as_group_parts_find(const struct as_group_parts *parts, uint32_t id, uint32_t key); /* NULL: none */
/* Sorts; nothing is added any more. Then those of an instruction: *n of them. */
void as_group_parts_sort(struct as_group_parts *parts);
const struct as_group_part *as_group_parts_of(const struct as_group_parts *parts, uint32_t id, size_t *n);
void as_group_parts_join(struct as_group_parts *to, const struct as_group_parts *from);
void as_group_parts_free(struct as_group_parts *parts);

/* Of a stratum: what the groups of regions have. */
struct as_stratum_parts {
    struct as_group_parts events, states, paths; /* by instruction, instruction and path */
    AS_VEC(double) counters;                     /* by group, by number of the counter */
};
void as_stratum_parts_join(struct as_stratum_parts *to, const struct as_stratum_parts *from);
void as_stratum_parts_free(struct as_stratum_parts *parts);
/* Adds what a group counted, so many times as much. */
void as_stratum_parts_count(struct as_stratum_parts *parts, uint32_t group, const struct as_counters *counters,
                            double factor);
double as_stratum_parts_counter(const struct as_stratum_parts *parts, uint32_t group, size_t counter);

/* Of the estimate: what replicates have. */
struct as_replicate_parts {
    struct as_group_parts events; /* by instruction; time without events is the rest */
    /* Of the whole program, without the head: commit states, and kinds of time. */
    uint64_t states[AS_SAMPLED_GROUPS][AS_STATE_COUNT];
    struct as_stack stacks[AS_SAMPLED_GROUPS];
    uint64_t head_states[AS_STATE_COUNT];
    struct as_stack head_stack;
    double counters[AS_SAMPLED_GROUPS][AS_SAMPLED_COUNTERS];
    /* The variance of counters if what they count came by chance, each by itself, and regions had one more: they can have none of what
     * is rare. */
    double chance[AS_SAMPLED_COUNTERS];
    struct as_group_parts paths; /* by path, in the head and in regions, which stand for what they stand for there */
};
void as_replicate_parts_free(struct as_replicate_parts *parts);

struct as_sampled;
struct as_scales;
struct as_stratum;
/* Notes what was charged in a region, the first one in full. */
void as_sampled_take_parts(struct as_sampled *sampled, uint32_t group);
/* Adds a stratum. */
void as_sampled_fold_parts(struct as_sampled *sampled, const struct as_stratum *stratum,
                           const struct as_scales *scales);

#endif
