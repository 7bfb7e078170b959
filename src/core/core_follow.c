/* See core_follow.h. This is all that runs for a block that is known. */
#include "core/core_follow.h"

#include "core/core_ask.h"

/* The one with this answer, of those that ask the same; NULL: it is new. */
static inline struct as_ask *with_answer(struct as_hunt *hunt, struct as_ask *ask, uint64_t cycle, uint32_t events)
{
    int64_t done = (int64_t)(cycle - hunt->base);
    if (__builtin_expect(ask->done == done && ask->events == events, 1))
        return ask;
    hunt->answer = *ask;
    while (ask->other) {
        ask = ask->other;
        if (ask->done == done && ask->events == events)
            return ask;
    }
    hunt->link = &ask->other;
    hunt->asked = true;
    hunt->answer.done = (int32_t)done;
    hunt->answer.events = events;
    hunt->answer.other = NULL;
    return NULL;
}

static inline struct as_ask *follow_answer(struct as_hunt *hunt, struct as_ask *ask, struct as_memory_answer answer)
{
    return with_answer(hunt, ask, answer.done, answer.events | (answer.fault ? AS_ASK_FAULT : 0));
}

static struct as_ask *follow_load(struct as_hunt *hunt, struct as_ask *ask, uint64_t cycle)
{
    struct as_memory_answer answer;
    if (as_core_ask_load(hunt->core, &hunt->run->accesses[ask->access], cycle, &answer))
        return follow_answer(hunt, ask, answer);
    while (ask->other)
        ask = ask->other;
    hunt->link = &ask->other;
    return NULL;
}

static struct as_ask *follow_drain(struct as_hunt *hunt, struct as_ask *ask, uint64_t cycle)
{
    struct as_core *core = hunt->core;
    uint64_t done = ask->flag ? as_core_ask_drain(core, cycle) : cycle;
    if (__builtin_expect(core->stays != NULL, 0))
        as_core_log_drain(core, ask->flag ? done : core->pending[core->n_drained & core->pending_mask].commit);
    core->n_drained++;
    return with_answer(hunt, ask, done, 0);
}

static void follow_put_off(struct as_hunt *hunt, const struct as_ask *ask, uint64_t commit)
{
    struct as_core *core = hunt->core;
    struct pending pending = {.commit = commit, .number = core->n_stores - ask->back};
    if (ask->flag) {
        pending.address = hunt->run->accesses[ask->access].address;
        pending.size = hunt->run->accesses[ask->access].size;
        pending.insn = insn_of(core, &hunt->run->accesses[ask->access]);
    }
    if (__builtin_expect(core->stays != NULL, 0))
        core->store_dispatched[core->n_stores & core->pending_mask] = hunt->base + (uint64_t)(int64_t)ask->done;
    core->pending[core->n_stores++ & core->pending_mask] = pending;
}

static struct as_ask *follow_prediction(struct as_hunt *hunt, struct as_ask *ask)
{
    struct as_core *core = hunt->core;
    const struct as_body_run *run = hunt->run;
    uint64_t next = ask->flag ? run->next : run->body->insns[ask->access + 1]->address, length = 0;
    bool taken = ask->flag ? run->taken : ask->memory;
    uint32_t bits = as_core_ask_prediction(core, ask->insn, taken, next, &hunt->target);
    if (__builtin_expect(bits & AS_PREDICT_WRONG, 0)) {
        const struct as_ask *wrong = ask;
        while (wrong && wrong->events != bits)
            wrong = wrong->other;
        length = wrong ? as_core_walk_wrong_path(core, hunt->target, wrong->most) : 0;
    }
    return with_answer(hunt, ask, hunt->base + length, bits);
}

struct as_known *as_core_follow(struct as_hunt *hunt, struct as_ask *ask)
{
    struct as_core *core = hunt->core;
    const struct as_body_run *run = hunt->run;
    struct as_ask **trail = core->walk.trail, **at = trail;
    bool ideals = run->body->ideals;
    core->insns = run->body->insns;
    set_ideal(core, 0);
    for (;; ask++) {
        uint64_t cycle = hunt->base + (uint64_t)(int64_t)ask->cycle;
        if (__builtin_expect(ideals, 0))
            set_ideal(core, ask->ideal);
        switch ((enum as_ask_kind)ask->kind) {
        case AS_ASK_FETCH:
            ask = follow_answer(hunt, ask, as_core_ask_line(core, cycle, ask->address));
            break;
        case AS_ASK_WAITS:
            ask = with_answer(hunt, ask, hunt->base, core->waits[ask->slot]);
            break;
        case AS_ASK_LOAD:
            ask = follow_load(hunt, ask, cycle);
            break;
        case AS_ASK_TRANSLATE:
            ask = follow_answer(hunt, ask,
                                as_core_ask_translation(core, &run->accesses[ask->access], cycle,
                                                        hunt->base + (uint64_t)(int64_t)ask->data));
            break;
        case AS_ASK_ACCESS:
            ask = follow_answer(
                hunt, ask,
                as_core_ask_access(core, (enum as_memory_kind)ask->memory, cycle, &run->accesses[ask->access]));
            break;
        case AS_ASK_DRAIN:
            ask = follow_drain(hunt, ask, cycle);
            break;
        case AS_ASK_PUT_OFF:
            follow_put_off(hunt, ask, cycle);
            break;
        case AS_ASK_PREDICT:
            ask = follow_prediction(hunt, ask);
            break;
        case AS_ASK_END:
            core->walk.n_trail = (uint32_t)(at - trail);
            return ask->edge;
        }
        if (__builtin_expect(!ask, 0)) {
            core->walk.n_trail = (uint32_t)(at - trail);
            return NULL;
        }
        *at++ = ask;
    }
}
