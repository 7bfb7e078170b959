/* See gear.h.
 *
 * The other side of the atomics is src/plugin/lane.c, where a table says what each hands over:
 *
 *   activity, questions   acquired from wait_at_gate and as_lane_enter_syscall: what the thread published before, and its `instructions`
 *   stop_at, answers      release record_accesses, asks and gates_closed, which are therefore stored before, to pass_gate and as_lane_ask
 *   n_watches             releases the watches before it to as_traits_watched (plugin/block_traits.c); code that has them is translated
 *                         only after `consumed` has told wait_until_read (plugin/code.c) that its module has been read
 *   cheap_switch          is stored by note_clone (plugin/engine_plugin.c) before the call that makes a thread; alone it decides nothing
 */
#include "engine/gear.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/gates.h"
#include "engine/reader.h"
#include "engine/sieve.h"

enum {
    WORTH_IT = 3000000,       /* instructions: below that, translating all code anew takes longer than it saves … */
    WORTH_IT_CHEAP = 400000,  /* … or, where that is not necessary, waiting for the reader does */
    MARGIN = 60000,           /* instructions before a border at which recording is switched on … */
    MARGIN_LEAST = 10000,     /* … or, where a single thread does not stop as it should, this many */
    MARGIN_OF_THREAD = 30000, /* … and more for each thread, which may notice only then */
    LEAST_GRANT = 4096,       /* instructions */
    WORTH_IT_SIEVED = 30000,  /* like WORTH_IT_CHEAP, for a thread that can be held (see there) … */
    MARGIN_HELD = 2048,       /* … and its margin: a few blocks, since it stops where it should … */
    MARGIN_HELD_LEAST = 1024, /* … nearly always */
    BEYOND = 512,             /* what a held thread may execute beyond a region: less than a block, so that it ends */
    FINE_LEAD =
        120000, /* instructions before a border from which on the sieve is the fine one: what fills first caches */
    FEW_PASSES = 1024, /* executions of a landmark before the one that matters, from which on threads ask */
};
/* A distance that is as good as none: what has been read of a thread is added to it, and must not wrap around. */
static const uint64_t far = UINT64_MAX / 4;
static const double stop_seconds = 0.2, stop_seconds_held = 10, retry_seconds = 0.2, pass_seconds = 5;

/* Whether there can be counted stretches: something before the first region, or between two. */
static bool has_gaps(const struct as_regions *regions)
{
    for (size_t i = 0; regions && i < regions->list.len; i++) {
        const struct as_region *region = &regions->list.data[i];
        bool at_once = region->start.kind == AS_POINT_NONE && region->offset == 0;
        if ((!at_once || region->mode == AS_MODE_COUNT) && region->warm != AS_REGION_ALL &&
            region->start.kind != AS_POINT_CYCLE)
            return true;
    }
    return false;
}

static bool starts_at_marker(const struct as_regions *regions)
{
    for (size_t i = 0; i < regions->list.len; i++) {
        const struct as_point *start = &regions->list.data[i].start;
        if (start->kind == AS_POINT_LANDMARK && regions->landmarks.data[start->landmark].kind == AS_LANDMARK_MARKER)
            return true;
    }
    return false;
}

static bool starts_region(const struct as_regions *regions, uint32_t landmark)
{
    for (size_t i = 0; i < regions->list.len; i++) {
        const struct as_point *start = &regions->list.data[i].start;
        if (start->kind == AS_POINT_LANDMARK && start->landmark == landmark)
            return true;
    }
    return false;
}

/* Written only where it changes: QEMU's threads read it at each access, from their own caches. */
void as_gear_sample(struct as_wire_header *wire, const struct as_engine_options *options)
{
    uint64_t threshold = options->sample ? atomic_load_explicit(options->sample, memory_order_relaxed) : 0;
    if (threshold != atomic_load_explicit(&wire->sample_threshold, memory_order_relaxed))
        atomic_store_explicit(&wire->sample_threshold, threshold, memory_order_relaxed);
}

void as_gear_prepare(struct as_wire_header *wire, const struct as_engine_options *options)
{
    bool in_turn = options->quantum && options->deterministic;
    wire->gated = !options->blocks_only && !in_turn && has_gaps(options->regions);
    wire->watches_markers = wire->gated && starts_at_marker(options->regions);
    wire->sample_shift = options->sample_shift;
    as_gear_sample(wire, options);
    atomic_store(&wire->record_accesses, options->sample        ? AS_WIRE_SAMPLED
                                         : options->blocks_only ? AS_WIRE_VARYING
                                                                : AS_WIRE_ALL);
    atomic_store(&wire->asks, wire->gated); /* until the reader knows better */
}

static uint32_t count_threads(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), threads = 0;
    for (uint32_t i = 0; i < used; i++)
        threads += reader->streams[i] != NULL;
    return threads;
}

/* Instructions that can be executed before accesses are needed; UINT64_MAX: a landmark or something from outside says
 * when. `*asks`: landmarks may say so at once. */
static uint64_t distance(const struct as_reader *reader, bool *asks)
{
    const struct as_region_run *run = &reader->regions;
    *asks = false;
    if (run->stretch.mode != AS_MODE_COUNT || run->over)
        return 0;
    if (run->awaits != AS_POINT_LANDMARK)
        return run->left;
    uint64_t passes = as_region_run_passes_left(run); /* each is one instruction at least */
    uint64_t few = (uint64_t)FEW_PASSES * (1 + count_threads(reader));
    *asks = passes <= few;
    return *asks ? UINT64_MAX : passes - few / 2;
}

/* No thread has any instructions left of its budget, and none asks for more. */
static void take_back(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        atomic_store(&reader->wire->lanes[i].stop_at, 0);
        atomic_store(&reader->wire->lanes[i].answers, atomic_load(&reader->wire->lanes[i].questions));
    }
    as_gates_ring(reader->wire);
}

/* Whether no thread executes anything, and everything that was written has been read. */
static bool all_at_rest(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        const struct as_wire_lane *lane = &reader->wire->lanes[i];
        uint32_t state = atomic_load(&lane->state), activity = atomic_load(&lane->activity);
        if (lane->is_code || state == AS_WIRE_FREE)
            continue;
        if (state != AS_WIRE_LIVE || (activity != AS_WIRE_GATED && activity != AS_WIRE_IN_SYSCALL) ||
            !as_gates_drained(lane))
            return false;
    }
    return true;
}

/* `activity` before `published` (as_gates_drained): all that the thread wrote before it came to its gate. */
static bool is_waiting(const struct as_reader *reader, uint32_t lane)
{
    return reader->streams[lane] && atomic_load(&reader->wire->lanes[lane].activity) == AS_WIRE_GATED &&
           as_gates_drained(&reader->wire->lanes[lane]);
}

static bool is_at_stop(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->activity) == AS_WIRE_GATED &&
           atomic_load(&lane->questions) == atomic_load(&lane->answers) &&
           lane->instructions > atomic_load(&lane->stop_at);
}

static bool is_stopped(const struct as_reader *reader, uint32_t lane)
{
    return is_waiting(reader, lane) && is_at_stop(&reader->wire->lanes[lane]);
}

static bool any_stopped(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (is_stopped(reader, i))
            return true;
    return false;
}

/* Lets each thread execute so many instructions, counted from what has been read of it. */
static void give(const struct as_reader *reader, uint64_t each)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (reader->streams[i])
            atomic_store(&reader->wire->lanes[i].stop_at, as_gates_read(reader->streams[i]) + each);
    as_gates_ring(reader->wire);
}

/* If a thread waits, gives each the same part of `left` instructions, counted from what has been read of it. One that
 * had more notices when it looks at its gate next: the margin has room for that. */
static bool grant(const struct as_reader *reader, uint64_t left, uint32_t threads)
{
    if (!any_stopped(reader))
        return false;
    give(reader, left / threads);
    return true;
}

/* Whether the block that a thread is about to execute has a landmark that starts a region. */
static bool is_heeded(const struct as_reader *reader, const struct as_stream *stream)
{
    const struct as_block *block = stream->block;
    const struct as_sites *sites = &stream->thread.image->sites;
    for (uint32_t i = 0; block && block->flags & AS_BLOCK_LANDMARK && i < block->n; i++) {
        const uint64_t *first = as_map_get(&sites->by_address, block->insns[i]->address);
        for (uint64_t at = first ? *first : 0; at; at = sites->list.data[at - 1].next)
            if (as_region_run_heeds(&reader->regions, sites->list.data[at - 1].landmark))
                return true;
    }
    return false;
}

/* Whether the thread is held while accesses are recorded: it waits at the end of its region. Otherwise it would be ahead of
 * the reader by a ring, whose accesses are not wanted, when the next stretch begins. */
static bool can_hold(const struct as_reader *reader)
{
    return reader->sink->passed && atomic_load(&reader->wire->cheap_switch) && !reader->pace.in_turn &&
           count_threads(reader) == 1;
}

/* Lets the thread execute the rest of its region, or, where it cannot be held, all threads whatever comes. */
static void hold(struct as_reader *reader)
{
    uint64_t left = as_region_run_to_end(&reader->regions);
    reader->gear.held = left < far && can_hold(reader);
    atomic_store(&reader->wire->gates_closed, reader->gear.held || reader->pace.lanes != NULL);
    if (reader->gear.held)
        give(reader, left + BEYOND);
    else
        as_gates_ring(reader->wire);
}

static void set_sieve(struct as_reader *reader, bool coarse)
{
    reader->gear.coarse = coarse;
    atomic_store(&reader->wire->record_accesses, coarse ? AS_WIRE_COARSE : AS_WIRE_SIEVED);
}

static void record(struct as_reader *reader)
{
    if (reader->gear.state == AS_GEAR_FAST && reader->sink->gap_end && !reader->sink->passed)
        reader->sink->gap_end(reader->context);
    atomic_store(&reader->wire->record_accesses, AS_WIRE_ALL);
    reader->gear.coarse = false;
    atomic_store(&reader->wire->asks, 0);
    take_back(reader);
    hold(reader); /* if threads follow simulated time, as_pace_turn opens their gates from now on */
    reader->gear.state = AS_GEAR_RECORD;
    reader->gear.wanted = false;
    as_log_debug("accesses are recorded from instruction %lu on", reader->regions.count);
}

/* How long a stretch must be for recording to be switched off in it. */
static uint64_t worth(const struct as_reader *reader)
{
    if (can_hold(reader)) /* if it is not held yet, it will be after the first try */
        return WORTH_IT_SIEVED;
    return atomic_load(&reader->wire->cheap_switch) ? WORTH_IT_CHEAP : WORTH_IT;
}

/* A thread is about to execute the landmark that starts a region. Where the region begins far behind it, threads go on
 * as they are until they look at their gates next; the landmark has been read then. */
static void start_at_landmark(struct as_reader *reader)
{
    reader->gear.not_before = as_clock_seconds() + pass_seconds; /* the landmark is still to be read */
    if (as_region_run_lead(&reader->regions) < worth(reader)) {
        record(reader);
        return;
    }
    atomic_store(&reader->wire->asks, 0);
    take_back(reader);
}

/* Answers the threads that ask before a landmark. */
static bool answer(struct as_reader *reader)
{
    bool answered = false;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        uint32_t question = atomic_load(&lane->questions);
        if (question == atomic_load(&lane->answers) || !is_waiting(reader, i))
            continue;
        if (is_heeded(reader, reader->streams[i])) {
            start_at_landmark(reader);
            return true;
        }
        atomic_store(&lane->answers, question);
        answered = true;
    }
    if (answered)
        as_gates_ring(reader->wire);
    return answered;
}

/* Whether a thread that waits has executed a landmark that starts a region, which is known when its next block comes. */
static bool has_passed(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (is_stopped(reader, i) && is_heeded(reader, reader->streams[i]))
            return true;
    return false;
}

/* Instructions before a border at which threads are stopped. */
static uint64_t margin_of(const struct as_reader *reader, uint32_t threads)
{
    if (reader->regions.awaits == AS_POINT_LANDMARK)
        return 0;
    if (reader->gear.coarse)
        return FINE_LEAD;
    return can_hold(reader) ? MARGIN_HELD : MARGIN + MARGIN_OF_THREAD * threads;
}

static void give_alone(struct as_reader *reader, uint32_t lane, uint64_t more)
{
    atomic_store(&reader->wire->lanes[lane].stop_at, reader->wire->lanes[lane].instructions + more);
    as_gates_ring_lane(reader->wire, lane);
}

/* The thread waits in front of a stretch: what accesses it is to record in the next one, and how far that goes. The rules are those of
 * as_gear_turn, wait_for_rest and drive_fast. */
static uint64_t choose_way(struct as_reader *reader, const struct as_region_prospect *prospect)
{
    struct as_gear *gear = &reader->gear;
    uint64_t left = prospect->counted;
    if (gear->state == AS_GEAR_RECORD) {
        if (left < WORTH_IT_SIEVED)
            return prospect->to_end + BEYOND;
        set_sieve(reader, left >= 2 * FINE_LEAD);
        gear->state = AS_GEAR_FAST;
        as_log_debug("accesses are not recorded from instruction %lu on", gear->outlook.count);
    }
    if (gear->coarse && left <= FINE_LEAD + LEAST_GRANT)
        set_sieve(reader, false);
    uint64_t margin = gear->coarse ? FINE_LEAD : MARGIN_HELD;
    if (left > margin + LEAST_GRANT)
        return left - margin;
    gear->coarse = false;
    gear->state = AS_GEAR_RECORD;
    gear->held = true;
    atomic_store(&reader->wire->record_accesses, AS_WIRE_ALL);
    as_log_debug("accesses are recorded from instruction %lu on", gear->outlook.count);
    return prospect->to_end + BEYOND;
}

/* Whether it is known at which count of the run the thread of a lane waits. */
static bool look_ahead(struct as_reader *reader, uint32_t number)
{
    const struct as_wire_lane *lane = &reader->wire->lanes[number];
    struct as_outlook_words words = {.ring = as_wire_ring(reader->wire, number),
                                     .length = as_wire_ring_words(number),
                                     .read = atomic_load(&lane->consumed),
                                     .written = atomic_load(&lane->published)};
    return as_outlook_look(&reader->gear.outlook, reader->streams[number], &words);
}

/* Lets a single thread go on from where it waits, if it does, whether or not all before that has been read. Returns false if it is not
 * known what comes there, or is not to be done this way. */
static bool drive_ahead(struct as_reader *reader, bool *changed)
{
    struct as_region_prospect prospect;
    struct as_gear *gear = &reader->gear;
    uint32_t lane = as_reader_find_alone(reader);
    *changed = false;
    if (lane == AS_WIRE_LANES || !can_hold(reader) || gear->wanted || reader->regions.awaits != AS_POINT_NONE ||
        !as_region_run_foresee(&reader->regions, reader->regions.count, &prospect))
        return false;
    if (!is_at_stop(&reader->wire->lanes[lane]) || !look_ahead(reader, lane))
        return true;
    if (!as_region_run_foresee(&reader->regions, gear->outlook.count, &prospect))
        return false;
    give_alone(reader, lane, choose_way(reader, &prospect));
    *changed = true;
    return true;
}

static bool drive_fast(struct as_reader *reader)
{
    bool asks;
    uint32_t threads = count_threads(reader);
    uint64_t left = distance(reader, &asks);
    bool by_landmark = reader->regions.awaits == AS_POINT_LANDMARK;
    bool alone = can_hold(reader);
    if (reader->gear.coarse && left <= FINE_LEAD + LEAST_GRANT && any_stopped(reader))
        set_sieve(reader, false);
    uint64_t margin = margin_of(reader, threads);
    uint64_t least = alone ? MARGIN_HELD_LEAST : MARGIN_LEAST;
    /* What is given must be worth a few blocks for each thread, or no thread would get on. A single thread is let come to the
     * place where it stops, which is the same in every run. */
    bool near = !by_landmark && left <= margin + (uint64_t)LEAST_GRANT * threads;
    if (near && threads == 1 && left > least && !reader->gear.wanted && !any_stopped(reader))
        return false;
    if (left == 0 || near || (reader->gear.wanted && all_at_rest(reader))) {
        record(reader);
        return true;
    }
    /* No thread gets more while a landmark is being passed: how much that may be is known behind it. */
    if (!by_landmark)
        reader->gear.not_before = 0;
    else if (as_clock_seconds() < reader->gear.not_before)
        return false;
    atomic_store(&reader->wire->asks, asks);
    left = (left < far ? left : far) - margin;
    if (answer(reader))
        return true;
    if (by_landmark && has_passed(reader)) { /* it went by before anything asked for it */
        start_at_landmark(reader);
        left = (uint64_t)LEAST_GRANT * threads;
    }
    return !reader->gear.wanted && grant(reader, left, threads);
}

/* It is not known how far away a landmark is: far, as a rule. */
static bool is_worth_it(const struct as_reader *reader, uint64_t left)
{
    if (reader->sink->passed && !atomic_load(&reader->wire->cheap_switch))
        return false; /* several threads have no sieve in QEMU */
    return left >= worth(reader) || (left > 0 && reader->regions.awaits == AS_POINT_LANDMARK);
}

static bool wait_for_rest(struct as_reader *reader)
{
    bool asks;
    uint64_t left = distance(reader, &asks);
    double now = as_clock_seconds();
    bool held = reader->gear.held && can_hold(reader);
    /* A thread does not stop: it is inside QEMU, say. */
    bool late = now > reader->gear.stopping + (held ? stop_seconds_held : stop_seconds);
    if (late || !is_worth_it(reader, left)) {
        reader->gear.not_before = late ? now + retry_seconds : 0;
        record(reader);
        return true;
    }
    if (!all_at_rest(reader))
        return false;
    atomic_store(&reader->wire->asks, asks);
    /* A thread that was held begins with the coarse sieve at the same instruction in every run. */
    if (reader->sink->passed)
        set_sieve(reader, held && reader->regions.awaits != AS_POINT_LANDMARK && left >= 2 * FINE_LEAD);
    else
        atomic_store(&reader->wire->record_accesses, AS_WIRE_VARYING);
    reader->gear.state = AS_GEAR_FAST;
    as_log_debug("accesses are not recorded from instruction %lu on", reader->regions.count);
    return drive_fast(reader);
}

bool as_gear_turn(struct as_reader *reader)
{
    struct as_gear *gear = &reader->gear;
    bool asks;
    if (!gear->possible)
        return false;
    bool changed;
    if ((gear->state == AS_GEAR_FAST || gear->held) && drive_ahead(reader, &changed))
        return changed;
    if (gear->state == AS_GEAR_FAST)
        return drive_fast(reader);
    if (gear->state == AS_GEAR_STOPPING)
        return wait_for_rest(reader);
    uint64_t left = distance(reader, &asks);
    if (left == 0)
        gear->not_before = 0;
    if (!is_worth_it(reader, left) || as_clock_seconds() < gear->not_before) {
        bool waits = gear->held && (any_stopped(reader) || !can_hold(reader));
        if (waits)
            hold(reader);
        return waits;
    }
    gear->stopping = as_clock_seconds();
    gear->state = AS_GEAR_STOPPING;
    take_back(reader);
    atomic_store(&reader->wire->gates_closed, 1);
    return true;
}

void as_gear_init(struct as_reader *reader)
{
    reader->gear = (struct as_gear){.possible = reader->wire->gated};
    if (!reader->gear.possible)
        return;
    reader->gear.state = AS_GEAR_STOPPING; /* no thread has started: all gates are closed */
    reader->gear.stopping = as_clock_seconds();
    atomic_store(&reader->wire->gates_closed, 1);
}

bool as_gear_admits(struct as_reader *reader)
{
    if (!reader->gear.possible || reader->gear.state == AS_GEAR_RECORD)
        return true;
    if (reader->gear.state == AS_GEAR_FAST && !reader->gear.wanted)
        take_back(reader);
    reader->gear.wanted = true;
    return false;
}

void as_gear_watch(struct as_reader *reader)
{
    struct as_wire_header *wire = reader->wire;
    for (size_t i = 0; reader->gear.possible && i < reader->code.images.len; i++) {
        const struct as_image *image = reader->code.images.data[i];
        for (size_t at = 0; at < image->sites.list.len; at++) {
            const struct as_site *site = &image->sites.list.data[at];
            uint32_t n = atomic_load(&wire->n_watches), known = 0;
            while (known < n &&
                   (wire->watches[known].address != site->address || wire->watches[known].image != image->number))
                known++;
            if (known < n || n == AS_WIRE_WATCHES || !starts_region(reader->code.regions, site->landmark))
                continue;
            wire->watches[n].address = site->address;
            wire->watches[n].image = image->number;
            atomic_store(&wire->n_watches, n + 1); /* releases the watch to as_traits_watched */
        }
    }
}
