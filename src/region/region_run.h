/* A run through a list of regions: what is to be done with the next instruction.
 *
 * The run is cut into stretches, each in one mode. Whoever executes instructions
 *   - asks for `stretch.mode` and tells as_region_run_count how many it has executed in it, never more than `left`;
 *   - when none is left, calls as_region_run_cross before the next instruction;
 *   - calls as_region_run_pass before an instruction that is a landmark;
 *   - calls as_region_run_signal, _time and _clock when those things happen, where `awaits` names them.
 * The last three can begin another stretch, with the instruction that comes next. `on_change` is called whenever one
 * has begun. When `over` is set there is nothing more to measure.
 */
#ifndef AS_REGION_REGION_RUN_H
#define AS_REGION_REGION_RUN_H

#include "region/regions.h"

enum { AS_REGION_NONE = UINT32_MAX };

struct as_stretch {
    enum as_mode mode;
    uint32_t region; /* the region that is open; AS_REGION_NONE: between regions */
};

/* What became of a region. */
struct as_region_outcome {
    uint64_t instructions; /* executed in it */
    uint32_t times;        /* that it started */
    bool stopped;          /* its stop point, or its most instructions, came before the program's end */
    bool missed;           /* its start point was past when the region before it stopped */
};

struct as_region_run {
    const struct as_regions *regions;
    struct as_stretch stretch;
    uint64_t left;             /* instructions before the next border that is known by count */
    uint64_t count;            /* executed so far */
    enum as_point_kind awaits; /* the kind of point that the run waits for besides counts; AS_POINT_NONE: none */
    bool over;
    void (*on_change)(void *context);
    void *context;

    /* private */
    uint32_t at;                        /* the region that is open or comes next */
    uint64_t begin;                     /* the count at which it begins; UINT64_MAX: not known yet */
    uint64_t began;                     /* the count at which the stretch began */
    uint64_t *passed;                   /* by landmark: how often it was executed */
    struct as_region_outcome *outcomes; /* by region */
};

/* No regions: one that has all of the program. `regions` must outlive the run. */
void as_region_run_init(struct as_region_run *run, const struct as_regions *regions);
void as_region_run_free(struct as_region_run *run);

static inline void as_region_run_count(struct as_region_run *run, uint64_t n)
{
    run->count += n;
    run->left -= n; /* never gets small where there is no border: it starts from 2^64 - 1 */
}

void as_region_run_cross(struct as_region_run *run);
void as_region_run_pass(struct as_region_run *run, uint32_t landmark);
/* Whether passing it now would begin another stretch. */
bool as_region_run_heeds(const struct as_region_run *run, uint32_t landmark);
void as_region_run_signal(struct as_region_run *run);
/* Whether a time that the run waits for has come. */
bool as_region_run_is_due(const struct as_region_run *run, uint64_t nanoseconds);
void as_region_run_time(struct as_region_run *run, uint64_t nanoseconds); /* since the program's start */
void as_region_run_clock(struct as_region_run *run, uint64_t cycle);      /* the model's time */

/* Whether crossing the border that comes when `left` is 0 ends everything. */
bool as_region_run_ends_next(const struct as_region_run *run);

/* Where it waits for a landmark to start a region: how many executions of it do not start it yet. */
uint64_t as_region_run_passes_left(const struct as_region_run *run);
/* … and how many instructions are only counted between the start point and what comes after. */
uint64_t as_region_run_lead(const struct as_region_run *run);
/* Whether instructions of any region were executed. */
bool as_region_run_reached(const struct as_region_run *run);
/* At the end: what went otherwise than the region asks for, in one line. False: nothing. `known`: its start landmark
 * exists in the program. */
bool as_region_run_explain(const struct as_region_run *run, uint32_t region, bool known, char *text, size_t size);
/* What has become of a region so far, or at the end of the run. */
struct as_region_outcome as_region_run_outcome(const struct as_region_run *run, uint32_t region);

#endif
