/* See core_script.h. */
#include "core/core_script.h"

static const struct as_ask *take_answer(struct as_script *script)
{
    script->answered = false;
    if (script->n == AS_SCRIPT_ASKS)
        script->spoiled = true;
    else
        script->asks[script->n++] = script->answer;
    return &script->answer;
}

/* A block that is put together wrongly must not go on: answers of other questions could make no sense at all. */
static void compare(struct as_script *script, const struct as_ask *ask, enum as_ask_kind kind, uint64_t cycle)
{
    bool timed = kind != AS_ASK_PREDICT && kind != AS_ASK_WAITS;
    if (ask->kind == kind && (!timed || script->base + (uint64_t)(int64_t)ask->cycle == cycle))
        return;
    script->differs = true;
    script->came = cycle;
}

const struct as_ask *as_script_next(struct as_script *script, enum as_ask_kind kind, uint64_t cycle)
{
    if (script->at < script->n_given && !script->differs) {
        const struct as_ask *ask = script->given[script->at++];
        if (script->checks)
            compare(script, ask, kind, cycle);
        return ask;
    }
    return script->answered ? take_answer(script) : NULL;
}

static int32_t since(const struct as_script *script, uint64_t cycle, bool *fits)
{
    int64_t cycles = (int64_t)(cycle - script->base);
    *fits &= cycles == (int32_t)cycles;
    return (int32_t)cycles;
}

void as_script_note(struct as_script *script, struct as_ask ask, uint64_t cycle, uint64_t done)
{
    bool fits = script->n < AS_SCRIPT_ASKS;
    ask.cycle = since(script, cycle, &fits);
    if (ask.kind != AS_ASK_PREDICT && ask.kind != AS_ASK_PUT_OFF && ask.kind != AS_ASK_WAITS &&
        ask.memory <= AS_MEMORY_STORE)
        ask.done = since(script, done, &fits);
    if (fits && !script->spoiled)
        script->asks[script->n++] = ask;
    else
        script->spoiled = true;
}
