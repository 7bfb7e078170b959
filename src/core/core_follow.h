/* A walk through the questions of a node: asks them and compares the answers. Private to core*.c. */
#ifndef AS_CORE_CORE_FOLLOW_H
#define AS_CORE_CORE_FOLLOW_H

#include "core/core_internal.h"
#include "core/memo_table.h"

struct as_hunt {
    struct as_core *core;
    const struct as_body_run *run;
    uint64_t base;
    uint32_t *link; /* where a question with a new answer belongs */
    bool asked;     /* … which is this: */
    struct as_ask answer;
    uint64_t target;
};

/* Asks all that the node's block asks, from `ask` on; the core's walk gets the trail. NULL: an answer is new. */
struct as_known *as_core_follow(struct as_hunt *hunt, struct as_question *ask);

/* The number of the line that an instruction begins in, or of the one behind it. */
static inline uint64_t as_core_line_of(const struct as_core *core, const struct as_body *body, uint32_t insn,
                                       bool second)
{
    return (body->insns[insn]->address >> core->line_shift) + second;
}

#endif
