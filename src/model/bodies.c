/* See bodies.h. */
#include "model/bodies.h"

enum { MOST_ACCESSES = 4096 }; /* of an instruction */

static const struct as_insn *stand_in(const struct as_bodies *bodies, const struct as_insn *insn, uint32_t *ideal)
{
    *ideal = 0;
    return bodies->stand_in ? bodies->stand_in(bodies->context, insn, ideal) : insn;
}

static bool is_replaced(const struct as_bodies *bodies, const struct as_insn *insn)
{
    uint32_t ideal;
    return stand_in(bodies, insn, &ideal) != insn;
}

static void collect(struct as_bodies *bodies, const struct as_block_exec *exec)
{
    struct as_accesses all = as_accesses_of(exec);
    uint32_t index = UINT32_MAX, n = 0;
    as_vec_clear(&bodies->accesses);
    for (struct as_access access; as_accesses_next(&all, &access);) {
        n = access.index == index ? n + 1 : 0;
        index = access.index;
        if (n >= MOST_ACCESSES || (bodies->stand_in && is_replaced(bodies, exec->block->insns[index])))
            continue;
        uint64_t address = bodies->move ? bodies->move(bodies->move_context, access.address) : access.address;
        *as_vec_push(&bodies->accesses) =
            (struct as_core_access){.address = address,
                                    .size = access.size,
                                    .index = (uint16_t)(index - exec->first),
                                    .kind = access.kind,
                                    .renames = bodies->machine->back.rename_memory &&
                                               as_recipe_renames(exec->block->insns[index], access.size)};
    }
}

static bool is_body_of(const struct as_block_body *block, const struct as_block_exec *exec,
                       const struct as_core_access *accesses, size_t n)
{
    const struct as_body *body = block->body;
    if (block->first != exec->first || block->end != exec->end || body->continues != exec->continues ||
        body->n_accesses != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (body->shape[i].index != accesses[i].index || body->shape[i].kind != accesses[i].kind)
            return false;
    return true;
}

static void note_heads(struct as_block_body *block, const struct as_block_exec *exec,
                       const struct as_core_access *accesses)
{
    size_t n = exec->n_words;
    block->has_heads = true;
    block->accesses = as_alloc_apart(n, sizeof *block->accesses);
    for (size_t i = 0; i < n; i++) {
        block->heads[i] = as_access_head(exec->words[i]);
        block->accesses[i] = accesses[i];
    }
}

static enum as_control control_of(const struct as_body *body)
{
    const struct as_recipe *last = body->recipes;
    for (uint32_t i = 1; i < body->n; i++)
        last = as_recipe_behind(last);
    bool at_end = last->traits & AS_RECIPE_CONTROL;
    return body->controls > at_end ? AS_CONTROL_WITHIN : at_end ? AS_CONTROL_LAST : AS_CONTROL_NONE;
}

static struct as_block_body *make(struct as_bodies *bodies, const struct as_block_exec *exec)
{
    uint32_t n = exec->end - exec->first;
    const struct as_insn **insns = as_alloc_array(n, sizeof *insns);
    uint32_t *ideals = as_alloc_array(n, sizeof *ideals);
    for (uint32_t i = 0; i < n; i++)
        insns[i] = stand_in(bodies, exec->block->insns[exec->first + i], &ideals[i]);
    struct as_block_body *block = as_alloc_apart(1, sizeof *block + exec->n_words * sizeof *block->heads);
    block->block = exec->block;
    block->n = n;
    block->likely = UINT32_MAX;
    block->indirect =
        exec->block->last_class == AS_CLASS_JUMP_INDIRECT || exec->block->last_class == AS_CLASS_CALL_INDIRECT;
    block->touches_stack = as_block_touches_stack(exec->block);
    block->first = exec->first;
    block->end = exec->end;
    block->n_accesses = (uint32_t)bodies->accesses.len;
    block->body = as_body_new(bodies->machine, insns, n, bodies->stand_in ? ideals : NULL, exec->continues,
                              bodies->accesses.data, (uint32_t)bodies->accesses.len);
    block->control = control_of(block->body);
    block->last = insns[n - 1];
    free(insns);
    free(ideals);
    if (as_accesses_are_plain(exec) && bodies->accesses.len == exec->n_words && !bodies->move)
        note_heads(block, exec, bodies->accesses.data);
    return block;
}

static __attribute__((noinline)) const struct as_body *find_slowly(struct as_bodies *bodies,
                                                                   const struct as_block_exec *exec)
{
    while (bodies->blocks.len <= exec->block->index)
        *as_vec_push(&bodies->blocks) = NULL;
    struct as_block_body **first = &bodies->blocks.data[exec->block->index], **link = first;
    while (*link && !is_body_of(*link, exec, bodies->accesses.data, bodies->accesses.len))
        link = &(*link)->other;
    struct as_block_body *found = *link ? *link : make(bodies, exec);
    *link = found->other;
    found->other = *first;
    *first = found;
    return found->body;
}

const struct as_body *as_bodies_find(struct as_bodies *bodies, const struct as_block_exec *exec,
                                     const struct as_core_access **accesses)
{
    uint32_t index = exec->block->index;
    const struct as_block_body *last = index < bodies->blocks.len ? bodies->blocks.data[index] : NULL;
    collect(bodies, exec);
    *accesses = bodies->accesses.data;
    if (last && is_body_of(last, exec, bodies->accesses.data, bodies->accesses.len))
        return last->body;
    return find_slowly(bodies, exec);
}

void as_bodies_free(struct as_bodies *bodies)
{
    for (size_t i = 0; i < bodies->blocks.len; i++)
        for (struct as_block_body *block = bodies->blocks.data[i], *next; block; block = next) {
            next = block->other;
            as_body_free(block->body);
            free(block->accesses);
            free(block);
        }
    as_vec_free(&bodies->blocks);
    as_vec_free(&bodies->numbered);
    as_vec_free(&bodies->accesses);
}
