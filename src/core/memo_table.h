/* The nodes of a memo by block and state, and the memory of nodes, edges and questions. Private to core*.c and memo*.c.
 */
#ifndef AS_CORE_MEMO_TABLE_H
#define AS_CORE_MEMO_TABLE_H

#include "base/vec.h"
#include "core/core_script.h"
#include "core/core_state.h"
#include "core/memo.h"

struct as_node {
    const struct as_body *body;
    struct as_ask *first; /* the first question; NULL: nothing is known yet */
    uint64_t hash;
    struct as_node *chain;
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
    struct as_node **table;
    uint64_t mask;
    uint64_t *seen; /* hashes of states that came once: they get a node when they come again */
    AS_VEC(uint8_t *) chunks;
    size_t chunk, used; /* the one to take from, and what of it is taken */
    AS_VEC(struct as_core *) cores;
    bool failed;
    struct as_error error;
    uint16_t words[AS_STATE_WORDS];
    struct as_script script;
};

uint64_t as_memo_hash(const struct as_body *body, const uint16_t *words, uint32_t n);
/* The node of a state; NULL: there is none. */
struct as_node *as_memo_find(const struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n,
                             uint64_t hash);
/* Whether the state came before; from now on it did. */
bool as_memo_seen(struct as_memo *memo, uint64_t hash);
struct as_node *as_memo_add(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n,
                            uint64_t hash);
void *as_memo_take(struct as_memo *memo, size_t bytes);
/* Everything is forgotten. No core may be walking. */
void as_memo_clear(struct as_memo *memo);

#endif
