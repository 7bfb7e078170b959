/* The blocks of a run as the core takes them (core/memo.h): one body for each part of a block that was executed, and for
 * each sequence of accesses that it made. Nearly all blocks have one.
 */
#ifndef AS_MODEL_BODIES_H
#define AS_MODEL_BODIES_H

#include "base/vec.h"
#include "core/memo.h"
#include "engine/engine.h"

/* What stands for an instruction: another one, or itself; events that do not happen to it. */
typedef const struct as_insn *as_stand_in(void *context, const struct as_insn *insn, uint32_t *ideal);

struct as_bodies {
    const struct as_machine *machine;
    as_stand_in *stand_in; /* NULL: all stand for themselves */
    void *context;
    AS_VEC(struct as_block_body *) blocks; /* by the block's index: the one that was used last, then others */
    AS_VEC(struct as_core_access) accesses;
};

struct as_block_body {
    struct as_body *body;
    uint32_t first, end;
    uint16_t *heads; /* of the words of its executions, where those say all but the addresses; else NULL */
    struct as_core_access *accesses; /* where there are heads: all but the addresses */
    struct as_block_body *next;
};

static inline const struct as_block_body *as_bodies_last(const struct as_bodies *bodies,
                                                         const struct as_block_exec *exec)
{
    uint32_t index = exec->block->index;
    const struct as_block_body *last = index < bodies->blocks.len ? bodies->blocks.data[index] : NULL;
    bool alike = last && last->heads && exec->n_words == last->body->n_accesses && exec->first == 0 &&
                 exec->end == last->end && !exec->continues;
    return __builtin_expect(alike, 1) ? last : NULL;
}

/* The block's last body if an execution is like that; `addresses` gets those of its accesses. NULL: it is not. */
static inline const struct as_block_body *as_bodies_match(const struct as_bodies *bodies,
                                                          const struct as_block_exec *exec, uint64_t *addresses)
{
    const struct as_block_body *last = as_bodies_last(bodies, exec);
    uint32_t differ = !last;
    for (size_t i = 0; last && i < exec->n_words; i++) {
        differ |= as_access_head(exec->words[i]) ^ last->heads[i];
        addresses[i] = as_access_address(exec->words[i]);
    }
    return differ ? NULL : last;
}

/* The body of an execution that is like the block's last one, and its accesses, valid until the next call; NULL: it is
 * not. */
static inline const struct as_body *as_bodies_look(const struct as_bodies *bodies, const struct as_block_exec *exec,
                                                   const struct as_core_access **accesses)
{
    const struct as_block_body *last = as_bodies_last(bodies, exec);
    uint32_t differ = 0;
    if (!last)
        return NULL;
    for (size_t i = 0; i < exec->n_words; i++) {
        differ |= as_access_head(exec->words[i]) ^ last->heads[i];
        last->accesses[i].address = as_access_address(exec->words[i]);
    }
    *accesses = last->accesses;
    return differ ? NULL : last->body;
}
/* The same for any execution. An instruction that another one stands for accesses nothing. */
const struct as_body *as_bodies_find(struct as_bodies *bodies, const struct as_block_exec *exec,
                                     const struct as_core_access **accesses);
void as_bodies_free(struct as_bodies *bodies);

#endif
