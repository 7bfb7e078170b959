/* The Oracle: every cycle of every thread, charged to the instruction that the commit stage exposed it for, and to the
 * events that the instruction met: the golden reference of profiles and of per-instruction cycle stacks (pics.h).
 *
 * Exact, in integers (attribution.h), for each static instruction of each thread and for each call path; blocks and
 * functions are sums of instructions (profile.h). Memory grows with the code and the paths that a program uses and with
 * the threads that run at a time, not with its run: of threads that have ended the AS_THREADS_KEPT longest keep rows of
 * their own, the others' are added up. doc/design/oracle.md has the rule, doc/design/events.md the one for events.
 */
#ifndef AS_OBSERVE_ORACLE_H
#define AS_OBSERVE_ORACLE_H

#include "assay/observer.h"
#include "base/error.h"
#include "observe/attribution.h"
#include "observe/pics.h"
#include "observe/stall_lengths.h"
#include "observe/thread_limit.h"

/* What a static instruction, or a call path, got. One cache line. */
struct as_oracle_row {
    uint64_t units[AS_STATE_COUNT];
    uint64_t executions; /* further iterations of a rep instruction are none */
    uint64_t base;       /* units of executions that met no event: part of `units` */
};

struct as_oracle_thread {
    uint32_t number;
    uint64_t cycles;                /* up to the last commit */
    uint64_t records, instructions; /* iterations of rep instructions counted each, and not */
    uint64_t units[AS_STATE_COUNT];
    bool merged; /* its rows, or some of them, are among those of AS_NO_THREAD */
};

struct as_oracle;
/* NULL and `err` where the machine commits more than AS_COMMIT_WIDTH_MAX a cycle. */
struct as_oracle *as_oracle_new(const struct as_run_info *run, struct as_error *err) AS_MUST_CHECK;
void as_oracle_free(struct as_oracle *oracle);
extern const struct as_observer as_oracle_observer; /* its self is the as_oracle; its finish writes nothing */

/* Before the first batch. Components are kept for the events in `kept` (AS_EVENTS_TEA unless told otherwise); a stall
 * counts as unexplained where none of `shown` was met, which are some of them. */
void as_oracle_set_events(struct as_oracle *oracle, uint32_t kept, uint32_t shown);

/* After finish. */

/* The invariants: all cycles were charged once, to instructions and to paths; the components of each are its cycles;
 * all instructions were counted; records came in order. */
bool as_oracle_check(const struct as_oracle *oracle, struct as_error *err) AS_MUST_CHECK;

const struct as_oracle_row *as_oracle_rows(const struct as_oracle *oracle, size_t *n);       /* by instruction id */
const struct as_oracle_row *as_oracle_paths(const struct as_oracle *oracle, size_t *n);      /* by path */
const struct as_oracle_thread *as_oracle_threads(const struct as_oracle *oracle, size_t *n); /* by number */
struct as_oracle_thread as_oracle_total(const struct as_oracle *oracle);
uint64_t as_oracle_row_units(const struct as_oracle_row *row);
void as_oracle_profile(const struct as_oracle *oracle, struct as_profile *profile); /* the caller frees */

/* What a call path was charged so far; NULL: nothing. Also while it runs, between two batches. */
const struct as_oracle_row *as_oracle_path_row(const struct as_oracle *oracle, uint32_t path);
/* From now on it is noted which components with events are charged. */
void as_oracle_note_parts(struct as_oracle *oracle);
/* The components of instructions, or of call paths, that were charged since the last call, with their units in all threads so far.
 * Also while it runs, between two batches. The caller frees. */
struct as_pics as_oracle_noted_parts(struct as_oracle *oracle, bool paths);
/* What one thread made of an instruction; NULL: it never came there. AS_NO_THREAD: all threads that share rows. */
const struct as_oracle_row *as_oracle_thread_row(const struct as_oracle *oracle, uint32_t thread, uint32_t id);

/* The golden stacks: of all threads, of one (as above; empty where it has none), and by call path instead of
 * instruction. The caller frees. */
struct as_pics as_oracle_pics(const struct as_oracle *oracle);
struct as_pics as_oracle_thread_pics(const struct as_oracle *oracle, uint32_t thread);
struct as_pics as_oracle_path_pics(const struct as_oracle *oracle);
uint32_t as_oracle_events(const struct as_oracle *oracle); /* that components are kept for */

/* Stalls of single executions (the cycles from dispatch to commit in which the oldest instruction was not done) that
 * met none of the events shown. Iterations of rep instructions count each. */
const struct as_stall_lengths *as_oracle_unexplained(const struct as_oracle *oracle);

#endif
