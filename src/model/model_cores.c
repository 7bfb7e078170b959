/* See model_cores.h. */
#include "model/model_cores.h"

static struct as_model_core *core_at(struct as_model_cores *cores, uint32_t number)
{
    while (cores->list.len <= number)
        *as_vec_push(&cores->list) = (struct as_model_core){0};
    return &cores->list.data[number];
}

/* Returns a core that an ended thread of the process left, else one that no process owns. */
static uint32_t pick_own(struct as_model_cores *cores, uint32_t process)
{
    uint32_t free = UINT32_MAX;
    for (uint32_t i = 0; i < cores->list.len; i++) {
        const struct as_model_core *core = &cores->list.data[i];
        if (core->threads)
            continue;
        if (core->process == process)
            return i;
        free = core->process == 0 && i < free ? i : free;
    }
    return free == UINT32_MAX ? (uint32_t)cores->list.len : free;
}

/* Returns the first of the cores with the fewest threads, in the order of the pinning. */
static uint32_t pick_shared(struct as_model_cores *cores)
{
    const struct as_coherence_machine *machine = &cores->machine->coherence;
    bool listed = *machine->pinning >= '0' && *machine->pinning <= '9';
    uint32_t best = as_machine_core(cores->machine, listed ? cores->started : 0);
    for (uint32_t i = 1; i < machine->cores && !listed; i++) {
        uint32_t number = as_machine_core(cores->machine, i);
        if (core_at(cores, number)->threads < core_at(cores, best)->threads)
            best = number;
    }
    return best;
}

uint32_t as_model_cores_pick(struct as_model_cores *cores, uint32_t process)
{
    bool own = cores->machine->coherence.cores == 0;
    uint32_t number = own ? pick_own(cores, process) : pick_shared(cores);
    struct as_model_core *core = core_at(cores, number);
    core->process = own ? process : 0;
    core->threads++;
    cores->started++;
    return number;
}

void as_model_cores_leave(struct as_model_cores *cores, struct as_seat *seat, struct as_uncore *uncore, bool last)
{
    struct as_model_core *core = &cores->list.data[seat->number];
    uint32_t process = core->process;
    core->threads--;
    if (core->current == seat) {
        core->free_at = as_core_time(seat->core);
        core->current = NULL;
    }
    as_core_free(seat->core);
    seat->core = NULL;
    for (uint32_t i = 0; last && process && i < cores->list.len; i++)
        if (cores->list.data[i].process == process && cores->list.data[i].threads == 0) {
            as_uncore_drop(uncore, i);
            cores->list.data[i] = (struct as_model_core){0};
        }
}

/* The time since which the core is free. */
static uint64_t free_since(const struct as_model_core *core)
{
    return core->current ? as_core_time(core->current->core) : core->free_at;
}

void as_model_cores_enter(struct as_model_cores *cores, struct as_seat *seat)
{
    struct as_model_core *core = &cores->list.data[seat->number];
    uint64_t from = free_since(core);
    if (core->current)
        as_core_go(core->current->core);
    if (from > as_core_time(seat->core))
        as_core_wait_until(seat->core, from);
    as_core_come(seat->core);
    core->current = seat;
    core->slice_end = as_core_time(seat->core) + cores->machine->coherence.slice;
}

uint64_t as_model_cores_clock(const struct as_model_cores *cores, const struct as_seat *seat)
{
    const struct as_model_core *core = &cores->list.data[seat->number];
    uint64_t own = as_core_time(seat->core);
    if (core->current == seat || (!core->current && core->threads < 2))
        return own;
    bool busy = core->current && !core->current->waits;
    uint64_t free = busy && core->slice_end > free_since(core) ? core->slice_end : free_since(core);
    return own > free ? own : free;
}
