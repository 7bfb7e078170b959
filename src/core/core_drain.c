/* Draining: committed stores leave the store queue in order, `store_drain` a cycle. That happens long after younger
 * loads have asked the cache, so it is deferred until a later cycle is requested or the time of a drain is needed.
 *
 * A store that waits for another core's line stays in the queue, and so do all behind it. Where the machine gathers stores
 * (coherence.gather), it leaves the queue at once, and so do stores to the same line that come next: they are put together, and become visible
 * when the line is there. A store to another line must not become visible before, and stays in the queue until then. */
#include "core/core_ask.h"

/* ---- stores that are put together ---- */

/* The line + 1 for which the store may be put together with others; 0: it may not. */
static uint64_t gathers_for(const struct as_core *core, const struct pending *pending)
{
    uint32_t gather = core->machine->coherence.gather;
    uint64_t line = pending->address >> core->line_shift;
    bool may = gather == AS_GATHER_ALL || (gather == AS_GATHER_UNREAD && !pending->read);
    return may && pending->size && (pending->address + pending->size - 1) >> core->line_shift == line ? line + 1 : 0;
}

/* Whether they wait for their line at `cycle`. */
static bool is_gathering(const struct as_core *core, uint64_t cycle)
{
    return core->gathered && cycle < core->last_drain;
}

/* Whether the first pending store, which could start at `start`, is put to them. */
static bool joins(const struct as_core *core, uint64_t start)
{
    return is_gathering(core, start) &&
           gathers_for(core, &core->pending[core->n_drained & core->pending_mask]) == core->gathered;
}

/* The store leaves the queue at `start`, before it is visible. Where the machine tells stores that loads have read from others, loads find
 * none that has left the queue. */
static void gather(struct as_core *core, const struct pending *pending, uint64_t start)
{
    core->gathered = gathers_for(core, pending);
    if (core->machine->coherence.gather == AS_GATHER_UNREAD)
        note_drained(core, pending, start);
    if (core->script)
        core->script->spoiled = true; /* which stores are put together is decided by addresses */
}

/* ---- one after the other ---- */

/* When the first pending store could start if none before it waited for its line. */
static uint64_t earliest_start(const struct as_core *core)
{
    uint64_t start = later(core->pending[core->n_drained & core->pending_mask].commit + 1, core->last_drain_start);
    return start + (start == core->last_drain_start && core->drains_in_cycle >= core->machine->back.store_drain);
}

/* When the first pending store can start. */
static uint64_t drain_start(const struct as_core *core)
{
    uint64_t start = earliest_start(core);
    return joins(core, start) ? start : later(start, core->last_drain);
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

static void note_start(struct as_core *core, uint64_t start)
{
    core->drains_in_cycle = start == core->last_drain_start ? core->drains_in_cycle + 1 : 1;
    core->last_drain_start = start;
}

/* The first pending store leaves the queue in cycle `freed`; it waited for another core's line until `moved`, or 0. */
static void leave_queue(struct as_core *core, uint64_t freed, uint64_t moved, bool logged)
{
    if (core->stays && !logged)
        as_core_log_drain(core, freed);
    core->store_moved[core->n_drained & core->store_queue.mask] = moved;
    go(&core->store_queue, core->n_drained++, freed);
    as_core_plan_drain(core);
}

/* The first pending store is put to those that wait for its line, which is the core's when they are visible. */
static void join(struct as_core *core, uint64_t start)
{
    const struct pending *pending = &core->pending[core->n_drained & core->pending_mask];
    note_start(core, start);
    core->last_drain = later(core->last_drain, as_core_ask_drain(core, core->last_drain).done);
    gather(core, pending, start);
    leave_queue(core, start, core->last_drain, false);
}

static void drain_alone(struct as_core *core, bool waited)
{
    const struct pending *pending = &core->pending[core->n_drained & core->pending_mask];
    uint64_t freed = pending->commit, start = core->next_drain;
    struct as_memory_answer answer = {.done = start};
    bool writes = pending->size != 0, logged = false;
    if (core->script)
        answer = drain_by_script(core, start, &writes, &logged);
    else if (writes)
        answer = as_core_ask_drain(core, start);
    core->gathered = 0;
    if (writes) {
        note_start(core, start);
        core->last_drain = freed = answer.done;
    }
    if (__builtin_expect(answer.events && answer.done > start && gathers_for(core, pending), 0)) {
        gather(core, pending, start);
        freed = start;
    }
    leave_queue(core, freed, answer.events || waited ? answer.done : 0, logged);
}

/* Drains the first pending store; or only plans it anew, where it was to be put to others and has been read since. */
void as_core_drain_one(struct as_core *core)
{
    uint64_t start = core->next_drain;
    bool waited = core->gathered && is_gathering(core, earliest_start(core));
    if (!waited || start >= core->last_drain)
        drain_alone(core, waited);
    else if (joins(core, start))
        join(core, start);
    else
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
    pending->read = false;
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
        drain_first(core, core->n_stores - core->store_queue.mask);
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
