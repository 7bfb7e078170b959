/* The measured parts of a run: everything after the delay, or between switches, or regions (session_region.c).
 *
 * The drainer notices that measuring starts or stops, and takes the time at that moment. Everything that the buffers
 * held before is older, so the border enters the queue before any sample after it. The delivery keeps the borders and
 * drops samples by their times, which are of the same clock (use_clockid).
 */
#include "base/clock.h"
#include "native/session_internal.h"

bool as_native_has_parts(const struct as_native_session *session)
{
    return session->options.switches || session->options.delay > 0 || as_native_has_regions(session);
}

void as_native_part_start(struct as_native_session *session)
{
    session->since = session->began;
    session->measures = !as_native_has_parts(session);
    session->info.parts = session->measures;
    if (session->options.switches)
        session->heeded = atomic_load(session->options.switches);
}

static bool is_due(const struct as_native_session *session, double now)
{
    if (session->options.switches)
        return atomic_load(session->options.switches) != session->heeded;
    if (as_native_has_regions(session))
        return false;
    return !session->measures && now >= session->began + session->options.delay;
}

static void end_stretch(struct as_native_session *session, double now)
{
    if (session->measures)
        session->info.measured += now - session->since;
    session->since = now;
}

bool as_native_part_crosses(struct as_native_session *session, uint64_t *border)
{
    double now = as_clock_seconds();
    if (!is_due(session, now))
        return false;
    session->heeded++;
    *border = (uint64_t)(now * 1e9);
    if (as_native_has_regions(session)) /* the delivery knows what a signal does */
        return true;
    end_stretch(session, now);
    session->measures = !session->measures;
    session->info.parts += session->measures;
    return true;
}

void as_native_part_end(struct as_native_session *session)
{
    double now = as_clock_seconds();
    end_stretch(session, now);
    session->info.seconds = now - session->began;
}

void as_native_part_take(struct as_native_session *session, uint64_t border)
{
    const struct as_native_options *options = &session->options;
    *as_vec_push(&session->borders) = border;
    if (options->on_switch)
        options->on_switch(options->switch_context, session->borders.len % 2 == 1);
}

bool as_native_is_outside(const struct as_native_session *session, const uint8_t *record, uint64_t time)
{
    if (!as_native_has_parts(session) || as_perf_header_of(record, false).type != PERF_RECORD_SAMPLE)
        return false;
    size_t passed = session->borders.len;
    while (passed > 0 && session->borders.data[passed - 1] > time)
        passed--;
    return passed % 2 == 0;
}
