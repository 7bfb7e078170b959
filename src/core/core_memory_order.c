/* Memory order: what loads, stores, atomics, fences and cache operations wait for beside their operands.
 *
 * Recent stores lie in a table by 8-byte granule. A load that overlaps one that has not drained takes its data from
 * there (or waits for it to drain, where it does not cover the load); where the store's address was not known yet the
 * load goes ahead, is caught later, and waits from then on. Virtual addresses decide.
 *
 * An instruction that waits for stores to drain has the event ORDER, and COHERENCE with it if one of them was waiting for
 * another core's line meanwhile.
 *
 * Not modelled: replays of loads that were woken up too early. */
#include "core/core_ask.h"
#include "core/core_back.h"

struct as_memory_answer as_core_ask_access(struct as_core *core, enum as_memory_kind kind, uint64_t cycle,
                                           const struct as_core_access *access)
{
    bool whole = kind <= AS_MEMORY_STORE;
    struct as_memory_answer answer = in_core_time(
        core, as_memory_access(core->memory, kind, cycle + core->offset, access->address, whole ? access->size : 1));
    if (__builtin_expect(answer.events & AS_EVENT_COHERENCE, 0))
        as_memory_name_insn(core->memory, insn_of(core, access));
    return whole ? answer : (struct as_memory_answer){0}; /* nobody waits for the others */
}

struct as_memory_answer as_core_load_slowly(struct as_core *core, const struct as_core_access *access, uint64_t cycle)
{
    struct as_memory_answer answer =
        in_core_time(core, as_memory_load_slowly(core->memory, cycle + core->offset, access->address, access->size));
    if (__builtin_expect(answer.events & AS_EVENT_COHERENCE, 0))
        as_memory_name_insn(core->memory, insn_of(core, access));
    return answer;
}

static uint16_t number_of(const struct as_core *core, const struct as_core_access *access)
{
    return (uint16_t)(access - core->script->accesses);
}

static struct as_memory_answer given_answer(const struct as_script *script, const struct as_ask *given)
{
    return (struct as_memory_answer){.done = as_script_done(script, given),
                                     .events = given->events & ~(uint32_t)AS_ASK_FAULT,
                                     .fault = (given->events & AS_ASK_FAULT) != 0};
}

static __attribute__((noinline)) struct as_memory_answer
access_by_script(struct as_core *core, enum as_memory_kind kind, uint64_t cycle, const struct as_core_access *access)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_ACCESS, cycle);
    struct as_memory_answer answer;
    if (given) {
        answer = given_answer(script, given);
    } else {
        answer = as_core_ask_access(core, kind, cycle, access);
        struct as_ask *ask = kind <= AS_MEMORY_STORE
                                 ? as_script_note_answer(script, AS_ASK_ACCESS, core->ideal, cycle, answer.done)
                                 : as_script_note(script, AS_ASK_ACCESS, core->ideal, cycle);
        ask->memory = (uint8_t)kind;
        ask->events = answer.events;
        ask->access = number_of(core, access);
    }
    script->spoiled |= answer.fault;
    return answer;
}

static struct as_memory_answer access_memory(struct as_core *core, enum as_memory_kind kind, uint64_t cycle,
                                             const struct as_core_access *access)
{
    drain_until(core, cycle);
    return core->script ? access_by_script(core, kind, cycle, access) : as_core_ask_access(core, kind, cycle, access);
}

/* Whether one of the stores that drained after `from`, at `until` at the latest, waited for another core's line. All that can
 * matter are the last ones: as many as the store queue has entries, and those that were put together, as far as they are known. */
static uint32_t waited_for_line(const struct as_core *core, uint64_t from, uint64_t until)
{
    const struct ring *queue = &core->store_queue;
    uint64_t most = core->machine->coherence.gather == AS_GATHER_NO ? queue->limit : queue->mask;
    uint64_t first = core->n_stores > most ? core->n_stores - most : 0;
    for (; first < core->n_drained; first++) {
        uint64_t moved = core->store_moved[first & queue->mask];
        if (moved > from && moved <= until)
            return AS_EVENT_COHERENCE;
    }
    return 0;
}

/* A store that covers the load in part, or whose address was not known in time: then it takes what the cache has, and
 * is caught. */
static struct as_memory_answer load_oddly(struct as_core *core, const struct as_core_access *access, uint64_t cycle,
                                          uint8_t *waits, struct trouble *trouble)
{
    const struct store *store = find_store(core, access, cycle);
    if (core->ideal & AS_EVENT_FL_MO)
        cycle = later(cycle, store->address_known);
    if (store->address_known > cycle) {
        *waits = 1;
        trouble->violated = later(trouble->violated, store->address_known);
        return as_core_ask_access(core, load_kind(access), cycle, access);
    }
    while (store->drained == UINT64_MAX && core->n_drained < core->n_stores)
        as_core_drain_one(core);
    return (struct as_memory_answer){.done = later(cycle, store->drained) + core->machine->memory.l1d.latency,
                                     .events = AS_EVENT_ORDER | waited_for_line(core, cycle, store->drained)};
}

static struct as_memory_answer load_alone(struct as_core *core, const struct as_core_access *access, uint64_t cycle,
                                          uint8_t *waits, struct trouble *trouble)
{
    struct as_memory_answer answer;
    return as_core_ask_load(core, access, cycle, &answer) ? answer : load_oddly(core, access, cycle, waits, trouble);
}

static __attribute__((noinline)) struct as_memory_answer load_by_script(struct as_core *core,
                                                                        const struct as_core_access *access,
                                                                        uint64_t cycle, uint8_t *waits,
                                                                        struct trouble *trouble)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_LOAD, cycle);
    struct as_memory_answer answer;
    if (given) {
        answer = given_answer(script, given);
    } else if (as_core_ask_load(core, access, cycle, &answer)) {
        struct as_ask *ask = as_script_note_answer(script, AS_ASK_LOAD, core->ideal, cycle, answer.done);
        ask->access = number_of(core, access);
        ask->events = answer.events;
    } else {
        script->spoiled = true;
        answer = load_oddly(core, access, cycle, waits, trouble);
    }
    script->spoiled |= answer.fault;
    return answer;
}

/* Whether the load was caught before. */
static bool ask_waits(struct as_core *core, const uint8_t *waits)
{
    struct as_script *script = core->script;
    if (!script)
        return *waits;
    const struct as_ask *given = as_script_next(script, AS_ASK_WAITS, 0);
    if (given)
        return given->events;
    struct as_ask *ask = as_script_note(script, AS_ASK_WAITS, 0, script->base);
    ask->slot = (uint16_t)(waits - core->waits);
    ask->events = *waits;
    return *waits;
}

uint64_t as_core_load(struct as_core *core, const struct as_micro *micro, const struct as_core_access *access,
                      uint64_t cycle, struct as_pipe *pipe, struct trouble *trouble)
{
    const struct as_machine *machine = core->machine;
    uint8_t *slot = &core->waits[micro->waits];
    if (later(core->load_barrier, core->store_barrier) > cycle) {
        pipe->events |= AS_EVENT_ORDER;
        if (core->store_barrier > cycle)
            pipe->events |= waited_for_line(core, cycle, core->store_barrier);
        cycle = later(core->load_barrier, core->store_barrier);
    }
    if (!machine->back.memory_speculation || (machine->back.dependence_predictor && ask_waits(core, slot)))
        cycle = later(cycle, core->stores_known);
    drain_until(core, cycle);
    struct as_memory_answer answer = core->script ? load_by_script(core, access, cycle, slot, trouble)
                                                  : load_alone(core, access, cycle, slot, trouble);
    core->counters.store_forwards += (answer.events & AS_EVENT_FORWARDED) != 0;
    pipe->events |= answer.events;
    trouble->fault |= answer.fault;
    return answer.done;
}

/* Atomics wait until they are the oldest, the cycle after the commit before, and every store before them has drained.
 */
static uint64_t oldest_and_drained(struct as_core *core, uint64_t ready, struct as_pipe *pipe)
{
    drain_first(core, core->n_stores);
    ready = later(ready, core->last_commit + 1);
    if (core->last_drain > ready)
        pipe->events |= waited_for_line(core, ready, core->last_drain);
    return later(ready, core->last_drain);
}

struct uop_times as_core_run_load(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    bool locked = (p->recipe->traits & AS_RECIPE_LOCKED) != 0;
    if (locked) {
        p->pipe->events |= AS_EVENT_ORDER;
        ready = oldest_and_drained(core, ready, p->pipe);
    }
    struct uop_times times = {.issue = issue(core, micro, ready, p->pipe)};
    uint64_t known = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access;
    times.done = known;
    bool all = (p->recipe->traits & AS_RECIPE_EACH) != 0;
    while ((access = next_access(p->op, &p->load_at, AS_ACCESS_LOAD))) {
        times.done = later(times.done, as_core_load(core, micro, access, known, p->pipe, &p->trouble));
        if (!all)
            break;
    }
    times.done += locked ? core->machine->atomic_latency : 0;
    return times;
}

/* Both halves of a store that crosses a page. */
struct as_memory_answer as_core_translate_slowly(struct as_core *core, uint64_t cycle,
                                                 const struct as_core_access *access)
{
    uint64_t last_byte = access->address + access->size - 1;
    struct as_memory_answer answer = as_memory_translate(core->memory, cycle + core->offset, access->address);
    if (access->address >> core->page_shift != last_byte >> core->page_shift) {
        struct as_memory_answer second = as_memory_translate(core->memory, cycle + core->offset, last_byte);
        answer.done = later(answer.done, second.done);
        answer.events |= second.events;
        answer.fault |= second.fault;
    }
    return in_core_time(core, answer);
}

static __attribute__((noinline)) struct as_memory_answer
translate_by_script(struct as_core *core, const struct as_core_access *access, uint64_t known, uint64_t data)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_TRANSLATE, known);
    struct as_memory_answer answer;
    if (given) {
        answer = given_answer(script, given);
    } else {
        answer = as_core_ask_translation(core, access, known, data);
        struct as_ask *ask = as_script_note_answer(script, AS_ASK_TRANSLATE, core->ideal, known, answer.done);
        ask->access = number_of(core, access);
        ask->events = answer.events;
        ask->data = (int32_t)(data - script->base);
    }
    script->spoiled |= answer.fault;
    return answer;
}

uint64_t as_core_store(struct as_core *core, const struct as_micro *micro, const struct as_core_access *access,
                       uint64_t dispatched, uint64_t issued, struct as_pipe *pipe, struct trouble *trouble)
{
    uint64_t latency = core->machine->units[AS_UNIT_STORE].latency, done = issued + latency, known = done;
    if (!access)
        return done;
    if (micro->base != AS_REG_NONE) {
        uint64_t ready = later(core->ready[micro->base], core->ready[micro->index]);
        uint64_t early = later(dispatched + core->dispatch_to_issue, ready) + latency;
        known = early < known ? early : known; /* the address goes ahead of the data */
    }
    drain_until(core, known);
    struct as_memory_answer answer = core->script ? translate_by_script(core, access, known, done)
                                                  : as_core_ask_translation(core, access, known, done);
    core->stores_known = later(core->stores_known, known);
    pipe->events |= answer.events;
    trouble->fault |= answer.fault;
    return later(done, answer.done);
}

struct uop_times as_core_run_store(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct uop_times times = {.issue = issue(p->core, micro, ready, p->pipe)};
    const struct as_core_access *access = next_access(p->op, &p->store_at, AS_ACCESS_STORE);
    times.done = as_core_store(p->core, micro, access, p->dispatched, times.issue, p->pipe, &p->trouble);
    return times;
}

/* A read-modify-write that the memory unit carries out, once it owns the line. */
struct uop_times as_core_run_atomic(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    struct uop_times times = {.issue = issue(core, micro, oldest_and_drained(core, ready, p->pipe), p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    if (access) {
        struct as_memory_answer answer = access_memory(core, load_kind(access), times.done, access);
        p->pipe->events |= answer.events;
        p->trouble.fault |= answer.fault;
        times.done = answer.done;
    }
    times.done += core->machine->atomic_latency;
    p->pipe->events |= AS_EVENT_ORDER;
    return times;
}

struct uop_times as_core_run_cache_operation(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    struct uop_times times = {.issue = issue(core, micro, ready, p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_PREFETCH | AS_ACCESS_FLUSH);
    if (access)
        access_memory(core, access->kind == AS_ACCESS_FLUSH ? AS_MEMORY_FLUSH : AS_MEMORY_PREFETCH, times.done, access);
    return times;
}

struct uop_times as_core_run_fence(struct passage *p, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t flags = p->op->insn->flags;
    struct uop_times times = {.issue = later(ready, core->last_commit + 1)};
    times.done = times.issue + 1;
    if (flags & AS_INSN_FENCE_STORE) {
        drain_first(core, core->n_stores);
        if (core->last_drain > times.done)
            p->pipe->events |= waited_for_line(core, times.done, core->last_drain);
        times.done = later(times.done, core->last_drain);
        core->store_barrier = times.done;
    }
    if (flags & AS_INSN_FENCE_LOAD)
        core->load_barrier = times.done;
    p->pipe->events |= AS_EVENT_ORDER;
    return times;
}
