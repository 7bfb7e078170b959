/* What a folder of jobs is to do: one program on several machines, several times. A job is one `assay record`.
 *
 * Jobs have numbers from 0 on: all runs of the first machine, then those of the second, and so on. Machines are all
 * combinations of --core and the values of each --set. Nothing is stored for a job but its number, so a million of them
 * cost no more than one. The plan is a text file (doc/man/assay-jobs.1), so that other hosts can read it.
 */
#ifndef AS_JOBS_PLAN_H
#define AS_JOBS_PLAN_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdint.h>

struct as_words {
    AS_VEC(char *) list;
};
void as_words_add(struct as_words *words, char *word); /* which it owns from here on */
void as_words_free(struct as_words *words);

struct as_jobs_plan {
    char *directory;         /* where the program runs */
    struct as_words program; /* and its arguments */
    struct as_words options; /* of record */
    struct as_words cores;   /* none: the usual one */
    struct as_words sets;    /* KEY=VALUE,VALUE,… */
    uint64_t repeat;         /* runs on each machine */
};
void as_jobs_plan_free(struct as_jobs_plan *plan);

/* The plan as text, and back. */
void as_jobs_plan_write(const struct as_jobs_plan *plan, struct as_str *text);
bool as_jobs_plan_read(struct as_jobs_plan *plan, const char *text, struct as_error *err) AS_MUST_CHECK;
/* Whether there is a program, and a number of jobs that can be done. */
bool as_jobs_plan_check(const struct as_jobs_plan *plan, struct as_error *err) AS_MUST_CHECK;

enum { AS_JOBS_MOST = 10000000 };
uint64_t as_jobs_count_machines(const struct as_jobs_plan *plan); /* AS_JOBS_MOST + 1: too many */
uint64_t as_jobs_count(const struct as_jobs_plan *plan);
/* "zen4-like back.rob=64". The caller frees. */
char *as_jobs_machine_name(const struct as_jobs_plan *plan, uint64_t machine);
/* The command of a job: argv[0] is `assay`, the profile is `output`. */
struct as_words as_jobs_command(const struct as_jobs_plan *plan, uint64_t job, const char *assay, const char *output);

#endif
