/* Execution watchpoints on threads of other processes. See code_watch.h. Each is a breakpoint of its own (breakpoint.h). */
#include "native/code_watch.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "native/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>

enum {
    HOPELESS = 8, /* refusals in a row after which arming is given up */
    MOST_OF_THREAD = 2,
    BURST = 5, /* how many may be armed at once after a pause */
    DEBT = 25  /* how far urgent ones may exceed the rate */
};

struct slot {
    bool used;
    uint32_t tid;
    uint64_t tag;
    double until;
    struct as_ring ring; /* its fd is the event's */
};

struct allowance {
    double left, at;
};

struct as_code_watch {
    struct as_code_watch_options options;
    struct as_code_watch_counts counts;
    AS_VEC(struct slot) slots;
    struct as_map threads; /* tid to allowance + 1 */
    AS_VEC(struct allowance) allowances;
    unsigned refusals; /* in a row */
};

struct as_code_watch *as_code_watch_new(const struct as_code_watch_options *options)
{
    struct as_code_watch *watch = as_alloc(sizeof *watch);
    if (options)
        watch->options = *options;
    watch->options.rate = watch->options.rate > 0 ? watch->options.rate : 100;
    watch->options.seconds = watch->options.seconds > 0 ? watch->options.seconds : 0.1;
    watch->options.most = watch->options.most ? watch->options.most : 16;
    return watch;
}

static void release(struct slot *slot)
{
    as_breakpoint_close(&slot->ring);
    slot->used = false;
}

void as_code_watch_free(struct as_code_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->slots.len; i++)
        if (watch->slots.data[i].used)
            release(&watch->slots.data[i]);
    as_vec_free(&watch->slots);
    as_vec_free(&watch->allowances);
    as_map_free(&watch->threads);
    free(watch);
}

/* ---- arming ---- */

/* A token bucket that fills at `rate`. */
static struct allowance *allowance_of(struct as_code_watch *watch, uint32_t tid)
{
    uint64_t *number = as_map_put(&watch->threads, tid);
    double now = as_clock_seconds();
    if (*number == 0) {
        *as_vec_push(&watch->allowances) = (struct allowance){.left = BURST, .at = now};
        *number = watch->allowances.len;
    }
    struct allowance *allowance = &watch->allowances.data[*number - 1];
    allowance->left += (now - allowance->at) * watch->options.rate;
    allowance->left = allowance->left > BURST ? BURST : allowance->left;
    allowance->at = now;
    return allowance;
}

/* Two per thread, so that one at an address that is never reached again does not block the others; the remaining
 * registers are left to a debugger. */
static bool is_busy(const struct as_code_watch *watch, uint32_t tid)
{
    size_t used = 0;
    for (size_t i = 0; i < watch->slots.len; i++)
        used += watch->slots.data[i].used && watch->slots.data[i].tid == tid;
    return used >= MOST_OF_THREAD;
}

static struct slot *free_slot(struct as_code_watch *watch)
{
    for (size_t i = 0; i < watch->slots.len; i++)
        if (!watch->slots.data[i].used)
            return &watch->slots.data[i];
    return watch->slots.len < watch->options.most ? as_vec_push(&watch->slots) : NULL;
}

/* A thread that has ended does not count as a refusal. */
static bool refuse(struct as_code_watch *watch, int error)
{
    if (error == ESRCH)
        return false;
    watch->counts.refused++;
    watch->refusals++;
    if (!watch->counts.note[0])
        snprintf(watch->counts.note, sizeof watch->counts.note, "%s", as_breakpoint_refusal(error));
    return false;
}

bool as_code_watch_arm(struct as_code_watch *watch, const struct as_code_watch_order *order)
{
    if (watch->refusals >= HOPELESS || is_busy(watch, order->tid))
        return false;
    struct allowance *allowance = allowance_of(watch, order->tid);
    struct slot *slot = allowance->left >= (order->urgent ? 1 - DEBT : 1) ? free_slot(watch) : NULL;
    if (!slot)
        return false;
    *slot = (struct slot){.tid = order->tid, .tag = order->tag, .until = allowance->at + watch->options.seconds};
    allowance->left -= 1;
    struct as_breakpoint_order breakpoint = {
        .tid = order->tid, .type = HW_BREAKPOINT_X, .address = order->ip, .length = sizeof(long), .nth = order->nth};
    if (!as_breakpoint_open(&slot->ring, &breakpoint))
        return refuse(watch, errno);
    slot->used = true;
    watch->refusals = 0;
    watch->counts.armed++;
    return true;
}

/* ---- hits ---- */

static void poll_slot(struct as_code_watch *watch, size_t number, double now, as_code_watch_take *take, void *context)
{
    struct slot *slot = &watch->slots.data[number];
    struct as_breakpoint_hit taken;
    uint64_t tag = slot->tag;
    bool met = as_ring_pending(&slot->ring) > 0;
    if (!met && now < slot->until)
        return;
    bool hit = met && as_breakpoint_take(&slot->ring, false, &taken);
    release(slot);
    watch->counts.hit += hit;
    watch->counts.extra += hit ? taken.hits - 1 : 0;
    watch->counts.expired += !hit;
    take(context, tag, hit ? &taken.sample : NULL);
}

void as_code_watch_poll(struct as_code_watch *watch, as_code_watch_take *take, void *context)
{
    double now = as_clock_seconds();
    for (size_t i = 0; i < watch->slots.len; i++)
        if (watch->slots.data[i].used)
            poll_slot(watch, i, now, take, context);
}

const struct as_code_watch_counts *as_code_watch_counts(const struct as_code_watch *watch)
{
    return &watch->counts;
}
