/* The blocks of a run in the form that the core takes (core/memo.h): one body for each part of a block that was
 * executed, and for each sequence of accesses that it made. Nearly all blocks have one body.
 */
#ifndef AS_MODEL_BODIES_H
#define AS_MODEL_BODIES_H

#include "base/vec.h"
#include "core/memo.h"
#include "engine/engine.h"

/* Returns the instruction to run instead of `insn`, or `insn` itself, and the events that must not happen to it. */
typedef const struct as_insn *as_stand_in(void *context, const struct as_insn *insn, uint32_t *ideal);

struct as_bodies {
    const struct as_machine *machine;
    as_stand_in *stand_in; /* NULL: no instruction is replaced */
    void *context;
    uint64_t (*move)(void *context, uint64_t address); /* where data lies in the model; NULL: where it lies */
    void *move_context;
    AS_VEC(struct as_block_body *) blocks; /* by the block's index: the body used last, followed by the others */
    /* By the number that QEMU's words have for a block: the body of its last execution that went into a chain; NULL: none. */
    AS_VEC(struct as_block_body *) numbered;
    AS_VEC(struct as_core_access) accesses;
};

/* Which instructions of a block transfer control. */
enum as_control { AS_CONTROL_NONE, AS_CONTROL_LAST, AS_CONTROL_WITHIN };

/* Whether a block's taken transfer leaves the call path as it is: of those whose target is always the same. */
enum as_leaving { AS_LEAVING_UNKNOWN, AS_LEAVING_QUIET, AS_LEAVING_LOUD };

/* What the thread that reads looks at for each block lies together; a core that runs apart writes the accesses. */
struct as_block_body {
    uint32_t n_accesses;
    uint32_t n;                 /* instructions */
    uint8_t control;            /* enum as_control */
    uint8_t leaving;            /* enum as_leaving */
    bool indirect;              /* it ends with an indirect jump or call */
    bool touches_stack;         /* as_block_touches_stack */
    uint32_t likely;            /* the block that followed last, by its number; UINT32_MAX: none did … */
    uint64_t next;              /* … its address, … */
    bool taken;                 /* … and whether control left the fall-through path */
    const struct as_insn *last; /* its last instruction, as the core takes it */
    struct as_chain *chain;     /* of this block alone (chains.h); NULL: none yet */
    const struct as_block *block;
    struct as_core_access *accesses; /* where there are heads: all but the addresses */
    struct as_body *body;
    struct as_block_body *other; /* of the same block */
    uint32_t first, end;
    bool has_heads;   /* executions that have the same heads are alike */
    uint16_t heads[]; /* of the words of its executions, where those say all but the addresses */
};

static inline struct as_block_body *as_bodies_last(const struct as_bodies *bodies, const struct as_block_exec *exec)
{
    uint32_t index = exec->block->index;
    struct as_block_body *last = index < bodies->blocks.len ? bodies->blocks.data[index] : NULL;
    bool alike = last && last->has_heads && exec->n_words == last->n_accesses && exec->first == 0 &&
                 exec->end == last->end && !exec->continues;
    return __builtin_expect(alike, 1) ? last : NULL;
}

/* Whether words, as many as the body has accesses, are those accesses; `addresses` gets theirs. */
static inline bool as_body_has_words(const struct as_block_body *body, const uint64_t *words, uint64_t *addresses)
{
    uint32_t differ = 0;
    for (uint32_t i = 0; i < body->n_accesses; i++) {
        differ |= as_access_head(words[i]) ^ body->heads[i];
        addresses[i] = as_access_address(words[i]);
    }
    return !differ;
}

/* Returns the block's last body if the execution matches it, else NULL; `addresses` gets those of the accesses. */
static inline struct as_block_body *as_bodies_match(const struct as_bodies *bodies, const struct as_block_exec *exec,
                                                    uint64_t *addresses)
{
    struct as_block_body *last = as_bodies_last(bodies, exec);
    return last && as_body_has_words(last, exec->words, addresses) ? last : NULL;
}

/* Executions of the block with this number are like those of the body, as a rule. */
static inline void as_bodies_number(struct as_bodies *bodies, uint32_t number, struct as_block_body *body)
{
    while (bodies->numbered.len <= number)
        *as_vec_push(&bodies->numbered) = NULL;
    bodies->numbered.data[number] = body;
}

/* Returns the body of an execution that matches the block's last one, and its accesses, valid until the next call.
 * NULL: it does not match. */
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
/* The same for any execution. A replaced instruction accesses nothing. */
const struct as_body *as_bodies_find(struct as_bodies *bodies, const struct as_block_exec *exec,
                                     const struct as_core_access **accesses);
void as_bodies_free(struct as_bodies *bodies);

#endif
