/* See reuse_ahead.h. */
#include "reuse/reuse_ahead.h"

#include "base/vec.h"
#include "reuse/granules.h"

#include <stdlib.h>

/* GRANULE bytes as the owner touched them. */
struct seen {
    uint32_t times, first, last; /* first, last: accesses of the owner before that one */
};

enum { GRANULE = 8, PATIENCE = 64, BEYOND = 8, HERE = 256 }; /* PATIENCE: instructions for each access, at most */

struct look {
    const struct as_ahead_order *order;
    struct as_ahead_result *result;
    struct as_granules touched;              /* struct seen */
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
        struct seen *seen = as_granules_put(&look->touched, at);
        uint32_t now = (uint32_t)look->result->accesses;
        if (seen->times++ == 0)
            seen->first = now;
        else
            is_new = false;
        seen->last = now;
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
    const struct seen *seen = as_granules_get(&look->touched, granule_of(step->accesses[which].address));
    result->has_use = true;
    result->use_address = step->accesses[which].address;
    result->use_size = step->accesses[which].size;
    result->use_kind = step->accesses[which].kind;
    result->use_insn = step->ip;
    result->use_index = result->accesses;
    result->touches = seen && seen->times ? seen->times : 1;
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

/* The use has come again: a part of the next turn tells whether it is one. */
static uint64_t end_of_turn(const struct as_ahead_result *result, uint64_t most)
{
    uint64_t end = result->accesses + (result->accesses - result->use_index) / 8 + 64;
    return end < most ? end : most;
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
        for (unsigned i = 0; i < step.n; i++, result->accesses++) {
            if (!result->decided && overlaps(look, step.accesses[i].address, step.accesses[i].size))
                most = end_of_turn(result, most);
            if (touch(look, step.accesses[i].address, step.accesses[i].size) && !result->beyond.address)
                take_mark(look, step.accesses[i].address, step.ip);
        }
    }
}

/* ---- turns ---- */

struct again {
    uint64_t granule, gap;
    uint32_t first;
};

struct agains {
    AS_VEC(struct again) list;
};

static void take_agains(void *context, uint64_t first, void *records, size_t n)
{
    struct agains *agains = context;
    const struct seen *seen = records;
    for (size_t i = 0; i < n; i++) {
        uint64_t gap = seen[i].times > 1 ? (seen[i].last - seen[i].first) / (seen[i].times - 1) : 0;
        if (gap >= AS_AHEAD_LEAST_TURN)
            *as_vec_push(&agains->list) = (struct again){.granule = first + i, .gap = gap, .first = seen[i].first};
    }
}

static int by_gap(const void *a, const void *b)
{
    const struct again *x = a, *y = b;
    return x->gap != y->gap ? (x->gap > y->gap) - (x->gap < y->gap) : (x->first > y->first) - (x->first < y->first);
}

/* If most of what the owner comes back to, it comes back to after the same number of accesses, it goes round: it will come to these
 * places as often later on. Two of them that are not next to each other in time. */
static void find_turn(struct look *look)
{
    enum { FEWEST = 8, MOST_OF = 4 /* all but one of these */, ALIKE = 32, APART = 64 };
    struct agains agains = {0};
    struct as_ahead_turn *turn = &look->result->turn;
    as_granules_each(&look->touched, take_agains, &agains);
    size_t n = agains.list.len, alike = 0;
    if (n)
        qsort(agains.list.data, n, sizeof *agains.list.data, by_gap);
    const struct again *middle = n ? &agains.list.data[n / 2] : NULL, *other = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct again *one = &agains.list.data[i];
        uint64_t off = one->gap > middle->gap ? one->gap - middle->gap : middle->gap - one->gap;
        bool fits = off <= middle->gap / ALIKE;
        alike += fits;
        if (fits && !other && (one->first > middle->first + APART || one->first + APART < middle->first))
            other = one;
    }
    if (n >= FEWEST && other && alike * MOST_OF >= n * (MOST_OF - 1))
        *turn = (struct as_ahead_turn){.addresses = {middle->granule * GRANULE, other->granule * GRANULE},
                                       .accesses = middle->gap};
    as_vec_free(&agains.list);
}

void as_ahead_look(struct as_lookahead *ahead, const struct as_ahead_order *order, struct as_ahead_result *result)
{
    struct look look = {.order = order, .result = result};
    uint64_t most = order->skip + order->bound + 1, steps = 0;
    *result = (struct as_ahead_result){0};
    as_granules_init(&look.touched, sizeof(struct seen));
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
    if (result->accesses > AS_AHEAD_LEAST_TURN)
        find_turn(&look);
    as_granules_free(&look.touched);
}
