/* The Oracle: every cycle of every thread, charged to the instruction that the commit stage exposed it for.
 *
 * Exact, in integers (attribution.h), for each static instruction and for each call path; blocks and functions are sums
 * of instructions (profile.h). Memory grows with the code and the paths that a program uses, not with its run.
 * doc/design/oracle.md has the rule.
 */
#ifndef AS_OBSERVE_ORACLE_H
#define AS_OBSERVE_ORACLE_H

#include "assay/observer.h"
#include "base/error.h"
#include "observe/attribution.h"
#include "observe/profile.h"

/* What a static instruction, or a call path, got. One cache line. */
struct as_oracle_row {
    uint64_t units[AS_STATE_COUNT];
    uint64_t executions; /* further iterations of a rep instruction are none */
    uint64_t reserved;
};

struct as_oracle_thread {
    uint32_t number;
    uint64_t cycles;                /* up to the last commit */
    uint64_t records, instructions; /* iterations of rep instructions counted each, and not */
    uint64_t units[AS_STATE_COUNT];
};

struct as_oracle;
/* NULL and `err` where the machine commits more than AS_COMMIT_WIDTH_MAX a cycle. */
struct as_oracle *as_oracle_new(const struct as_run_info *run, struct as_error *err) AS_MUST_CHECK;
void as_oracle_free(struct as_oracle *oracle);
extern const struct as_observer as_oracle_observer; /* its self is the as_oracle; its finish writes nothing */

/* After finish. */

/* The invariants: all cycles were charged once, to instructions and to paths; all instructions were counted; records
 * came in order. */
bool as_oracle_check(const struct as_oracle *oracle, struct as_error *err) AS_MUST_CHECK;

const struct as_oracle_row *as_oracle_rows(const struct as_oracle *oracle, size_t *n);       /* by instruction id */
const struct as_oracle_row *as_oracle_paths(const struct as_oracle *oracle, size_t *n);      /* by path */
const struct as_oracle_thread *as_oracle_threads(const struct as_oracle *oracle, size_t *n); /* by number */
struct as_oracle_thread as_oracle_total(const struct as_oracle *oracle);
uint64_t as_oracle_row_units(const struct as_oracle_row *row);
void as_oracle_profile(const struct as_oracle *oracle, struct as_profile *profile); /* the caller frees */

#endif
