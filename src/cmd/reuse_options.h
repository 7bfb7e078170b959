/* The options of `assay reuse`, and which of them go together: its methods in the model and its ways on this machine have few in
 * common. */
#ifndef AS_CMD_REUSE_OPTIONS_H
#define AS_CMD_REUSE_OPTIONS_H

#include "cmd/run_options.h"
#include "reuse/reuse_run.h"

enum as_reuse_source { AS_REUSE_MODEL, AS_REUSE_TIMER, AS_REUSE_PMU };

struct as_reuse_request {
    struct as_run_options run;
    bool json, csv, html, exact, shared, disturb, no_paths, allocations, adjacent;
    int source;      /* enum as_reuse_source */
    int method;      /* enum as_reuse_method */
    int replacement; /* enum as_watch_replacement */
    const char *output, *core, *pmu;
    struct as_strlist set;
    uint64_t granularity, sockets, interval, jobs, top, lines, period, registers, lag, seed, pid, ahead;
    double rate, budget, duration;
};

extern const struct as_option as_reuse_options_table[];
struct as_reuse_request as_reuse_request_default(void);
/* Whether the options go together, with `n` words behind them; if not, `err` has what is wrong with the usage. */
bool as_reuse_request_check(const struct as_reuse_request *request, int n, struct as_error *err) AS_MUST_CHECK;

#endif
