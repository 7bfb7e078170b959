/* See thread_step.h.
 *
 * All that threads tell each other here is in their lanes: clocks, in_line, slack and call. Of those in line only the earliest matters:
 * either no thread is before it, and it is woken, or the thread that is before all has been hailed (check_at = 0) and passes this on when it
 * has come by. A thread that goes on from the line is hailed as well, so the next one in line is then the earliest. Nobody is woken to find
 * that he has to wait on.
 *
 * A thread that begins to wait sets in_line and then hails the first; that one sets check_at and then looks who is in line. All of these are
 * sequentially consistent, so one of the two sees the other: stay_in_line and hail here, keep_together (lane.c) and find_waiting there.
 *
 * in_line of a lane also releases its slack (wait_in_line) to pass_on and look_at_line, which have found the lane by find_waiting; `call` is
 * a futex between wake and wait_for_call. The number `in_line` of those that wait, and `expected`, only say whether to look at all: who
 * changes them looks, or has others look, after that. The lanes' other members are acquired by as_lane_is_fellow.
 */
#include "plugin/thread_step.h"

#include "base/thread_state.h"
#include "plugin/one_processor.h"

#include <dirent.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_TIMES = 16,
    TIMES = 64,
    HEATS = 256,
    TOUCHES_BITS = 14,
    PATIENCE = 50,
    CLOSE_FOR = 1000,
    CLOSE = 8,
    MEET_FOR = 2000
};

/* ---- which atomics matter ---- */

enum { WAITS = 1, CALLED = 2 }; /* as_wire_lane.in_line */
enum { LOOKS = 1 };             /* as_wire_lane.check_at, of a thread that keeps close to the others */

static _Atomic uint32_t in_line; /* threads that wait for their turn */

/* How often a thread's block is to take its turn yet, by a hash of the block. */
struct heat {
    uint32_t block; /* its number + 1; 0: none */
    uint32_t times;
};
static __thread struct heat heats[HEATS];
static __thread struct heat *current;

/* Whose atomic touched a word last, by a hash of the word, and when; and when one of another thread did. What two threads write at the same time
 * may be neither's: it is a hint. */
static struct touch {
    _Atomic uint64_t owner;         /* the thread's number in the low half, more of the hash in the high one */
    _Atomic uint64_t clock, others; /* others: 0 never */
} touches[1 << TOUCHES_BITS];

static struct heat *heat_of(uint32_t block)
{
    struct heat *heat = &heats[block % HEATS];
    if (heat->block != block + 1)
        *heat = (struct heat){.block = block + 1, .times = FIRST_TIMES};
    return heat;
}

/* Returns the clock at which another thread last touched the word; 0: none did. `handed`: it was the last one that did. */
static uint64_t note_touch(const struct as_wire_lane *lane, uint64_t address, bool *handed)
{
    uint64_t hash = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    struct touch *touch = &touches[hash >> (64 - TOUCHES_BITS)];
    uint64_t own = (hash << TOUCHES_BITS & ~(uint64_t)UINT32_MAX) | lane->thread;
    /* relaxed: three numbers that nobody relies on to belong together (see touches) */
    uint64_t before = atomic_load_explicit(&touch->owner, memory_order_relaxed);
    uint64_t others = before != own ? atomic_load_explicit(&touch->clock, memory_order_relaxed)
                                    : atomic_load_explicit(&touch->others, memory_order_relaxed);
    *handed = before != own && before >> 32 == own >> 32;
    if (before != own) {
        others = *handed ? others : 0;
        atomic_store_explicit(&touch->owner, own, memory_order_relaxed);
        atomic_store_explicit(&touch->others, others, memory_order_relaxed);
    }
    atomic_store_explicit(&touch->clock, as_lane_clock(lane), memory_order_relaxed);
    return others;
}

/* A block's atomic that finds its word untouched by others for some time need not wait any longer. That is a time of all threads: one that is
 * behind executes many atomics in a row while those that it meets wait for it, or are ahead by as much as the window allows. */
void as_turns_touch(struct as_wire_lane *lane, uint64_t address)
{
    bool handed;
    uint64_t others = note_touch(lane, address, &handed);
    if (!current)
        return;
    if (handed) {
        current->times = TIMES;
        lane->close_until = lane->instructions + CLOSE_FOR;
    } else if (current->times && others + MEET_FOR < as_lane_clock(lane) &&
               !atomic_load_explicit(&in_line, memory_order_relaxed)) {
        current->times--; /* but not while others wait for it to catch up */
    }
}

/* ---- who comes first ---- */

static _Atomic int32_t expected; /* threads that were woken or made, and do not run yet; below 0: the other way round */

void as_turns_setup(void)
{
    atomic_store(&expected, 0);
    atomic_store(&in_line, 0);
}

bool as_turns_awaits(void)
{
    return atomic_load(&expected) > 0;
}

/* stands_at is its owner's alone to change (as_turns_take): nothing comes with it. */
static uint64_t clock_of(const struct as_wire_lane *lane)
{
    uint64_t stands = atomic_load(&lane->stands_at);
    return stands ? stands : as_lane_clock(lane);
}

static bool comes_before(const struct as_wire_lane *one, const struct as_wire_lane *other)
{
    uint64_t mine = clock_of(one), theirs = clock_of(other);
    return mine < theirs || (mine == theirs && one->thread < other->thread);
}

/* The thread that comes before all others of those that are more than `slack` before this one; NULL: there is none. */
static struct as_wire_lane *find_first(const struct as_wire_lane *lane, uint64_t slack)
{
    struct as_wire_header *wire = as_plugin.wire;
    const struct as_wire_lane *first = lane;
    uint32_t used = atomic_load(&wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (as_lane_is_fellow(&wire->lanes[i], lane) && comes_before(&wire->lanes[i], first) &&
            atomic_load(&wire->lanes[i].activity) != AS_WIRE_GATED) /* that depends on the reader */
            first = &wire->lanes[i];
    return first == lane || clock_of(first) + slack > clock_of(lane) ? NULL : (struct as_wire_lane *)first;
}

/* Has a thread that executes look at the line before its next block. */
static void hail(struct as_wire_lane *lane)
{
    __atomic_store_n(&lane->check_at, 0, __ATOMIC_SEQ_CST);
}

/* Once is enough until it waits again. */
static void wake(struct as_wire_lane *lane)
{
    uint32_t waits = WAITS;
    if (!atomic_compare_exchange_strong(&lane->in_line, &waits, CALLED))
        return;
    atomic_fetch_add(&lane->call, 1);
    syscall(SYS_futex, &lane->call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The earliest of those in line; NULL: there is none. */
static struct as_wire_lane *find_waiting(const struct as_wire_lane *lane)
{
    struct as_wire_header *wire = as_plugin.wire;
    struct as_wire_lane *first = NULL;
    uint32_t used = atomic_load(&in_line) ? atomic_load(&wire->lanes_used) : 0;
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *other = &wire->lanes[i];
        if (atomic_load(&other->in_line) && as_lane_is_fellow(other, lane) && (!first || comes_before(other, first)))
            first = other;
    }
    return first;
}

/* Wakes the earliest in line if it is its turn. Otherwise returns the thread that comes before it. */
static struct as_wire_lane *pass_on(const struct as_wire_lane *waiting)
{
    struct as_wire_lane *first = find_first(waiting, atomic_load(&waiting->slack));
    if (!first && !as_turns_awaits())
        wake((struct as_wire_lane *)waiting);
    return first;
}

void as_turns_leave(const struct as_wire_lane *lane)
{
    const struct as_wire_lane *waiting = find_waiting(lane);
    struct as_wire_lane *first = waiting ? pass_on(waiting) : NULL;
    if (first)
        hail(first);
}

void as_turns_expect(int32_t more)
{
    atomic_fetch_add(&expected, more);
    if (more < 0 && as_lane_mine()) {
        as_turns_leave(as_lane_mine());
        as_lane_wake_waiters();
    }
}

/* ---- waiting ---- */

/* Whether another thread of the process could run, if the host had a processor for it. */
static bool any_comes(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool comes = false;
    for (const struct dirent *task; tasks && !comes && (task = readdir(tasks));) {
        int32_t tid = (int32_t)strtol(task->d_name, NULL, 10);
        comes = tid && tid != (int32_t)syscall(SYS_gettid) && as_thread_state(0, tid) == 'R';
    }
    if (tasks)
        closedir(tasks);
    return comes;
}

void as_turns_stay_patient(int milliseconds)
{
    enum { LONGEST = 2000 };
    if (milliseconds % PATIENCE == 0 && (milliseconds >= LONGEST || !any_comes()))
        atomic_store(&expected, 0);
}

/* Waits for a call, or so long. Returns false if that has passed. */
static bool wait_for_call(struct as_wire_lane *lane, uint32_t call, long milliseconds)
{
    struct timespec timeout = {.tv_nsec = milliseconds * 1000000};
    return syscall(SYS_futex, &lane->call, FUTEX_WAIT_PRIVATE, call, &timeout, NULL, 0) == 0 ||
           atomic_load(&lane->call) != call;
}

/* Whether the thread sleeps though it should run: inside QEMU, where it may wait for all others to leave their blocks, or in a call that
 * is not brief after all. */
static bool is_asleep(const struct as_wire_lane *first)
{
    uint32_t activity = atomic_load(&first->activity);
    bool runs = !atomic_load(&first->in_line) && (activity == AS_WIRE_RUNNING || activity == AS_WIRE_IN_SYSCALL);
    char state = runs ? as_thread_state(0, first->tid) : 'R';
    return state == 'S' || state == 0;
}

static void stay_in_line(struct as_wire_lane *lane, uint64_t slack)
{
    int stuck = 0, awaited = 0;
    while (!atomic_load(&as_plugin.wire->detached)) {
        uint32_t call = atomic_load(&lane->call);
        atomic_store(&lane->in_line, WAITS);
        struct as_wire_lane *first = find_first(lane, slack);
        if (!first && !as_turns_awaits())
            return;
        if (first)
            hail(first);
        if (wait_for_call(lane, call, stuck ? 1 : AS_LANE_NAP))
            continue;
        stuck = first && is_asleep(first) ? stuck + 1 : 0;
        if (!first)
            as_turns_stay_patient(awaited += AS_LANE_NAP);
        if (stuck > (first && atomic_load(&first->activity) == AS_WIRE_IN_SYSCALL ? PATIENCE : 1))
            return;
    }
}

/* ---- where ---- */

enum { OFTEN = 20000, OFTEN_TIMES = 8, SELDOM = 100000 }; /* instructions between two waits; how often in a row */
static __thread uint64_t waited_at, waited_often;

/* A thread that waits all the time does so on the same processor as the others. */
static void note_wait(const struct as_wire_lane *lane)
{
    waited_often = lane->instructions - waited_at < OFTEN ? waited_often + 1 : 0;
    waited_at = lane->instructions;
    if (waited_often == OFTEN_TIMES)
        as_one_processor_join();
}

static void note_no_wait(const struct as_wire_lane *lane)
{
    if (waited_often < OFTEN_TIMES || lane->instructions - waited_at < SELDOM)
        return;
    waited_often = 0;
    as_one_processor_leave();
}

/* Waits until no thread that runs is more than `slack` behind. Returns false if none was. */
static bool wait_in_line(struct as_wire_lane *lane, uint64_t slack)
{
    if (!find_first(lane, slack) && !as_turns_awaits())
        return false;
    as_lane_publish_quietly(lane);     /* before it says that it waits: engine/lane_idle.h */
    atomic_store(&lane->slack, slack); /* to pass_on, by in_line */
    note_wait(lane);
    atomic_fetch_add(&in_line, 1);
    uint32_t before = atomic_exchange(&lane->activity, AS_WIRE_THROTTLED);
    stay_in_line(lane, slack);
    atomic_store(&lane->activity, before);
    atomic_store(&lane->in_line, 0);
    atomic_fetch_sub(&in_line, 1);
    hail(lane); /* to pass on the turn */
    return true;
}

/* What the block before the one that was just announced loaded, and which block that was, as a number; 0: it loaded nothing. `stored`: it
 * stored something. */
static uint64_t last_look(const struct as_wire_lane *lane, bool *stored)
{
    uint64_t look = 0, loads = 0;
    for (const uint64_t *word = lane->write - 1; --word >= lane->chunk;) {
        *stored |= (*word & AS_WIRE_STORE) != 0;
        look = (look ^ (*word & AS_WIRE_LOAD ? *word : (uint32_t)*word)) * UINT64_C(0x9e3779b97f4a7c15);
        if (!(*word & AS_WIRE_ACCESS_MASK))
            return *word >> AS_WIRE_EVENT_SHIFT == AS_WIRE_BLOCK && loads ? look : 0;
        loads++;
    }
    return 0;
}

/* Whether the thread loads the same again and again, and stores nothing: it waits for another one to store there. A loop that works
 * also looks at its bound again and again. */
static bool spins(struct as_wire_lane *lane)
{
    bool stored = false;
    uint64_t look = last_look(lane, &stored);
    if (stored) {
        lane->looks[0] = lane->looks[1] = 0;
        return false;
    }
    bool again = look && (look == lane->looks[0] || look == lane->looks[1]);
    lane->looks[1] = lane->looks[0];
    lane->looks[0] = look;
    return again;
}

/* Has the thread look again at some of its instructions, unless it has been hailed since it last set that. While it keeps close to the others
 * it looks around in each block: LOOKS. */
static void look_again_at(struct as_wire_lane *lane, uint64_t at, bool close)
{
    uint64_t set = lane->throttle_at;
    lane->line_at = at < set ? at : set;
    uint64_t check_at = close ? LOOKS : lane->line_at;
    if (check_at < set)
        __atomic_compare_exchange_n(&lane->check_at, &set, check_at, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Returns at which of its instructions the thread has to look at the line again. */
static uint64_t look_at_line(struct as_wire_lane *lane)
{
    const struct as_wire_lane *waiting = find_waiting(lane);
    struct as_wire_lane *first = waiting ? pass_on(waiting) : NULL;
    if (!first)
        return UINT64_MAX;
    if (first != lane) {
        hail(first);
        return UINT64_MAX;
    }
    uint64_t clock = clock_of(waiting), passed = atomic_load(&waiting->slack) + lane->clock_offset;
    return clock > passed ? clock - passed : 0;
}

static bool is_close(const struct as_wire_lane *lane)
{
    return lane->instructions < lane->close_until && as_lane_count_live() <= AS_TURNS_THREADS;
}

static bool stay_close(struct as_wire_lane *lane)
{
    return spins(lane) && wait_in_line(lane, CLOSE);
}

bool as_turns_only_look(struct as_wire_lane *lane, bool *waited)
{
    /* relaxed: a hail that is not seen here is seen at the next block, and nothing but the hail is to be seen */
    if (__atomic_load_n(&lane->check_at, __ATOMIC_RELAXED) != LOOKS || lane->instructions >= lane->line_at ||
        !is_close(lane))
        return false;
    *waited = stay_close(lane);
    return true;
}

bool as_turns_pass(struct as_wire_lane *lane)
{
    if (atomic_load(&lane->stands_at)) {
        /* The block with the store-conditional comes now if it has not come yet. */
        if (lane->reserves) {
            lane->reserves = 0;
            hail(lane);
            return false;
        }
        atomic_store(&lane->stands_at, 0);
    }
    bool close = is_close(lane);
    look_again_at(lane, look_at_line(lane), close);
    note_no_wait(lane);
    return close && stay_close(lane);
}

bool as_turns_take(struct as_wire_lane *lane, uint32_t block, bool reserves)
{
    current = heat_of(block);
    uint32_t threads = as_lane_count_live();
    if (threads < 2 || threads > AS_TURNS_THREADS || !current->times)
        return false;
    atomic_store(&lane->stands_at, reserves ? as_lane_clock(lane) : 0);
    lane->reserves = reserves;
    if (atomic_load(&in_line) || reserves)
        hail(lane); /* to pass on the turn */
    return wait_in_line(lane, 0);
}
