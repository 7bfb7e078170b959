/* A folder of jobs: the plan, and what is done of it.
 *
 *   plan               what is to be done (jobs_plan.h)
 *   jobs/G/N.db        the profile of job N, whole or not there; G is N / 1000, so that no folder gets large
 *   jobs/G/N.new       the same of a job that has not ended
 *   jobs/G/N.log       what a job without a profile printed last
 *   machine-M.db       all runs of machine M, merged
 *   slurm/             lists of jobs that were submitted, scripts, output
 *
 * A job is done when its profile is there; nothing else is kept about it. So any number of processes, on any hosts that
 * see the folder, may work on it, and whatever happens to one of them costs the jobs that it was at.
 */
#ifndef AS_JOBS_FOLDER_H
#define AS_JOBS_FOLDER_H

#include "jobs/jobs_plan.h"

struct as_jobs {
    char *folder; /* an absolute path */
    struct as_jobs_plan plan;
};

/* A list of jobs by number. */
struct as_job_list {
    AS_VEC(uint64_t) list;
};

/* Makes the folder, or finds it with the same plan. The plan is the folder's from here on. */
bool as_jobs_create(struct as_jobs *jobs, const char *folder, struct as_jobs_plan *plan,
                    struct as_error *err) AS_MUST_CHECK;
/* One that is there. */
bool as_jobs_open(struct as_jobs *jobs, const char *folder, struct as_error *err) AS_MUST_CHECK;
void as_jobs_free(struct as_jobs *jobs);

char *as_jobs_profile(const struct as_jobs *jobs, uint64_t job);    /* paths; the caller frees */
char *as_jobs_unfinished(const struct as_jobs *jobs, uint64_t job); /* the profile while its job runs */
char *as_jobs_log(const struct as_jobs *jobs, uint64_t job);
char *as_jobs_merged(const struct as_jobs *jobs, uint64_t machine);
/* Makes the folder of a job's files, or "slurm" and the like. */
bool as_jobs_make_folder(const struct as_jobs *jobs, const char *name, struct as_error *err) AS_MUST_CHECK;

/* Reads each folder once. `done` has a place for every job. */
void as_jobs_find_done(const struct as_jobs *jobs, bool *done);
struct as_job_list as_jobs_missing(const struct as_jobs *jobs);
/* "3, 17-20". */
void as_job_list_show(const struct as_job_list *list, struct as_str *text);

/* The whole of a small text file; NULL and `err` where it cannot be read. The caller frees. */
char *as_jobs_read_text(const char *path, struct as_error *err) AS_MUST_CHECK;
/* The last line of a text file that says something; an empty text where there is none. The caller frees. */
char *as_jobs_last_line(const char *path);
/* Writes a file: whole, or not at all. */
bool as_jobs_write_text(const char *path, const char *text, struct as_error *err) AS_MUST_CHECK;

#endif
