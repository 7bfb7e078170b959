/* See reuse_rules.h. */
#include "reuse/reuse_rules.h"

enum { N = AS_REUSE_NONE, R = AS_REUSE_REUSE, I = AS_REUSE_INVALIDATION };

const unsigned char as_reuse_thread_rules[4][3] = {{R, N, N}, {R, I, I}, {R, N, N}, {R, I, I}};
const unsigned char as_reuse_cache_rules[4][3] = {{N, R, N}, {N, R, I}, {N, R, N}, {N, R, I}};
