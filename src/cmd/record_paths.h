/* The call paths of a run in the model, as a profile has them. */
#ifndef AS_CMD_RECORD_PATHS_H
#define AS_CMD_RECORD_PATHS_H

#include "cmd/record_series.h"

/* Adds the calling-context tree and the golden time of each path; paths of programs that were executed several times
 * are one. False where the times do not add up to the run's. */
bool as_record_paths_add(struct as_record_series *all, struct as_error *err) AS_MUST_CHECK;

#endif
