/* How fast a traced program makes accesses when its caches are warm: how often it comes to a place that it comes to once in a known
 * number of accesses, counted by the kernel while it runs. Behind a stop, and behind a trap, caches are cold; to count a hit takes some
 * microseconds in a virtual machine, but stops nothing, and what it takes is known from counting two places in place of one. See
 * reuse_native.h. */
#include "base/clock.h"
#include "reuse/reuse_native_internal.h"

#include <unistd.h>

enum { ENOUGH_HITS = 16, MOST_TRIES = 8, STOPS_OF = 8 };
#define WAIT_SECONDS 2e-3 /* until caches are warm, and for each count */

void as_tally_end(struct as_reuse_native *native)
{
    struct as_traced_tally *tally = &native->tally;
    if (tally->stage >= AS_TALLY_ONE)
        close(tally->fds[0]);
    if (tally->stage == AS_TALLY_TWO)
        close(tally->fds[1]);
    tally->stage = AS_TALLY_NONE;
}

void as_tally_plan(struct as_reuse_native *native, const struct as_traced_thread *thread,
                   const struct as_ahead_turn *turn)
{
    if (!turn->addresses[0] || native->options.pmu)
        return;
    as_tally_end(native);
    native->tally = (struct as_traced_tally){.stage = AS_TALLY_WAITS,
                                             .thread = thread->number,
                                             .sample = native->samples,
                                             .turn = *turn,
                                             .due = as_clock_seconds() + WAIT_SECONDS};
}

/* Counts the next of the two places, too. */
static bool count_place(struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    struct as_traced_tally *tally = &native->tally;
    int which = tally->stage == AS_TALLY_ONE;
    uint64_t address = tally->turn.addresses[which];
    if (as_traced_is_watched(native, thread->process, address) ||
        (tally->fds[which] = as_tracer_count(thread->tid, address)) < 0)
        return false;
    tally->stage = which ? AS_TALLY_TWO : AS_TALLY_ONE;
    tally->tries = 0;
    tally->stops = thread->stops;
    struct as_tracer_counted now;
    if (!as_tracer_counted(tally->fds[0], &now))
        return false;
    tally->hits = now.hits;
    tally->time = now.nanoseconds;
    tally->due = as_clock_seconds() + WAIT_SECONDS;
    return true;
}

/* Of a turn, nanoseconds, while this stage lasts; 0: it has not been long enough; below 0: there will be nothing. */
static double time_of_turn(struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    struct as_traced_tally *tally = &native->tally;
    struct as_tracer_counted now;
    if (!as_tracer_counted(tally->fds[0], &now))
        return -1;
    double hits = (double)(now.hits - tally->hits), stops = (double)(thread->stops - tally->stops);
    if (hits < ENOUGH_HITS)
        return ++tally->tries < MOST_TRIES ? 0 : -1;
    if (stops * STOPS_OF > hits)
        return -1;
    return ((double)(now.nanoseconds - tally->time) - stops * as_traced_trap(native, thread)) / hits;
}

void as_tally_step(struct as_reuse_native *native)
{
    struct as_traced_tally *tally = &native->tally;
    const struct as_traced_thread *thread = as_traced_by_number(native, tally->thread);
    bool goes_on = thread->live && tally->sample == native->samples && !native->gauge.left;
    double turn = goes_on && tally->stage > AS_TALLY_WAITS ? time_of_turn(native, thread) : 1;
    if (!goes_on || turn < 0) {
        as_tally_end(native);
    } else if (turn == 0) {
        tally->due += WAIT_SECONDS;
    } else if (tally->stage == AS_TALLY_TWO) {
        as_rate_add_turn(&native->rate, (double)tally->turn.accesses, tally->one, turn);
        as_tally_end(native);
    } else {
        tally->one = turn;
        if (!count_place(native, thread))
            as_tally_end(native);
    }
}
