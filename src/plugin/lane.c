/* Lanes from the writer's side: claiming one, turning to the next chunk (and waiting for room), publishing, and keeping
 * the threads of a process together.
 *
 * Keeping together: every thread has a clock, its executed instructions plus an offset. A thread that is more than the
 * window ahead of the slowest running thread of its process waits until that one is no more than half of the window
 * behind. A thread in a system call does not count, and when it comes back it starts at the clock of the slowest running
 * one, so that no thread waits for it to catch up. A thread can
 * also be stuck where no callback reports it (QEMU's exclusive sections stop every other vcpu at a block boundary); so
 * a thread that waits goes on for one block after AS_LANE_NAP without progress, which lets QEMU have its way and changes
 * the order by one block. A ring that is full blocks its thread only until the reader has made room; the reader never
 * waits for one lane while another is full, so there is no cycle.
 *
 * All atomics here are sequentially consistent. What each hands over, from where to where (files without a folder are src/engine's):
 *
 *   published          the words before it       publish_words -> read_words (reader.c), read_step (close_reading.c),
 *                                                look_at_lane (handover.c), look_ahead (gear.c),
 *                                                as_lane_is_idle (lane_idle.c)
 *   consumed           room in the ring          as_lane_give_room (reader.c) -> has_room
 *   state LIVE         the lane's other members  as_lane_claim -> read_all_lanes (reader.c), as_reader_read_code, as_lane_is_fellow
 *   state ENDED        the last `published`      as_lane_end -> as_reader_read_lane (reader.c)
 *   state FREE         the lane, drained         end_stream (reader.c), as_reader_read_code -> find_free_lane
 *   activity           what was published        wait_at_gate, as_lane_enter_syscall -> is_waiting, is_at_stop (gear.c), give_turn (pace.c),
 *                      before it                 as_lane_is_idle (lane_idle.c)
 *   stop_at, answers,  what code is to record    give, answer (gear.c), pace_all, give_turn (pace.c) -> is_below_stop, is_answered,
 *   given              from then on              has_turn, and then follow_recording
 *   questions, asked   that the thread waits     wait_at_gate, as_lane_take_turn -> answer (gear.c), give_turn (pace.c)
 *
 * The others (live_threads, threads_settled, brief, woken, orders, quantum, detached, throttle_*, gates_closed, quick, slack, stands_at,
 * next_thread, cheap_switch, lanes_used, leaks, processor, record_accesses) say nothing about other memory: a value that is old for a
 * moment does no harm. `room` is the futex behind consumed and writer_waits. Pairs that rely on one order of all, because each side stores one word and then loads the other's
 * (so that one of the two always sees the other):
 *
 *   published, reader_waits          as_lane_publish here, wait_for_bell (reader.c)
 *   consumed, writer_waits           wait_for_room here, as_lane_give_room (reader.c); wake_at comes before writer_waits
 *   activity and sleeps, stop_at …   wait_at_gate here, as_gates_ring_lane (gates.h)
 *   check_at, in_line                keep_together here, stay_in_line (thread_step.c)
 */
#include "plugin/lane.h"

#include "plugin/one_processor.h"
#include "plugin/thread_step.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct as_plugin as_plugin;
struct as_wire_lane *as_lane_of[AS_PLUGIN_VCPUS];
struct as_wire_lane as_lane_unclaimed; /* write == chunk_end and check_at == 0: everything takes the slow path */

/* Threads of this process that wait for a slower one, the futex that they wait on, and the clock at which the slowest lets one of them go on. */
static _Atomic uint32_t throttle_waiters, throttle_epoch;
static _Atomic uint64_t throttle_target = UINT64_MAX;
static _Atomic uint32_t live_threads, threads_settled;
static __thread bool settled; /* the thread has come to its gate, or to a system call */
static __thread struct as_wire_lane *mine;

struct as_wire_lane *as_lane_mine(void)
{
    return mine;
}

/* `wait`: FUTEX_WAIT, or FUTEX_WAIT_PRIVATE where only threads of this process wake. */
static void futex_wait(_Atomic uint32_t *word, int wait, uint32_t expected, long milliseconds)
{
    struct timespec timeout = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    syscall(SYS_futex, word, wait, expected, &timeout, NULL, 0);
}

/* The new value makes a futex_wait that is just about to sleep return at once. */
static void futex_wake(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void as_plugin_die(const char *message)
{
    static const char prefix[] = "assay: ";
    ssize_t ignored = write(STDERR_FILENO, prefix, sizeof prefix - 1);
    ignored = write(STDERR_FILENO, message, strlen(message));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    _exit(125);
}

void as_lane_setup(void)
{
    for (size_t i = 0; i < AS_PLUGIN_VCPUS; i++)
        as_lane_of[i] = &as_lane_unclaimed;
    atomic_store(&live_threads, 0);
    atomic_store(&throttle_waiters, 0);
    atomic_store(&throttle_target, UINT64_MAX);
    as_turns_setup();
}

static size_t number_of(const struct as_wire_lane *lane)
{
    return (size_t)(lane - as_plugin.wire->lanes);
}

/* Threads are kept together as far as they have been read: one that may have fellows gets no more room than they. */
static uint64_t room_of(const struct as_wire_lane *lane)
{
    bool alone = as_plugin.wire->gated && atomic_load(&as_plugin.wire->cheap_switch);
    return alone ? as_wire_ring_words(number_of(lane)) : AS_WIRE_RING;
}

/* How far the reader has to have come before the chunk at `position` may be written, if it is to be one of so much room. */
static uint64_t needed_for(uint64_t position, uint64_t room)
{
    uint64_t end = position + AS_WIRE_CHUNK;
    return end > room ? end - room : 0;
}

/* Acquires what as_lane_give_room (reader.c) released: the reader is done with the words that are about to be overwritten. */
static bool has_room(struct as_wire_lane *lane, uint64_t position)
{
    return atomic_load(&lane->consumed) >= needed_for(position, room_of(lane));
}

/* A program's only thread, where it has a long ring, sleeps until a quarter of that is free, since the reader then takes words in pieces
 * smaller than a chunk, and to be woken for each chunk costs more than to write it. Nobody can wait for that thread meanwhile but
 * the reader, which reads on. Others go on with the first chunk. */
static uint64_t choose_wake(const struct as_wire_lane *lane, uint64_t position)
{
    uint64_t room = room_of(lane);
    bool sleeps_on = room > AS_WIRE_RING && atomic_load(&as_plugin.wire->next_thread) == 1;
    return needed_for(position, sleeps_on ? room / 4 * 3 : room);
}

static void wait_for_room(struct as_wire_lane *lane, uint64_t position)
{
    uint32_t before = atomic_exchange(&lane->activity, AS_WIRE_FULL); /* read by is_ahead (reader.c) */
    uint64_t wake_at = choose_wake(lane, position);
    while (atomic_load(&lane->consumed) < wake_at && !atomic_load(&as_plugin.wire->detached)) {
        uint32_t room = atomic_load(&lane->room);
        atomic_store(&lane->wake_at, wake_at);
        atomic_store(&lane->writer_waits, 1); /* before the load of consumed: see as_lane_give_room */
        if (atomic_load(&lane->consumed) < wake_at)
            futex_wait(&lane->room, FUTEX_WAIT, room, 100);
        wake_at = needed_for(position, room_of(lane)); /* enough, if the reader does not come further */
    }
    atomic_store(&lane->activity, before);
}

static void turn_chunk(struct as_wire_lane *lane)
{
    as_lane_publish(lane);
    uint64_t position = lane->chunk_position + AS_WIRE_CHUNK;
    if (!has_room(lane, position))
        wait_for_room(lane, position);
    uint64_t *next = as_wire_ring(as_plugin.wire, number_of(lane)) + position % as_wire_ring_words(number_of(lane));
    lane->chunk_end = next + AS_WIRE_CHUNK;
    /* The reader takes chunk_position + (write - chunk) from a killed writer: at no moment may that be beyond what was
     * written. That is seal_lane (code_lanes.c), after this process has ended: the order of the stores in the code is
     * enough. */
    lane->write = next;
    atomic_signal_fence(memory_order_seq_cst);
    lane->chunk = next;
    atomic_signal_fence(memory_order_seq_cst);
    lane->chunk_position = position;
}

void as_lane_push_slowly(struct as_wire_lane *lane, uint64_t word)
{
    turn_chunk(lane);
    as_lane_append(lane, word);
}

/* What as_lane_stream stored is visible to whoever sees a store behind this. */
static void order_streamed(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

/* Releases the words before it to read_words (reader.c). */
static uint64_t publish_words(struct as_wire_lane *lane)
{
    order_streamed();
    uint64_t published = lane->chunk_position + (uint64_t)(lane->write - lane->chunk);
    atomic_store(&lane->published, published);
    return published;
}

void as_lane_publish(struct as_wire_lane *lane)
{
    publish_words(lane);
    /* wait_for_bell (reader.c) sets it before it looks at published for the last time. */
    if (atomic_load(&as_plugin.wire->reader_waits))
        futex_wake(&as_plugin.wire->doorbell);
}

void as_lane_publish_quietly(struct as_wire_lane *lane)
{
    uint64_t published = publish_words(lane);
    if (published - atomic_load(&lane->consumed) > AS_WIRE_CHUNK && atomic_load(&as_plugin.wire->reader_waits))
        futex_wake(&as_plugin.wire->doorbell);
}

static struct as_wire_lane *find_free_lane(void)
{
    struct as_wire_header *wire = as_plugin.wire;
    for (uint32_t i = 0; i < AS_WIRE_LANES; i++) {
        uint32_t expected = AS_WIRE_FREE;
        /* Acquires the lane from end_stream (reader.c) or as_reader_read_code, against other threads and processes. */
        if (!atomic_compare_exchange_strong(&wire->lanes[i].state, &expected, AS_WIRE_CLAIMED))
            continue;
        /* Releases nothing: who loads it goes by the lanes' states. */
        uint32_t used = atomic_load(&wire->lanes_used);
        while (used <= i && !atomic_compare_exchange_weak(&wire->lanes_used, &used, i + 1)) {
        }
        return &wire->lanes[i];
    }
    return NULL;
}

/* Instructions until the reader knows the thread: it may do nothing but wait by looking, which is not to be found out by a whole quantum of looks
 * in vain. */
static uint64_t first_budget(void)
{
    enum { FIRST = 600 };
    uint64_t quantum = atomic_load(&as_plugin.wire->quantum);
    return as_plugin.wire->in_turn ? 0 : quantum < FIRST ? quantum : FIRST;
}

/* All lanes can be taken for a moment by threads that ended but are not drained; the reader frees those. */
struct as_wire_lane *as_lane_claim(bool is_code)
{
    struct as_wire_lane *lane = find_free_lane();
    for (int tries = 0; !lane && tries < 10000; tries++) {
        if (atomic_load(&as_plugin.wire->reader_waits))
            futex_wake(&as_plugin.wire->doorbell);
        usleep(1000);
        lane = find_free_lane();
    }
    if (!lane)
        as_plugin_die("the program has more threads alive than Assay can follow (4096)");
    uint64_t *ring = as_wire_ring(as_plugin.wire, number_of(lane));
    lane->write = lane->chunk = ring;
    lane->chunk_end = ring + AS_WIRE_CHUNK;
    lane->chunk_position = lane->instructions = lane->clock_offset = lane->stamp = 0;
    lane->close_until = lane->line_at = lane->throttle_at = lane->reserves = 0;
    lane->check_at = UINT64_MAX;
    atomic_store(&lane->stop_at, first_budget());
    atomic_store(&lane->questions, 0);
    atomic_store(&lane->brief, 0);
    atomic_store(&lane->quick, 0);
    atomic_store(&lane->answers, 0);
    atomic_store(&lane->asked, 0);
    atomic_store(&lane->given, 0);
    atomic_store(&lane->sleeps, 0);
    atomic_store(&lane->in_line, 0);
    atomic_store(&lane->stands_at, 0);
    atomic_store(&lane->slack, 0);
    lane->cpu = NULL;
    lane->is_code = is_code;
    lane->process = as_plugin.process;
    lane->image = as_plugin.image;
    lane->thread = is_code ? 0 : atomic_fetch_add(&as_plugin.wire->next_thread, 1) + 1;
    lane->pid = as_plugin.pid;
    lane->tid = (int32_t)syscall(SYS_gettid);
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    atomic_store(&lane->published, 0);
    atomic_store(&lane->consumed, 0);
    atomic_store(&lane->writer_waits, 0);
    /* Releases all of the above to read_all_lanes (reader.c) and as_lane_is_fellow. */
    atomic_store(&lane->state, AS_WIRE_LIVE);
    return lane;
}

uint64_t as_lane_clock(const struct as_wire_lane *lane)
{
    return *(const volatile uint64_t *)&lane->instructions + *(const volatile uint64_t *)&lane->clock_offset;
}

static bool runs(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->activity) != AS_WIRE_IN_SYSCALL || (as_plugin.wire->in_step && atomic_load(&lane->brief));
}

/* Acquires process, image and thread from as_lane_claim, which stores state last: so that is looked at first. */
bool as_lane_is_fellow(const struct as_wire_lane *other, const struct as_wire_lane *lane)
{
    return other != lane && atomic_load(&other->state) == AS_WIRE_LIVE && !other->is_code &&
           other->process == lane->process && other->image == lane->image && runs(other);
}

/* The slowest running thread of this process besides `lane`, NULL where there is none. */
static struct as_wire_lane *slowest_fellow(const struct as_wire_lane *lane)
{
    struct as_wire_header *wire = as_plugin.wire;
    struct as_wire_lane *slowest = NULL;
    uint32_t used = atomic_load(&wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        if (as_lane_is_fellow(&wire->lanes[i], lane) &&
            (!slowest || as_lane_clock(&wire->lanes[i]) < as_lane_clock(slowest)))
            slowest = &wire->lanes[i];
    return slowest;
}

/* Pairs with throttle and wait_for_expected: a waiter adds itself and then looks at the clocks; one that is missed sleeps for AS_LANE_NAP. */
void as_lane_wake_waiters(void)
{
    if (!atomic_load(&throttle_waiters))
        return;
    atomic_store(&throttle_target, UINT64_MAX); /* who waits on stores its own again, behind the epoch */
    atomic_fetch_add(&throttle_epoch, 1);
    syscall(SYS_futex, &throttle_epoch, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Wakes those that wait for the slowest thread, unless it has yet to come to where one of them may go on. */
static void let_others_go_on(const struct as_wire_lane *lane)
{
    uint64_t target = atomic_load(&throttle_target);
    if (as_lane_clock(lane) < target)
        return;
    const struct as_wire_lane *slowest = slowest_fellow(lane);
    if (!slowest || as_lane_clock(slowest) >= target)
        as_lane_wake_waiters();
}

static void lower_target(uint64_t clock)
{
    uint64_t target = atomic_load(&throttle_target);
    while (clock < target && !atomic_compare_exchange_weak(&throttle_target, &target, clock))
        ;
}

/* Never behind the slowest: a thread that starts, or that slept, owes nothing. */
static void join_clock(struct as_wire_lane *lane)
{
    const struct as_wire_lane *slowest = slowest_fellow(lane);
    if (slowest && as_lane_clock(slowest) > as_lane_clock(lane))
        lane->clock_offset = as_lane_clock(slowest) - lane->instructions;
}

/* How far a thread may go before it looks around again. */
static uint64_t step_of(void)
{
    enum { GATED_STEP = 25000, LEAST_STEP = 250 };
    uint64_t quantum = atomic_load(&as_plugin.wire->quantum);
    if (quantum)
        return quantum / 4 > LEAST_STEP ? quantum / 4 : LEAST_STEP;
    uint64_t window = as_plugin.wire->window, step = window / 4 + 1;
    if (as_plugin.wire->gated)
        return window && step < GATED_STEP ? step : GATED_STEP;
    return window ? step : UINT64_MAX / 2;
}

/* A thread that was woken or made and does not run yet is as far behind as threads get. */
static void wait_for_expected(void)
{
    atomic_fetch_add(&throttle_waiters, 1);
    for (int waited = 0; as_turns_awaits() && !atomic_load(&as_plugin.wire->detached);) {
        uint32_t epoch = atomic_load(&throttle_epoch);
        if (as_turns_awaits())
            futex_wait(&throttle_epoch, FUTEX_WAIT_PRIVATE, epoch, AS_LANE_NAP);
        if (atomic_load(&throttle_epoch) == epoch)
            as_turns_stay_patient(waited += AS_LANE_NAP);
    }
    atomic_fetch_sub(&throttle_waiters, 1);
}

/* Waits until the slowest thread is no more than half of the window behind, so that this one has some way to go before it waits again. Returns
 * false if there was no progress for AS_LANE_NAP. */
static bool wait_for_slowest(struct as_wire_lane *lane, uint64_t window)
{
    const struct as_wire_lane *slowest = slowest_fellow(lane);
    bool waits = slowest && as_lane_clock(lane) > as_lane_clock(slowest) + window;
    uint64_t target = as_lane_clock(lane) - window / 2;
    while (waits && slowest && as_lane_clock(slowest) < target && !atomic_load(&as_plugin.wire->detached)) {
        atomic_store(&lane->activity, AS_WIRE_THROTTLED);
        uint32_t epoch = atomic_load(&throttle_epoch);
        lower_target(target);
        uint64_t clock = as_lane_clock(slowest);
        if (clock < target)
            futex_wait(&throttle_epoch, FUTEX_WAIT_PRIVATE, epoch, AS_LANE_NAP);
        if (as_lane_clock(slowest) == clock && atomic_load(&throttle_epoch) == epoch)
            return false;
        slowest = slowest_fellow(lane);
    }
    return true;
}

static void throttle(struct as_wire_lane *lane)
{
    uint64_t window = as_plugin.wire->window, step = step_of();
    lane->throttle_at = lane->instructions + step;
    if (atomic_load(&live_threads) < 2 || (!window && !as_plugin.wire->quantum))
        return;
    as_lane_publish(lane); /* the reader may be waiting for this thread's part of the order */
    if (!window)
        return;
    let_others_go_on(lane);
    if (as_turns_awaits()) {
        atomic_store(&lane->activity, AS_WIRE_THROTTLED);
        wait_for_expected();
    }
    lane->throttle_at = lane->instructions + step;
    atomic_fetch_add(&throttle_waiters, 1);
    if (!wait_for_slowest(lane, window))
        lane->throttle_at = lane->instructions; /* one block, then look again */
    atomic_fetch_sub(&throttle_waiters, 1);
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
}

static void settle(void)
{
    if (!settled)
        atomic_fetch_add(&threads_settled, 1);
    settled = true;
}

typedef bool may_go_function(const struct as_wire_lane *lane, uint32_t question);

/* Waits until the thread may go on: for its gate to open, or for the answer to its question. A thread that others may wait for inside QEMU
 * goes on for one block after a while: the reader has left room for that. */
static void wait_at_gate(struct as_wire_lane *lane, may_go_function *may_go, uint32_t question)
{
    enum { PATIENCE = 50 }; /* milliseconds; where threads are paced the reader decides */
    const struct as_wire_header *wire = as_plugin.wire;
    uint32_t leaks = atomic_load(&wire->leaks);
    as_lane_publish(lane);
    atomic_store(&lane->questions, question);
    atomic_store(&lane->leaks, leaks);
    uint32_t before = atomic_exchange(&lane->activity, AS_WIRE_GATED); /* the reader looks at the others after this */
    as_lane_publish(lane);
    settle();
    as_lane_wake_waiters();
    for (int waited = 0; !may_go(lane, question) && !atomic_load(&as_plugin.wire->detached);) {
        uint32_t ring = atomic_load(&lane->ring); /* before all that is looked at */
        if (wire->quantum ? atomic_load(&wire->leaks) != leaks : waited >= PATIENCE && atomic_load(&live_threads) > 1)
            break;
        atomic_store(&lane->sleeps, 1); /* before the last look: as_gates_ring_lane (gates.h) */
        if (!may_go(lane, question))
            futex_wait(&lane->ring, FUTEX_WAIT, ring, AS_LANE_NAP);
        atomic_store(&lane->sleeps, 0);
        waited += AS_LANE_NAP;
    }
    atomic_store(&lane->activity, before == AS_WIRE_GATED ? AS_WIRE_RUNNING : before);
}

static bool is_below_stop(const struct as_wire_lane *lane, uint32_t unused)
{
    return lane->instructions <= atomic_load(&lane->stop_at) || !atomic_load(&as_plugin.wire->gates_closed);
}

static bool is_answered(const struct as_wire_lane *lane, uint32_t question)
{
    return atomic_load(&lane->answers) == question;
}

/* The reader stores record_accesses before it lets a thread go on: record, wait_for_rest (gear.c). */
static void follow_recording(unsigned vcpu)
{
    if (as_plugin.recording != atomic_load(&as_plugin.wire->record_accesses))
        as_plugin.switch_recording(vcpu);
}

static void pass_gate(unsigned vcpu)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    if (as_plugin.wire->quantum)
        as_one_processor_follow(atomic_load(&as_plugin.wire->processor));
    if (!is_below_stop(lane, 0))
        wait_at_gate(lane, is_below_stop, atomic_load(&lane->questions));
    follow_recording(vcpu);
    uint64_t stop = atomic_load(&as_plugin.wire->gates_closed) ? atomic_load(&lane->stop_at) : UINT64_MAX;
    if (stop < lane->check_at)
        lane->check_at = stop + 1;
}

static bool has_turn(const struct as_wire_lane *lane, uint32_t unused)
{
    return atomic_load(&lane->given) == atomic_load(&lane->asked) || !atomic_load(&as_plugin.wire->orders);
}

bool as_lane_take_turn(unsigned vcpu)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    if (!atomic_load(&as_plugin.wire->orders) || atomic_load(&live_threads) < 2)
        return false;
    as_one_processor_follow(atomic_load(&as_plugin.wire->processor));
    atomic_fetch_add(&lane->asked, 1);
    wait_at_gate(lane, has_turn, atomic_load(&lane->questions));
    atomic_store(&lane->given, atomic_load(&lane->asked)); /* nobody orders any more, or it was let by */
    return true;
}

void as_lane_ask(unsigned vcpu)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    wait_at_gate(lane, is_answered, atomic_load(&lane->questions) + 1);
    follow_recording(vcpu);
}

/* The threads that made those of the vcpus, where threads keep step: as they were in their calls of clone. */
static struct birth {
    uint32_t lane, thread; /* thread 0: not known */
    uint64_t position, clock;
} births[AS_PLUGIN_VCPUS];

void as_lane_note_birth(unsigned vcpu)
{
    if (vcpu >= AS_PLUGIN_VCPUS || !mine || !as_plugin.wire->in_step)
        return;
    births[vcpu] = (struct birth){.lane = (uint32_t)(mine - as_plugin.wire->lanes),
                                  .thread = mine->thread,
                                  .position = atomic_load(&mine->published),
                                  .clock = as_lane_clock(mine)};
}

/* The thread begins at the clock of the one that made it. */
static void push_birth(struct as_wire_lane *lane, struct birth *birth)
{
    as_lane_push(lane, birth->thread | AS_WIRE_CREATED);
    as_lane_push(lane, as_wire_origin(birth->lane, birth->position));
    lane->clock_offset = birth->clock;
    birth->thread = 0;
}

static void push_fork(struct as_wire_lane *lane, const struct as_wire_lane *parent)
{
    as_lane_push(lane, parent ? parent->thread : 0);
    as_lane_push(
        lane, parent ? as_wire_origin((uint64_t)(parent - as_plugin.wire->lanes), atomic_load(&parent->published)) : 0);
}

/* `parent`, where there is one, is the lane of the thread that forked this process, written up to the fork. */
void as_lane_start_thread(unsigned vcpu, const struct as_wire_lane *parent)
{
    struct as_wire_lane *lane = as_lane_claim(false);
    as_lane_push(lane, (uint64_t)AS_WIRE_THREAD_START << AS_WIRE_EVENT_SHIFT | as_plugin.process);
    as_lane_push(lane, lane->thread);
    as_lane_push(lane, (uint64_t)lane->tid);
    lane->cpu = parent ? parent->cpu : NULL; /* blocks without clocks would not find it out */
    bool born = !parent && births[vcpu].thread;
    if (born)
        push_birth(lane, &births[vcpu]);
    else
        push_fork(lane, parent);
    as_lane_publish(lane);
    if (!born)
        join_clock(lane);
    mine = lane;
    if (atomic_fetch_add(&live_threads, 1) >
        0) { /* a thread of this process has made it: on_syscall_return (engine_plugin.c) */
        atomic_fetch_sub(&as_plugin.wire->woken, 1);
        as_turns_expect(-1);
    }
    lane->check_at = 0; /* the first block looks at everything */
    as_lane_of[vcpu] = lane;
    settled = false;
}

uint32_t as_lane_count_live(void)
{
    return atomic_load(&live_threads);
}

uint32_t as_lane_count_settled(void)
{
    return atomic_load(&threads_settled);
}

/* Where threads keep step, a thread may look around at each of its blocks. */
static void keep_together(struct as_wire_lane *lane)
{
    if (!as_plugin.wire->in_step || lane->instructions >= lane->throttle_at)
        throttle(lane);
    if (as_plugin.wire->in_step)
        __atomic_store_n(&lane->check_at, lane->throttle_at,
                         __ATOMIC_SEQ_CST); /* before the line is looked at: thread_step.c */
    else
        lane->check_at = lane->throttle_at; /* a fence would wait for all words that are on their way to memory */
}

bool as_lane_check(unsigned vcpu)
{
    bool waited = false;
    if (vcpu >= AS_PLUGIN_VCPUS)
        as_plugin_die("the program has more threads than Assay can follow");
    if (as_lane_of[vcpu] == &as_lane_unclaimed)
        as_lane_start_thread(vcpu, NULL);
    else if (as_plugin.wire->in_step && !as_plugin.wire->gated && as_turns_only_look(as_lane_of[vcpu], &waited))
        return waited;
    else
        keep_together(as_lane_of[vcpu]);
    if (as_plugin.wire->in_step)
        waited = as_turns_pass(as_lane_of[vcpu]);
    if (as_plugin.wire->gated || as_plugin.wire->quantum)
        pass_gate(vcpu);
    return waited;
}

void as_lane_end(struct as_wire_lane *lane)
{
    as_lane_push(lane, (uint64_t)AS_WIRE_THREAD_END << AS_WIRE_EVENT_SHIFT);
    as_lane_publish(lane);
    atomic_store(&lane->state,
                 AS_WIRE_ENDED); /* after the last published: as_reader_read_lane (reader.c) relies on it */
    mine = NULL;
    atomic_fetch_sub(&live_threads, 1);
    as_turns_leave(lane);
    as_lane_wake_waiters();
}

void as_lane_enter_syscall(struct as_wire_lane *lane)
{
    if (as_plugin.wire->stamped) /* a thread that is seen to be in the call has published all before it */
        as_lane_publish(lane);
    atomic_store(&lane->activity, AS_WIRE_IN_SYSCALL); /* as_reader_has_clock and as_lane_is_fellow leave it out now */
    as_lane_publish(lane);
    settle();
    as_turns_leave(lane);
    as_lane_wake_waiters();
}

void as_lane_leave_syscall(struct as_wire_lane *lane, bool waited)
{
    bool stood_still = as_plugin.wire->in_step && (atomic_load(&lane->brief) || !waited);
    if (atomic_load(&live_threads) > 1 && !stood_still)
        join_clock(lane);
    if (as_plugin.wire->in_turn)
        lane->check_at = 0; /* it may not be its turn any more */
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
}
