/* See chains.h. */
#include "model/chains.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
    OFTEN = 64,         /* times that a chain ends before it is made longer */
    MOST_CHAINS = 20000 /* in all */
};
enum { MOST_INSNS = 96, MOST_ACCESSES = 96, MOST_STORES = 32, LOOP_BLOCKS = 4 };

/* Whether the body ends with a jump back, as loops do. */
static bool jumps_back(const struct as_body *body)
{
    const struct as_insn *last = body->insns[body->n - 1];
    return as_insn_is_control(last) && last->target && last->target <= last->address;
}

static bool is_long(const struct as_body *body)
{
    return body->n_blocks >= AS_CHAIN_BLOCKS || body->n >= MOST_INSNS || body->n_accesses >= MOST_ACCESSES ||
           body->stores >= MOST_STORES || (body->n_blocks >= LOOP_BLOCKS && jumps_back(body));
}

static struct as_chain *add(struct as_chains *chains, const struct as_body *body, const struct as_block_body *block)
{
    struct as_chain *chain = as_alloc_apart(1, sizeof *chain); /* where it leads is written each time */
    *chain = (struct as_chain){.body = body, .block = block, .ends = is_long(body)};
    return *as_vec_push(&chains->list) = chain;
}

static struct as_chain *add_root(struct as_chains *chains, struct as_block_body *block)
{
    block->chain = add(chains, block->body, block);
    block->chain->accesses = block->accesses;
    if (block->control)
        as_route_add(&block->chain->route, block->last);
    return block->chain;
}

/* The accesses of both, with their instructions' numbers in the body of both. */
static struct as_core_access *join_accesses(const struct as_chain *chain, const struct as_block_body *block)
{
    uint32_t n = chain->body->n_accesses, more = block->body->n_accesses;
    struct as_core_access *all = as_alloc_apart((size_t)n + more, sizeof *all);
    for (uint32_t i = 0; i < n + more; i++) {
        all[i] = i < n ? chain->accesses[i] : block->accesses[i - n];
        all[i].index = (uint16_t)(all[i].index + (i < n ? 0 : chain->body->n));
    }
    return all;
}

static struct as_chain *make_longer(struct as_chains *chains, struct as_chain *chain, const struct as_block_body *block)
{
    if (chain->block->control)
        as_chain_lead(chain, chains->open);
    struct as_body *body = as_body_join(chains->bodies->machine, chain->body, block->body, chains->open->taken);
    struct as_chain *longer = add(chains, body, block);
    longer->own = body;
    longer->accesses = join_accesses(chain, block);
    longer->route = chain->route;
    if (block->control)
        as_route_add(&longer->route, block->last);
    return longer;
}

/* The chain at hand with one block more; NULL: there is none. The one that was used last comes first. */
static struct as_chain *find_longer(struct as_chains *chains, const struct as_block_body *block)
{
    struct as_chain *chain = chains->chain, **link = &chain->longer;
    while (*link && (*link)->block != block)
        link = &(*link)->other;
    struct as_chain *found = *link;
    if (!found && (!chains->joins || chain->runs++ < OFTEN || chains->list.len >= MOST_CHAINS))
        return NULL;
    if (found)
        *link = found->other;
    else
        found = make_longer(chains, chain, block);
    found->other = chain->longer;
    return chain->longer = found;
}

struct as_chain *as_chains_find(struct as_chains *chains, const uint64_t *words, struct as_block_body *block)
{
    struct as_chain *longer = chains->chain ? find_longer(chains, block) : NULL;
    if (longer)
        return longer;
    if (chains->chain) {
        as_chains_close(chains);
        as_chains_open(chains);
        as_body_has_words(block, words, chains->open->data);
    }
    return block->chain ? block->chain : add_root(chains, block);
}

void as_chains_free(struct as_chains *chains)
{
    for (size_t i = 0; i < chains->list.len; i++) {
        struct as_chain *chain = chains->list.data[i];
        if (chain->own)
            free(chain->accesses);
        as_body_free(chain->own);
        free(chain);
    }
    as_vec_free(&chains->list);
}
