/* What the distances say a person could do, where that is certain: the loops of a nest in another order, blocks of a
 * size, a structure split. Each rule looks at one pair of use and reuse, or at one instruction; what is below a twentieth
 * of the misses is left out.
 *
 * Whether code walks through memory decides: behind accesses that come in no order, neither other loops nor blocks are certain to help.
 * Where the sets are to blame, the data is not too large and its members are not too far apart: its rows are. */
#ifndef AS_REUSE_REUSE_ADVICE_H
#define AS_REUSE_REUSE_ADVICE_H

#include "reuse/reuse_view.h"

enum as_reuse_advice_kind {
    AS_ADVICE_LOOP_ORDER, /* neighbours in a line are used one after the other, but too far apart for the L1 */
    AS_ADVICE_BLOCKING,   /* the same data comes again, from further away than a cache holds */
    AS_ADVICE_SPLITTING,  /* lines are brought for a few of their bytes */
    AS_ADVICE_PADDING,    /* threads use different bytes of the same lines, and write some of them */
    AS_ADVICE_ROWS,       /* equal steps fall into few sets of the L1, which could hold what lies in between */
};

struct as_reuse_advice {
    enum as_reuse_advice_kind kind;
    uint32_t use, reuse;       /* codes; of an instruction alone both are that */
    uint64_t count;            /* misses that it is about */
    double share;              /* of the misses of its level */
    enum as_reuse_level level; /* of these misses */
    uint64_t distance;         /* granules between use and reuse, the median's power of two, or what the level holds */
    double bytes_used;         /* AS_ADVICE_SPLITTING: of each line */
    uint64_t parts;            /* AS_ADVICE_BLOCKING: into how many the data in between has to be cut */
};

/* The most important first; at most `most`. `threads` is all threads' view, `sockets` all sockets' or NULL. */
size_t as_reuse_advise(const struct as_reuse_view *threads, const struct as_reuse_view *sockets,
                       struct as_reuse_advice *advice, size_t most);

#endif
