/* The observers that come with Assay, by name: `assay compare --observer NAME[,ARGUMENT]`, and `assay stat` for those of
 * accesses alone. To add one: its file, its declaration here, its line in bundled.c. */
#ifndef AS_OBSERVE_BUNDLED_H
#define AS_OBSERVE_BUNDLED_H

#include "assay/observer.h"

const struct as_observer *as_bundled_find(const char *name); /* NULL: there is none of that name */
const struct as_observer *as_bundled_at(size_t index);       /* NULL: behind the last */
/* What its argument is, for people: "FILE[,CYCLES]". Its create prints nothing itself when it refuses one. */
const char *as_bundled_argument(const struct as_observer *observer);

extern const struct as_observer as_konata_observer, as_o3pipeview_observer, as_cycle_trace_observer;
extern const struct as_observer as_cycle_trace_all_observer;
extern const struct as_observer as_commit_csv_observer, as_commit_trace_observer;
extern const struct as_observer as_counters_observer, as_timeline_observer;
extern const struct as_observer as_calls_observer, as_flame_observer;

#endif
