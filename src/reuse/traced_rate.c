/* How fast a traced program makes accesses where it is: watchpoints at the places that it will come to after a known number
 * of them; and what samples weigh by that. See reuse_native.h; the arithmetic is native_rate.h. */
#include "reuse/reuse_native_internal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST_GAP = 4096,
    SHORT_GAP = 512,
    FAR_GAP = 24576,
    ENOUGH_WAY = 1 << 16,
    COARSE = 4,
    NEAR = 64,
    NOT_FAR = 1 << 14,
    MOST_AHEAD = 1 << 24
};
#define LOCAL_NANOSECONDS 2e6 /* how long a rate counts for the code where it was measured */
#define SMALLEST_FACTOR (1.0 / 16)
#define LARGEST_FACTOR 2.0

void as_gauge_end(struct as_reuse_native *native)
{
    if (native->gauge.left)
        close(native->gauge.fd);
    native->gauge.left = 0;
}

static const struct as_ahead_mark *next_mark(const struct as_traced_gauge *gauge)
{
    return &gauge->marks[AS_GAUGE_MARKS - gauge->left];
}

static void set_gauge(struct as_reuse_native *native)
{
    struct as_traced_gauge *gauge = &native->gauge;
    gauge->name = as_traced_name(++native->generations, AS_GAUGE_NAME);
    struct as_tracer_watch wanted = {
        .address = next_mark(gauge)->address, .length = 8, .reads = true, .name = gauge->name};
    gauge->fd = as_tracer_watch(native->tracer, as_traced_by_number(native, gauge->thread)->tid, &wanted);
    if (gauge->fd < 0)
        gauge->left = 0;
}

void as_gauge_begin(struct as_reuse_native *native, const struct as_traced_thread *thread,
                    const struct as_ahead_result *result)
{
    const struct as_ahead_mark marks[AS_GAUGE_MARKS] = {result->first, result->next, result->last, result->beyond};
    if (!marks[1].address || marks[1].index - marks[0].index > NEAR || marks[2].index - marks[1].index < SHORT_GAP)
        return;
    for (int i = 0; i < AS_GAUGE_MARKS; i++)
        if (as_traced_is_watched(native, thread->process, marks[i].address))
            return;
    native->gauge = (struct as_traced_gauge){.left = AS_GAUGE_MARKS,
                                             .thread = thread->number,
                                             .begun = native->samples,
                                             .from = result->use_index,
                                             .index = result->use_index,
                                             .step = result->step,
                                             .coarse = native->samples % COARSE == 0};
    memcpy(native->gauge.marks, marks, sizeof marks);
    set_gauge(native);
}

void as_gauge_use(struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    struct as_traced_gauge *gauge = &native->gauge;
    if (gauge->left != AS_GAUGE_MARKS || gauge->begun != native->samples || gauge->thread != thread->number)
        return;
    gauge->counts = true;
    gauge->accesses = thread->accesses;
}

static bool is_of_gauge(const struct as_traced_gauge *gauge, const struct as_traced_reg *reg)
{
    return reg->used && reg->sample == gauge->begun && reg->thread == gauge->thread;
}

/* The last place was for its distance. */
void as_gauge_reuse(struct as_reuse_native *native, const struct as_traced_reg *reg)
{
    if (native->gauge.left == 1 && is_of_gauge(&native->gauge, reg))
        as_gauge_end(native);
}

/* The last place, a quarter further from the use, or four times as far while that is near: so what is left to time of a distance is at
 * most a fifth. Behind one sample of four it is always four times as far: with a trap every few microseconds the program is slow, and
 * these tell how fast it is otherwise. By whole steps of the walk, which are what it surely comes to. False: nobody waits for it. */
static bool move_on(struct as_reuse_native *native)
{
    struct as_traced_gauge *gauge = &native->gauge;
    struct as_ahead_mark *last = &gauge->marks[AS_GAUGE_MARKS - 1];
    uint64_t way = last->index - gauge->from, more = last->index < NOT_FAR || gauge->coarse ? 3 * way : way / 4;
    uint64_t steps = more > gauge->step.index ? more / gauge->step.index : 1;
    bool waits = false;
    for (size_t i = 0; i < native->regs.len; i++)
        waits |= native->regs.data[i].armed && is_of_gauge(gauge, &native->regs.data[i]);
    last->address += steps * gauge->step.address;
    last->index += steps * gauge->step.index;
    gauge->left = 0; /* so that its own place does not count */
    waits &= last->index < MOST_AHEAD &&
             !as_traced_is_watched(native, as_traced_by_number(native, gauge->thread)->process, last->address);
    gauge->left = 1;
    return waits;
}

/* Behind a sample: the way that is known so far, up to a length that most have. Longer ones are faster, because caches get warm, and would
 * make samples of large arrays count for more. */
static void note_way(struct as_reuse_native *native, double accesses, double nanoseconds, double stops)
{
    struct as_traced_gauge *gauge = &native->gauge;
    if (gauge->way.accesses >= ENOUGH_WAY)
        return;
    gauge->way.accesses += accesses;
    gauge->way.nanoseconds += nanoseconds;
    gauge->way.stops += stops;
    while (native->ways.len <= gauge->begun)
        *as_vec_push(&native->ways) = (struct as_rate_way){0};
    native->ways.data[gauge->begun] = gauge->way;
}

/* A way of several turns, beyond what a use needs (as_ahead_order.further). */
static bool is_far(const struct as_traced_gauge *gauge, double accesses)
{
    return gauge->left == 2 && !gauge->marks[AS_GAUGE_MARKS - 1].address && accesses >= FAR_GAP;
}

/* The last place may be one that the thread never comes to, or comes to later from elsewhere: then its time does not fit. */
static double rate_behind(struct as_reuse_native *native, double accesses, double time, double stops, bool is_there)
{
    struct as_traced_gauge *gauge = &native->gauge;
    double found = as_rate_if_long(&native->rate, accesses, time, stops);
    if (gauge->left == 2) {
        gauge->cold = accesses >= LEAST_GAP ? as_rate_add(&native->rate, accesses, time, stops) : 0;
        if (accesses < LEAST_GAP)
            as_rate_add_rough(&native->rate, accesses, time, stops);
        if (is_far(gauge, accesses) && gauge->cold > 0)
            as_rate_add_long(&native->rate, gauge->cold);
        return accesses >= LEAST_GAP ? found : 0;
    }
    if (!is_there || found <= 0) {
        as_rate_add_warm(&native->rate, gauge->cold, accesses, time, stops);
        return 0;
    }
    if (gauge->coarse)
        as_rate_add_long(&native->rate, found);
    return found;
}

void as_gauge_trap(struct as_reuse_native *native, struct as_traced_thread *thread)
{
    struct as_traced_gauge *gauge = &native->gauge;
    const struct as_ahead_mark *mark = next_mark(gauge);
    double stops = (double)(thread->stops - gauge->stops), usual = as_rate_trap(&native->rate);
    double time = (double)(thread->last - gauge->time),
           as_usual = time - stops * (as_traced_trap(native, thread) - usual);
    double accesses = gauge->counts ? (double)(mark->index - gauge->index) : 0;
    bool is_last = gauge->left == 1, is_there = !is_last || as_rate_fits(&native->rate, accesses, as_usual, stops);
    close(gauge->fd);
    if (gauge->left == 3 && stops == 1) {
        thread->trap = as_rate_add_trap(&native->rate, time);
        thread->trap_sample = native->samples;
    }
    if (gauge->left <= 2) {
        thread->local = rate_behind(native, accesses, as_usual, stops, is_there);
        thread->until = (double)thread->last + LOCAL_NANOSECONDS;
    }
    if (gauge->left <= 2 && is_there && !is_far(gauge, accesses))
        note_way(native, accesses, as_usual, stops);
    if (gauge->counts && is_there && gauge->begun == native->samples) /* else another use may have begun since */
        thread->accesses = gauge->accesses + accesses;
    gauge->counts = true;
    gauge->accesses = thread->accesses;
    gauge->index = mark->index;
    gauge->time = thread->last;
    gauge->stops = thread->stops;
    if (!is_last || !is_there || !move_on(native))
        gauge->left -= gauge->left == 2 && !gauge->marks[AS_GAUGE_MARKS - 1].address ? 2 : 1;
    if (gauge->left)
        set_gauge(native);
}

static double way_rate(const struct as_reuse_native *native, size_t i)
{
    const struct as_rate_way *way = &native->ways.data[i];
    if (way->accesses < LEAST_GAP)
        return 0;
    double time = way->nanoseconds - way->stops * as_rate_trap(&native->rate);
    return time > 0 ? way->accesses / time : 0;
}

/* The median over the samples that have one; 0: none has. */
static double usual_way_rate(const struct as_reuse_native *native)
{
    AS_VEC(double) found = {0};
    for (size_t i = 0; i < native->ways.len; i++)
        if (way_rate(native, i) > 0)
            *as_vec_push(&found) = way_rate(native, i);
    double median = as_rate_median(found.data, found.len);
    as_vec_free(&found);
    return median;
}

/* What the sample's own code makes in a time, against the mean: by instructions, unless the way behind it tells more. */
void as_gauge_weigh(struct as_reuse_native *native)
{
    double behind = usual_way_rate(native), dense = 0, n = 0;
    for (size_t i = 0; i < native->densities.len; i++) {
        dense += native->densities.data[i];
        n += native->densities.data[i] > 0;
    }
    for (size_t i = 0; i < native->densities.len; i++) {
        double density = native->densities.data[i], factor = density > 0 ? density * n / dense : 1;
        if (behind > 0 && i < native->ways.len && native->ways.data[i].accesses > 0)
            factor = as_rate_likely(&native->rate, behind * factor, &native->ways.data[i]) / behind;
        native->densities.data[i] = fmin(LARGEST_FACTOR, fmax(SMALLEST_FACTOR, factor));
    }
    as_reuse_watch_weigh(native->watch, native->densities.data, native->densities.len);
}
