/* The front end: which packet an instruction is fetched with, and where predictions send fetch.
 *
 * A packet holds adjacent instructions of one aligned block, up to a taken branch; it waits for redirects, the
 * instruction cache and TLB, room in the fetch buffer and a fetch target queue entry.
 *
 * Not modelled: contention by wrong-path instructions (they are counted, not executed), micro-op caches. */
#include "base/alloc.h"
#include "core/core_ask.h"
#include "core/routes.h"

#include <stdlib.h>

enum { WRONG_PATH_MOST = 512 };

static __attribute__((noinline)) struct as_memory_answer
fetch_by_script(struct as_core *core, bool second, uint16_t number, uint64_t cycle, uint64_t address)
{
    struct as_script *script = core->script;
    const struct as_ask *given = as_script_next(script, AS_ASK_FETCH, cycle);
    if (given)
        return (struct as_memory_answer){.done = as_script_done(script, given), .events = given->events};
    struct as_memory_answer answer = as_core_ask_line(core, cycle, address);
    struct as_ask *ask = as_script_note_answer(script, AS_ASK_FETCH, core->ideal, cycle, answer.done);
    ask->flag = second;
    ask->access = number;
    ask->events = answer.events;
    return answer;
}

/* `second`: of the instruction's lines. */
static struct as_memory_answer fetch_line(struct as_core *core, bool second, uint16_t number, uint64_t cycle,
                                          uint64_t address)
{
    drain_until(core, cycle);
    return core->script ? fetch_by_script(core, second, number, cycle, address)
                        : as_core_ask_line(core, cycle, address);
}

uint64_t as_core_next_packet(const struct as_core *core)
{
    uint64_t room = gone_at(&core->buffer, core->n_insns);
    uint64_t cycle = later(core->fetch_next, room > core->depth ? room - core->depth : 0);
    return later(cycle, gone_at(&core->targets, core->n_packets));
}

void as_core_open_packet(struct as_core *core, const struct as_recipe *recipe, uint16_t number, uint64_t not_before,
                         struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t cycle = later(core->fetch_next, not_before);
    uint64_t first = recipe->block >> (core->line_shift - core->block_shift);
    cycle = later(cycle, gone_at(&core->targets, core->n_packets));
    for (uint64_t line = first; line <= recipe->line; line++) {
        if (line == core->packet_line)
            continue;
        struct as_memory_answer answer = fetch_line(core, line > first, number, cycle, line << core->line_shift);
        cycle = later(cycle, answer.done);
        pipe->events |= answer.events;
        core->packet_line = line;
    }
    core->packet_cycle = cycle;
    core->packet_block = recipe->block;
    core->packet_slots = machine->front.fetch_width;
    core->fetch_next = cycle + 1;
    core->n_packets++;
}

/* Goes on from the straight's end. */
static void follow_code(const struct as_core *core, struct straight *straight)
{
    straight->unknown = false;
    while (straight->n < WRONG_PATH_MOST && !straight->control && !straight->unknown) {
        struct as_code_run run;
        straight->unknown = !core->code_at || !core->code_at(core->code_context, straight->end, &run);
        if (straight->unknown)
            break;
        straight->end = run.end;
        straight->n = (uint16_t)(straight->n + run.n);
        straight->control = run.control;
    }
}

static void begin_straight(struct straight *straight, uint64_t address)
{
    *straight = (struct straight){.address = address, .end = address};
}

void as_core_make_straights(struct as_core *core, uint64_t n)
{
    free(core->straights);
    core->straights = as_alloc_apart(n, sizeof *core->straights);
    core->straights_mask = n - 1;
    core->straights_missed = 0;
    for (uint64_t i = 0; i < n; i++)
        core->straights[i].version = UINT64_MAX;
}

/* Where new code has come since, only the end of straight code can have moved. */
static struct straight *find_straight(struct as_core *core, uint64_t address)
{
    struct straight *straight = &core->straights[(address >> 1 ^ address >> 11) & core->straights_mask];
    uint64_t version = core->code_version(core->code_context, false);
    bool same = straight->address == address && straight->version == version;
    if (__builtin_expect(same && !straight->unknown, 1))
        return straight;
    uint64_t code = core->code_version(core->code_context, true);
    if (same && straight->code == code)
        return straight;
    if (!same) {
        begin_straight(straight, address);
        core->straights_missed++;
    }
    follow_code(core, straight);
    straight->version = version;
    straight->code = code;
    return straight;
}

/* A program with more code than there are places for straight code gets more of them. */
static void begin_walk(struct as_core *core)
{
    enum { MORE = 4 };
    uint64_t n = core->straights_mask + 1;
    if (__builtin_expect(core->straights_missed > 2 * n && n < STRAIGHTS_MOST, 0))
        as_core_make_straights(core, MORE * n);
    if (__builtin_expect(++core->n_walks, 1))
        return;
    for (uint64_t i = 0; core->straights && i <= core->straights_mask; i++)
        core->straights[i].walk = 0;
    core->n_walks = 1;
}

/* Along the predicted path, from the program's own code. Nothing is learnt on the way: who comes somewhere for the second
 * time goes round for ever. */
uint32_t as_core_walk_wrong_path(struct as_core *core, uint64_t address, uint32_t most)
{
    uint32_t n = 0;
    begin_walk(core);
    while (n < most && address) {
        struct straight once, *straight = &once;
        if (core->code_version) {
            straight = find_straight(core, address);
            if (straight->walk == core->n_walks)
                return most;
            straight->walk = core->n_walks;
        } else {
            begin_straight(&once, address);
            follow_code(core, &once);
        }
        if (straight->n >= most - n)
            return most;
        n += straight->n;
        address = straight->control ? as_predictor_peek(core->predictor, straight->control)
                                    : (straight->unknown ? 0 : straight->end);
    }
    return n;
}

static uint32_t longest_wrong_path(const struct as_core *core)
{
    return core->rob < WRONG_PATH_MOST ? (uint32_t)core->rob : WRONG_PATH_MOST;
}

/* How many instructions the front end can bring into the ROB before the branch resolves. */
static uint32_t wrong_path_most(const struct as_core *core, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t first = later(pipe->fetch + 1 + machine->front.depth, pipe->dispatch);
    uint64_t delay = first - pipe->dispatch;
    if (first >= pipe->done || delay > UINT8_MAX)
        return 0;
    uint64_t most = (pipe->done - first) * machine->back.width;
    uint32_t longest = longest_wrong_path(core);
    pipe->wrong_delay = (uint8_t)delay;
    return most < longest ? (uint32_t)most : longest;
}

uint32_t as_core_ask_predictor(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next,
                               uint64_t *target)
{
    if (!next)
        return AS_PREDICT_NONE;
    struct as_prediction prediction = as_predictor_predict(core->predictor, insn, taken, next);
    *target = prediction.target;
    return (taken ? AS_PREDICT_TAKEN : 0) | (prediction.mispredicted ? AS_PREDICT_WRONG : 0) |
           (prediction.btb_miss ? AS_PREDICT_BTB_MISS : 0) | (prediction.fast ? AS_PREDICT_FAST : 0);
}

/* How long the wrong path can be is not known yet: it is followed as far as any. */
uint32_t as_core_foresee(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next)
{
    uint64_t target = 0;
    uint32_t bits = as_core_ask_predictor(core, insn, taken, next, &target);
    if (!(bits & AS_PREDICT_WRONG))
        return bits;
    return bits | as_core_walk_wrong_path(core, target, longest_wrong_path(core)) << FORESEEN_BITS;
}

void as_route_add(struct as_route *route, const struct as_insn *insn)
{
    bool plain = insn->class_ == AS_CLASS_BRANCH || insn->class_ == AS_CLASS_JUMP;
    route->plain += plain && route->plain == route->n;
    route->branches |= (uint32_t)(insn->class_ == AS_CLASS_BRANCH) << route->n;
    route->steps[route->n++] = (struct as_route_step){.insn = insn};
}

void as_core_foresee_route(struct as_core *core, const struct as_route *route, uint32_t *foreseen)
{
    struct as_route_look look;
    look.looked = false;
    uint32_t plain = route->plain, at = 0, fast = 0, missed = 0;
    if (plain == route->n && plain && !route->steps[plain - 1].next)
        plain--;
    if (plain && as_predictor_pass(core->predictor, route, plain, &fast, &missed, &look)) {
        for (; at < plain; at++)
            foreseen[at] = (route->steps[at].taken ? AS_PREDICT_TAKEN : 0) | (fast >> at & 1 ? AS_PREDICT_FAST : 0) |
                           (missed >> at & 1 ? AS_PREDICT_BTB_MISS : 0);
        plain = 0;
    }
    for (; at < route->n; at++) {
        const struct as_route_step *step = &route->steps[at];
        foreseen[at] = as_core_foresee(core, step->insn, step->taken, step->next);
        if (at + 1 == plain)
            as_predictor_note(core->predictor, route, plain, &look);
    }
}

/* What was predicted, and how long the wrong path is where it was wrong. Whole words: small ones would be put together in
 * memory and read from there at once, for which the host has to wait until they are in its cache. */
struct forecast {
    uint64_t bits; /* enum as_ask_prediction */
    uint64_t most; /* instructions that the wrong path can have … */
    uint64_t n;    /* … and has */
};

static struct forecast predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    uint64_t target = 0;
    struct forecast forecast = {.bits = as_core_ask_prediction(core, op->insn, op->taken, op->next, &target)};
    if (!(forecast.bits & AS_PREDICT_WRONG))
        return forecast;
    forecast.most = wrong_path_most(core, pipe);
    forecast.n = as_core_follow_wrong_path(core, target, (uint32_t)forecast.most);
    return forecast;
}

static __attribute__((noinline)) struct forecast predict_by_script(struct as_core *core, const struct as_op *op,
                                                                   struct as_pipe *pipe)
{
    struct as_script *script = core->script;
    bool asked = script->at == script->n_given; /* then the wrong path is yet to be followed */
    const struct as_ask *given = as_script_next(script, AS_ASK_PREDICT, 0);
    if (!given) {
        struct forecast forecast = predict(core, op, pipe);
        struct as_ask *ask = as_script_note(script, AS_ASK_PREDICT, core->ideal, script->base);
        ask->memory = op->taken;
        ask->flag = op->last;
        ask->access = op->number;
        ask->done = (int32_t)forecast.n;
        ask->events = (uint32_t)forecast.bits;
        ask->most = (uint32_t)forecast.most;
        return forecast;
    }
    struct forecast forecast = {.bits = given->events, .n = (uint32_t)given->done};
    if (!(forecast.bits & AS_PREDICT_WRONG))
        return forecast;
    forecast.most = wrong_path_most(core, pipe);
    if (asked) {
        forecast.n = as_core_follow_wrong_path(core, script->target, (uint32_t)forecast.most);
        script->asks[script->n - 1].done = (int32_t)forecast.n;
        script->asks[script->n - 1].most = (uint32_t)forecast.most;
    }
    return forecast;
}

static void follow_wrong_path(struct as_core *core, const struct forecast *forecast, struct as_pipe *pipe)
{
    core->counters.branch_mispredictions++;
    pipe->flags |= AS_PIPE_MISPREDICTED;
    pipe->events |= AS_EVENT_FL_MB;
    if (forecast->most)
        pipe->wrong_path = (uint16_t)forecast->n;
    core->counters.wrong_path_instructions += forecast->n;
    core->fetch_next = pipe->done + core->machine->front.redirect;
    core->packet_slots = 0;
    core->lane = 0;
}

void as_core_predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    struct forecast forecast = core->script ? predict_by_script(core, op, pipe) : predict(core, op, pipe);
    if (forecast.bits & AS_PREDICT_NONE)
        return;
    core->counters.branches++;
    pipe->flags |= forecast.bits & AS_PREDICT_TAKEN ? AS_PIPE_TAKEN : 0;
    if (forecast.bits & AS_PREDICT_WRONG) {
        follow_wrong_path(core, &forecast, pipe);
    } else if (forecast.bits & AS_PREDICT_TAKEN) {
        core->counters.btb_misses += (forecast.bits & AS_PREDICT_BTB_MISS) != 0;
        core->fetch_next = pipe->fetch + 1 + (forecast.bits & AS_PREDICT_FAST ? 0 : machine->front.taken_bubble) +
                           (forecast.bits & AS_PREDICT_BTB_MISS ? machine->front.btb_miss_bubble : 0);
        core->packet_slots = 0;
    }
}

void as_core_flush_after(struct as_core *core, uint64_t commit)
{
    core->fetch_next = commit + core->machine->front.flush;
    core->packet_slots = 0;
    core->lane = 0;
    core->counters.flushes++;
}
