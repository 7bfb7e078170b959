/* Regions that count by their weights: a profile whose times, executions and counters are weighted sums.
 *
 * What is measured of a run has one place for each instruction, not one for each region. So the program runs once for
 * each weight; the regions that have another one go through the model there as well, and are not measured. Caches,
 * predictors and times are then the same in all of these runs. Their profiles, which have no names, are merged by the
 * weights. What the program writes to standard output is shown by the first run. */
#ifndef AS_RECORD_WEIGHTS_H
#define AS_RECORD_WEIGHTS_H

#include "record/record_internal.h"

/* Runs the program with one source, as often as there are weights, and merges into the record's writer. */
bool as_record_run_weighted(struct as_record *record, const struct as_record_source *source,
                            struct as_record_result *result, struct as_error *err) AS_MUST_CHECK;

#endif
