/* What happened, beside what a unit samples of it: how often each instruction was the event that a counter counts. An
 * observer of its own, so that the samples can be compared with all that they were taken from.
 *
 * Only the program's own instructions are counted: the kernel stub has none. Two kinds of counters have no truth here.
 * Cycles are accounted for by the Oracle. Fetches are reported by where they began, which is not a count of an
 * instruction.
 */
#ifndef AS_PMU_TRUTH_H
#define AS_PMU_TRUTH_H

#include "assay/observer.h"
#include "pmu/pmu_request.h"

struct as_pmu_truth;
/* Copies what it needs of the request. */
struct as_pmu_truth *as_pmu_truth_new(const struct as_run_info *run, const struct as_pmu_request *request);
extern const struct as_observer as_pmu_truth_observer; /* its self is the as_pmu_truth; its finish writes nothing */

/* After finish: events by instruction id; NULL: the counter has no truth here. */
const uint64_t *as_pmu_truth_of(const struct as_pmu_truth *truth, size_t counter, size_t *n);

#endif
