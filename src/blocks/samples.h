/* What sampling saw of a program's blocks: addresses with what each stands for, and branch stacks, added up as they come.
 *
 * This is the one way in for every source: a recording of perf, a modelled unit, a live session. A sample is an address,
 * a weight and perhaps the branches before it; where its addresses belong is asked once for each different one, when
 * what is mapped may change and at the end (as_samples_settle). So the cost of a sample is a few look-ups in hash maps,
 * and memory follows the code, not the recording.
 */
#ifndef AS_BLOCKS_SAMPLES_H
#define AS_BLOCKS_SAMPLES_H

#include "blocks/cfg.h"

struct as_samples_branch {
    uint64_t from, to;
    bool mispredicted;
};

struct as_samples_one {
    uint64_t ip;
    double weight; /* what it stands for: instructions, micro-operations or taken branches, as the event counts */
    const struct as_samples_branch *branches; /* newest first */
    size_t n_branches;
    double run_weight; /* of each branch and run of the stack; 0: the weight, shared among them */
    uint64_t times;    /* it came so often, each with these weights; 0: once */
};

/* An address, or a pair of them: of a branch its ends, of a run the target before it and the branch behind it. */
struct as_samples_pair {
    uint32_t module, to_module;
    uint64_t from, to;
    double weight;
    uint64_t count, mispredicted;
};
typedef AS_VEC(struct as_samples_pair) as_samples_pairs;

struct as_samples_counts {
    uint64_t samples, with_branches;
    uint64_t entries;  /* of branch stacks */
    uint64_t empty;    /* entries without an address */
    uint64_t repeated; /* the two newest are the same: Skylake writes some twice */
    uint64_t oldest;   /* stacks whose oldest entry was left out */
    uint64_t backward; /* runs that would end before they begin: entries are missing between */
};

struct as_samples;
struct as_samples_options {
    bool drop_oldest; /* leave out the oldest entry of each stack */
    bool unordered;   /* addresses are numbers of which a higher one need not lie behind: entries are not held against
                         each other before they are placed */
};
struct as_samples *as_samples_new(const struct as_samples_options *options); /* NULL: defaults */
void as_samples_free(struct as_samples *samples);
void as_samples_add(struct as_samples *samples, const struct as_samples_one *one);

/* Samples were taken on branches: the address of each says that its block ran so often, however long it is. */
void as_samples_are_branches(struct as_samples *samples);
bool as_samples_of_branches(const struct as_samples *samples);

/* Says where an address is: false where nothing is known to be there. `arch` of the module. */
typedef bool as_samples_place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset);
/* Moves what was added so far into places of the graph; before that changes, and at the end. */
void as_samples_settle(struct as_samples *samples, struct as_cfg *cfg, as_samples_place *place, void *context);

/* Moves what was settled; `from` is empty then. */
void as_samples_move(struct as_samples *to, struct as_samples *from);

/* After that. Lists are in no order, and may have an address several times. */
const as_samples_pairs *as_samples_ips(const struct as_samples *samples);
const as_samples_pairs *
as_samples_fixed_ips(const struct as_samples *samples); /* with IP+1 put right: inside the instruction */
const as_samples_pairs *as_samples_branches(const struct as_samples *samples);
const as_samples_pairs *as_samples_runs(const struct as_samples *samples);
const struct as_samples_counts *as_samples_counted(const struct as_samples *samples);
double as_samples_unplaced(const struct as_samples *samples); /* part of the weight of addresses that are nowhere */

/* Branches that sit in the oldest place of stacks far more often than elsewhere, by their share of those places: the
 * stack's bias. Returns how many were written. */
struct as_samples_sticky {
    uint64_t from, to;
    double share, expected; /* of the oldest entries, and of all */
};
size_t as_samples_sticky(const struct as_samples *samples, struct as_samples_sticky *list, size_t max);

#endif
