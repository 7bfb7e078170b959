/* What the cores of a run did in its measured stretches, by region: differences of their counters.
 *
 * Calls: begin with the region, and measure_core for the counters of each core that there is; leave for each core that
 * ends or is there when the stretch ends; then end. Counters that the machine has only one of (of the last-level cache,
 * of DRAM, the time) are taken as they stand at both ends.
 */
#ifndef AS_MODEL_MEASURE_H
#define AS_MODEL_MEASURE_H

#include "base/counters.h"
#include "base/vec.h"
#include "core/core.h"

struct as_measure {
    struct as_counters total;            /* of all regions */
    AS_VEC(struct as_counters) regions;  /* by number */
    bool on;                             /* a stretch is being measured … */
    uint32_t region;                     /* … of this region */
    struct as_counters stretch;          /* what it has come to */
    struct as_counters machine, started; /* what there is one of: as last seen, and at the stretch's start */
};

void as_measure_free(struct as_measure *measure);
void as_measure_begin(struct as_measure *measure, uint32_t region);
void as_measure_end(struct as_measure *measure);
/* A core's counters as they are now. */
struct as_counters as_measure_core(struct as_measure *measure, const struct as_core *core);
/* The core is done with the stretch, if one is being measured. `before`: its counters at the stretch's start. */
void as_measure_leave(struct as_measure *measure, const struct as_core *core, const struct as_counters *before);

#endif
