/* See reuse_ahead.h. */
#include "reuse/reuse_ahead.h"

#include "reuse/granules.h"

#include <stdlib.h>

enum { GRANULE = 8, PATIENCE = 64, BEYOND = 8, HERE = 256 }; /* PATIENCE: instructions for each access, at most */

struct look {
    const struct as_ahead_order *order;
    struct as_ahead_result *result;
    struct as_granules touched;              /* uint32_t: times that the owner touched GRANULE bytes */
    uint64_t since;                          /* accesses behind the use that count */
    struct as_ahead_mark half, quarter, end; /* of one instruction: behind 2/4 and 3/4 of the bound, and the last */
};

static uint64_t granule_of(uint64_t address)
{
    return address / GRANULE;
}

/* Whether the owner has not been there before. */
static bool touch(struct look *look, uint64_t address, uint32_t size)
{
    bool is_new = true;
    for (uint64_t at = granule_of(address); at <= granule_of(address + (size ? size - 1 : 0)); at++) {
        uint32_t *times = as_granules_put(&look->touched, at);
        is_new &= ++*times == 1;
    }
    return is_new;
}

static void follow_steps(struct look *look, const struct as_ahead_mark *mark)
{
    uint64_t bound = look->order->bound;
    if (!look->half.address && mark->index >= bound / 2)
        look->half = *mark;
    if (mark->insn != look->half.insn)
        return;
    if (!look->quarter.address && mark->index >= bound - bound / 4)
        look->quarter = *mark;
    look->end = *mark;
}

static void take_mark(struct look *look, uint64_t address, uint64_t insn)
{
    struct as_ahead_result *result = look->result;
    struct as_ahead_mark mark = {.address = granule_of(address) * GRANULE, .index = result->accesses, .insn = insn};
    follow_steps(look, &mark);
    if (!result->first.address)
        result->first = mark;
    else if (!result->next.address)
        result->next = mark;
    result->last = mark;
}

static bool overlaps(const struct look *look, uint64_t address, uint32_t size)
{
    uint64_t start = look->result->use_address & ~(uint64_t)(look->order->length - 1);
    return address < start + look->order->length && start < address + (size ? size : 1);
}

/* An access behind the use: does it decide? */
static bool decides(struct look *look, size_t thread, const struct as_lookahead_step *step, unsigned which)
{
    struct as_ahead_result *result = look->result;
    enum as_reuse_relation relation = thread ? AS_REUSE_SAME_SOCKET : AS_REUSE_SAME_CORE;
    bool first = result->use_kind & AS_ACCESS_STORE, second = step->accesses[which].kind & AS_ACCESS_STORE;
    if (!overlaps(look, step->accesses[which].address, step->accesses[which].size))
        return false;
    result->outcome = look->order->in_cache ? as_reuse_in_cache(first, second, relation)
                                            : as_reuse_in_thread(first, second, relation);
    result->distance = look->since;
    result->end_insn = step->ip;
    result->end_kind = step->accesses[which].kind;
    result->end_thread = thread;
    return result->decided = result->outcome != AS_REUSE_NONE || !thread; /* in a cache, a pair of one core */
}

static void take_use(struct look *look, const struct as_lookahead_step *step, unsigned which)
{
    struct as_ahead_result *result = look->result;
    const uint32_t *times = as_granules_get(&look->touched, granule_of(step->accesses[which].address));
    result->has_use = true;
    result->use_address = step->accesses[which].address;
    result->use_size = step->accesses[which].size;
    result->use_kind = step->accesses[which].kind;
    result->use_insn = step->ip;
    result->use_index = result->accesses;
    result->touches = times && *times ? *times : 1;
}

/* Returns whether it is decided. */
static bool take_access(struct look *look, size_t thread, const struct as_lookahead_step *step, unsigned which)
{
    struct as_ahead_result *result = look->result;
    bool is_new = thread == 0 && touch(look, step->accesses[which].address, step->accesses[which].size);
    if (result->has_use && decides(look, thread, step, which))
        return true;
    look->since += result->has_use && (thread == 0 || look->order->in_cache);
    if (thread)
        return false;
    if (is_new && result->has_use && !overlaps(look, granule_of(step->accesses[which].address) * GRANULE, GRANULE))
        take_mark(look, step->accesses[which].address, step->ip);
    if (!result->has_use && result->accesses >= look->order->skip)
        take_use(look, step, which);
    result->accesses++;
    return false;
}

static bool step_thread(struct as_lookahead *ahead, struct look *look, size_t thread)
{
    const struct as_ahead_order *order = look->order;
    struct as_lookahead_step step;
    bool had_use = look->result->has_use, decided = false;
    if (as_lookahead_step(ahead, order->threads[thread], &step) != AS_LOOKAHEAD_GOES_ON)
        return false;
    for (unsigned i = 0; i < step.n && !decided; i++)
        decided = take_access(look, thread, &step, i);
    bool is_use = !had_use && look->result->has_use;
    if (!order->moment || (!is_use && !decided))
        return decided;
    struct as_machine_state before = as_lookahead_before(order->threads[thread], &step);
    if (is_use)
        order->moment(order->context, true, thread, step.ip, &before);
    if (decided)
        order->moment(order->context, false, thread, step.ip, &before);
    return decided;
}

/* The three places are on a line: the fourth is eight times as far. */
static void find_beyond(const struct look *look)
{
    const struct as_ahead_mark *half = &look->half, *quarter = &look->quarter, *end = &look->end;
    int64_t bytes = (int64_t)(end->address - half->address), part = (int64_t)(quarter->address - half->address);
    int64_t accesses = (int64_t)(end->index - half->index), ahead = (int64_t)(quarter->index - half->index);
    if (!quarter->address || end->index <= quarter->index || llabs(bytes) > 1 << 24)
        return;
    if (llabs(part * accesses - bytes * ahead) > GRANULE * accesses) /* granules, not bytes */
        return;
    look->result->last = *end;
    look->result->beyond = (struct as_ahead_mark){.address = end->address + (uint64_t)(BEYOND * bytes),
                                                  .index = end->index + (uint64_t)(BEYOND * accesses),
                                                  .insn = end->insn};
    look->result->step = (struct as_ahead_mark){.address = (uint64_t)bytes, .index = (uint64_t)accesses};
}

/* Within one turn of a loop all places are new, and the first turn is the one with cold caches: more turns, up to the next place that is
 * new, tell more of how fast the owner is. */
static void look_further(struct as_lookahead *ahead, struct look *look, uint64_t further)
{
    struct as_ahead_result *result = look->result;
    uint64_t most = result->accesses + further;
    struct as_lookahead_step step;
    for (uint64_t steps = 0; result->accesses < most && steps < PATIENCE * further; steps++) {
        if (as_lookahead_step(ahead, look->order->threads[0], &step) != AS_LOOKAHEAD_GOES_ON)
            return;
        for (unsigned i = 0; i < step.n; i++, result->accesses++)
            if (touch(look, step.accesses[i].address, step.accesses[i].size))
                take_mark(look, step.accesses[i].address, step.ip);
    }
}

void as_ahead_look(struct as_lookahead *ahead, const struct as_ahead_order *order, struct as_ahead_result *result)
{
    struct look look = {.order = order, .result = result};
    uint64_t most = order->skip + order->bound + 1, steps = 0;
    *result = (struct as_ahead_result){0};
    as_granules_init(&look.touched, sizeof(uint32_t));
    for (bool decided = false; !decided && result->accesses < most && steps < PATIENCE * most; steps++) {
        for (size_t i = 0; i < order->n && !decided; i++)
            decided = step_thread(ahead, &look, i);
        if (steps < HERE)
            result->density = (double)result->accesses / (double)(steps + 1);
        result->end = order->threads[0]->end;
        if (result->end != AS_LOOKAHEAD_GOES_ON)
            break;
    }
    find_beyond(&look);
    if (order->further && result->decided)
        look_further(ahead, &look, order->further);
    else if (result->has_use && !result->decided && result->accesses < order->least)
        look_further(ahead, &look, order->least - result->accesses);
    as_granules_free(&look.touched);
}
