/* Blocks that warm caches, TLBs and predictors of their thread's core. See model_inside.h. */
#include "model/model_inside.h"

enum { MOST_PLAIN = 64 }; /* accesses of a plain block */
enum way { WAY_UNKNOWN, WAY_PLAIN, WAY_CAREFUL };

/* Whether each word of the block's executions is one access, so that what the words say need not be worked out. */
static enum way find_way(struct as_model *model, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    while (model->warm_ways.len <= block->index)
        *as_vec_push(&model->warm_ways) = WAY_UNKNOWN;
    uint8_t *way = &model->warm_ways.data[block->index];
    if (*way == WAY_UNKNOWN && exec->end - exec->first == block->n)
        *way = block->flags & (AS_BLOCK_VARIES | AS_BLOCK_DISAGREES) || exec->n_words > MOST_PLAIN ||
                       !as_accesses_are_plain(exec)
                   ? WAY_CAREFUL
                   : WAY_PLAIN;
    return *way;
}

static void warm_carefully(struct as_model *model, const struct as_block_exec *exec)
{
    struct as_accesses all = as_accesses_of(exec);
    for (struct as_access access; as_accesses_next(&all, &access);)
        as_model_warm_access(model, &access);
}

static void warm(struct as_model *model, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    bool whole = exec->end - exec->first == block->n && !exec->continues;
    if (__builtin_expect(whole, 1))
        as_model_warm_fetch(model, block);
    else if (!exec->continues)
        as_model_warm_range(model, block->insns[exec->first]->address,
                            exec->end == block->n ? block->end : block->insns[exec->end]->address);
    enum way way = block->index < model->warm_ways.len ? model->warm_ways.data[block->index] : WAY_UNKNOWN;
    if (__builtin_expect(way == WAY_UNKNOWN, 0))
        way = find_way(model, exec);
    if (__builtin_expect(way == WAY_PLAIN && whole && exec->n_words <= MOST_PLAIN, 1))
        for (size_t i = 0; i < exec->n_words; i++)
            as_model_warm_word(model, exec->words[i]);
    else if (exec->n_words || exec->registers)
        warm_carefully(model, exec);
    if (exec->end == block->n && block->outcome != AS_OUTCOME_FALLS)
        as_model_warm_control(model, block, exec->taken, exec->next);
}

void as_model_warm_block(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    if (__builtin_expect(own->path != 0 || !own->followed, 0)) {
        own->path = 0;
        (void)as_call_tracker_begin(model->calls, thread, exec);
        own->followed = true;
    }
    if (!as_executed_has_block(&model->executed, exec->block) && model->also.len && as_model_counts_all(model))
        as_model_skipped(model, thread, exec->block, exec->first, exec->end, 1);
    as_model_warm_begin(model, own);
    warm(model, exec);
    if (model->sieve)
        as_model_let_pass(model, own, exec->block, exec->first + exec->continues, exec->end, 1);
    as_model_warm_end(model);
    if (exec->taken || as_block_touches_stack(exec->block))
        as_call_tracker_end(model->calls, thread, exec);
}
