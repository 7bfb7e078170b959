/* Runs jobs: on this machine, or on a Slurm cluster. Both leave profiles and logs in the folder; what is done is found
 * there (jobs_folder.h). False and `err`: no more jobs could be started. */
#ifndef AS_JOBS_RUN_H
#define AS_JOBS_RUN_H

#include "base/notice.h"
#include "jobs/jobs_folder.h"

struct as_jobs_how {
    const char *assay;         /* the program that jobs run */
    uint64_t at_once;          /* on this machine */
    uint64_t seconds;          /* that a job may take; 0: any */
    const char *partition;     /* of Slurm; NULL: the usual one */
    uint64_t megabytes, tasks; /* of memory for a task, 0: the usual; the most tasks of an array */
    struct as_notices notices;
};

bool as_jobs_run_here(const struct as_jobs *jobs, const struct as_job_list *list, const struct as_jobs_how *how,
                      struct as_error *err) AS_MUST_CHECK;
bool as_jobs_run_slurm(const struct as_jobs *jobs, const struct as_job_list *list, const struct as_jobs_how *how,
                       struct as_error *err) AS_MUST_CHECK;
/* The jobs of task number `task` of the list that was submitted last. */
bool as_jobs_task(const struct as_jobs *jobs, uint64_t task, struct as_job_list *list,
                  struct as_error *err) AS_MUST_CHECK;

#endif
