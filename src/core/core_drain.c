/* Draining: committed stores leave the store queue in order, `store_drain` a cycle. That happens long after younger
 * loads have asked the cache, so it is deferred until a later cycle is requested or the time of a drain is needed. */
#include "core/core_ask.h"

/* When the first pending store can start. */
static uint64_t drain_start(const struct as_core *core)
{
    uint64_t start = later(core->pending[core->n_drained & core->pending_mask].commit + 1, core->last_drain_start);
    if (start == core->last_drain_start && core->drains_in_cycle >= core->machine->back.store_drain)
        start++;
    return later(start, core->last_drain);
}

struct as_memory_answer as_core_drain_slowly(struct as_core *core, const struct pending *pending, uint64_t start)
{
    struct as_memory_answer answer =
        in_core_time(core, as_memory_store_slowly(core->memory, start + core->offset, pending->address, pending->size,
                                                  pending->insn));
    if (__builtin_expect(answer.events & AS_EVENT_COHERENCE, 0))
        as_memory_name_insn(core->memory, pending->insn);
    return (struct as_memory_answer){.done = later(start, answer.done), .events = answer.events & AS_EVENT_COHERENCE};
}

/* As as_core_ask_drain, and whether the store wrote anything. `logged`: whoever asked first has logged it. */
static __attribute__((noinline)) struct as_memory_answer drain_by_script(struct as_core *core, uint64_t start,
                                                                         bool *writes, bool *logged)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_DRAIN, start);
    *logged = given != NULL;
    if (given) {
        *writes = given->flag;
        return (struct as_memory_answer){.done = as_script_done(script, given), .events = given->events};
    }
    *writes = core->pending[core->n_drained & core->pending_mask].size != 0;
    struct as_memory_answer answer = {.done = start};
    if (*writes)
        answer = as_core_ask_drain(core, start);
    struct as_ask *ask = as_script_note_answer(script, AS_ASK_DRAIN, core->ideal, start, answer.done);
    ask->flag = *writes;
    ask->events = answer.events;
    return answer;
}

void as_core_drain_one(struct as_core *core)
{
    const struct pending *pending = &core->pending[core->n_drained & core->pending_mask];
    uint64_t freed = pending->commit, start = core->next_drain;
    struct as_memory_answer answer = {.done = start};
    bool writes = pending->size != 0, logged = false;
    if (core->script)
        answer = drain_by_script(core, start, &writes, &logged);
    else if (writes)
        answer = as_core_ask_drain(core, start);
    if (writes) {
        core->drains_in_cycle = start == core->last_drain_start ? core->drains_in_cycle + 1 : 1;
        core->last_drain_start = start;
        core->last_drain = freed = answer.done;
    }
    if (core->stays && !logged)
        as_core_log_drain(core, freed);
    core->store_moved[core->n_drained & core->store_queue.mask] = answer.events != 0;
    go(&core->store_queue, core->n_drained++, freed);
    as_core_plan_drain(core);
}

void as_core_plan_drain(struct as_core *core)
{
    core->next_drain = core->n_drained < core->n_stores ? drain_start(core) : UINT64_MAX;
}

/* Adds the next store to the list. `number` is its struct store's. access NULL: it wrote nothing. */
static void add_pending(struct as_core *core, const struct as_core_access *access, const struct as_pipe *pipe,
                        uint64_t number)
{
    struct pending *pending = &core->pending[core->n_stores & core->pending_mask];
    pending->address = access ? access->address : 0;
    pending->size = access ? access->size : 0;
    pending->insn = !access ? 0 : core->insns ? pipe->insn : AS_TRANSFER_NO_INSN;
    pending->commit = pipe->commit;
    pending->number = number;
}

/* Where the script knows it, all but the commit is in the list already. */
static void put_off_by_script(struct as_core *core, const struct as_core_access *access, const struct as_pipe *pipe,
                              uint64_t number)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_PUT_OFF, pipe->commit);
    struct pending *pending = &core->pending[core->n_stores & core->pending_mask];
    pending->commit = pipe->commit;
    if (given)
        return;
    add_pending(core, access, pipe, number);
    struct as_ask *ask = as_script_note(script, AS_ASK_PUT_OFF, 0, pipe->commit);
    ask->flag = access != NULL;
    ask->access = access ? (uint16_t)(access - script->accesses) : 0;
    ask->done = (int32_t)(pipe->dispatch - script->base);
    ask->back = (uint32_t)(core->n_stores - number);
    ask->id = pending->insn;
}

void as_core_put_off_drain(struct as_core *core, const struct as_core_access *access, const struct as_pipe *pipe,
                           uint64_t number)
{
    if (core->n_stores - core->n_drained > core->store_queue.mask)
        as_core_drain_one(core);
    if (core->stays)
        core->store_dispatched[core->n_stores & core->pending_mask] = pipe->dispatch;
    if (core->script)
        put_off_by_script(core, access, pipe, number);
    else
        add_pending(core, access, pipe, number);
    if (core->n_drained == core->n_stores++)
        core->next_drain = drain_start(core);
}

void as_core_put_off_drains(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                            const struct as_pipe *pipe)
{
    uint32_t at = 0;
    uint64_t number = core->n_stores;
    for (uint8_t i = 0; i < recipe->n; i++)
        if (recipe->micro[i].traits & AS_MICRO_STORES)
            as_core_put_off_drain(core, next_access(op, &at, AS_ACCESS_STORE), pipe, number);
    if (recipe->traits & AS_RECIPE_ATOMIC)
        drain_first(core, core->n_stores); /* the core has the line: nobody gets it between the load and the store */
}
