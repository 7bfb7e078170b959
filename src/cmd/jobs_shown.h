/* What the jobs of a folder found, as a table. */
#ifndef AS_CMD_JOBS_SHOWN_H
#define AS_CMD_JOBS_SHOWN_H

#include "jobs/jobs_collect.h"

#include <stdio.h>

enum as_jobs_form { AS_JOBS_TEXT, AS_JOBS_JSON, AS_JOBS_CSV };

/* Merges what is there, machine by machine, and prints it. Returns the exit status: AS_EXIT_FAILURE where jobs are missing;
 * -1 and `err` where nothing could be shown. */
int as_jobs_show(const struct as_jobs *jobs, enum as_jobs_form form, FILE *out, struct as_error *err) AS_MUST_CHECK;

#endif
