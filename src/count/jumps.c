/* See jumps.h. The pairs of a block are a chain in one list. Each block remembers the pair that it used last, which is
 * usually the right one. Chains of interpreters' dispatch jumps have hundreds of pairs, so otherwise a map finds the
 * pair from block and target. */
#include "count/jumps.h"

#include "base/map.h"
#include "base/vec.h"

struct as_jump_counter {
    AS_VEC(struct as_jump_count) list;
    AS_VEC(uint32_t) last; /* by block index: the pair used last + 1; 0: none */
    struct as_map targets; /* address to a dense number + 1 */
    struct as_map by_pair; /* block << 32 | the target's number, to the pair's index + 1 */
    AS_VEC(struct as_jump_count) cuts;
};

struct as_jump_counter *as_jump_counter_new(void)
{
    return as_alloc(sizeof(struct as_jump_counter));
}

void as_jump_counter_free(struct as_jump_counter *counter)
{
    if (!counter)
        return;
    as_vec_free(&counter->list);
    as_vec_free(&counter->last);
    as_vec_free(&counter->cuts);
    as_map_free(&counter->targets);
    as_map_free(&counter->by_pair);
    free(counter);
}

static uint32_t find_pair(struct as_jump_counter *counter, uint32_t block, uint64_t target)
{
    uint64_t *number = as_map_put(&counter->targets, target);
    if (!*number)
        *number = counter->targets.len;
    uint64_t *pair = as_map_put(&counter->by_pair, (uint64_t)block << 32 | *number);
    if (!*pair) {
        *as_vec_push(&counter->list) = (struct as_jump_count){.block = block, .target = target};
        *pair = counter->list.len;
    }
    return (uint32_t)*pair;
}

static void add(struct as_jump_counter *counter, const struct as_block *block, uint64_t target, uint64_t times)
{
    bool indirect = block->last_class == AS_CLASS_CALL_INDIRECT || block->last_class == AS_CLASS_JUMP_INDIRECT;
    if (!indirect || !target)
        return;
    while (counter->last.len <= block->index)
        *as_vec_push(&counter->last) = 0;
    uint32_t *last = &counter->last.data[block->index];
    if (!*last || counter->list.data[*last - 1].target != target)
        *last = find_pair(counter, block->index, target);
    counter->list.data[*last - 1].count += times;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    if (exec->end == exec->block->n)
        add(context, exec->block, exec->next, 1);
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block,
                     const struct as_tally *tally)
{
    add(context, block, tally->next, tally->runs);
}

/* It was counted, or will be when its tally comes; at the end the sum is right. */
static void on_cut(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next)
{
    struct as_jump_counter *counter = context;
    add(counter, from, next, UINT64_MAX);
    *as_vec_push(&counter->cuts) = (struct as_jump_count){.block = from->index, .target = next, .count = 1};
}

const struct as_sink as_jump_counter_sink = {
    .block = on_block, .tally = on_tally, .cut = on_cut, .recorded_tallies = true, .jumps = true};

const struct as_jump_count *as_jump_counter_cuts(const struct as_jump_counter *counter, size_t *n)
{
    *n = counter->cuts.len;
    return counter->cuts.data;
}

const struct as_jump_count *as_jump_counter_list(const struct as_jump_counter *counter, size_t *n)
{
    *n = counter->list.len;
    return counter->list.data;
}
