/* The call paths of a modelled run in a profile. */
#ifndef AS_RECORD_PATHS_H
#define AS_RECORD_PATHS_H

#include "record/record_series.h"

struct as_record_paths;

/* Adds the calling-context tree; a program that was executed several times has its paths once. */
struct as_record_paths *as_record_paths_add(struct as_record_series *all);
void as_record_paths_free(struct as_record_paths *paths);

/* Adds the times of the current series by path, with components unless `events` is 0. `samples`: the counts are
 * samples. Returns false if they do not add up to `units`. */
bool as_record_paths_times(const struct as_record_paths *paths, const struct as_pics *pics, bool samples,
                           uint32_t events, uint64_t units, const char *name, struct as_error *err) AS_MUST_CHECK;

/* Adds a component of a path's time to a series; nothing for time without a path. */
void as_record_paths_add_time(const struct as_record_paths *paths, uint32_t series, uint32_t path, uint64_t events,
                              uint64_t units);

#endif
