/* Per-instruction cycle stacks (PICS): time by static instruction and combination of events.
 *
 * A stack is the entries of one instruction, one for each combination of events that its executions met, in the
 * Oracle's units; the entry without events is what the TEA paper calls Base. The golden reference (observe/oracle.h)
 * and every sampler with events (sampler/sampling.h) give their result as this, so that code which reads one can read all.
 */
#ifndef AS_OBSERVE_PICS_H
#define AS_OBSERVE_PICS_H

#include "observe/events.h"
#include "observe/profile.h"

struct as_pics_entry {
    uint32_t id;     /* of the static instruction; of the group or the call path where that was asked for */
    uint32_t events; /* all that were met together */
    uint64_t units;  /* 1/720720 cycle */
    uint64_t count;  /* golden: executions that met exactly these, iterations of rep instructions each; of a sampler:
                        samples */
};

/* What entries are sorted by: id, then events. */
static inline uint64_t as_pics_key(const struct as_pics_entry *entry)
{
    return (uint64_t)entry->id << 32 | entry->events;
}

/* Sorted by id, then events; each pair once. All 0 is an empty one. */
struct as_pics {
    struct as_pics_entry *data;
    size_t len, cap;
};

/* To make one: any number of entries in any order, then sort, which joins those of the same pair. */
void as_pics_push(struct as_pics *pics, const struct as_pics_entry *entry);
void as_pics_sort(struct as_pics *pics);
void as_pics_free(struct as_pics *pics);

/* The stack of one instruction: *n entries. */
const struct as_pics_entry *as_pics_find(const struct as_pics *pics, uint32_t id, size_t *n);
uint64_t as_pics_total(const struct as_pics *pics);

/* Events outside the mask cleared; ids replaced by groups unless `grouping` is NULL. The caller frees. */
struct as_pics as_pics_fold(const struct as_pics *pics, uint32_t mask, const struct as_grouping *grouping);

/* Adds up as it goes: for code that charges single samples. All 0 is an empty one. */
struct as_pics_tally {
    struct as_map index; /* id << 32 | events to the number of the entry */
    struct as_pics entries;
};
void as_pics_tally_add(struct as_pics_tally *tally, uint32_t id, uint32_t events, uint64_t units, uint64_t count);
void as_pics_tally_merge(struct as_pics_tally *into, const struct as_pics_tally *from);
void as_pics_tally_free(struct as_pics_tally *tally);

/* ---- sums ---- */

/* One event, whatever else was met with it. */
struct as_event_sum {
    uint64_t count, units;
    size_t instructions; /* static ones that met it */
    double correlation;  /* Pearson's, of count and units over these; NAN for fewer than 3, or where one is constant */
};
struct as_event_sum as_pics_event(const struct as_pics *pics, uint32_t bit);

struct as_combined_sum {
    uint64_t met, units;                     /* executions with any event, and their time */
    uint64_t combined, combined_units;       /* … with more than one bit */
    uint64_t independent, independent_units; /* … with more than one event where a dependent one stands for its
                                                root */
};
struct as_combined_sum as_pics_combined(const struct as_pics *pics);

#endif
