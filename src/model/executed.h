/* Which code has been executed. Only this code counts as known, for wrong paths and for queries. The engine knows more,
 * but how much more depends on how far QEMU has run ahead, so it differs from run to run. */
#ifndef AS_MODEL_EXECUTED_H
#define AS_MODEL_EXECUTED_H

#include "base/map.h"
#include "base/vec.h"
#include "core/core.h"
#include "engine/engine.h"

enum { AS_EXECUTED_MARKS = 1 << 20 };
enum as_executed_mark { AS_EXECUTED = 1, AS_EXECUTED_REPLACED = 2 }; /* REPLACED: its address has another one now */

struct as_executed {
    AS_VEC(bool) blocks;    /* by index */
    uint64_t n_blocks;      /* number of blocks that were executed */
    uint64_t n_changes;     /* how often another instruction was found at an address that had one */
    AS_VEC(uint8_t) insns;  /* by id: enum as_executed_mark */
    AS_VEC(uint64_t) whole; /* by index of a block: n_changes + 1 when it was last found to be whole; 0: never */
    uint64_t *marks; /* AS_EXECUTED_MARKS bits by address: one that is not set says that nothing was executed there */
    /* Instructions by image and address, as a block and a place in it; if the code changed, the one whose first execution
     * is the latest. */
    struct as_map places;
};

void as_executed_free(struct as_executed *executed);
/* Call this when a block is executed for the first time, in whole or in part. */
void as_executed_add(struct as_executed *executed, const struct as_block *block);
/* The rest of a block (as_code_at); an instruction alone where the next one of the block may not be what follows it: a
 * block that is not whole has instructions that were replaced, or a control transfer before its last instruction. */
bool as_executed_at(struct as_executed *executed, uint32_t image, uint64_t address, struct as_code_run *run);

static inline bool as_executed_has_block(const struct as_executed *executed, const struct as_block *block)
{
    return block->index < executed->blocks.len && executed->blocks.data[block->index];
}

static inline bool as_executed_has(const struct as_executed *executed, uint32_t id)
{
    return id < executed->insns.len && executed->insns.data[id] & AS_EXECUTED;
}

#endif
