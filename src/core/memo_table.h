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
    const struct as_state *state;
    uint32_t first; /* the first question; 0: nothing is known yet */
    uint32_t number;
};

struct as_state {
    uint64_t hash;
    uint32_t n_words;
    uint16_t words[];
};

struct as_known_next {
    const struct as_body *body;
    struct as_node *node;
};

/* What few edges count. */
struct as_known_counts {
    uint32_t mispredictions, btb_misses, flushes, wrong_path, forwards;
    uint64_t kernel_cycles;
};

/* An edge, with what the core needs of it. */
struct as_known {
    struct as_node *node;                 /* where it begins */
    struct as_known_next next[2];         /* where it leads, by what follows: the one that was used last comes first */
    int32_t dispatched;                   /* the last dispatch */
    uint32_t uops, branches;              /* to count, beside the instructions, … */
    uint16_t flags;                       /* AS_STATE_FLAGS of its last record */
    const struct as_known_counts *counts; /* … and beside these; NULL: nothing */
    struct as_edge edge;
};

enum {
    AS_PROMISE_BITS = 16,
    AS_PROMISE_COUNT = 7,               /* bits of a place in the table of signatures that count; others are a tag */
    AS_PROMISE_NODE = AS_PROMISE_COUNT, /* a count: there was a node */
};

struct as_memo {
    struct as_memo_options options;
    struct as_memo_counters counters;
    /* Open addressing. A slot has the address of a node below and 16 bits of its hash above. A state that came once has
     * a slot without a node; when it comes again it gets one. */
    uint64_t *table;
    uint64_t mask, used; /* slots - 1; those that are not free */
    /* What walks read grows from the start: nodes, questions, edges, each behind the one that it is reached from. What
     * is read seldom grows from the end: states, records. Both are numbered in grains from the start. */
    uint8_t *room;
    size_t size, hot, cold;
    AS_VEC(struct as_core *) cores;
    bool failed;
    struct as_error error;
    uint16_t words[AS_STATE_WORDS];
    uint16_t promises[1 << AS_PROMISE_BITS], *promise; /* signatures (memo_promise.h), and the one that came last */
    uint32_t passed;                                   /* states that were not even counted */
    int64_t purse;                                     /* what nodes have saved (as_memo_pay) */
    uint32_t tries;                                    /* instructions of the pipeline that earned nothing yet */
    bool makes;                                        /* there is enough of it to make more of them */
    struct as_script script;
};

/* Nodes have to pay. The purse counts in instructions, at what the pipeline takes for one: what runs along an edge saves
 * five eighths of that, and what the memo does costs so many. Part of what the pipeline runs is spent on trying again,
 * because programs change. The purse has limits, so that neither a good time nor a bad one is remembered for long.
 * doc/design/memo.md has the times behind the prices. */
enum {
    AS_PRICE_LOOK = 2,      /* a signature */
    AS_PRICE_STATE = 16,    /* to take the state and to look for its node */
    AS_PRICE_NODE = 32,     /* … to make one */
    AS_PRICE_EDGE = 64,     /* beside running the block, for the observers too */
    AS_PRICE_RESTORED = 28, /* to give the pipeline its state; a block that it runs again comes on top */
    AS_PURSE_TRIES = 32,    /* one in so many instructions of the pipeline is spent on trying */
    AS_PURSE_MOST = 1 << 21,
    AS_PURSE_TURN = 1 << 16, /* nodes are made from so much on, down to so much below nothing */
    AS_PURSE_FIRST = 1 << 19,
};

static inline void as_memo_pay(struct as_memo *memo, int64_t cost)
{
    memo->purse -= cost;
    if (memo->purse < -AS_PURSE_TURN) {
        memo->purse = -AS_PURSE_TURN;
        memo->makes = false;
    }
}

static inline void as_memo_earn(struct as_memo *memo, int64_t gain)
{
    memo->purse += gain;
    if (memo->purse > AS_PURSE_TURN) {
        memo->purse = memo->purse < AS_PURSE_MOST ? memo->purse : AS_PURSE_MOST;
        memo->makes = true;
    }
}

static inline void as_memo_earn_known(struct as_memo *memo, uint32_t instructions)
{
    as_memo_earn(memo, (int64_t)instructions * 5 / 8);
}

/* The node of a state; NULL: there is none, because it came for the first time, or there is no room for more. */
struct as_node *as_memo_find(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n);
enum { AS_MEMO_GRAIN = 16 };
/* Room for what walks read, and for what is read seldom. */
void *as_memo_take(struct as_memo *memo, size_t bytes);
void *as_memo_take_cold(struct as_memo *memo, size_t bytes);

static inline void *as_memo_at(const struct as_memo *memo, uint32_t number)
{
    return memo->room + (size_t)number * AS_MEMO_GRAIN;
}

static inline uint32_t as_memo_number(const struct as_memo *memo, const void *at)
{
    return (uint32_t)((size_t)((const uint8_t *)at - memo->room) / AS_MEMO_GRAIN);
}

/* Everything is forgotten. No core may be walking. */
void as_memo_clear(struct as_memo *memo);

#endif
