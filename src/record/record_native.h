/* The real machine as a source of profiles: the task clock (timer), or events of the PMU (pmu). See record.h.
 *
 * A session (native/session.h) delivers samples in the form of a perf recording, so they are processed like those of
 * `assay import` (import.h). Assay adds nothing to the program: no descriptor, no signal handler, no tracer. If Assay
 * is killed, the program continues.
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
    bool unwind;   /* call chains come from copies of the stack, too, or alone */
};

/* Return false and one line in `err` if an option is wrong or does not apply to a native source, or if an event is
 * unknown. */
bool as_native_plan_timer(struct as_native_plan *plan, const struct as_record_options *options,
                          struct as_error *err) AS_MUST_CHECK;
bool as_native_plan_pmu(struct as_native_plan *plan, const struct as_record_options *options,
                        struct as_error *err) AS_MUST_CHECK;

/* What `auto` must know about this machine. */
struct as_native_outlook {
    bool precise; /* it has a PMU that samples precisely */
    bool skid;    /* … or one with skid */
    char why[256];
};
void as_native_look(struct as_native_outlook *outlook);

/* ---- the run: native_run.c ---- */

struct as_native_result {
    struct as_native_session *session;
    struct as_import *import;
    struct as_native_session *_Atomic watched; /* the session, once signals may stop it */
    struct as_run_end end;
    bool unwind;                         /* as in the plan */
    uint64_t execs;                      /* programs executed, including the first */
    struct as_agent *agent;              /* NULL: none */
    struct as_native_accesses *accesses; /* NULL: not asked for */
};

/* Runs until the program has ended, or the user or --duration ends the recording. Returns false if there is nothing
 * worth keeping.
 */
bool as_native_execute(struct as_native_result *result, const struct as_record *record,
                       const struct as_native_plan *plan, struct as_error *err) AS_MUST_CHECK;
void as_native_result_free(struct as_native_result *result);

/* ---- regions: native_regions.c ---- */

bool as_native_regions_wanted(const struct as_record_options *options);
/* Returns false and one line in `err` if a region cannot be measured natively. */
bool as_native_regions_check(const struct as_record_options *options, struct as_error *err) AS_MUST_CHECK;
/* Returns the address of a function or address in a process; 0: not mapped. For as_native_options. */
uint64_t as_native_resolve(void *context, pid_t pid, const struct as_landmark *landmark);

/* ---- data accesses: native_accesses.c ---- */

/* Adds the accesses of a run's samples to an import. Watchpoints are armed while it runs. */
struct as_native_accesses *as_native_accesses_new(struct as_import *import, uint64_t seed);
void as_native_accesses_process(struct as_native_accesses *accesses, const struct as_perf_process *process);
void as_native_accesses_sample(struct as_native_accesses *accesses, const struct as_perf_sample *sample);
/* Call this after the last sample, before the samples are written: adds what watchpoints found; and what is known about
 * the quality. */
void as_native_accesses_finish(struct as_native_accesses *accesses, const struct as_notices *notices);
void as_native_accesses_quality(const struct as_native_accesses *accesses, struct as_store_writer *writer);
void as_native_accesses_free(struct as_native_accesses *accesses);

/* ---- the agent: record_agent.c ---- */

/* Returns false and one line in `err` if the agent cannot be preloaded into the program. */
bool as_record_agent_open(struct as_native_result *result, const struct as_record *record,
                          struct as_error *err) AS_MUST_CHECK;
/* Adds series and threads before the samples are written; and counters and notes. */
void as_record_agent_add(struct as_native_result *result, const struct as_record *record);

/* ---- a process that is already running: native_process.c ---- */

/* Returns its command line, NULL-terminated; the caller frees the first word and the array. NULL: no such process. */
char **as_native_command_line(uint64_t pid, struct as_error *err) AS_MUST_CHECK;
void as_native_add_process(const struct as_record *record); /* adds its path, directory and title to the profile */
void as_native_add_system(const struct as_record *record);  /* adds the title of the whole machine */

#endif
