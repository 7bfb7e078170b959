/* See executed.h. */
#include "model/executed.h"

#include "base/alloc.h"
#include "count/targets.h"

#include <stdlib.h>

void as_executed_free(struct as_executed *executed)
{
    as_vec_free(&executed->blocks);
    as_vec_free(&executed->insns);
    as_vec_free(&executed->whole);
    as_map_free(&executed->places);
    free(executed->marks);
}

/* Addresses near each other have marks near each other. */
static uint32_t mark_of(uint64_t address)
{
    return (uint32_t)(address ^ address >> 20 ^ address >> 40) % AS_EXECUTED_MARKS;
}

static void mark(struct as_executed *executed, uint64_t address)
{
    if (!executed->marks)
        executed->marks = as_alloc_array(AS_EXECUTED_MARKS / 64, sizeof *executed->marks);
    executed->marks[mark_of(address) / 64] |= UINT64_C(1) << mark_of(address) % 64;
}

static bool is_marked(const struct as_executed *executed, uint64_t address)
{
    return executed->marks && executed->marks[mark_of(address) / 64] >> mark_of(address) % 64 & 1;
}

enum { POINTER_BITS = 48 };

/* A place in the map: the block's address, and the instruction's index above it. */
static uint64_t pack(const struct as_block *block, uint32_t index)
{
    return (uint64_t)(uintptr_t)block | (uint64_t)index << POINTER_BITS;
}

static const struct as_block *block_at(uint64_t place)
{
    return (const struct as_block *)(uintptr_t)(place & ((UINT64_C(1) << POINTER_BITS) - 1));
}

static uint32_t index_at(uint64_t place)
{
    return (uint32_t)(place >> POINTER_BITS);
}

static void add_insn(struct as_executed *executed, const struct as_block *block, uint32_t index)
{
    const struct as_insn *insn = block->insns[index];
    while (executed->insns.len <= insn->id)
        *as_vec_push(&executed->insns) = 0;
    if (executed->insns.data[insn->id])
        return;
    executed->insns.data[insn->id] = AS_EXECUTED;
    mark(executed, insn->address);
    uint64_t *place = as_map_put(&executed->places, as_target_key(block->image, insn->address));
    if (*place) {
        executed->insns.data[block_at(*place)->insns[index_at(*place)]->id] |= AS_EXECUTED_REPLACED;
        executed->n_changes++;
    }
    *place = pack(block, index);
}

void as_executed_add(struct as_executed *executed, const struct as_block *block)
{
    while (executed->blocks.len <= block->index)
        *as_vec_push(&executed->blocks) = false;
    while (executed->whole.len <= block->index)
        *as_vec_push(&executed->whole) = 0;
    executed->blocks.data[block->index] = true;
    executed->n_blocks++;
    for (uint32_t i = 0; i < block->n; i++)
        add_insn(executed, block, i);
}

static struct as_code_run one(const struct as_insn *insn)
{
    return (struct as_code_run){
        .n = 1, .end = insn->address + insn->length, .control = as_insn_is_control(insn) ? insn : NULL};
}

static struct as_code_run rest_of(const struct as_block *block, uint32_t index)
{
    bool transfers = AS_INSN_CONTROL_CLASSES >> block->last_class & 1;
    return (struct as_code_run){
        .n = block->n - index, .end = block->end, .control = transfers ? block->insns[block->n - 1] : NULL};
}

/* Whether each instruction of the block is still what its address has, and goes on with the next one. */
static bool is_whole(struct as_executed *executed, const struct as_block *block)
{
    if (executed->whole.data[block->index] == executed->n_changes + 1)
        return true;
    for (uint32_t i = 0; i < block->n; i++)
        if (executed->insns.data[block->insns[i]->id] & AS_EXECUTED_REPLACED ||
            (i + 1 < block->n && as_insn_is_control(block->insns[i])))
            return false;
    executed->whole.data[block->index] = executed->n_changes + 1;
    return true;
}

bool as_executed_at(struct as_executed *executed, uint32_t image, uint64_t address, struct as_code_run *run)
{
    if (!is_marked(executed, address))
        return false;
    const uint64_t *place = as_map_get(&executed->places, as_target_key(image, address));
    if (!place)
        return false;
    const struct as_block *block = block_at(*place);
    uint32_t index = index_at(*place);
    *run = is_whole(executed, block) ? rest_of(block, index) : one(block->insns[index]);
    return true;
}
