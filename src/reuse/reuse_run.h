/* Reuse distances of a program in the model, without the core model: from every access, from those to a sample of the lines, or from
 * samples and watchpoints, with every access beside them or not.
 *
 * Calls: new, tell what the engine must do, start with the engine, run the engine with the sink, finish, ask, free. The engine must outlive
 * it.
 */
#ifndef AS_REUSE_REUSE_RUN_H
#define AS_REUSE_REUSE_RUN_H

#include "core/machine.h"
#include "engine/engine.h"
#include "reuse/reuse_advice.h"
#include "reuse/reuse_estimate.h"
#include "reuse/reuse_feed.h"
#include "reuse/reuse_names.h"
#include "reuse/reuse_objects.h"

enum as_reuse_method { AS_REUSE_EXACT, AS_REUSE_LINES, AS_REUSE_WATCH, AS_REUSE_NO_METHOD };
enum { AS_REUSE_MOST_JOBS = 64, AS_REUSE_WATCHED = 8 /* bytes of a debug register */ };

struct as_reuse_run_options {
    enum as_reuse_method method;
    const struct as_machine *machine; /* whose caches and lines; it is not kept */
    uint64_t granularity;             /* bytes, a power of two; 0: a line, or what a debug register watches */
    uint64_t interval;                /* accesses, of the working set */
    uint64_t lines;                   /* AS_REUSE_LINES: of the sample, at most */
    uint32_t sockets, jobs;           /* as in as_reuse_options */
    bool exact;                       /* AS_REUSE_WATCH: from every access, too */
    bool adjacent, no_paths;
    struct as_watch_options watch; /* AS_REUSE_WATCH, like the rest; sockets and length follow from the above */
    uint64_t period;               /* accesses */
    uint32_t registers;
    const struct as_lens_unit *unit; /* what samples; NULL: an ideal unit */
    bool disturb;
};
/* Host threads for `jobs`, beside those of the engine. */
uint32_t as_reuse_usual_jobs(void);

struct as_reuse_run;
struct as_reuse_run *as_reuse_run_new(const struct as_reuse_run_options *options);
/* What the engine has to record, and in which order. The options hold pointers into the run. */
void as_reuse_run_ask(const struct as_reuse_run *run, struct as_engine_options *engine);
/* What to give to as_engine_run. */
const struct as_sink *as_reuse_run_sink(struct as_reuse_run *run, void **context);
bool as_reuse_run_start(struct as_reuse_run *run, const struct as_engine *engine, struct as_error *err) AS_MUST_CHECK;
void as_reuse_run_finish(struct as_reuse_run *run);
void as_reuse_run_free(struct as_reuse_run *run); /* accepts NULL */

/* Behind finish; valid as long as the run. */
enum { AS_REUSE_ADVICE_MOST = 8 };
struct as_reuse_result {
    const struct as_reuse_options *options;
    uint64_t instructions;
    const struct as_reuse *exact;             /* NULL: not asked for */
    const struct as_reuse_estimate *estimate; /* from watchpoints; NULL: not asked for */
    uint64_t missed;                          /* overflows that the unit missed */
    struct as_adjacent *adjacent;             /* NULL: not asked for */
    const struct as_reuse_objects *objects;   /* NULL: of lines that the machine caches alone */
    struct as_reuse_advice advice[AS_REUSE_ADVICE_MOST];
    size_t n_advice;
    struct as_reuse_names names;
};
const struct as_reuse_result *as_reuse_run_result(const struct as_reuse_run *run);

#endif
