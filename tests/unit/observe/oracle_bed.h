/* An Oracle that tests feed by hand: batches of records, and the end with its invariants checked. */
#ifndef ORACLE_BED_H
#define ORACLE_BED_H

#include "unit.h"

#include "observe/oracle.h"

static inline struct as_oracle *bed_oracle(uint32_t width, uint32_t group)
{
    struct as_run_info run = {.size = sizeof run, .commit_width = width, .commit_group = group};
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    assert_non_null(oracle);
    return oracle;
}

static inline void feed(struct as_oracle *oracle, uint32_t thread, const struct as_pipe *pipes, size_t n)
{
    struct as_pipe_batch batch = {.size = sizeof batch, .thread = thread, .n = n, .pipes = pipes};
    as_oracle_observer.batch(oracle, &batch);
}

static inline void finish(struct as_oracle *oracle)
{
    struct as_error err = AS_ERROR_INIT;
    as_oracle_observer.finish(oracle, NULL);
    if (!as_oracle_check(oracle, &err))
        fail_msg("%s", err.message);
}

#endif
