/* Regions: the state machine (region/region_run.h) decides where measuring starts and stops. It sees the records of landmarks
 * (session_landmark.c), signals and the clock in the order of time.
 *
 * The drainer notices a signal and takes the time at that moment; everything that the buffers held before is older. A point of
 * the clock needs nobody to notice it: it has passed once a record is later.
 */
#include "native/session_internal.h"

#include <string.h>

/* A sample begins with its id, then the address, the thread, the time. */
enum { SAMPLE_ID = 8, SAMPLE_TIME = 32, SAMPLE_LEAST = 40 };

bool as_native_has_regions(const struct as_native_session *session)
{
    return session->options.regions != NULL;
}

static bool measures(const struct as_native_session *session)
{
    return session->region_run.stretch.mode == AS_MODE_DETAIL;
}

static void cross(struct as_native_session *session, uint64_t time)
{
    session->info.parts += measures(session);
    as_native_part_take(session, time);
}

void as_native_regions_begin(struct as_native_session *session)
{
    as_region_run_init(&session->region_run, session->options.regions);
    if (measures(session))
        cross(session, 0);
}

void as_native_regions_close(struct as_native_session *session)
{
    as_region_run_free(&session->region_run);
    as_vec_free(&session->signals);
}

static uint64_t due(const struct as_native_session *session)
{
    uint64_t start = (uint64_t)(session->began * 1e9), after = as_region_run_due(&session->region_run);
    return after < UINT64_MAX - start ? start + after : UINT64_MAX;
}

static uint64_t next_signal(const struct as_native_session *session)
{
    return session->heeded_signals < session->signals.len ? session->signals.data[session->heeded_signals] : UINT64_MAX;
}

/* A point that had passed before the run waited for it comes when the run begins to. */
static uint64_t not_before_last(const struct as_native_session *session, uint64_t time)
{
    size_t n = session->borders.len;
    return n && session->borders.data[n - 1] > time ? session->borders.data[n - 1] : time;
}

/* Passes the next signal or point of the clock up to `time`. Returns false if nothing more comes. */
static bool pass_one(struct as_native_session *session, uint64_t time)
{
    uint64_t clock = due(session), signal = next_signal(session), first = clock < signal ? clock : signal;
    bool before = measures(session);
    if (first > time || first == UINT64_MAX)
        return false;
    if (clock <= signal) {
        as_region_run_time(&session->region_run, as_region_run_due(&session->region_run));
    } else {
        as_region_run_signal(&session->region_run);
        session->heeded_signals++;
    }
    if (measures(session) != before)
        cross(session, not_before_last(session, first));
    return measures(session) != before || signal < clock;
}

static void pass_until(struct as_native_session *session, uint64_t time)
{
    while (pass_one(session, time))
        continue;
}

void as_native_region_signal(struct as_native_session *session, uint64_t time)
{
    *as_vec_push(&session->signals) = time;
}

static const uint64_t *landmark_of(const struct as_native_session *session, const uint8_t *record)
{
    struct as_perf_header header = as_perf_header_of(record, false);
    uint64_t id;
    if (header.type != PERF_RECORD_SAMPLE || header.size < SAMPLE_LEAST || session->site_ids.len == 0)
        return NULL;
    memcpy(&id, record + SAMPLE_ID, sizeof id);
    return as_map_get(&session->site_ids, id);
}

bool as_native_landmark_time(const struct as_native_session *session, const uint8_t *record, uint64_t *time)
{
    if (!landmark_of(session, record))
        return false;
    memcpy(time, record + SAMPLE_TIME, sizeof *time);
    return true;
}

bool as_native_region_pass(struct as_native_session *session, const uint8_t *record, uint64_t time)
{
    if (!as_native_has_regions(session))
        return false;
    pass_until(session, time);
    const uint64_t *landmark = landmark_of(session, record);
    if (!landmark)
        return false;
    bool before = measures(session);
    as_region_run_pass(&session->region_run, (uint32_t)*landmark);
    if (measures(session) != before)
        cross(session, not_before_last(session, time));
    return true;
}

void as_native_region_round(struct as_native_session *session, uint64_t began)
{
    if (as_native_has_regions(session))
        pass_until(session, session->round); /* a record is written a little after its time */
    session->round = began;
}

double as_native_regions_measured(struct as_native_session *session)
{
    double sum = 0, end = session->began + session->info.seconds;
    pass_until(session, (uint64_t)(end * 1e9));
    for (size_t i = 0; i < session->borders.len; i += 2) {
        double from = 1e-9 * (double)session->borders.data[i];
        double to = i + 1 < session->borders.len ? 1e-9 * (double)session->borders.data[i + 1] : end;
        sum += to - (from > session->began ? from : session->began);
    }
    return sum;
}
