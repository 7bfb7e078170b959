/* How fast a traced program makes accesses where it is: watchpoints at the places that it will come to after a known number
 * of them; and what samples weigh by that. See reuse_native.h; the arithmetic is native_rate.h. */
#include "base/clock.h"
#include "reuse/reuse_native_internal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_GAP = 4096, SHORT_GAP = 512, NEAR = 64 };
#define LOCAL_NANOSECONDS 2e6 /* how long a rate counts for the code where it was measured */
#define CLEAR_NANOSECONDS 2000
#define SMALLEST_FACTOR (1.0 / 16)
#define SHORTEST_WAY 20e3 /* nanoseconds: not much less than what a trap takes */
#define AGAIN_SECONDS 3e-3
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
    gauge->fd = as_tracer_watch(as_traced_by_number(native, gauge->thread)->tid, &wanted);
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
    native->gauge =
        (struct as_traced_gauge){.left = AS_GAUGE_MARKS, .thread = thread->number, .begun = native->samples};
    memcpy(native->gauge.marks, marks, sizeof marks);
    set_gauge(native);
}

/* ---- the same way again ---- */

void as_again_end(struct as_reuse_native *native)
{
    if (native->again.stage >= AS_AGAIN_ARMED)
        close(native->again.fd);
    native->again.stage = AS_AGAIN_NONE;
}

void as_again_plan(struct as_reuse_native *native, const struct as_traced_thread *thread,
                   const struct as_traced_reg *reg)
{
    double stops = (double)(thread->stops - reg->stops);
    double behind = (double)(thread->last - reg->used) - stops * as_rate_trap(&native->rate);
    if (native->again.stage != AS_AGAIN_NONE || reg->sample != native->samples || native->options.pmu ||
        behind < SHORTEST_WAY || behind > AS_COLD_NANOSECONDS)
        return;
    native->again = (struct as_traced_again){.stage = AS_AGAIN_WAITS,
                                             .thread = thread->number,
                                             .address = reg->watch.address & ~UINT64_C(7),
                                             .sample = native->samples,
                                             .behind = behind,
                                             .due = as_clock_seconds() + AGAIN_SECONDS};
}

void as_again_arm(struct as_reuse_native *native)
{
    struct as_traced_again *again = &native->again;
    const struct as_traced_thread *thread = as_traced_by_number(native, again->thread);
    again->name = as_traced_name(++native->generations, AS_GAUGE_NAME);
    struct as_tracer_watch wanted = {.address = again->address, .length = 8, .reads = true, .name = again->name};
    bool ok = again->sample == native->samples && thread->live && !native->gauge.left &&
              !as_traced_is_watched(native, thread->process, again->address);
    again->stage = ok && (again->fd = as_tracer_watch(thread->tid, &wanted)) >= 0 ? AS_AGAIN_ARMED : AS_AGAIN_NONE;
}

void as_again_trap(struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    struct as_traced_again *again = &native->again;
    if (again->stage == AS_AGAIN_BEGUN) {
        double stops = (double)(thread->stops - again->stops);
        as_rate_add_gain(&native->rate, again->behind,
                         (double)(thread->last - again->time) - stops * as_rate_trap(&native->rate));
    }
    bool warm = (double)(thread->last - thread->cooled) > AS_COLD_NANOSECONDS;
    if (again->stage == AS_AGAIN_BEGUN || !warm) {
        as_again_end(native);
        return;
    }
    again->stage = AS_AGAIN_BEGUN;
    again->time = thread->last;
    again->stops = thread->stops;
}

/* Where a sample was taken: what is not much longer than the trap's own time is not known, only fast; negative, how fast at
 * least. */
static void note_speed(struct as_reuse_native *native, double accesses, double nanoseconds)
{
    while (native->speeds.len <= native->gauge.begun)
        *as_vec_push(&native->speeds) = 0;
    if (native->rate.trapped)
        native->speeds.data[native->gauge.begun] =
            nanoseconds > CLEAR_NANOSECONDS ? accesses / nanoseconds : -accesses / CLEAR_NANOSECONDS;
}

void as_gauge_trap(struct as_reuse_native *native, struct as_traced_thread *thread)
{
    struct as_traced_gauge *gauge = &native->gauge;
    double time = (double)(thread->last - gauge->time), stops = (double)(thread->stops - gauge->stops);
    double accesses = gauge->left < AS_GAUGE_MARKS ? (double)(next_mark(gauge)->index - next_mark(gauge)[-1].index) : 0;
    close(gauge->fd);
    if (gauge->left == 3 && stops == 1)
        as_rate_add_trap(&native->rate, time);
    if (gauge->left == 2)
        note_speed(native, accesses, time - stops * as_rate_trap(&native->rate));
    if (gauge->left == 2 && accesses >= LEAST_GAP)
        thread->local = gauge->cold = as_rate_add(&native->rate, accesses, time, stops);
    if (gauge->left == 1)
        thread->local = as_rate_add_warm(&native->rate, gauge->cold, accesses, time, stops);
    thread->until = (double)thread->last + LOCAL_NANOSECONDS;
    gauge->time = thread->last;
    gauge->stops = thread->stops;
    gauge->left -= gauge->left == 2 && !gauge->marks[AS_GAUGE_MARKS - 1].address ? 2 : 1;
    if (gauge->left)
        set_gauge(native);
}

void as_gauge_weigh(struct as_reuse_native *native)
{
    double usual = as_rate_usual(&native->rate), most = 0, dense = 0, n = 0;
    for (size_t i = 0; i < native->speeds.len; i++)
        most = fmax(most, fabs(native->speeds.data[i]));
    usual = usual > 0 ? usual : most;
    for (size_t i = 0; i < native->densities.len; i++) {
        dense += native->densities.data[i];
        n += native->densities.data[i] > 0;
    }
    for (size_t i = 0; i < native->densities.len; i++) {
        double speed = i < native->speeds.len ? native->speeds.data[i] : 0, density = native->densities.data[i];
        double factor = speed > 0 && usual > 0 ? speed / usual : density > 0 ? density * n / dense : 1;
        native->densities.data[i] = fmin(LARGEST_FACTOR, fmax(SMALLEST_FACTOR, factor));
    }
    as_reuse_watch_weigh(native->watch, native->densities.data, native->densities.len);
}
