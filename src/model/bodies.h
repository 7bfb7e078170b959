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

/* The body of an execution, and its accesses, valid until the next call. An instruction that another one stands for
 * accesses nothing. */
const struct as_body *as_bodies_find(struct as_bodies *bodies, const struct as_block_exec *exec,
                                     const struct as_core_access **accesses);
void as_bodies_free(struct as_bodies *bodies);

#endif
