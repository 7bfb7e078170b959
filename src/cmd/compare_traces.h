/* The pipeline traces that `assay compare` writes: a file for each format asked for and each guest thread, FILE for the
 * first thread and FILE.N for thread N, which appear whole when the run is over, or not at all. */
#ifndef AS_CMD_COMPARE_TRACES_H
#define AS_CMD_COMPARE_TRACES_H

#include "base/error.h"
#include "observe/fanout.h"

/* File names; NULL: not asked for. */
struct as_trace_options {
    const char *konata, *o3pipeview, *cycles;
};

struct as_traces;
/* Opens the first thread's files, so that a run is not lost to a wrong path, and adds the observers to the fan-out.
 * NULL and `err` on failure. */
struct as_traces *as_traces_open(const struct as_trace_options *options, const struct as_run_info *run,
                                 struct as_fanout *fanout, struct as_error *err) AS_MUST_CHECK;
/* After as_fanout_report: gives the files their names and says how large they are. */
bool as_traces_finish(struct as_traces *traces, struct as_error *err) AS_MUST_CHECK;
void as_traces_free(struct as_traces *traces); /* after as_fanout_free; files that are not finished never appear */

#endif
