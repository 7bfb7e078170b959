/* See reuse_rules.h. Rows are the order of accesses (R→R, R→W, W→R, W→W), columns the relation of the two cores. */
#include "reuse/reuse_rules.h"

enum { N = AS_REUSE_NONE, R = AS_REUSE_REUSE, I = AS_REUSE_INVALIDATION };

static const unsigned char in_thread[4][3] = {{R, N, N}, {R, I, I}, {R, N, N}, {R, I, I}};
static const unsigned char in_cache[4][3] = {{N, R, N}, {N, R, I}, {N, R, N}, {N, R, I}};

static int row(bool first_writes, bool second_writes)
{
    return 2 * first_writes + second_writes;
}

enum as_reuse_outcome as_reuse_in_thread(bool first_writes, bool second_writes, enum as_reuse_relation relation)
{
    return (enum as_reuse_outcome)in_thread[row(first_writes, second_writes)][relation];
}

enum as_reuse_outcome as_reuse_in_cache(bool first_writes, bool second_writes, enum as_reuse_relation relation)
{
    return (enum as_reuse_outcome)in_cache[row(first_writes, second_writes)][relation];
}

bool as_reuse_is_false_sharing(bool first_writes, bool spatial, enum as_reuse_relation relation)
{
    return first_writes && spatial && relation != AS_REUSE_SAME_CORE;
}
