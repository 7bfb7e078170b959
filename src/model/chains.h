/* Chains of blocks: blocks that follow each other often become one body (core/memo.h), so that what is done for each body
 * in the core and by observers is done once for all of them.
 *
 * Chains form a tree. Its roots are the blocks' own bodies; from a chain lead others that have one block more. A chain is
 * made longer only where it was gone through often. All blocks of one have the same call path. Where one ends, the next
 * begins: behind so many blocks, instructions or accesses, and at the end of a loop, so that its rounds are cut alike.
 */
#ifndef AS_MODEL_CHAINS_H
#define AS_MODEL_CHAINS_H

#include "model/ahead.h"
#include "model/bodies.h"

struct as_chain {
    const struct as_body *body;
    struct as_core_access *accesses;   /* of all blocks: all but the addresses */
    const struct as_block_body *block; /* its last block */
    struct as_body *own;               /* the body, where it is not its block's */
    struct as_chain *longer,
        *other;            /* with one block more: the one that was used last; another block in place of `block` */
    uint32_t runs;         /* that ended here although more would have fitted */
    bool ends;             /* it is as long as it may be */
    struct as_route route; /* its control transfers; where the last one goes is set where the chain is put in */
};

enum { AS_CHAIN_ROOM = 256 };              /* accesses: more than a chain has and one block adds */
enum { AS_CHAIN_BLOCKS = AS_ROUTE_STEPS }; /* that a chain has at most */

struct as_chains {
    struct as_bodies *bodies;
    struct as_ahead *ahead;      /* where they are put */
    bool joins;                  /* blocks: else each is a chain for itself */
    struct as_chain *chain;      /* that the last blocks make up; NULL: none. It is not put into the queue yet, … */
    struct as_ahead_block *open; /* … but has its room there, … */
    size_t words;                /* … with so many addresses; … */
    struct as_core *core;        /* whose predictor is asked */
    AS_VEC(struct as_chain *) list; /* all of them */
};

void as_chains_free(struct as_chains *chains);

static inline void as_chains_open(struct as_chains *chains)
{
    chains->open = as_ahead_room(chains->ahead, AS_CHAIN_ROOM, AS_CHAIN_BLOCKS);
    chains->words = 0;
}

/* Where the chain's last control transfer went. */
static inline void as_chain_lead(struct as_chain *chain, const struct as_ahead_block *open)
{
    struct as_route_step *last = &chain->route.steps[chain->route.n - 1];
    last->next = open->next;
    last->taken = open->taken;
}

/* Nothing more belongs to the chain: it is put into the queue. */
static inline void as_chains_close(struct as_chains *chains)
{
    struct as_chain *chain = chains->chain;
    if (!chain)
        return;
    chains->open->body = chain->body;
    chains->open->shape = chain->accesses;
    uint32_t *foreseen = (uint32_t *)&chains->open->data[chains->words];
    if (chain->block->control)
        as_chain_lead(chain, chains->open);
    as_core_foresee_route(chains->core, &chain->route, foreseen);
    as_ahead_put(chains->ahead, chains->words * sizeof *chains->open->data, chain->route.n);
    chains->chain = NULL;
}

/* The chain of the blocks so far and this one, with these words; where there is none, that of this one alone, behind all others. */
struct as_chain *as_chains_find(struct as_chains *chains, const uint64_t *words, struct as_block_body *block);

/* Where the addresses go of a block with this call path, which comes next. */
static inline uint64_t *as_chains_room(struct as_chains *chains, uint32_t path)
{
    if (chains->chain && chains->open->path != path)
        as_chains_close(chains);
    if (!chains->chain)
        as_chains_open(chains);
    return &chains->open->data[chains->words];
}

/* Puts in an execution of a block with these words, whose addresses are there already. */
static inline void as_chains_add(struct as_chains *chains, struct as_block_body *block, const uint64_t *words,
                                 bool taken, uint64_t next, uint32_t path)
{
    struct as_chain *chain = chains->chain ? chains->chain->longer : block->chain;
    if (__builtin_expect(!chain || chain->block != block, 0))
        chain = as_chains_find(chains, words, block);
    struct as_ahead_block *open = chains->open;
    /* Which the next block looks at. To fetch from NULL is dear: the host walks its page tables each time, in vain. */
    __builtin_prefetch(chain->longer ? chain->longer : chain);
    chains->chain = chain;
    chains->words += block->n_accesses;
    open->next = next;
    open->path = path;
    open->taken = taken;
    if (chain->ends || !next)
        as_chains_close(chains);
}

/* Puts in an execution that is like the block's last one. Returns its body; NULL: it is not, and the chain is closed. */
static inline struct as_block_body *as_chains_put(struct as_chains *chains, const struct as_block_exec *exec,
                                                  uint32_t path)
{
    uint64_t *addresses = as_chains_room(chains, path);
    struct as_block_body *block = NULL;
    if (exec->n_words <= AS_CHAIN_ROOM)
        block = as_bodies_match(chains->bodies, exec, addresses);
    if (__builtin_expect(!block || block->control == AS_CONTROL_WITHIN, 0)) {
        as_chains_close(chains);
        return NULL;
    }
    as_chains_add(chains, block, exec->words, exec->taken, exec->next, path);
    return block;
}

#endif
