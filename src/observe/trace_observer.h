/* Pipeline traces: the records of a run in formats that others read (doc/format/traces.md).
 *
 * Each trace is an observer of its own. A guest thread has a core of its own whose cycles count from 1, so each thread
 * gets a file of its own; a thread that executes another program goes on in its file. What a trace keeps in memory is
 * bounded by what the core can have in flight, not by the length of the run.
 */
#ifndef AS_OBSERVE_TRACE_OBSERVER_H
#define AS_OBSERVE_TRACE_OBSERVER_H

#include "assay/observer.h"

struct as_trace_format;
extern const struct as_trace_format as_trace_konata, as_trace_o3pipeview, as_trace_cycles, as_trace_all_cycles,
    as_trace_commit_csv, as_trace_commit_binary;

/* Where traces go. Called on the observer's thread, once for each guest thread. NULL: this one is not written. The file
 * stays the caller's; it is complete after the observer's finish. */
struct as_trace_files {
    FILE *(*open)(void *context, uint32_t thread);
    void *context;
};

struct as_trace;
/* `run` must outlive it. */
struct as_trace *as_trace_new(const struct as_trace_format *format, const struct as_run_info *run,
                              const struct as_trace_files *files);
void as_trace_free(struct as_trace *trace);
extern const struct as_observer as_trace_observer; /* its self is the as_trace; its finish writes nothing to `out` */

#endif
