/* See handover.h. A merge of the lanes by the time of their blocks: when each began or, if it decides, when it ended. A lane of which
 * nothing is known later than that holds up the others unless its thread is idle. */
#include "engine/handover.h"

#include "base/clock.h"
#include "engine/handover_marks.h"
#include "engine/lane_bounds.h"
#include "engine/lane_idle.h"
#include "engine/reader_lanes.h"
#include "engine/stamp.h"
#include "engine/word_clocks.h"

#include <linux/futex.h>

enum { PROCESS_SHIFT = 45, FUTEX_BIT = 62 };
static const double most_patience = 5; /* seconds before nobody is waited for any more */
static const uint32_t futex_numbers[AS_ARCH_COUNT] = {[AS_ARCH_X86_64] = 202, [AS_ARCH_RISCV64] = 98};

struct look {
    struct as_reader *reader;
    struct as_handovers *all;
    uint32_t used;
    uint64_t now, latest; /* before the first lane was looked at, and behind the last */
    double stalled;       /* seconds */
    bool gives_up;
};

/* ---- what a lane says ---- */

static uint64_t word_at(const struct look *look, uint32_t lane, uint64_t position)
{
    return as_wire_ring(look->reader->wire, lane)[position % as_wire_ring_words(lane)];
}

/* A word that lies in the future tells nothing. */
static uint64_t time_of(const struct look *look, const struct as_handover_lane *own, uint64_t word)
{
    uint64_t time = as_wire_time_of(own->time, word);
    return time > look->latest ? own->time : time;
}

static void allow(struct as_handover_lane *own, uint64_t position)
{
    own->looked = own->allowed = position;
}

/* The number of what lies at an address of 48 bits, in pieces of so many bits, among those of all processes. */
static uint64_t number_of(const struct look *look, uint32_t lane, uint64_t address, unsigned shift)
{
    uint64_t process = look->reader->streams[lane]->thread.process;
    uint64_t physical = as_shared_physical(look->all->lanes.data[lane].shared, address);
    return as_shared_is(physical) ? physical >> shift : physical >> shift ^ process << PROCESS_SHIFT;
}

static uint64_t word_number(const struct look *look, uint32_t lane, uint64_t word)
{
    return number_of(look, lane, word & ((UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1), 3);
}

static uint64_t futex_of(const struct look *look, uint32_t lane, uint64_t address)
{
    return number_of(look, lane, address, 2) | UINT64_C(1) << FUTEX_BIT;
}

/* What the kernel does when the thread has ended: whoever looks at the word, or is woken, comes behind all of its words. */
static void on_exit_call(struct look *look, uint32_t lane, uint64_t behind)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    uint64_t address = as_exits_take(&look->all->exits, &look->reader->streams[lane]->thread);
    if (!address)
        return;
    (void)as_word_clocks_write(look->all->words, futex_of(look, lane, address), own->thread, behind);
    (void)as_word_clocks_write(look->all->words, word_number(look, lane, address), own->thread, behind);
    *as_map_put(&look->all->exits.marks, own->thread) = as_handover_add_mark(look->all, own, behind);
}

static void on_futex_call(struct look *look, uint32_t lane, uint64_t at, uint64_t behind)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    uint64_t futex = futex_of(look, lane, word_at(look, lane, at + 1));
    switch (word_at(look, lane, at + 2) & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        own->futex = futex;
        break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        look->all->met++;
        if (as_word_clocks_write(look->all->words, futex, own->thread, behind))
            as_handover_add_mark(look->all, own, behind);
        break;
    default:
        break;
    }
}

static void on_syscall(struct look *look, uint32_t lane, uint32_t number, uint64_t at)
{
    enum as_arch arch = look->reader->streams[lane]->thread.image->arch;
    uint64_t args[AS_WIRE_SYSCALL_ARGS], behind = at + 1 + AS_WIRE_SYSCALL_ARGS;
    for (uint32_t i = 0; i < AS_WIRE_SYSCALL_ARGS; i++)
        args[i] = word_at(look, lane, at + 1 + i);
    look->all->lanes.data[lane].exit_word = as_exits_word_of(arch, number, args);
    if (number == futex_numbers[arch])
        on_futex_call(look, lane, at, behind);
    else if (as_exits_is_exit(arch, number))
        on_exit_call(look, lane, behind);
}

/* A thread that was woken comes behind the one that did it; the words before its return are read meanwhile. */
static bool on_return(struct look *look, uint32_t lane, uint64_t at)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    int64_t result = (int64_t)word_at(look, lane, at + 1);
    bool woken = own->futex && result == 0;
    if (own->exit_word && result > 0)
        as_exits_add(&look->all->exits, look->reader->streams[lane]->thread.process, (int32_t)result, own->exit_word);
    own->exit_word = 0;
    if (!woken) {
        own->futex = 0;
        return false;
    }
    own->complete = own->returns = true;
    own->ended = own->time;
    own->end = at;
    allow(own, at);
    return true;
}

/* The sink will be told when this is read; what is looked at until then may be in that memory. */
static void on_mapping(const struct look *look, uint32_t lane, uint64_t at)
{
    const struct as_reader *reader = look->reader;
    struct as_mapping mapping = {.start = word_at(look, lane, at + 1),
                                 .bytes = word_at(look, lane, at + 2),
                                 .object = word_at(look, lane, at + 3),
                                 .offset = word_at(look, lane, at + 4),
                                 .name = ""};
    if (mapping.object && reader->sink->foresee)
        reader->sink->foresee(reader->context, &reader->streams[lane]->thread, &mapping);
}

/* An event that is no block. Returns whether the lane has something complete then. */
static bool on_event(struct look *look, uint32_t lane, uint64_t word, uint64_t event)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    uint64_t at = own->looked;
    bool goes_on = event == AS_WIRE_TIME || event == AS_WIRE_REGISTERS_AT;
    if (event == AS_WIRE_TIME) {
        own->time = word_at(look, lane, at + 1);
        own->stamped = true;
        own->begun = (uint32_t)word ? own->time : own->begun;
    }
    if (own->block && !goes_on) {
        own->complete = true;
        own->ended = own->begun; /* it does not decide: it ends in no branch */
        own->end = at;
        own->behind = at + 1 + as_wire_event_words[event];
        return true;
    }
    if (event == AS_WIRE_SYSCALL)
        on_syscall(look, lane, (uint32_t)word, at);
    if (event == AS_WIRE_SYSCALL_RETURN && on_return(look, lane, at))
        return true;
    if (event == AS_WIRE_MAPPING)
        on_mapping(look, lane, at);
    own->looked += 1u + as_wire_event_words[event];
    if (!own->block)
        own->allowed = own->looked;
    return false;
}

/* A block begins, and the one before it ends. Returns whether the lane cannot be looked at any further now. */
static bool on_block(struct look *look, uint32_t lane, uint64_t word)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    if (own->block) {
        own->complete = true;
        own->ended = time_of(look, own, word);
        own->end = own->looked;
        own->behind = own->end + 1;
        return true;
    }
    const struct as_block *block = as_code_table_block(&look->reader->code, (uint32_t)word);
    if (!block)
        return true;
    own->begun = own->time = time_of(look, own, word);
    own->block_at = own->looked;
    allow(own, own->looked + 1);
    own->block = own->stamped ? block : NULL;
    return false;
}

/* Looks on until a block is complete, or nothing more is there. */
static void look_on(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    while (!own->complete && own->looked < own->published) {
        uint64_t word = word_at(look, lane, own->looked), event = word >> AS_WIRE_EVENT_SHIFT;
        if (word & AS_WIRE_ACCESS_MASK) {
            own->looked++;
            if (!own->block)
                own->allowed = own->looked;
            continue;
        }
        if (event >= AS_WIRE_EVENTS) { /* the stream says so */
            own->allowed = UINT64_MAX;
            return;
        }
        if (event == AS_WIRE_BLOCK
                ? on_block(look, lane, word)
                : own->published - own->looked <= as_wire_event_words[event] || on_event(look, lane, word, event))
            return;
    }
}

/* ---- what comes behind what ---- */

/* The position of the block's next access from a position on; own->end: there is none. */
static uint64_t next_access(const struct look *look, uint32_t lane, uint64_t at)
{
    const struct as_handover_lane *own = &look->all->lanes.data[lane];
    uint64_t word;
    while (at < own->end && !((word = word_at(look, lane, at)) & AS_WIRE_ACCESS_MASK))
        at += 1u + as_wire_event_words[word >> AS_WIRE_EVENT_SHIFT];
    return at;
}

/* Whether a block does nothing but look once more at what one of the last two looked at: its thread waits for another one to store there. A block
 * that accesses nothing, as one with a pause, may lie between. */
static void note_look(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    bool decides = own->block->deciders[0] >= 0;
    if (!decides && next_access(look, lane, own->block_at + 1) >= own->end)
        return;
    uint64_t seen = decides ? own->block->address : 0;
    for (uint64_t at = own->block_at + 1; seen && (at = next_access(look, lane, at)) < own->end; at++) {
        uint64_t word = word_at(look, lane, at);
        seen = word & AS_WIRE_STORE ? 0 : (seen ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    bool again = seen && (seen == own->looks[0] || seen == own->looks[1]);
    if (again && !own->spins_from)
        own->spins_from = own->block_at;
    own->spins_from = again ? own->spins_from : 0;
    own->spun = again ? own->end : own->spun;
    own->looks[1] = seen ? own->looks[0] : 0;
    own->looks[0] = seen;
}

static void see_words(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    const int16_t *deciders = own->block->deciders;
    for (uint64_t at = own->block_at + 1; (at = next_access(look, lane, at)) < own->end; at++) {
        uint64_t word = word_at(look, lane, at);
        int16_t index = (int16_t)as_access_index(word);
        struct as_word_writer writer;
        if ((index == deciders[0] || index == deciders[1]) &&
            as_word_clocks_see(look->all->words, word_number(look, lane, word), own->thread, &writer))
            as_handover_add_wait(look->reader, look->used, own, own->end, &writer, as_access_address(word),
                                 own->block->insns[index]->flags & AS_INSN_ATOMIC);
    }
}

static void note_stores(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    bool awaited = false;
    for (uint64_t at = own->block_at + 1; (at = next_access(look, lane, at)) < own->end; at++) {
        uint64_t word = word_at(look, lane, at);
        if (word & AS_WIRE_STORE)
            awaited |= as_word_clocks_write(look->all->words, word_number(look, lane, word), own->thread, own->behind);
    }
    if (awaited)
        as_handover_add_mark(look->all, own, own->behind);
    look->all->met += awaited;
}

/* What is complete comes next in time. */
static void settle(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    struct as_word_writer writer;
    if (own->returns) {
        if (as_word_clocks_see(look->all->words, own->futex, own->thread, &writer))
            as_handover_add_wait(look->reader, look->used, own, own->end, &writer, 0, false);
        own->futex = 0;
        own->looked += 1u + as_wire_event_words[AS_WIRE_SYSCALL_RETURN];
        own->allowed = own->looked;
    } else {
        note_look(look, lane);
        if (own->block->deciders[0] >= 0)
            see_words(look, lane);
        if (own->block->publishes)
            note_stores(look, lane);
    }
    own->complete = own->returns = false;
    own->block = NULL;
    look_on(look, lane);
    as_handover_set_stop(own);
}

static bool decides(const struct as_handover_lane *own)
{
    return own->returns || own->block->deciders[0] >= 0;
}

static uint64_t key_of(const struct as_handover_lane *own)
{
    return decides(own) ? own->ended : own->begun;
}

/* Everything that the thread did before this time has been settled; nothing is asked about a thread that may be idle. */
static uint64_t least_front(const struct look *look, const struct as_handover_lane *own)
{
    if (own->complete)
        return key_of(own);
    if (look->gives_up || !own->stamped || own->over)
        return UINT64_MAX;
    return own->block ? own->begun : own->time;
}

/* … after a look at what the thread does. */
static uint64_t front_of(const struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    uint64_t known = least_front(look, own);
    if (own->complete || known == UINT64_MAX)
        return known;
    if (own->idle == AS_IDLE_UNKNOWN)
        own->idle =
            as_lane_is_idle(&look->reader->wire->lanes[lane], AS_WIRE_LIVE, own->block, own->looked, look->stalled)
                ? AS_IDLE
                : AS_BUSY;
    return own->idle == AS_IDLE && look->now > known ? look->now : known;
}

/* ---- the order of the lanes ---- */

static bool comes_before(const struct as_handovers *all, uint32_t one, uint32_t other)
{
    uint64_t mine = all->lanes.data[one].front, theirs = all->lanes.data[other].front;
    return mine < theirs || (mine == theirs && one < other);
}

/* The place of the earlier one of two children in the heap; the number of lanes: there is none. */
static size_t earlier_child(const struct as_handovers *all, size_t parent)
{
    size_t left = 2 * parent + 1, right = left + 1, n = all->order.len;
    if (left >= n)
        return n;
    return right < n && comes_before(all, all->order.data[right], all->order.data[left]) ? right : left;
}

static void sink_down(struct as_handovers *all, size_t at)
{
    for (size_t child; (child = earlier_child(all, at)) < all->order.len; at = child) {
        uint32_t lane = all->order.data[at];
        if (!comes_before(all, all->order.data[child], lane))
            return;
        all->order.data[at] = all->order.data[child];
        all->order.data[child] = lane;
    }
}

static void order_lanes(const struct look *look)
{
    struct as_handovers *all = look->all;
    as_vec_clear(&all->order);
    for (uint32_t i = 0; i < look->used; i++) {
        if (!all->lanes.data[i].thread)
            continue;
        all->lanes.data[i].front = least_front(look, &all->lanes.data[i]);
        *as_vec_push(&all->order) = i;
    }
    for (size_t i = all->order.len / 2; i-- > 0;)
        sink_down(all, i);
}

/* Settles blocks of the earliest lane, as many as come before all others. Returns false if there is nothing to be settled now. */
static bool settle_earliest(struct look *look, bool *settled)
{
    struct as_handovers *all = look->all;
    if (!all->order.len)
        return false;
    uint32_t first = all->order.data[0];
    struct as_handover_lane *own = &all->lanes.data[first];
    size_t second = earlier_child(all, 0);
    uint64_t bound = look->gives_up ? UINT64_MAX : look->now; /* other threads may begin then */
    uint64_t next = second < all->order.len ? all->lanes.data[all->order.data[second]].front : UINT64_MAX;
    bound = next < bound ? next : bound;
    if (!own->complete) {
        uint64_t before = own->front;
        own->front = front_of(look, first);
        sink_down(all, 0);
        return own->front > before;
    }
    if (own->front > bound)
        return false;
    while (own->complete && key_of(own) <= bound)
        settle(look, first);
    *settled = true;
    own->front = least_front(look, own);
    sink_down(all, 0);
    return true;
}

bool as_handover_spins(const struct as_reader *reader, uint32_t lane, uint64_t *words)
{
    enum { AFTER = 100 }; /* words: it will look again soon */
    const struct as_handovers *all = &reader->handovers;
    if (!all->on || lane >= all->lanes.len || !all->lanes.data[lane].thread)
        return false;
    const struct as_handover_lane *own = &all->lanes.data[lane];
    *words = own->spins_from ? own->spun - own->spins_from : 0;
    return own->spun && own->looked < own->spun + AFTER;
}

/* ---- lanes ---- */

static void forget_lane(struct as_handover_lane *own)
{
    as_vec_free(&own->marks);
    as_vec_free(&own->waits);
    *own = (struct as_handover_lane){.allowed = UINT64_MAX, .stop = UINT64_MAX};
}

static void begin_lane(const struct as_reader *reader, uint32_t lane, struct as_handover_lane *own)
{
    static const struct as_shared_ranges none;
    const struct as_stream *stream = reader->streams[lane];
    forget_lane(own);
    own->thread = stream->thread.number;
    own->shared = reader->sink->shared ? reader->sink->shared(reader->context, &stream->thread) : &none;
    own->time = stream->causal.time;
    own->stamped = own->time != 0;
    allow(own, as_handover_read_of(reader, lane));
    as_handover_set_stop(own);
}

/* Words that were read without being looked at, because nobody could be waited for. */
static bool is_behind(const struct as_reader *reader, uint32_t lane, const struct as_handover_lane *own)
{
    return own->allowed == UINT64_MAX && own->looked < as_handover_read_of(reader, lane);
}

/* A thread that has begun counts, even if nothing of it has been read. Returns false if a trace is corrupt. */
static bool start_lanes(struct as_reader *reader, bool *progress)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t state = atomic_load(&reader->wire->lanes[i].state);
        if (!reader->streams[i] && (state == AS_WIRE_LIVE || state == AS_WIRE_ENDED) &&
            !reader->wire->lanes[i].is_code && !as_reader_read_lane(reader, i, state, progress))
            return false;
    }
    return true;
}

static void look_at_lane(struct look *look, uint32_t lane)
{
    struct as_reader *reader = look->reader;
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    struct as_wire_lane *wire = &reader->wire->lanes[lane];
    if (!reader->streams[lane]) {
        if (own->thread)
            forget_lane(own);
        return;
    }
    if (own->thread != reader->streams[lane]->thread.number || is_behind(reader, lane, own))
        begin_lane(reader, lane, own);
    own->idle = AS_IDLE_UNKNOWN;
    own->over = atomic_load(&wire->state) == AS_WIRE_ENDED; /* before what it published */
    own->published = atomic_load(&wire->published);
    uint64_t bound = as_bounds_limit(reader, lane);
    own->published = own->published < bound ? own->published : bound;
}

static void finish_lane(struct look *look, uint32_t lane)
{
    struct as_handover_lane *own = &look->all->lanes.data[lane];
    if (!own->thread)
        return;
    if (!own->complete && own->over) /* its last block, or half a record */
        own->allowed = UINT64_MAX;
    as_handover_set_stop(own);
    as_handover_arrive(look->reader, lane);
}

static void stop_looking(struct as_handovers *all)
{
    for (size_t i = 0; i < all->lanes.len; i++)
        forget_lane(&all->lanes.data[i]);
    all->on = false;
    all->stalled = 0;
}

/* With one thread there is nobody to wait for. */
static bool applies(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), threads = 0;
    if (!reader->options->handovers || !reader->sink->await)
        return false;
    for (uint32_t i = 0; i < used; i++)
        threads += reader->streams[i] != NULL;
    return threads > 1;
}

bool as_handover_look(struct as_reader *reader, bool timed, bool *progress)
{
    struct as_handovers *all = &reader->handovers;
    uint64_t now = as_stamp_before_loads();
    as_bounds_take(reader);
    if (reader->options->handovers && timed && !start_lanes(reader, progress))
        return false;
    as_bounds_hold_parents(reader);
    if (!timed || !applies(reader)) {
        if (all->on)
            stop_looking(all);
        return true;
    }
    double stalled = all->stalled > 0 ? as_clock_seconds() - all->stalled : 0;
    struct look look = {.reader = reader,
                        .all = all,
                        .used = atomic_load(&reader->wire->lanes_used),
                        .now = now,
                        .stalled = stalled,
                        .gives_up = stalled > most_patience};
    all->on = true;
    if (!all->words)
        all->words = as_word_clocks_new();
    while (all->lanes.len < look.used)
        *as_vec_push(&all->lanes) = (struct as_handover_lane){.allowed = UINT64_MAX, .stop = UINT64_MAX};
    for (uint32_t i = 0; i < look.used; i++)
        look_at_lane(&look, i);
    look.latest = as_stamp_now();
    bool settled = false;
    for (uint32_t i = 0; i < look.used; i++)
        if (all->lanes.data[i].thread)
            look_on(&look, i);
    order_lanes(&look);
    while (settle_earliest(&look, &settled))
        ;
    bool waits = false;
    for (uint32_t i = 0; i < look.used; i++) {
        waits |= all->lanes.data[i].complete;
        finish_lane(&look, i);
    }
    if (settled || !waits)
        all->stalled = 0;
    else if (all->stalled == 0)
        all->stalled = as_clock_seconds();
    return true;
}

void as_handover_free(struct as_reader *reader)
{
    struct as_handovers *all = &reader->handovers;
    stop_looking(all);
    as_vec_free(&all->lanes);
    as_vec_free(&all->order);
    as_exits_free(&all->exits);
    as_word_clocks_free(all->words);
    all->words = NULL;
}
