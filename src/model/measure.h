/* What the cores of a run did in its measured stretches, by region: differences of their counters.
 *
 * Calls: as_measure_begin with the region, and as_measure_core for the counters of each core; as_measure_leave for each
 * core that ends or is there when the stretch ends; then as_measure_end. Counters of which the machine has only one
 * (last-level cache, DRAM, time) are read at both ends of the stretch.
 */
#ifndef AS_MODEL_MEASURE_H
#define AS_MODEL_MEASURE_H

#include "base/counters.h"
#include "base/vec.h"
#include "core/core.h"

struct as_measure {
    struct as_counters total;           /* of all regions */
    AS_VEC(struct as_counters) regions; /* by number */
    bool on;                            /* a stretch is being measured … */
    uint32_t region;                    /* … of this region */
    struct as_counters stretch;         /* counted so far in the stretch */
    struct as_counters machine,
        started;           /* counters of which the machine has only one: as last read, and at the stretch's start */
    double began, seconds; /* on the host's clock: when the stretch began; the length of those that have ended */
};

void as_measure_free(struct as_measure *measure);
void as_measure_begin(struct as_measure *measure, uint32_t region);
void as_measure_end(struct as_measure *measure);
/* Returns a core's current counters. */
struct as_counters as_measure_core(struct as_measure *measure, const struct as_core *core);
/* Adds what the core did in the stretch, if one is being measured. `before`: its counters at the stretch's start. */
void as_measure_leave(struct as_measure *measure, const struct as_core *core, const struct as_counters *before);

#endif
