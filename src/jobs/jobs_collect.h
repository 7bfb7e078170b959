/* What the jobs of a machine found: a row of numbers, and their profiles merged into one. */
#ifndef AS_JOBS_COLLECT_H
#define AS_JOBS_COLLECT_H

#include "base/notice.h"
#include "jobs/jobs_folder.h"
#include "score/confidence.h"

struct as_jobs_row {
    uint64_t machine, runs;  /* profiles that are there, of plan.repeat */
    struct as_spread cycles; /* of them; n 0: none has cycles */
    struct as_spread cpi;
    uint64_t fewest, most;         /* instructions of a run */
    struct as_job_list unreadable; /* profiles that are there and cannot be read */
    char *merged;                  /* the path of the merged profile; NULL: none */
};

/* Reads what is there of a machine's runs, and merges it. `done` is by job. False and `err`: they could not be merged. */
bool as_jobs_collect(const struct as_jobs *jobs, uint64_t machine, const bool *done, const struct as_notices *notices,
                     struct as_jobs_row *row, struct as_error *err) AS_MUST_CHECK;
/* The same in a process of its own, so that machines are collected side by side: begin, then end, which waits. Without
 * memory or processes, `begin` does all of it. */
struct as_jobs_collector;
struct as_jobs_collector *as_jobs_collect_begin(const struct as_jobs *jobs, uint64_t machine, const bool *done,
                                                const struct as_notices *notices);
bool as_jobs_collect_end(struct as_jobs_collector *collector, const struct as_jobs *jobs, struct as_jobs_row *row,
                         struct as_error *err) AS_MUST_CHECK;
void as_jobs_row_free(struct as_jobs_row *row);

#endif
