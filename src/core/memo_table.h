/* The nodes of a memo by block and state, and the memory of nodes, edges and questions. Private to core*.c and memo*.c.
 */
#ifndef AS_CORE_MEMO_TABLE_H
#define AS_CORE_MEMO_TABLE_H

#include "base/vec.h"
#include "core/core_script.h"
#include "core/core_state.h"
#include "core/memo.h"

struct as_node {
    uint64_t hash;
    const struct as_body *body;
    struct as_ask *first; /* the first question; NULL: nothing is known yet */
    uint32_t number, n_words;
    uint16_t words[];
};

struct as_known_next {
    const struct as_body *body;
    struct as_node *node;
};

/* An edge, with what the core needs of it. */
struct as_known {
    struct as_node *node;         /* where it begins */
    struct as_known_next next[2]; /* where it leads, by what follows: the one that was used last comes first */
    int32_t dispatched;           /* the last dispatch */
    uint32_t uops, branches, mispredictions, btb_misses, flushes, wrong_path, forwards;
    uint64_t kernel_cycles;
    bool odd; /* there is more to count than instructions, micro-operations and branches */
    struct as_edge edge;
};

struct as_memo {
    struct as_memo_options options;
    struct as_memo_counters counters;
    /* Open addressing. A slot has the address of a node below and 16 bits of its hash above. A state that came once has
     * a slot without a node; when it comes again it gets one. */
    uint64_t *table;
    uint64_t mask, used; /* slots - 1; those that are not free */
    AS_VEC(uint8_t *) chunks;
    size_t chunk, taken; /* the one to take from, and what of it is taken */
    AS_VEC(struct as_core *) cores;
    bool failed;
    struct as_error error;
    uint16_t words[AS_STATE_WORDS];
    struct as_script script;
};

/* The node of a state; NULL: there is none, because it came for the first time, or there is no room for more. */
struct as_node *as_memo_find(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n);
void *as_memo_take(struct as_memo *memo, size_t bytes);
/* Everything is forgotten. No core may be walking. */
void as_memo_clear(struct as_memo *memo);

#endif
