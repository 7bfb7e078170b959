/* How fast a traced program makes accesses when its caches are warm: how often it comes to a place that it comes to once in a known
 * number of accesses, counted by the kernel while it runs. Behind a stop, and behind a trap, caches are cold; to count a hit takes some
 * microseconds in a virtual machine, but stops nothing, and what it takes is known from counting two places in place of one. Ways from a use
 * to its reuse that take far longer than a trap are measured once more instead, between two traps. See reuse_native.h. */
#include "base/clock.h"
#include "reuse/reuse_native_internal.h"

#include <unistd.h>

enum { ENOUGH_HITS = 16, MOST_TRIES = 8, STOPS_OF = 8 };
#define WAIT_SECONDS 2e-3 /* until caches are warm, and for each count */
#define SHORTEST_WAY 1e5  /* nanoseconds: far more than what a trap takes */
#define AGAIN_SECONDS 3e-3

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
        as_rate_add_turn(&native->rate, (double)tally->turn.accesses, tally->one, turn, tally->turn.insn);
        as_tally_end(native);
    } else {
        tally->one = turn;
        if (!count_place(native, thread))
            as_tally_end(native);
    }
}

/* ---- a long way again ---- */

void as_again_end(struct as_reuse_native *native)
{
    if (native->again.stage >= AS_AGAIN_ARMED)
        close(native->again.fd);
    native->again.stage = AS_AGAIN_NONE;
}

void as_again_plan(struct as_reuse_native *native, const struct as_traced_thread *thread,
                   const struct as_traced_reg *reg, uint64_t site)
{
    double usual = as_rate_usual(&native->rate), behind = usual > 0 ? (thread->accesses - reg->accesses) / usual : 0;
    if (native->again.stage != AS_AGAIN_NONE || native->tally.stage != AS_TALLY_NONE ||
        reg->sample != native->samples || native->options.pmu || behind < SHORTEST_WAY || behind > AS_COLD_NANOSECONDS)
        return;
    native->again = (struct as_traced_again){.stage = AS_AGAIN_WAITS,
                                             .thread = thread->number,
                                             .address = reg->watch.address & ~UINT64_C(7),
                                             .sample = native->samples,
                                             .behind = behind,
                                             .site = site,
                                             .accesses = thread->accesses - reg->accesses,
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
    again->stage =
        ok && (again->fd = as_tracer_watch(native->tracer, thread->tid, &wanted)) >= 0 ? AS_AGAIN_ARMED : AS_AGAIN_NONE;
}

void as_again_trap(struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    struct as_traced_again *again = &native->again;
    if (again->stage == AS_AGAIN_BEGUN) {
        double stops = (double)(thread->stops - again->stops), time = (double)(thread->last - again->time);
        as_rate_add_gain(&native->rate, again->behind, time - stops * as_rate_trap(&native->rate), again->accesses,
                         again->site);
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
