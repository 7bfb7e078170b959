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

/* What is no question is known here as well. */
static void skip_ideals(struct as_script *script)
{
    while (script->at < script->n_given && script->given[script->at]->kind == AS_ASK_IDEAL)
        script->at++;
}

void as_script_give(struct as_script *script, struct as_question *const *given, uint32_t n)
{
    script->given = given;
    script->n_given = n;
    script->at = 0;
    skip_ideals(script);
}

const struct as_ask *as_script_next(struct as_script *script, enum as_ask_kind kind, uint64_t cycle)
{
    if (script->at < script->n_given && !script->differs) {
        as_question_unpack(script->given[script->at++], 0, &script->taken);
        skip_ideals(script);
        if (script->checks)
            compare(script, &script->taken, kind, cycle);
        return &script->taken;
    }
    return script->answered ? take_answer(script) : NULL;
}

static int32_t since(struct as_script *script, uint64_t cycle)
{
    int64_t cycles = (int64_t)(cycle - script->base);
    script->spoiled |= cycles != (int32_t)cycles;
    return (int32_t)cycles;
}

struct as_ask *as_script_note(struct as_script *script, enum as_ask_kind kind, uint32_t ideal, uint64_t cycle)
{
    script->spoiled |= script->n >= AS_SCRIPT_ASKS;
    int32_t cycles = since(script, cycle);
    struct as_ask *ask = &script->asks[script->spoiled ? AS_SCRIPT_ASKS : script->n++];
    *ask = (struct as_ask){.kind = (uint8_t)kind, .ideal = ideal, .cycle = cycles};
    return ask;
}

struct as_ask *as_script_note_answer(struct as_script *script, enum as_ask_kind kind, uint32_t ideal, uint64_t cycle,
                                     uint64_t done)
{
    int32_t cycles = since(script, done);
    struct as_ask *ask = as_script_note(script, kind, ideal, cycle);
    ask->done = cycles;
    return ask;
}

/* ---- questions that are kept ---- */

static bool fits(int64_t value)
{
    return value == (int16_t)value;
}

bool as_question_pack(const struct as_ask *ask, struct as_question *question)
{
    *question = (struct as_question){.kind = ask->kind & 15,
                                     .flag = ask->flag,
                                     .memory = ask->memory & 7,
                                     .access = (uint8_t)ask->access,
                                     .cycle = (int16_t)ask->cycle,
                                     .done = (int16_t)ask->done,
                                     .data = (int16_t)ask->data,
                                     .events = ask->events};
    switch ((enum as_ask_kind)ask->kind) {
    case AS_ASK_FETCH:
        question->number = ask->access;
        break;
    case AS_ASK_WAITS:
        question->number = ask->slot;
        break;
    case AS_ASK_PUT_OFF:
        question->events = ask->id;
        break;
    case AS_ASK_PREDICT:
        question->number = ask->access;
        question->cycle = (int16_t)ask->most;
        return fits(ask->done) && fits(ask->most);
    default:
        break;
    }
    bool numbered = ask->kind == AS_ASK_FETCH || ask->kind == AS_ASK_WAITS;
    return fits(ask->cycle) && fits(ask->done) && (numbered || (fits(ask->data) && ask->access <= UINT8_MAX));
}

void as_question_unpack(const struct as_question *question, uint32_t ideal, struct as_ask *ask)
{
    *ask = (struct as_ask){.kind = question->kind,
                           .flag = question->flag,
                           .memory = question->memory,
                           .access = question->access,
                           .ideal = ideal,
                           .cycle = question->cycle,
                           .done = question->done,
                           .data = question->data,
                           .events = question->events};
    switch ((enum as_ask_kind)question->kind) {
    case AS_ASK_FETCH:
        ask->access = question->number;
        break;
    case AS_ASK_WAITS:
        ask->slot = question->number;
        break;
    case AS_ASK_PUT_OFF:
        ask->id = question->events;
        break;
    case AS_ASK_PREDICT:
        ask->access = question->number;
        ask->cycle = 0;
        ask->most = (uint16_t)question->cycle;
        break;
    default:
        break;
    }
}
