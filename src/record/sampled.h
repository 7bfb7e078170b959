/* A profile of a whole program, estimated from parts of it.
 *
 * The first `head` instructions are measured in full. If the program goes on, it is not measured from there, except for
 * short regions at random places of equal periods; between them, or at least before each, caches and predictors are
 * warmed. A stratum is a part of the run with one density of regions: the head, then 500 regions at a time, with periods
 * that double.
 *
 * The estimate is a ratio for each instruction: its number of executions is known exactly for the whole stratum, and
 * the cost of an execution is known from the stratum's regions. So the time of code that the regions execute rarely or
 * often is estimated correctly without knowledge of phases. Regions are assigned to AS_SAMPLED_GROUPS groups; the
 * estimate without one group is a replicate, and the spread of the replicates gives the error bar (delete-a-group
 * jackknife). See doc/design/sampled.md.
 *
 * Calls: new, as_sampled_attach and as_sampled_prepare before the run, as_sampled_finish after it, then read the results.
 */
#ifndef AS_RECORD_SAMPLED_H
#define AS_RECORD_SAMPLED_H

#include "observe/pics.h"
#include "record/modelled.h"
#include "record/sampled_parts.h"
#include "record/sampling_plan.h"
#include "score/confidence.h"

struct as_sampled;
struct as_sampled *as_sampled_new(const struct as_sampled_options *options);
/* The same from simulation points (points_run.h): all functions below work for it. */
struct as_sampled *as_sampled_new_points(const struct as_points_plan *plan);
void as_sampled_free(struct as_sampled *sampled); /* accepts NULL; before what it is attached to */
/* Sets what the engine needs to know of it, too. */
void as_sampled_attach(struct as_sampled *sampled, struct as_modelled *modelled, struct as_engine_options *engine);
/* Between the two: measures what needs runs of its own (points_again.h); engine: as attached, with all that the run is given. */
bool as_sampled_prepare(struct as_sampled *sampled, const struct as_engine_options *engine,
                        struct as_error *err) AS_MUST_CHECK;
/* Call this after the run, when the Oracle has finished. */
bool as_sampled_finish(struct as_sampled *sampled, bool interrupted, struct as_error *err) AS_MUST_CHECK;
/* For simulation points: how many phases there are (0: it is sampled systematically), and the part by which the instructions of
 * the run, or of a point, differ from those of the run in which they were chosen. */
size_t as_sampled_phases(const struct as_sampled *sampled);
double as_sampled_differs(const struct as_sampled *sampled);
/* Whether the spread of the estimate is known. */
bool as_sampled_has_error(const struct as_sampled *sampled);
/* What its regions are expected to differ by. Returns false where the phases of simulation points are not known. */
bool as_sampled_prior(const struct as_sampled *sampled, struct as_region_prior *prior);

/* Whether the program ended in the head: then everything was measured, and the functions below are not needed. */
bool as_sampled_is_whole(const struct as_sampled *sampled);

struct as_sampled_summary {
    uint64_t instructions; /* executed; exact */
    uint64_t measured;     /* of these, measured in detail */
    uint64_t unseen;       /* executions of instructions that no region executed */
    uint64_t units;        /* the estimate: 1/720720 cycle */
    double unseen_reads;   /* the part of it that reads of DRAM can take which regions have too few or too many of */
    double error;          /* of the estimate: half the 95 % interval, as a fraction */
    double common;         /* the part of that that all regions have in common */
    uint32_t regions, strata;
    uint64_t
        warm; /* instructions of warming that later regions have; AS_REGION_ALL: all, 0: given, or none needed it */
    uint64_t
        warm_short; /* the shortest whose regions take the same time as with all, or the longest that was tried … */
    double warm_error; /* … and the part by which they differ */
};
const struct as_sampled_summary *as_sampled_summary(const struct as_sampled *sampled);
/* The counters of the whole program. */
const struct as_counters *as_sampled_counters(const struct as_sampled *sampled);

/* Like the Oracle's, for the whole program. Rows of a thread add up to its components; all rows to `units`. */
const struct as_oracle_row *as_sampled_row(const struct as_sampled *sampled, uint32_t thread, uint32_t id);
struct as_pics as_sampled_thread_pics(const struct as_sampled *sampled, uint32_t thread);
struct as_pics as_sampled_path_pics(const struct as_sampled *sampled);
/* What the dynamic linker has of the estimate. */
struct as_modelled_start as_sampled_start(const struct as_sampled *sampled);
/* The estimate of an instruction's units without one group of regions. */
uint64_t as_sampled_replicate(const struct as_sampled *sampled, uint32_t group, uint32_t id);
/* Components, states and counters in replicates. */
const struct as_replicate_parts *as_sampled_replicate_parts(const struct as_sampled *sampled);
/* The estimate of its units; and its units in the regions, by the instructions that these stand for, as paths have it. */
double as_sampled_time(const struct as_sampled *sampled, uint32_t id);
double as_sampled_extended(const struct as_sampled *sampled, uint32_t id);
/* The units of an instruction in the head; of a call path there, in regions, by the instructions that these stand for, and likewise
 * without one group of regions. */
double as_sampled_head(const struct as_sampled *sampled, uint32_t id);
double as_sampled_path_head(const struct as_sampled *sampled, uint32_t path);
double as_sampled_path_regions(const struct as_sampled *sampled, uint32_t path);
double as_sampled_path_replicate(const struct as_sampled *sampled, uint32_t group, uint32_t path);
/* Whether some of an instruction's time is that of other code, because no region executed it. */
bool as_sampled_is_guessed(const struct as_sampled *sampled, uint32_t id);

#endif
