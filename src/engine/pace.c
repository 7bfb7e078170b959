/* See pace.h.
 *
 * The other side of the atomics is src/plugin/lane.c, where a table says what each hands over:
 *
 *   activity, published   acquired from wait_at_gate and as_lane_enter_syscall. A thread that is seen at its gate has published all before
 *                         it; of one in a system call that holds once the kernel says that it sleeps (is_at_rest)
 *   asked, given          as_lane_take_turn and give_turn: the thread adds to `asked` before it comes to its gate
 *   stop_at               to is_below_stop; as_gates_ring_lane behind it wakes a thread that has looked before
 *   leaks                 leak, and wait_at_gate, which copies it before it says that it is gated: has_left
 *   quick                 on_syscall (plugin/engine_plugin.c) stores it before the `activity` of the call; give_up_quick takes it back
 *   woken, brief          note_futex, on_syscall (plugin/engine_plugin.c): numbers, with which nothing else comes
 *   orders, quantum       to as_lane_take_turn and step_of: settings, with which nothing else comes
 *   state                 acquires is_code, pid, tid and image from as_lane_claim, so it is loaded before those
 */
#include "engine/pace.h"

#include "base/clock.h"
#include "base/thread_state.h"
#include "engine/gates.h"
#include "engine/reader.h"

static const double slowest_pace = 1.0 / 64, fastest_pace = 8, stuck_seconds = 0.05, idle_seconds = 0.005,
                    woken_seconds = 0.05, longest_woken = 2;
/* Instructions. LEAST: a block at least, or no thread would get on. LEAST_APART: of threads that take no notice of each other. */
enum {
    ALONE = 1 << 20,
    LEAST = 600,
    LEAST_APART = 4800,
    LEAST_MEETING = 300,
    LEAST_LOOKING = 20,
    LOOKED_PART = 8,
    MOST_IN_TURN = 20000
};
enum { APART_QUANTA = 20 }; /* for how long they must not have */
enum {
    MEETING_CYCLES = 100,
    WINDOW_CYCLES = 20000,
    WINDOW_MEETINGS = 64,
    FEW = 4
}; /* see choose_quantum; 100: the least */

void as_pace_prepare(struct as_wire_header *wire, const struct as_engine_options *options)
{
    if (!options->quantum || wire->in_step)
        return;
    atomic_store(&wire->quantum, options->quantum);
    wire->in_turn = options->deterministic;
    wire->window = 0; /* instructions and time would wait for each other */
    atomic_store(&wire->gates_closed, 1);
}

void as_pace_init(struct as_reader *reader)
{
    struct as_wire_header *wire = reader->wire;
    if (!wire->quantum)
        return;
    if (!reader->sink->clock) { /* there is no simulated time, so no thread waits */
        wire->window = reader->options->window;
        atomic_store(&wire->gates_closed, wire->gated); /* gear.h */
        if (!wire->gated) /* then the plugin need not count instructions: needs_clocks (plugin/engine_plugin.c) */
            atomic_store(&wire->quantum, 0);
        return;
    }
    reader->pace.lanes = as_alloc_array(AS_WIRE_LANES, sizeof *reader->pace.lanes);
    reader->pace.in_turn = reader->pace.reads = wire->in_turn;
}

void as_pace_free(struct as_reader *reader)
{
    as_meeting_place_forsake(&reader->pace.place);
    free(reader->pace.lanes);
    reader->pace.lanes = NULL;
}

/* A thread that executes, or has executed what has not been read. */
static bool is_running(const struct as_wire_lane *lane) /* an old answer delays a budget, no more */
{
    return !as_gates_drained(lane) || (atomic_load(&lane->state) == AS_WIRE_LIVE && as_gates_takes_part(lane));
}

static uint64_t clock_of(const struct as_reader *reader, uint32_t lane)
{
    return reader->sink->clock(reader->context, &reader->streams[lane]->thread);
}

/* A thread that has begun counts though nothing of it has been read: otherwise the one that was alone would be let go just then. */
static uint32_t count_running(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), running = 0;
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        bool begins = !reader->streams[i] && atomic_load(&lane->state) == AS_WIRE_LIVE && !lane->is_code;
        running += begins || (reader->streams[i] && is_running(lane));
    }
    return running;
}

/* A larger budget does not help such a thread: to wake it would be in vain. */
static bool waits_for_turn(const struct as_reader *reader, const struct as_wire_lane *lane)
{
    return atomic_load(&reader->wire->orders) && atomic_load(&lane->asked) != atomic_load(&lane->given);
}

uint64_t as_pace_time(const struct as_reader *reader, uint32_t lane)
{
    const struct as_sink *sink = reader->sink;
    const struct as_wire_lane *own = &reader->wire->lanes[lane];
    bool waits = sink->turn && reader->exactly && waits_for_turn(reader, own) && as_gates_drained(own);
    return waits ? sink->turn(reader->context, &reader->streams[lane]->thread) : clock_of(reader, lane);
}

/* The lane of the thread that is behind, and its time; AS_WIRE_LANES: no thread runs. One that waits for another to be read does not count: the
 * other one may be further ahead than threads are read. */
static uint32_t find_behind(const struct as_reader *reader, uint64_t *behind)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), lane = AS_WIRE_LANES;
    *behind = UINT64_MAX;
    for (uint32_t i = 0; i < used; i++) {
        if (!reader->streams[i] || !is_running(&reader->wire->lanes[i]) || as_handover_blocks(reader, i))
            continue;
        uint64_t time = as_pace_time(reader, i);
        lane = time < *behind ? i : lane;
        *behind = time < *behind ? time : *behind;
    }
    return lane;
}

/* A thread that is alone waits for no other, and its time may be far away: it is not asked for. */
static bool let_go(struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    bool rung = false;
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (!reader->streams[i])
            continue;
        uint64_t at = as_gates_read(reader->streams[i]); /* 0: it waits before its first block */
        if (atomic_load(&lane->stop_at) > at + ALONE / 2)
            continue;
        atomic_store(&lane->stop_at, at + ALONE);
        rung |= as_gates_ring_lane(reader->wire, i);
    }
    return rung;
}

/* Whether hand-overs are followed at all: between processes only if it is known what memory they share. */
static bool knows_meetings(const struct as_reader *reader)
{
    return reader->handovers.on && (reader->sink->shared || reader->processes.len == 1);
}

/* Whether no thread has taken notice of what another one wrote for a while. */
static bool are_apart(const struct as_reader *reader)
{
    return reader->pace.granted > reader->pace.met_at + APART_QUANTA * reader->options->quantum;
}

/* A thread that sees nothing of what others write executes the same in whichever order they come; it is read by simulated time. Hence
 * one that is slow, because lines are fought over, need not sleep for every few hundred of its instructions. Where hand-overs are not
 * looked for, that is not known. */
static uint64_t least_way(const struct as_reader *reader)
{
    if (!knows_meetings(reader))
        return LEAST;
    return are_apart(reader) ? LEAST_APART : reader->pace.meeting < LEAST ? LEAST_MEETING : LEAST;
}

/* A thread that sees what another one wrote comes behind it in simulated time (handover.h). Where threads execute their budgets one
 * after the other, because the host has fewer processors than they are, the first one takes a lock for a whole budget of pieces of work
 * before the next one sees the lock at all, and comes behind all of them. How long that takes is as long as the budget: so the quantum is no
 * longer than the time between two meetings. Where many threads meet, each of them does so more seldom. */
static void choose_quantum(struct as_reader *reader, uint32_t running)
{
    struct as_pace *pace = &reader->pace;
    uint64_t met = reader->handovers.met, passed = pace->granted - pace->window;
    if (met != pace->met)
        pace->met_at = pace->granted;
    pace->meetings += met - pace->met;
    pace->met = met;
    bool back = pace->granted < pace->window; /* a thread that was left behind has begun to run */
    if (back || passed >= WINDOW_CYCLES || pace->meetings >= WINDOW_MEETINGS) {
        pace->meeting = back ? pace->meeting : passed * (running > FEW ? running / FEW : 1) / (pace->meetings + 1);
        pace->window = pace->granted;
        pace->meetings = 0;
    }
    uint64_t quantum = reader->options->quantum,
             close = pace->meeting > MEETING_CYCLES ? pace->meeting : MEETING_CYCLES;
    atomic_store(&reader->wire->quantum, knows_meetings(reader) && close < quantum ? close : quantum);
}

/* A thread that waits by looking must not look long beyond the store that it waits for, or its looks in vain, which take the line away from the
 * thread that has it, come behind that. It gets a part of what it has looked for so far. */
static uint64_t most_way(const struct as_reader *reader, uint32_t lane)
{
    uint64_t looked;
    if (!knows_meetings(reader) || !as_handover_spins(reader, lane, &looked))
        return UINT64_MAX;
    return looked / LOOKED_PART > LEAST_LOOKING ? looked / LOOKED_PART : LEAST_LOOKING;
}

/* Within these bounds. */
static uint64_t bound_way(const struct as_reader *reader, uint32_t lane, uint64_t way)
{
    uint64_t least = least_way(reader), most = most_way(reader, lane);
    way = way < least ? least : way;
    return way < most ? way : most;
}

/* Instructions that take the thread to a time. */
static uint64_t way_to(struct as_reader *reader, uint32_t lane, uint64_t time)
{
    struct as_pace_lane *own = &reader->pace.lanes[lane];
    uint64_t at = as_gates_read(reader->streams[lane]), clock = clock_of(reader, lane);
    if (at < own->at || clock < own->clock)
        *own = (struct as_pace_lane){.pace = 0};
    if (clock > own->clock + reader->wire->quantum / 8) {
        double now = (double)(at - own->at) / (double)(clock - own->clock), before = own->pace / 4;
        now = now < before ? before : now; /* time in which it waited does not count */
        own->pace = now < slowest_pace ? slowest_pace : now > fastest_pace ? fastest_pace : now;
        own->at = at;
        own->clock = clock;
    }
    if (time <= clock)
        return 0;
    uint64_t way = (uint64_t)((double)(time - clock) * (own->pace > 0 ? own->pace : 1));
    return bound_way(reader, lane, way);
}

/* Instructions of a quantum, at the thread's pace. */
static uint64_t whole_way(const struct as_reader *reader, uint32_t lane)
{
    uint64_t way = (uint64_t)((double)reader->wire->quantum * reader->pace.lanes[lane].pace);
    return bound_way(reader, lane, way);
}

/* Whether a thread is on its way to its gate, and will have words then. */
static bool any_executes(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (reader->streams[i] && atomic_load(&lane->state) == AS_WIRE_LIVE &&
            atomic_load(&lane->activity) == AS_WIRE_RUNNING)
            return true;
    }
    return false;
}

/* ---- what threads do, by the kernel's word ---- */

char as_pace_thread_state(const struct as_wire_lane *lane)
{
    return as_thread_state(lane->pid, lane->tid);
}

/* Whether a thread does nothing, and will not without the others' doing. Its activity is looked at again behind the
 * kernel's word: it may have come back in between, and sleep at its gate. */
static bool is_at_rest(const struct as_wire_lane *lane)
{
    uint32_t state = atomic_load(&lane->state), activity = atomic_load(&lane->activity);
    if (state == AS_WIRE_ENDED) {
        char letter = as_pace_thread_state(lane);
        return letter == 0 || letter == 'Z' || letter == 'X';
    }
    if (state != AS_WIRE_LIVE)
        return false;
    if (activity == AS_WIRE_GATED) /* and not just about to leave */
        return *(const volatile uint64_t *)&lane->instructions > atomic_load(&lane->stop_at) ||
               atomic_load(&lane->asked) != atomic_load(&lane->given);
    if (activity != AS_WIRE_IN_SYSCALL || atomic_load(&lane->brief))
        return false;
    char letter = as_pace_thread_state(lane);
    return (letter == 'S' || letter == 'T' || letter == 't' || letter == 0) &&
           atomic_load(&lane->activity) == AS_WIRE_IN_SYSCALL && atomic_load(&lane->state) == state;
}

/* A thread that should execute sleeps. */
static bool is_stuck(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->activity) == AS_WIRE_RUNNING && as_pace_thread_state(lane) == 'S' &&
           atomic_load(&lane->activity) == AS_WIRE_RUNNING;
}

/* Threads at their gates have all come there since the last leak: on a busy machine they take their time to leave. */
static bool has_left(const struct as_reader *reader, const struct as_wire_lane *lane)
{
    return atomic_load(&lane->activity) != AS_WIRE_GATED ||
           atomic_load(&lane->leaks) == atomic_load(&reader->wire->leaks);
}

/* Whether a thread that should execute sleeps, and no other can do anything about it. */
static bool all_are_stuck(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    bool stuck = false;
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (atomic_load(&lane->state) != AS_WIRE_LIVE || lane->is_code)
            continue;
        bool sleeps = is_stuck(lane);
        if (!has_left(reader, lane) || (!sleeps && !is_at_rest(lane)))
            return false;
        stuck |= sleeps;
    }
    return stuck;
}

static void leak(struct as_reader *reader)
{
    reader->pace.since = 0;
    atomic_fetch_add(&reader->wire->leaks, 1);
    as_gates_ring(reader->wire);
}

/* Whether something has been true each time that this was asked, for so many seconds. */
static bool lasts(struct as_pace *pace, bool now_true, double seconds)
{
    double now = now_true ? as_clock_seconds() : 0;
    if (!now_true || pace->since == 0)
        pace->since = now;
    return now_true && now > pace->since + seconds;
}

/* Inside QEMU a thread waits for others that wait at their gates: all go on for one block. Where threads take turns, only a thread
 * that is stuck at every look is taken for one: a block out of turn changes the order of the run. */
static void let_by_in_turns(struct as_reader *reader)
{
    if (lasts(&reader->pace, all_are_stuck(reader), stuck_seconds))
        leak(reader);
}

static bool sleeps_in_quick_call(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->quick) && atomic_load(&lane->activity) == AS_WIRE_IN_SYSCALL &&
           as_pace_thread_state(lane) == 'S';
}

/* A thread that sleeps for long in a system call that was thought to come back at once: nobody waits for it any longer. For a while it may, as
 * in a clone until the host lets the new thread run. */
static void give_up_quick(struct as_reader *reader)
{
    struct as_pace *pace = &reader->pace;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    double now = as_clock_seconds();
    bool any = false, all = pace->asleep > 0 && now > pace->asleep + longest_woken;
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        bool sleeps = sleeps_in_quick_call(lane);
        any |= sleeps && !all;
        if (sleeps && all)
            atomic_store(&lane->quick, 0);
    }
    if (!any || pace->asleep == 0)
        pace->asleep = any ? now : 0;
}

/* Where threads run side by side, one look is enough, after some time in which nothing was written: to ask the kernel takes time. */
static void let_by_side_by_side(struct as_reader *reader, bool idle)
{
    if (!lasts(&reader->pace, idle, idle_seconds))
        return;
    reader->pace.since = 0;
    give_up_quick(reader);
    if (all_are_stuck(reader))
        leak(reader);
}

/* Whether a thread is about to come back from a system call, as soon as the host has a processor for it. */
static bool comes_any(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (atomic_load(&lane->state) == AS_WIRE_LIVE && !lane->is_code &&
            atomic_load(&lane->activity) == AS_WIRE_IN_SYSCALL && as_pace_thread_state(lane) == 'R')
            return true;
    }
    return false;
}

/* A thread that was woken or made runs in simulated time, though the host may not let it run yet: the others wait for it, or what it does
 * would come behind all that they do until then. Not for long: it may have been killed. A thread that was not waited for any longer, and comes
 * after all, must not be taken for the next one. */
static bool is_awaited(struct as_reader *reader)
{
    struct as_pace *pace = &reader->pace;
    int32_t woken = atomic_load(&reader->wire->woken) - pace->given_up;
    if (woken < 0 && pace->given_up > 0) {
        pace->given_up = pace->given_up + woken > 0 ? pace->given_up + woken : 0;
        woken = atomic_load(&reader->wire->woken) - pace->given_up;
    }
    if (woken <= 0) {
        pace->woken = 0;
        return false;
    }
    double now = as_clock_seconds();
    if (pace->woken == 0)
        pace->woken = pace->looked = now;
    if (now > pace->looked + woken_seconds) {
        pace->looked = now;
        if (now > pace->woken + longest_woken || !comes_any(reader)) {
            pace->given_up += woken;
            pace->woken = 0;
        }
    }
    return pace->woken > 0;
}

/* The thread that is behind, at this time, executes its atomic. Returns whether it waits for that. */
static bool give_turn(struct as_reader *reader, uint32_t behind, uint64_t time)
{
    struct as_wire_lane *lane = &reader->wire->lanes[behind];
    uint32_t asked = atomic_load(&lane->asked);
    if (atomic_load(&lane->activity) != AS_WIRE_GATED || !as_gates_drained(lane) || atomic_load(&lane->given) == asked)
        return false;
    uint64_t stop =
        as_gates_read(reader->streams[behind]) + way_to(reader, behind, time + atomic_load(&reader->wire->quantum));
    if (stop > atomic_load(&lane->stop_at)) /* or it would wait again, a few instructions further on */
        atomic_store(&lane->stop_at, stop);
    atomic_store(&lane->given, asked);
    as_gates_ring_lane(reader->wire, behind);
    as_meeting_place_note_turn(&reader->pace.place, reader->wire, as_reader_progress(reader));
    return true;
}

static void order(struct as_reader *reader, bool on)
{
    if (!on)
        as_meeting_place_leave(&reader->pace.place, reader->wire);
    if (atomic_exchange(&reader->wire->orders, on) && !on)
        as_gates_ring(reader->wire);
}

bool as_pace_is_asked(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used && reader->pace.lanes && atomic_load(&reader->wire->orders); i++)
        if (reader->streams[i] && waits_for_turn(reader, &reader->wire->lanes[i]))
            return true;
    return false;
}

static bool pace_all(struct as_reader *reader, bool idle)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    let_by_side_by_side(reader, idle);
    if (is_awaited(reader))
        return false;
    uint32_t running = count_running(reader);
    bool meet = knows_meetings(reader) && !are_apart(reader);
    order(reader, meet);
    if (running < 2 && !meet) /* if they meet it may wake others at any time, and must not run far ahead of them */
        return let_go(reader);
    uint64_t quantum = atomic_load(&reader->wire->quantum), behind;
    bool rung = false;
    uint32_t last = find_behind(reader, &behind);
    if (last == AS_WIRE_LANES)
        return false;
    if (!reader->exactly && as_pace_is_asked(reader))
        return true; /* it has just asked: clocks are exact in the next round */
    if (atomic_load(&reader->wire->orders) && give_turn(reader, last, behind))
        return true;
    if (!idle && behind < reader->pace.granted + quantum / 8 && behind >= reader->pace.granted)
        return false;
    reader->pace.granted = behind;
    choose_quantum(reader, running);
    quantum = atomic_load(&reader->wire->quantum);
    bool nobody = idle && !any_executes(reader);
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (!reader->streams[i])
            continue;
        uint64_t at = as_gates_read(reader->streams[i]), way = way_to(reader, i, behind + quantum);
        uint64_t was = atomic_load(&lane->stop_at);
        bool gated = atomic_load(&lane->activity) == AS_WIRE_GATED;
        if (gated && !nobody && at + way < was + whole_way(reader, i) / 2)
            continue; /* to wake it takes as long as to execute thousands of instructions */
        atomic_store(&lane->stop_at, at + way);
        /* Whether it waits is asked again there: it may just have come, and have seen where it had to stop before. */
        rung |= at + way > was && !waits_for_turn(reader, lane) && as_gates_ring_lane(reader->wire, i);
    }
    return rung;
}

/* ---- in turn ---- */

/* A thread that executes another program has a new lane for that; the kernel's thread is the same. */
static bool goes_on_elsewhere(const struct as_reader *reader, const struct as_wire_lane *lane)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used && atomic_load(&lane->state) == AS_WIRE_ENDED; i++) {
        const struct as_wire_lane *other = &reader->wire->lanes[i];
        if (atomic_load(&other->state) == AS_WIRE_LIVE && !other->is_code && other->tid == lane->tid &&
            other->image != lane->image)
            return true;
    }
    return false;
}

static bool seem_at_rest(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (atomic_load(&lane->state) != AS_WIRE_FREE && !lane->is_code && !goes_on_elsewhere(reader, lane) &&
            !is_at_rest(lane))
            return false;
    }
    return true;
}

/* The thread whose turn it is may wake one that was looked at before it, and come to its gate when it is looked at itself. At the
 * second look it has been there all the time. */
static bool all_at_rest(const struct as_reader *reader)
{
    return seem_at_rest(reader) && seem_at_rest(reader);
}

static bool all_drained(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        uint32_t state = atomic_load(&lane->state);
        if (state == AS_WIRE_ENDED || (state == AS_WIRE_LIVE && !as_gates_drained(lane)))
            return false;
    }
    return true;
}

/* A new round: what each thread that waits gets. */
static void plan_round(struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    uint64_t behind = UINT64_MAX;
    uint32_t threads = 0;
    for (uint32_t i = 0; i < used; i++) {
        reader->pace.lanes[i].budget = 0;
        threads += reader->streams[i] != NULL;
    }
    for (uint32_t i = 0; i < used && threads > 1; i++) {
        if (reader->streams[i] && atomic_load(&reader->wire->lanes[i].activity) == AS_WIRE_GATED) {
            uint64_t clock = clock_of(reader, i);
            behind = clock < behind ? clock : behind;
        }
    }
    for (uint32_t i = 0; i < used; i++) {
        if (!reader->streams[i] || atomic_load(&reader->wire->lanes[i].activity) != AS_WIRE_GATED)
            continue;
        uint64_t budget = threads == 1 ? ALONE : way_to(reader, i, behind + reader->wire->quantum);
        if (budget && threads > 1)
            budget = budget > MOST_IN_TURN ? MOST_IN_TURN : budget;
        reader->pace.lanes[i].budget = budget;
    }
    reader->pace.thread = 0;
    reader->pace.alone = threads == 1;
}

/* The next of the round, by the numbers of the threads; AS_WIRE_LANES: it is over. */
static uint32_t find_next(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), next = AS_WIRE_LANES, least = UINT32_MAX;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t thread = reader->streams[i] ? reader->streams[i]->thread.number : 0;
        if (reader->pace.lanes[i].budget && thread > reader->pace.thread && thread < least) {
            least = thread;
            next = i;
        }
    }
    return next;
}

static bool take_turns(struct as_reader *reader, bool idle)
{
    struct as_pace *pace = &reader->pace;
    if (!idle)
        return false;
    if (!all_at_rest(reader)) {
        let_by_in_turns(reader);
        return false;
    }
    if (pace->reads) {
        if (!all_drained(reader))
            return false;
        plan_round(reader);
        pace->reads = false;
    }
    uint32_t used = atomic_load(&reader->wire->lanes_used), next = find_next(reader);
    for (uint32_t i = 0; i < used; i++)
        atomic_store(&reader->wire->lanes[i].stop_at, 0);
    pace->since = 0;
    if (next == AS_WIRE_LANES) {
        bool anything = !all_drained(reader);
        pace->reads = true;
        return anything;
    }
    struct as_wire_lane *lane = &reader->wire->lanes[next];
    pace->thread = reader->streams[next]->thread.number;
    atomic_store(&lane->stop_at, *(volatile uint64_t *)&lane->instructions + pace->lanes[next].budget);
    pace->lanes[next].budget = 0;
    as_gates_ring(reader->wire);
    return true;
}

bool as_pace_turn(struct as_reader *reader, bool idle)
{
    if (!reader->pace.lanes || reader->gear.state != AS_GEAR_RECORD || reader->gear.held)
        return false;
    return reader->pace.in_turn ? take_turns(reader, idle) : pace_all(reader, idle);
}

/* Whether all that the threads that are known have written is read. */
static bool known_are_drained(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (reader->streams[i] && !as_gates_drained(&reader->wire->lanes[i]))
            return false;
    return true;
}

bool as_pace_keeps_room(const struct as_reader *reader)
{
    return reader->pace.in_turn && !reader->pace.reads && !reader->pace.alone;
}

bool as_pace_reads(const struct as_reader *reader, uint32_t lane)
{
    const struct as_pace *pace = &reader->pace;
    if (!pace->in_turn)
        return true;
    if (!reader->streams[lane])
        return pace->reads && known_are_drained(reader);
    return pace->reads || pace->alone || atomic_load(&reader->wire->lanes[lane].activity) == AS_WIRE_FULL;
}
