/* Where a core is in the memo. Private to core*.c and memo*.c. */
#ifndef AS_CORE_MEMO_WALK_H
#define AS_CORE_MEMO_WALK_H

#include "core/core_script.h"

struct as_memo;
struct as_known;

struct as_walk {
    struct as_memo *memo;  /* NULL: none */
    struct as_known *edge; /* of the last block; NULL: it has none */
    bool stale;            /* the pipeline stands where the last block that it ran itself ended */
    /* The last block, where it came along an edge: */
    uint64_t base, n_stores, n_drained; /* at its start */
    uint64_t horizon;                   /* last commit that the pipeline knows of, where it is stale */
    uint64_t drained;                   /* when the last store had drained, where it is stale */
    struct as_question **trail;         /* its questions, with the answers that they got */
    uint32_t n_trail;
    struct as_pipe *scratch; /* for what is run again */
    uint32_t scratch_size;
    uint32_t restores; /* for checks */
};

#endif
