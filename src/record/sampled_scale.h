/* How the time in a stratum's regions becomes the time in all of it. An instruction that enough regions have has a factor
 * of its own: what it was executed over what it was executed in regions. All others, with those that no region has, are
 * rare: a few executions, the first of a loop perhaps, say nothing about millions of them. They share a factor. Of some
 * rare instructions the regions then have more executions than there were, a burst that a region happens to have; they are
 * scaled to what they were executed. As many executions of others are lacking, and cost what the mean one of rare code
 * does.
 *
 * Executions do not show cold memory: the same code takes fifty times as long there. But the caches are kept up to date in all of the
 * run, so how often DRAM was read is known of every stratum, too. Time that waits for it is multiplied by the reads that there were
 * over those that the estimate has. */
#ifndef AS_RECORD_SAMPLED_SCALE_H
#define AS_RECORD_SAMPLED_SCALE_H

#include "observe/events.h"
#include "record/sampled_internal.h"

struct as_scale {
    const struct as_stratum *stratum;
    const bool *common;    /* by id */
    const double *waiting; /* by id: units in the regions that wait for DRAM */
    int group;             /* that is left out; -1: none */
    double shared;         /* 0: no region has any rare instruction */
    double lacking;        /* units of an execution of rare code that the regions have too few of */
    double expected;       /* reads of DRAM by the estimate … */
    double reads_ratio;    /* … and what the time that waits for them is multiplied by, beside its factor */
};

/* The scales of all regions, and of all but one group's. */
struct as_scales {
    struct as_scale all, without[AS_SAMPLED_GROUPS];
    double
        reads_beyond; /* reads that the estimate has too few or too many of beyond what regions differ by; below 0: none */
    bool reads_help; /* time that waits for DRAM is multiplied by reads_ratio */
    bool *common;
    double *waiting;
};
struct as_scales as_scales_make(const struct as_sampled *sampled, const struct as_stratum *stratum);
void as_scales_free(struct as_scales *scales);

/* Whether this part of an instruction's time waits for DRAM: loads for their line, stores for room behind others. */
static inline bool as_scale_waits(const struct as_pics_entry *entry)
{
    return entry->events & (AS_EVENT_ST_LLC | AS_EVENT_DR_SQ);
}

/* What the time in the regions is multiplied with; 0: they have none. */
double as_scale_factor(const struct as_scale *scale, size_t id);
/* The time of an instruction of which the regions have none. */
double as_scale_elsewhere(const struct as_sampled *sampled, const struct as_scale *scale, size_t id);
/* The estimate of an instruction's time. */
double as_scale_estimate(const struct as_sampled *sampled, const struct as_scale *scale, size_t id);

#endif
