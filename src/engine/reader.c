/* One loop over the lanes. If a stream needs a block that is not known yet, the code lanes (code_lanes.c) are read first;
 * a block is always announced before it executes, so one pass over the code lanes is enough.
 *
 * A lane ends when its thread reports its end, when its process has died (then its last, unpublished words are read too) or
 * when its process executed another program. It is free again once it is drained. The first lane of a forked process
 * waits until the lane it was forked from has been read up to the fork.
 *
 * No lane is waited for while another has words, so a writer that waits for room always gets it.
 *
 * The other side of every atomic here is src/plugin/lane.c, where a table says what each hands over, except for child->ended, which the
 * reaper (launch.c) sets, with the exit status before it.
 * `consumed` is this thread's alone to change, so loading it here synchronises with nothing.
 */
#include "engine/causal_reading.h"
#include "engine/close_reading.h"
#include "engine/gates.h"
#include "engine/reader_lanes.h"
#include "engine/twin.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { READ_AT_ONCE = 4 * AS_WIRE_CHUNK, READ_GATED = 1024, READ_BY_CLOCK = 512, IDLE_MILLISECONDS = 20 };

void as_reader_init(struct as_reader *reader, struct as_child *child, const struct as_engine_options *options)
{
    memset(reader, 0, sizeof *reader);
    reader->child = child;
    reader->wire = child->wire;
    reader->options = options;
    reader->cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    reader->code.regions = options->regions;
    reader->code.debug_path = options->debug_path;
    reader->started = as_clock_seconds();
    as_region_run_init(&reader->regions, options->regions);
    as_gear_init(reader);
    reader->streams = as_alloc_array(AS_WIRE_LANES, sizeof *reader->streams);
    reader->bounds = as_alloc_array(AS_WIRE_LANES, sizeof *reader->bounds);
    memset(reader->bounds, 0xff, AS_WIRE_LANES * sizeof *reader->bounds); /* none */
}

/* The writer sets writer_waits and then looks at consumed
 * again; here it is the other way round, so one of the two sees the other. */
void as_lane_give_room(struct as_reader *reader, uint32_t number, uint64_t consumed)
{
    struct as_wire_lane *lane = &reader->wire->lanes[number];
    if (reader->twin)
        as_twin_send(reader, number, consumed);
    atomic_store(&lane->consumed, consumed);
    if (atomic_load(&lane->writer_waits) && consumed >= atomic_load(&lane->wake_at)) {
        atomic_store(&lane->writer_waits, 0);
        atomic_fetch_add(&lane->room, 1);
        syscall(SYS_futex, &lane->room, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

/* `parent` is the writer's number, which the lane has too. That of the stream is another one as soon as a thread has executed another
 * program, because the reader then keeps its number and the writer counts on. */
const struct as_stream *as_reader_parent(const struct as_reader *reader, uint32_t parent, uint64_t origin)
{
    uint32_t lane = as_wire_origin_lane(origin);
    const struct as_stream *stream = reader->streams[lane];
    return parent && stream && reader->wire->lanes[lane].thread == parent ? stream : NULL;
}

/* Whether the thread that forked this one has been read up to the fork. */
static bool parent_is_read(const struct as_reader *reader, uint32_t parent, uint64_t origin)
{
    const struct as_wire_lane *lane = &reader->wire->lanes[as_wire_origin_lane(origin)];
    return !as_reader_parent(reader, parent, origin) || atomic_load(&lane->consumed) >= as_wire_origin_position(origin);
}

/* Whether everything that the process did in programs before this one has been read. Its lanes are sealed. */
static bool program_before_is_read(const struct as_reader *reader, uint32_t process, uint32_t image)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        uint32_t state = atomic_load(&lane->state);
        if ((state == AS_WIRE_LIVE || state == AS_WIRE_ENDED) && !lane->is_code && lane->process == process &&
            lane->image < image)
            return false;
    }
    return true;
}

/* A thread that executes another program stays the same thread, alone in its process. */
static uint32_t number_thread(struct as_reader *reader, struct as_process *process, uint32_t image)
{
    if (!process->thread)
        process->thread = ++reader->threads;
    else if (process->thread_image == image)
        return ++reader->threads;
    process->thread_image = image;
    return process->thread;
}

enum start { START_WAITS, START_DONE, START_CORRUPT };
enum { START_WORDS = 5 }; /* of AS_WIRE_THREAD_START */

/* The first record of a thread's lane makes its stream. */
static enum start start_stream(struct as_reader *reader, uint32_t number, const uint64_t *words, size_t n)
{
    struct as_wire_lane *lane = &reader->wire->lanes[number];
    if (n < START_WORDS)
        return START_WAITS;
    if (words[0] >> AS_WIRE_EVENT_SHIFT != AS_WIRE_THREAD_START)
        return START_CORRUPT;
    struct as_process *process = as_reader_find_process(reader, (uint32_t)words[0]);
    const struct as_image *image = as_code_table_find_image(&reader->code, lane->image);
    if (!process || !image || !parent_is_read(reader, (uint32_t)words[3], words[4]) ||
        !program_before_is_read(reader, process->number, lane->image))
        return START_WAITS;
    struct as_stream *stream = as_alloc_apart(1, sizeof *stream);
    stream->thread = (struct as_thread){.number = number_thread(reader, process, lane->image),
                                        .process = process->number,
                                        .pid = process->pid,
                                        .tid = (int32_t)words[2],
                                        .image = image};
    const struct as_stream *parent = as_reader_parent(reader, (uint32_t)words[3], words[4]);
    if (parent)
        *(words[3] & AS_WIRE_CREATED ? &stream->thread.creator : &stream->thread.parent) = parent->thread.number;
    stream->code = &reader->code;
    stream->regions = &reader->regions;
    stream->sink = reader->sink;
    stream->context = reader->context;
    stream->disagreements = &reader->disagreements;
    stream->clock_calls = reader->clock_calls;
    stream->blocks_only = reader->options->blocks_only;
    stream->causal = (struct as_causal){.stamped = reader->options->causal, .horizon = UINT64_MAX, .bound = UINT64_MAX};
    reader->streams[number] = stream;
    reader->regions.threads++;
    as_lane_give_room(reader, number, START_WORDS);
    if (reader->sink->thread_start)
        reader->sink->thread_start(reader->context, &stream->thread);
    return START_DONE;
}

uint64_t as_reader_progress(const struct as_reader *reader)
{
    uint64_t sum = reader->finished_instructions;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (reader->streams[i])
            sum += *(const volatile uint64_t *)&reader->wire->lanes[i].instructions;
    uint64_t read = *(const volatile uint64_t *)&reader->regions.count; /* all there is of lanes without clocks */
    return sum > read ? sum : read;
}

static void end_stream(struct as_reader *reader, uint32_t number)
{
    reader->finished_instructions += reader->wire->lanes[number].instructions;
    struct as_stream *stream = reader->streams[number];
    if (stream) {
        as_stream_finish(stream);
        reader->blind += stream->blind;
        if (reader->sink->thread_end)
            reader->sink->thread_end(reader->context, &stream->thread);
        as_stream_free(stream);
        free(stream);
        reader->streams[number] = NULL;
        reader->regions.threads--;
    }
    atomic_store(&reader->wire->lanes[number].state, AS_WIRE_FREE); /* to find_free_lane (lane.c) */
}

/* All before `position` is read, and before `end` it can be now. */
static void tell_writer(struct as_reader *reader, uint32_t number, uint64_t position, uint64_t end)
{
    uint64_t *taken = reader->pace.lanes ? &reader->pace.lanes[number].taken : NULL;
    bool keeps = taken && position < end && as_pace_keeps_room(reader);
    if (keeps)
        *taken = position - atomic_load(&reader->wire->lanes[number].consumed);
    else if (taken)
        *taken = 0;
    if (!keeps)
        as_lane_give_room(reader, number, position);
}

/* Gives the stream up to READ_AT_ONCE published words, piecewise up to the ring's end. */
static bool read_words(struct as_reader *reader, uint32_t number, bool *progress)
{
    struct as_wire_lane *lane = &reader->wire->lanes[number];
    /* Acquires the words before `published` from as_lane_publish (lane.c). */
    uint64_t taken = reader->pace.lanes ? reader->pace.lanes[number].taken : 0;
    uint64_t position = atomic_load(&lane->consumed) + taken, end = atomic_load(&lane->published);
    uint64_t limit = as_handover_limit(reader, number);
    end = end < limit ? end : limit;
    if (position >= end) {
        tell_writer(reader, number, position, end);
        *progress |= taken > 0;
        return true;
    }
    size_t length = as_wire_ring_words(number), at = position % length, n = (size_t)(end - position), done = 0;
    const uint64_t *words = as_wire_ring(reader->wire, number) + at;
    uint64_t wrapped[1 + AS_WIRE_REGISTERS];
    n = n < reader->at_once ? n : reader->at_once;
    if (n > length - at)
        n = length - at;
    enum as_stream_status status = as_stream_consume(reader->streams[number], words, n, &done);
    if (status == AS_STREAM_OK && done == 0 && n < end - position && !reader->regions.over) {
        /* An event whose operands lie on the other side of the ring's end. */
        size_t whole = end - position < sizeof wrapped / sizeof *wrapped ? (size_t)(end - position)
                                                                         : sizeof wrapped / sizeof *wrapped;
        for (size_t i = 0; i < whole; i++)
            wrapped[i] = as_wire_ring(reader->wire, number)[(position + i) % length];
        status = as_stream_consume(reader->streams[number], wrapped, whole, &done);
    }
    if (done) {
        tell_writer(reader, number, position + done, end);
        if (position + done == limit)
            as_handover_arrive(reader, number);
        *progress = true;
    }
    if (status == AS_STREAM_NEEDS_CODE)
        return as_reader_read_code(reader, progress);
    return status != AS_STREAM_CORRUPT;
}

/* Reads what a thread's lane holds, `n` words. `*moved`: something was consumed. */
static bool read_from(struct as_reader *reader, uint32_t number, size_t n, bool *moved)
{
    if (reader->streams[number])
        return read_words(reader, number, moved);
    enum start started = start_stream(reader, number, as_wire_ring(reader->wire, number), n);
    *moved = started == START_DONE;
    return started != START_CORRUPT;
}

/* `state` was loaded before `published`. as_lane_end (lane.c) stores them the other way round, so ENDED means that
 * nothing more is published, except by seal_lane in between: hence the second look. */
bool as_reader_read_lane(struct as_reader *reader, uint32_t number, uint32_t state, bool *progress)
{
    struct as_wire_lane *lane = &reader->wire->lanes[number];
    uint64_t position = atomic_load(&lane->consumed), end = atomic_load(&lane->published);
    bool moved = false, limited = as_handover_limit(reader, number) < end;
    if (position < end && as_handover_limit(reader, number) > position &&
        !read_from(reader, number, (size_t)(end - position), &moved))
        return false;
    bool waits = limited || (!reader->streams[number] && end - position >= START_WORDS); /* … or to be forked */
    bool held = reader->streams[number] && as_causal_holds(&reader->streams[number]->causal);
    if (position < end && !moved && !waits && !held && state == AS_WIRE_ENDED && !reader->regions.over) {
        as_lane_give_room(reader, number, end); /* a killed thread left half a record */
        moved = true;
    }
    if (position == end && state == AS_WIRE_ENDED && end == atomic_load(&lane->published)) {
        end_stream(reader, number);
        moved = true;
    }
    *progress |= moved;
    return true;
}

/* A thread that runs but has published nothing yet has a clock that counts; one in a system call has not. Where
 * threads take turns, no thread runs while words are read. */
bool as_reader_has_clock(const struct as_reader *reader, uint32_t number)
{
    const struct as_wire_lane *lane = &reader->wire->lanes[number];
    if (!reader->streams[number])
        return false;
    bool has_words = atomic_load(&lane->published) != atomic_load(&lane->consumed);
    /* activity: as_lane_enter_syscall, as_lane_leave_syscall and throttle (lane.c); a hint that may be old. */
    bool runs = !reader->pace.in_turn && atomic_load(&lane->state) == AS_WIRE_LIVE && as_gates_takes_part(lane);
    return has_words || runs;
}

/* The simulated time up to which threads may be read: that of the one that is behind, and `slack` more. Sinks are not
 * asked for the time of one that is alone, which can be far away. */
static uint64_t clock_limit(const struct as_reader *reader, uint64_t slack)
{
    uint64_t behind = UINT64_MAX - slack;
    uint32_t used = atomic_load(&reader->wire->lanes_used), threads = 0, first = 0;
    for (uint32_t i = 0; i < used; i++) {
        if (!as_reader_has_clock(reader, i) || as_handover_blocks(reader, i))
            continue;
        if (threads++ == 0) {
            first = i;
            continue;
        }
        uint64_t time = as_pace_time(reader, i);
        behind = time < behind ? time : behind;
    }
    if (threads < 2)
        return UINT64_MAX;
    uint64_t time = as_pace_time(reader, first);
    return (time < behind ? time : behind) + slack;
}

/* A thread that is ahead waits its turn, unless it is blocked because its ring is full: the thread that is behind may be
 * waiting for it inside QEMU. */
static bool is_ahead(const struct as_reader *reader, uint32_t lane, uint64_t limit)
{
    return limit != UINT64_MAX && reader->streams[lane] &&
           atomic_load(&reader->wire->lanes[lane].activity) != AS_WIRE_FULL &&
           reader->sink->clock(reader->context, &reader->streams[lane]->thread) > limit;
}

/* Where lines change hands a thread is read in small steps, up to the limit. */
static bool read_closely(struct as_reader *reader, uint32_t lane, uint32_t state, uint64_t limit, bool *progress)
{
    bool moved = true;
    for (int steps = 0; steps < AS_CLOSE_STEPS && moved && !reader->regions.over && as_pace_reads(reader, lane) &&
                        !is_ahead(reader, lane, limit);
         steps++) {
        moved = false;
        if (!as_reader_read_lane(reader, lane, state, &moved))
            return false;
        *progress |= moved;
        if (!reader->streams[lane])
            break; /* it has ended */
    }
    return true;
}

/* Where gates are closed, a thread may wait at its own meanwhile: it is looked at more often. */
static size_t choose_at_once(const struct as_reader *reader, uint64_t limit, bool closely)
{
    if (limit == UINT64_MAX)
        return reader->gear.possible ? READ_GATED : READ_AT_ONCE;
    return closely ? AS_CLOSE_WORDS : READ_BY_CLOCK;
}

static bool read_all_lanes(struct as_reader *reader, bool *progress)
{
    if (!as_reader_read_code(reader, progress))
        return false;
    if (as_causal_applies(reader))
        return as_read_causally(reader, progress);
    /* A sink that is given what passes a sieve lets time go on in all stretches, which matters to threads; otherwise clocks
     * stand where nothing settles. */
    bool passes = reader->sink->passed && reader->regions.threads > 1;
    bool timed = reader->sink->clock && (reader->regions.stretch.mode >= AS_MODE_SETTLE || passes);
    enum { SLACK = 2000 };
    if (!as_handover_look(reader, timed, progress))
        return false;
    bool closely = timed && reader->sink->shares && reader->sink->shares(reader->context);
    reader->exactly = !timed || closely || as_pace_is_asked(reader);
    if (reader->sink->round)
        reader->sink->round(reader->context, reader->exactly);
    if (closely && !as_read_closely(reader, progress))
        return false;
    uint64_t limit = timed ? clock_limit(reader, closely ? AS_CLOSE_SLACK : SLACK) : UINT64_MAX;
    reader->at_once = choose_at_once(reader, limit, closely);
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used && !reader->regions.over; i++) {
        uint32_t state = atomic_load(&reader->wire->lanes[i].state);
        if ((state == AS_WIRE_LIVE || state == AS_WIRE_ENDED) && !reader->wire->lanes[i].is_code &&
            as_pace_reads(reader, i) && !is_ahead(reader, i, limit) &&
            !(closely && reader->streams[i] ? read_closely(reader, i, state, limit, progress)
                                            : as_reader_read_lane(reader, i, state, progress)))
            return false;
    }
    return true;
}

/* Processes that died without a word leave lanes behind. The child itself is watched by its reaper. */
static void look_for_dead(struct as_reader *reader)
{
    for (size_t i = 0; i < reader->processes.len; i++) {
        struct as_process *process = reader->processes.data[i];
        struct pollfd poll_fd = {.fd = process->pidfd, .events = POLLIN};
        if (process->dead)
            continue;
        bool is_child = process->pid == reader->child->pid;
        bool gone = is_child             ? atomic_load(&reader->child->ended) != 0
                    : process->pidfd < 0 ? kill(process->pid, 0) != 0
                                         : poll(&poll_fd, 1, 0) == 1;
        if (!gone)
            continue;
        process->dead = true;
        as_reader_seal_lanes(reader, process->number, UINT32_MAX);
        if (process->pidfd >= 0)
            close(process->pidfd);
        process->pidfd = -1;
    }
}

static bool has_words(const struct as_reader *reader, unsigned *threads)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (atomic_load(&lane->state) != AS_WIRE_LIVE)
            continue;
        if (atomic_load(&lane->published) != atomic_load(&lane->consumed))
            return true;
        uint32_t activity = atomic_load(&lane->activity);
        *threads += !lane->is_code && activity != AS_WIRE_IN_SYSCALL && activity != AS_WIRE_GATED;
    }
    return false;
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A short wait is better spent looking than sleeping, as long as no guest thread needs the core. Where other threads of
 * ours do (observers), the reader naps between two looks: a ring takes many times that long to fill, and a writer whose
 * reader only naps need not wake it. Not while threads execute atomics in turn (pace.h): all of them wait for the reader then. */
static bool spin_for_words(const struct as_reader *reader)
{
    enum { ROUNDS = 200, PAUSES = 20, NAPS = 20, NAP_MICROSECONDS = 40 };
    bool naps = reader->options->observed && !atomic_load(&reader->wire->orders);
    for (int round = 0; naps && round < NAPS; round++) {
        unsigned threads = 0;
        if (has_words(reader, &threads))
            return true;
        if (threads == 0)
            return false;
        usleep(NAP_MICROSECONDS);
    }
    unsigned rounds = reader->pace.place.joined ? 1 : ROUNDS; /* the threads need this processor */
    for (unsigned round = 0; !naps && round < rounds; round++) {
        unsigned threads = 0;
        if (has_words(reader, &threads))
            return true;
        if (threads == 0 || threads >= reader->cores)
            return false;
        for (int i = 0; i < PAUSES; i++)
            relax();
    }
    return false;
}

/* Waits until a writer publishes words, or for some time. as_lane_publish (lane.c) stores published and then looks at reader_waits; here it
 * is the other way round, so one of the two sees the other. The bell is read before both: a ring in between makes the wait return at
 * once. */
static void wait_for_bell(struct as_reader *reader, bool despite_words, long nanoseconds)
{
    struct timespec timeout = {.tv_nsec = nanoseconds};
    unsigned threads = 0;
    uint32_t bell = atomic_load(&reader->wire->doorbell);
    atomic_store(&reader->wire->reader_waits, 1);
    if (despite_words || !has_words(reader, &threads))
        syscall(SYS_futex, &reader->wire->doorbell, FUTEX_WAIT, bell, &timeout, NULL, 0);
    atomic_store(&reader->wire->reader_waits, 0);
}

static void wait_for_words(struct as_reader *reader)
{
    if (!spin_for_words(reader))
        wait_for_bell(reader, false, IDLE_MILLISECONDS * 1000000L);
    else if (++reader->useless_rounds > 2)
        wait_for_bell(reader, true, 50000); /* words that cannot be used yet: a thread, or a fork's parent, is behind */
}

/* The program is over when its first process is, and all that any dead process wrote has been read. */
static bool all_read(const struct as_reader *reader)
{
    if (!atomic_load(&reader->child->ended))
        return false;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (atomic_load(&reader->wire->lanes[i].state) == AS_WIRE_ENDED)
            return false;
    for (size_t i = 0; i < reader->processes.len; i++)
        if (reader->processes.data[i]->pid == reader->child->pid && !reader->processes.data[i]->dead)
            return false;
    return true;
}

/* Another stretch of the run begins. */
static void on_stretch(void *context)
{
    struct as_reader *reader = context;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    bool before = reader->measures;
    reader->measures = reader->regions.stretch.mode == AS_MODE_DETAIL;
    for (uint32_t i = 0; i < used; i++) {
        if (!reader->streams[i])
            continue;
        as_ways_report(reader->streams[i]);
        if (reader->measures != before)
            as_stream_cut(reader->streams[i], before);
    }
    if (reader->sink->stretch)
        reader->sink->stretch(reader->context, &reader->regions.stretch);
    if (reader->options->border && !as_twin_is_copy(reader))
        reader->options->border(reader->options->border_context, &reader->regions.stretch);
}

/* What starts and stops regions from outside the program. */
static void look_outside(struct as_reader *reader)
{
    uint64_t now = (uint64_t)((as_clock_seconds() - reader->started) * 1e9);
    if (as_region_run_is_due(&reader->regions, now) && as_gear_admits(reader))
        as_region_run_time(&reader->regions, now);
    if (!reader->options->switches)
        return;
    uint32_t switches = atomic_load(reader->options->switches);
    for (; reader->switches != switches && as_gear_admits(reader); reader->switches++)
        as_region_run_signal(&reader->regions);
}

/* One round of a copy of the run: no thread waits for it, and its data comes from the original. */
static bool run_copy(struct as_reader *reader)
{
    bool progress = as_twin_pull(reader, false);
    bool sound = read_all_lanes(reader, &progress);
    if (sound && !progress)
        as_twin_pull(reader, true);
    return sound;
}

static bool run(struct as_reader *reader, struct as_error *err)
{
    unsigned rounds = 0;
    reader->regions.on_change = on_stretch;
    reader->regions.context = reader;
    reader->measures = reader->regions.stretch.mode == AS_MODE_DETAIL;
    as_pace_init(reader);
    if (reader->sink->stretch)
        reader->sink->stretch(reader->context, &reader->regions.stretch);
    while (!reader->regions.over && !as_signals_insisted()) {
        bool progress = false;
        if (as_twin_is_copy(reader)) {
            if (!run_copy(reader))
                return as_error_set(err, "the log of a region is corrupt");
            continue;
        }
        look_outside(reader);
        as_gear_sample(reader->wire, reader->options);
        bool child_ended = atomic_load(&reader->child->ended);
        if (!read_all_lanes(reader, &progress))
            return as_error_set(err,
                                "the trace is corrupt: assay and assay-engine.so are from different builds, or the "
                                "program wrote over QEMU's memory");
        progress |= as_gear_turn(reader);
        progress |= as_pace_turn(reader, !progress);
        if (reader->options->tick && ++rounds % 64 == 0)
            reader->options->tick(reader->options->tick_context);
        if (progress) {
            reader->useless_rounds = 0;
            continue;
        }
        look_for_dead(reader);
        if (child_ended && all_read(reader))
            break;
        if (!child_ended || as_reader_count_alive(reader))
            wait_for_words(reader);
    }
    return true;
}

bool as_reader_run(struct as_reader *reader, struct as_error *err)
{
    bool ok = run(reader, err);
    if (as_twin_is_copy(
            reader)) /* its log did not come to an end: the original reports that, and what follows here is the original's */
        _exit(AS_EXIT_FAILURE);
    return ok;
}

uint32_t as_reader_find_alone(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), found = AS_WIRE_LANES;
    for (uint32_t i = 0; i < used; i++) {
        if (atomic_load(&reader->wire->lanes[i].state) == AS_WIRE_FREE || reader->wire->lanes[i].is_code)
            continue;
        if (found < AS_WIRE_LANES || !reader->streams[i])
            return AS_WIRE_LANES;
        found = i;
    }
    return found;
}

uint32_t as_reader_count_alive(const struct as_reader *reader)
{
    uint32_t alive = 0;
    for (size_t i = 0; i < reader->processes.len; i++)
        alive += !reader->processes.data[i]->dead;
    return alive;
}

void as_reader_kill_all(const struct as_reader *reader)
{
    for (size_t i = 0; i < reader->processes.len; i++)
        if (!reader->processes.data[i]->dead && reader->processes.data[i]->pid != reader->child->pid)
            kill(reader->processes.data[i]->pid, SIGKILL);
    if (!atomic_load(&reader->child->ended))
        kill(reader->child->pid, SIGKILL);
}

void as_reader_end_threads(struct as_reader *reader)
{
    for (uint32_t i = 0; i < AS_WIRE_LANES; i++)
        if (reader->streams[i])
            end_stream(reader, i);
}

void as_reader_free(struct as_reader *reader)
{
    for (uint32_t i = 0; i < AS_WIRE_LANES; i++) {
        if (reader->streams[i])
            as_stream_free(reader->streams[i]);
        free(reader->streams[i]);
    }
    free(reader->streams);
    free(reader->bounds);
    for (size_t i = 0; i < reader->processes.len; i++) {
        if (reader->processes.data[i]->pidfd >= 0)
            close(reader->processes.data[i]->pidfd);
        free(reader->processes.data[i]);
    }
    as_vec_free(&reader->processes);
    as_region_run_free(&reader->regions);
    as_code_table_free(&reader->code);
    as_pace_free(reader);
    as_handover_free(reader);
    as_twin_free(reader);
}
