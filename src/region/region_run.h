/* A run through a list of regions: the state machine that decides how the next instruction is treated.
 *
 * The run consists of stretches, each in one mode. The engine that executes instructions
 *   - reads `stretch.mode` and reports executed instructions with as_region_run_count, never more than `left`;
 *   - calls as_region_run_cross before the next instruction when `left` is 0;
 *   - calls as_region_run_pass before an instruction that is a landmark;
 *   - calls as_region_run_signal, _time and _clock when those events happen, if `awaits` names them;
 *   - calls as_region_run_head before a thread executes the head of a loop again, if `seeks` is set.
 * The last four can begin another stretch, which starts with the next instruction. `on_change` is called whenever a
 * stretch has begun. Once `over` is set, there is nothing more to measure.
 */
#ifndef AS_REGION_REGION_RUN_H
#define AS_REGION_REGION_RUN_H

#include "region/regions.h"

enum { AS_REGION_NONE = UINT32_MAX };

struct as_stretch {
    enum as_mode mode;
    uint32_t region; /* the region that is open; AS_REGION_NONE: between regions */
};

/* The result of one region. */
struct as_region_outcome {
    uint64_t instructions; /* executed in the region */
    uint32_t times;        /* how often the region started */
    bool stopped;          /* it reached its stop point or its limit of instructions before the program ended */
    bool missed;           /* its start point came before the preceding region stopped */
};

struct as_region_run {
    const struct as_regions *regions;
    struct as_stretch stretch;
    uint64_t left;             /* instructions before the next border that is known by count */
    uint64_t count;            /* executed so far */
    enum as_point_kind awaits; /* the kind of point, besides counts, that the run waits for; AS_POINT_NONE: none */
    bool over;
    uint32_t threads; /* that the program has, as the engine says; 0: one */
    bool seeks; /* a region that begins or ends with the head of a loop waits for one; `left` is how long it does so */
    void (*on_change)(void *context);
    void *context;

    /* private */
    uint32_t at;                        /* the region that is open or comes next */
    uint64_t begin;                     /* the count at which it begins; UINT64_MAX: not known yet */
    uint64_t began;                     /* the count at which the stretch began */
    uint64_t *passed;                   /* by landmark: number of executions */
    struct as_region_outcome *outcomes; /* by region */
};

/* An empty list means one region that covers the whole program. `regions` must outlive the run. */
void as_region_run_init(struct as_region_run *run, const struct as_regions *regions);
void as_region_run_free(struct as_region_run *run);

static inline void as_region_run_count(struct as_region_run *run, uint64_t n)
{
    run->count += n;
    run->left -= n; /* without a border `left` starts at 2^64 - 1 and never runs out */
}

/* Instructions before the end of a counted stretch, as far as it is known, in which all executions are told where accesses are
 * sieved: what trains a branch predictor. */
enum { AS_NEAR = 200000 };
static inline uint64_t as_region_run_near(const struct as_region_run *run)
{
    return run->regions && run->regions->near ? run->regions->near : AS_NEAR;
}

void as_region_run_cross(struct as_region_run *run);
void as_region_run_pass(struct as_region_run *run, uint32_t landmark);
/* Whether passing this landmark now would begin another stretch. */
bool as_region_run_heeds(const struct as_region_run *run, uint32_t landmark);
void as_region_run_signal(struct as_region_run *run);
/* The time that the run waits for, in nanoseconds since the program's start; UINT64_MAX: none. */
uint64_t as_region_run_due(const struct as_region_run *run);
/* Whether the run waits for a time that has now come. */
bool as_region_run_is_due(const struct as_region_run *run, uint64_t nanoseconds);
void as_region_run_time(struct as_region_run *run, uint64_t nanoseconds); /* since the program's start */
void as_region_run_clock(struct as_region_run *run, uint64_t cycle);      /* the model's time */
void as_region_run_head(struct as_region_run *run);

/* Whether the run is over once the border at `left` == 0 is crossed. */
bool as_region_run_ends_next(const struct as_region_run *run);

/* If the run waits for a landmark that starts a region: how many executions of it still go by without starting it. */
uint64_t as_region_run_passes_left(const struct as_region_run *run);
/* … and how many instructions are only counted between the start point and the next stretch. */
uint64_t as_region_run_lead(const struct as_region_run *run);
/* Instructions up to the end of the region that is open or comes next; UINT64_MAX: not known. */
uint64_t as_region_run_to_end(const struct as_region_run *run);
/* What the run does once it has come to a count that lies ahead, if one thread executes all up to there. Returns false if that is not
 * known. It is known where regions begin by count alone, as long as nothing about them is `undecided`. */
struct as_region_prospect {
    uint64_t counted; /* instructions before the next border that are only counted; 0: it warms, settles or measures */
    uint64_t to_end;  /* … up to the end of the region that is open or comes next */
};
bool as_region_run_foresee(const struct as_region_run *run, uint64_t count, struct as_region_prospect *prospect);
/* Whether any instruction was executed inside a region. */
bool as_region_run_reached(const struct as_region_run *run);
/* At the end of the run: writes one line if the region was not measured as requested. Returns false if it was. `known`:
 * its start landmark exists in the program. */
bool as_region_run_explain(const struct as_region_run *run, uint32_t region, bool known, char *text, size_t size);
/* The result of a region so far, or at the end of the run. */
struct as_region_outcome as_region_run_outcome(const struct as_region_run *run, uint32_t region);

#endif
