/* See executed.h. */
#include "model/executed.h"

#include "count/targets.h"

void as_executed_free(struct as_executed *executed)
{
    as_vec_free(&executed->blocks);
    as_vec_free(&executed->insns);
    as_map_free(&executed->places);
}

static void add_insn(struct as_executed *executed, uint32_t image, const struct as_insn *insn)
{
    while (executed->insns.len <= insn->id)
        *as_vec_push(&executed->insns) = false;
    if (executed->insns.data[insn->id])
        return;
    executed->insns.data[insn->id] = true;
    uint64_t *place = as_map_put(&executed->places, as_target_key(image, insn->address));
    executed->n_changes += *place != 0;
    *place = (uint64_t)(uintptr_t)insn;
}

void as_executed_add(struct as_executed *executed, const struct as_block *block)
{
    while (executed->blocks.len <= block->index)
        *as_vec_push(&executed->blocks) = false;
    executed->blocks.data[block->index] = true;
    executed->n_blocks++;
    for (uint32_t i = 0; i < block->n; i++)
        add_insn(executed, block->image, block->insns[i]);
}

const struct as_insn *as_executed_at(const struct as_executed *executed, uint32_t image, uint64_t address)
{
    const uint64_t *insn = as_map_get(&executed->places, as_target_key(image, address));
    return insn ? (const struct as_insn *)(uintptr_t)*insn : NULL;
}
