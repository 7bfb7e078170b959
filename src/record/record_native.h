/* The real machine as a source of profiles: the task clock (timer), or events of the PMU (pmu). See record.h.
 *
 * A session (native/session.h) delivers samples in the form in which a recording of perf has them, so what becomes of
 * them is what `assay import` does (import.h). Nothing of Assay is in the program: no descriptor, no signal handler, no
 * tracer; when Assay is killed, the program goes on.
 */
#ifndef AS_RECORD_NATIVE_H
#define AS_RECORD_NATIVE_H

#include "agent/agent_host.h"
#include "import/import.h"
#include "native/session.h"
#include "record/record_internal.h"

/* ---- what is asked for: native_plan.c ---- */

enum { AS_NATIVE_MAX_EVENTS = 16 };

struct as_native_plan {
    struct as_native_event events[AS_NATIVE_MAX_EVENTS];
    struct as_native_options options;
    char how[352]; /* what is sampled and why */
};

/* False with one line where an option is wrong or is none of a native source's, or an event is not known. */
bool as_native_plan_timer(struct as_native_plan *plan, const struct as_record_options *options,
                          struct as_error *err) AS_MUST_CHECK;
bool as_native_plan_pmu(struct as_native_plan *plan, const struct as_record_options *options,
                        struct as_error *err) AS_MUST_CHECK;

/* What `auto` must know of this machine. */
struct as_native_outlook {
    bool precise; /* a PMU that samples precisely */
    bool skid;    /* one that does not */
    char why[256];
};
void as_native_look(struct as_native_outlook *outlook);

/* ---- the run: native_run.c ---- */

struct as_native_result {
    struct as_native_session *session;
    struct as_import *import;
    struct as_native_session *_Atomic watched; /* the session, once signals may stop it */
    struct as_run_end end;
    uint64_t execs;                      /* programs that were executed, the first among them */
    struct as_agent *agent;              /* NULL: none */
    struct as_native_accesses *accesses; /* NULL: not asked for */
};

/* Until the program has ended, or the user or --duration ends the recording. False where there is nothing worth keeping.
 */
bool as_native_execute(struct as_native_result *result, const struct as_record *record,
                       const struct as_native_plan *plan, struct as_error *err) AS_MUST_CHECK;
void as_native_result_free(struct as_native_result *result);

/* ---- regions: native_regions.c ---- */

bool as_native_regions_wanted(const struct as_record_options *options);
/* False with one line where a region cannot be told apart on the machine. */
bool as_native_regions_check(const struct as_record_options *options, struct as_error *err) AS_MUST_CHECK;
/* The address of a function or address in a process; 0: it is not there. For as_native_options. */
uint64_t as_native_resolve(void *context, pid_t pid, const struct as_landmark *landmark);

/* ---- data accesses: native_accesses.c ---- */

/* What the samples of a run accessed, into an import. Watchpoints are armed while it runs. */
struct as_native_accesses *as_native_accesses_new(struct as_import *import, uint64_t seed);
void as_native_accesses_process(struct as_native_accesses *accesses, const struct as_perf_process *process);
void as_native_accesses_sample(struct as_native_accesses *accesses, const struct as_perf_sample *sample);
/* After the last sample: what watchpoints found, before the samples are written; and what is known of all of it. */
void as_native_accesses_finish(struct as_native_accesses *accesses, const struct as_notices *notices);
void as_native_accesses_quality(const struct as_native_accesses *accesses, struct as_store_writer *writer);
void as_native_accesses_free(struct as_native_accesses *accesses);

/* ---- the agent: record_agent.c ---- */

/* False with one line where nothing can be preloaded into the program. */
bool as_record_agent_open(struct as_native_result *result, const struct as_record *record,
                          struct as_error *err) AS_MUST_CHECK;
/* What it found: series and threads, before the samples are written; counters and notes. */
void as_record_agent_add(struct as_native_result *result, const struct as_record *record);

/* ---- a process that runs already: native_process.c ---- */

/* Its command line, NULL at the end; the caller frees the first word and the array. NULL: there is no such process. */
char **as_native_command_line(uint64_t pid, struct as_error *err) AS_MUST_CHECK;
void as_native_add_process(const struct as_record *record); /* its path and directory, to the profile */

#endif
