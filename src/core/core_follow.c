/* See core_follow.h. This is all that runs for a block that is known. */
#include "core/core_follow.h"

#include "core/core_ask.h"

/* An answer: the cycle counts from the last dispatch before the block. */
struct reply {
    int64_t done;
    uint32_t events;
};

static inline struct reply reply_of(const struct as_hunt *hunt, struct as_memory_answer answer)
{
    return (struct reply){.done = (int64_t)(answer.done - hunt->base),
                          .events = answer.events | (answer.fault ? AS_ASK_FAULT : 0)};
}

static inline bool has_answer(const struct as_question *ask, struct reply reply)
{
    return ask->done == reply.done && ask->events == reply.events;
}

static inline struct reply reply_in(const struct as_question *ask)
{
    return (struct reply){.done = ask->done, .events = ask->events};
}

/* The same question with another answer; NULL: there is none. */
static inline struct as_question *other_of(const struct as_hunt *hunt, const struct as_question *ask)
{
    return ask->other ? as_memo_at(hunt->core->walk.memo, ask->other) : NULL;
}

/* The question with this answer, of those that ask the same; NULL: it is new. */
static __attribute__((noinline)) struct as_question *find_other(struct as_hunt *hunt, struct as_question *ask,
                                                                struct reply reply)
{
    as_question_unpack(ask, hunt->core->ideal, &hunt->answer);
    for (struct as_question *other; (other = other_of(hunt, ask)); ask = other)
        if (has_answer(other, reply))
            return other;
    hunt->link = &ask->other;
    hunt->asked = true;
    hunt->answer.done = (int32_t)reply.done;
    hunt->answer.events = reply.events;
    return NULL;
}

/* A load that met something rare: nothing was asked. */
static struct as_question *give_up(struct as_hunt *hunt, struct as_question *ask)
{
    for (struct as_question *other; (other = other_of(hunt, ask));)
        ask = other;
    hunt->link = &ask->other;
    return NULL;
}

static inline uint64_t line_of(const struct as_core *core, const struct as_body *body, const struct as_question *ask)
{
    if (__builtin_expect(ask->access == AS_QUESTION_FAR, 0))
        return as_core_line_of(core, body, ask->number, ask->flag) << core->line_shift;
    return ((body->address >> core->line_shift) + ask->access - AS_QUESTION_NEAR) << core->line_shift;
}

static inline struct reply ask_drain(struct as_core *core, const struct as_question *ask, uint64_t cycle)
{
    struct as_memory_answer answer = {.done = cycle};
    if (ask->flag) {
        answer = as_core_ask_drain(core, cycle);
        core->walk.drained = answer.done;
    }
    if (__builtin_expect(core->stays != NULL, 0))
        as_core_log_drain(core, ask->flag ? answer.done : core->pending[core->n_drained & core->pending_mask].commit);
    core->n_drained++;
    return (struct reply){.done = ask->cycle + (int64_t)(answer.done - cycle), .events = answer.events};
}

static inline void put_off(const struct as_hunt *hunt, const struct as_question *ask, uint64_t commit)
{
    struct as_core *core = hunt->core;
    struct pending *pending = &core->pending[core->n_stores & core->pending_mask];
    const struct as_core_access *access = &hunt->run->accesses[ask->access];
    bool writes = ask->flag;
    pending->commit = commit;
    pending->number = core->n_stores - ask->number;
    pending->address = writes ? access->address : 0;
    pending->size = writes ? access->size : 0;
    pending->insn = ask->events;
    pending->read = false;
    if (__builtin_expect(core->stays != NULL, 0))
        core->store_dispatched[core->n_stores & core->pending_mask] = hunt->base + (uint64_t)(int64_t)ask->done;
    core->n_stores++;
}

/* What was foreseen is as in the question, as a rule. Of a wrong path it only says how long it can be at most. */
static inline bool is_foreseen(struct as_core *core, const struct as_question *ask)
{
    if (__builtin_expect(!core->foreseen || *core->foreseen != ask->events || ask->events & AS_PREDICT_WRONG, 0))
        return false;
    core->foreseen++;
    return true;
}

static inline struct reply ask_prediction(struct as_hunt *hunt, const struct as_question *ask)
{
    struct as_core *core = hunt->core;
    const struct as_body_run *run = hunt->run;
    const struct as_insn *const *insn = (const struct as_insn *const *)&run->body->insns[ask->number];
    uint64_t next = ask->flag ? run->next : insn[1]->address;
    bool taken = ask->flag ? run->taken : ask->memory;
    struct reply reply = {.events = as_core_ask_prediction(core, *insn, taken, next, &hunt->target)};
    if (__builtin_expect(reply.events & AS_PREDICT_WRONG, 0)) {
        const struct as_question *wrong = ask;
        while (wrong && wrong->events != reply.events)
            wrong = other_of(hunt, wrong);
        reply.done = wrong ? as_core_follow_wrong_path(core, hunt->target, (uint16_t)wrong->cycle) : 0;
    }
    return reply;
}

static inline struct reply ask_access(const struct as_hunt *hunt, const struct as_question *ask, uint64_t cycle)
{
    enum as_memory_kind kind = (enum as_memory_kind)ask->memory;
    struct as_memory_answer answer = as_core_ask_access(hunt->core, kind, cycle, &hunt->run->accesses[ask->access]);
    return kind <= AS_MEMORY_STORE ? reply_of(hunt, answer) : (struct reply){0}; /* nobody waits for the others */
}

static inline struct reply ask_translation(const struct as_hunt *hunt, const struct as_question *ask, uint64_t cycle)
{
    uint64_t data = hunt->base + (uint64_t)(int64_t)ask->data;
    return reply_of(hunt, as_core_ask_translation(hunt->core, &hunt->run->accesses[ask->access], cycle, data));
}

/* Returns the last question; NULL: an answer is new. */
static inline struct as_question *walk(struct as_hunt *hunt, struct as_question *ask)
{
    struct as_core *core = hunt->core;
    const struct as_body_run *run = hunt->run;
    struct as_question **at = core->walk.trail;
    for (;; ask++) {
        uint64_t cycle = hunt->base + (uint64_t)(int64_t)ask->cycle;
        struct as_memory_answer answer;
        struct reply reply = {0};
        switch ((enum as_ask_kind)ask->kind) {
        case AS_ASK_FETCH:
            reply = reply_of(hunt, as_core_ask_line(core, cycle, line_of(core, run->body, ask)));
            break;
        case AS_ASK_WAITS:
            reply.events = core->waits[ask->number];
            if (ask[1].kind != AS_ASK_LOAD || !has_answer(ask, reply))
                break;
            *at++ = ask++; /* as a rule the load comes next */
            cycle = hunt->base + (uint64_t)(int64_t)ask->cycle;
            __attribute__((fallthrough));
        case AS_ASK_LOAD:
            if (__builtin_expect(!as_core_ask_load(core, &run->accesses[ask->access], cycle, &answer), 0))
                goto odd;
            reply = reply_of(hunt, answer);
            break;
        case AS_ASK_TRANSLATE:
            reply = ask_translation(hunt, ask, cycle);
            break;
        case AS_ASK_ACCESS:
            reply = ask_access(hunt, ask, cycle);
            break;
        case AS_ASK_DRAIN:
            reply = ask_drain(core, ask, cycle);
            break;
        case AS_ASK_PUT_OFF:
            put_off(hunt, ask, cycle);
            goto known;
        case AS_ASK_PREDICT:
            reply = is_foreseen(core, ask) ? reply_in(ask) : ask_prediction(hunt, ask);
            break;
        case AS_ASK_IDEAL:
            set_ideal(core, ask->events);
            goto known;
        case AS_ASK_END:
            goto end;
        default:
            __builtin_unreachable();
        }
        if (__builtin_expect(!has_answer(ask, reply), 0) && !(ask = find_other(hunt, ask, reply)))
            goto end;
    known:
        *at++ = ask;
    }
odd:
    ask = give_up(hunt, ask);
end:
    core->walk.n_trail = (uint32_t)(at - core->walk.trail);
    return ask;
}

struct as_known *as_core_follow(struct as_hunt *hunt, struct as_question *ask)
{
    struct as_core *core = hunt->core;
    core->insns = hunt->run->body->insns;
    set_ideal(core, 0);
    ask = walk(hunt, ask);
    return ask ? as_memo_at(core->walk.memo, ask->other) : NULL;
}
