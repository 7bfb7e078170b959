/* Which code has been executed: what counts as known, for wrong paths and for those who ask. The engine knows more, but how
 * much more depends on how far QEMU has run ahead: not the same in every run. */
#ifndef AS_MODEL_EXECUTED_H
#define AS_MODEL_EXECUTED_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

struct as_executed {
    AS_VEC(bool) blocks;  /* by index */
    uint64_t n_blocks;    /* that are */
    uint64_t n_changes;   /* how often another instruction came to a place that had one */
    AS_VEC(bool) insns;   /* by id */
    struct as_map places; /* instructions by image and address; where the code changed, the one that was executed first
                             last */
};

void as_executed_free(struct as_executed *executed);
/* A block is executed for the first time, the whole of it or a part. */
void as_executed_add(struct as_executed *executed, const struct as_block *block);
const struct as_insn *as_executed_at(const struct as_executed *executed, uint32_t image, uint64_t address);

static inline bool as_executed_has_block(const struct as_executed *executed, const struct as_block *block)
{
    return block->index < executed->blocks.len && executed->blocks.data[block->index];
}

static inline bool as_executed_has(const struct as_executed *executed, uint32_t id)
{
    return id < executed->insns.len && executed->insns.data[id];
}

#endif
