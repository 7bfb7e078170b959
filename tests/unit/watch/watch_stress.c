/* Watchpoints under load: `watch_stress SECONDS`. Three things at the same time, all on the debug registers of this
 * machine:
 *
 * - exact: pairs of a worker and a controller. The controller arms a slot of the worker (now and then the worker its
 *   own), lets it make a known number of stores, and counts the traps of that arming: none missed, none too many. Then
 *   it disarms or moves and lets it store again: no trap.
 * - chaos: threads that arm, move and disarm each other's slots at random while they store at random. A trap must never
 *   come for an arming that is over.
 * - churn: threads that start, take part, and end, half of them without leaving.
 *
 * Prints TAP with one line of numbers; exit status 1 where anything was missed or stray.
 */
#include "watch/watch.h"

#include "perf_here.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 4, CHAOS = 6, CHURN = 4, WORDS = 16, MAX_THREADS = 256 };
enum { EXACT = 1, RANDOM = 2 }; /* what an arming's data says */

static struct as_watch *watch;
static _Atomic bool stop;
static _Atomic uint64_t missed, extra, late, exact_traps, chaos_traps, cycles, ended, refused, undecoded;
static _Atomic uint64_t over[MAX_THREADS][AS_WATCH_SLOTS]; /* the latest generation that was disarmed */

struct pair {
    _Alignas(64) volatile uint64_t words[WORDS];
    _Atomic int order; /* stores that the worker shall make; 0: done */
    _Atomic unsigned target;
    _Atomic pid_t tid;
    _Atomic uint64_t traps; /* of the arming that the controller looks at */
    _Atomic uint64_t generation;
};
static struct pair pairs[PAIRS];
static _Alignas(64) volatile uint64_t shared[WORDS];
static _Atomic pid_t members[CHAOS + CHURN];

static void on_trap(void *context, const struct as_watch_trap *trap)
{
    if (atomic_load(&over[trap->ref.thread][trap->ref.slot]) >= trap->ref.generation)
        late++;
    if ((trap->data & 3) == RANDOM) {
        chaos_traps += trap->hits;
        return;
    }
    struct pair *pair = &pairs[trap->data >> 2];
    if (trap->cause.how != AS_CAUSE_VERIFIED || trap->cause.access != AS_ACCESS_STORE)
        undecoded++;
    exact_traps += trap->hits;
    if (trap->ref.generation == pair->generation)
        pair->traps += trap->hits;
    else
        extra++;
}

static void disarmed(const struct as_watch_ref *ref)
{
    _Atomic uint64_t *latest = &over[ref->thread][ref->slot];
    uint64_t now = atomic_load(latest);
    while (now < ref->generation && !atomic_compare_exchange_weak(latest, &now, ref->generation))
        ;
}

static void *work(void *argument)
{
    struct pair *pair = argument;
    as_watch_thread_enter(watch);
    pair->tid = (pid_t)syscall(SYS_gettid);
    while (!stop) {
        int stores = pair->order;
        if (!stores) {
            sched_yield();
            continue;
        }
        for (int i = 0; i < stores; i++)
            pair->words[pair->target] = (uint64_t)i;
        pair->order = 0;
    }
    as_watch_thread_leave(watch);
    return NULL;
}

/* Lets the worker store; false where the end came before. */
static bool let_store(struct pair *pair, unsigned target, int stores)
{
    pair->target = target;
    pair->order = stores;
    while (pair->order && !stop)
        sched_yield();
    return !stop;
}

static void expect(struct pair *pair, uint64_t traps)
{
    uint64_t got = pair->traps;
    if (got < traps)
        missed += traps - got;
    if (got > traps)
        extra += got - traps;
}

static void change(struct pair *pair, struct as_watch_ref *ref, struct as_watch_request *request, bool disarm)
{
    struct as_watch_ref old = *ref;
    enum as_watch_result result;
    do
        result = disarm ? as_watch_disarm(watch, ref) : as_watch_move(watch, ref, request);
    while (result == AS_WATCH_BUSY);
    if (result == AS_WATCH_OK)
        disarmed(&old);
    else
        missed++;
    pair->traps = 0;
    pair->generation = ref->generation;
}

/* One known sequence: armed, moved, disarmed. */
static bool run_sequence(struct pair *pair, size_t number, unsigned *seed)
{
    unsigned a = (unsigned)rand_r(seed) % WORDS, b = (a + 1 + (unsigned)rand_r(seed) % (WORDS - 1)) % WORDS;
    int stores = 1 + rand_r(seed) % 8;
    struct as_watch_ref ref;
    struct as_watch_request request = {
        .address = (uintptr_t)&pair->words[a], .length = 8, .access = AS_WATCH_STORE, .data = number << 2 | EXACT};
    enum as_watch_result result = as_watch_arm(watch, pair->tid, &request, &ref);
    if (result != AS_WATCH_OK) {
        refused += result != AS_WATCH_BUSY;
        return true;
    }
    pair->traps = 0;
    pair->generation = ref.generation;
    if (!let_store(pair, a, stores))
        return false;
    expect(pair, (uint64_t)stores);
    request.address = (uintptr_t)&pair->words[b];
    change(pair, &ref, &request, false);
    if (!let_store(pair, a, stores))
        return false;
    expect(pair, 0);
    if (!let_store(pair, b, stores))
        return false;
    expect(pair, (uint64_t)stores);
    change(pair, &ref, &request, true);
    if (!let_store(pair, b, stores))
        return false;
    expect(pair, 0);
    cycles++;
    return true;
}

static void *control(void *argument)
{
    size_t number = (size_t)argument;
    struct pair *pair = &pairs[number];
    unsigned seed = (unsigned)number + 1;
    while (!pair->tid && !stop)
        sched_yield();
    while (!stop && run_sequence(pair, number, &seed))
        ;
    return NULL;
}

static void meddle(unsigned *seed, struct as_watch_ref *ref, bool *have)
{
    struct as_watch_request request = {.address = (uintptr_t)&shared[rand_r(seed) % WORDS],
                                       .length = 8,
                                       .access = rand_r(seed) % 2 ? AS_WATCH_STORE : AS_WATCH_BOTH,
                                       .once = rand_r(seed) % 4 == 0,
                                       .data = RANDOM};
    struct as_watch_ref old = *ref;
    pid_t victim = members[rand_r(seed) % (CHAOS + CHURN)];
    enum as_watch_result result = AS_WATCH_BUSY;
    if (!*have && victim) {
        *have = as_watch_arm(watch, victim, &request, ref) == AS_WATCH_OK;
        return;
    }
    if (!*have)
        return;
    bool disarm = rand_r(seed) % 2;
    result = disarm ? as_watch_disarm(watch, ref) : as_watch_move(watch, ref, &request);
    if (result == AS_WATCH_OK)
        disarmed(&old);
    if (result != AS_WATCH_BUSY && (disarm || result != AS_WATCH_OK))
        *have = false;
}

static void *run_chaos(void *argument)
{
    size_t number = (size_t)argument;
    unsigned seed = 1000 + (unsigned)number;
    struct as_watch_ref ref = {0};
    bool have = false;
    as_watch_thread_enter(watch);
    members[number] = (pid_t)syscall(SYS_gettid);
    while (!stop) {
        for (int i = rand_r(&seed) % 16; i > 0; i--)
            shared[rand_r(&seed) % WORDS]++;
        meddle(&seed, &ref, &have);
    }
    members[number] = 0;
    as_watch_thread_leave(watch);
    return NULL;
}

static void *live_shortly(void *argument)
{
    size_t number = (size_t)argument;
    unsigned seed = (unsigned)ended + 77;
    bool leave = rand_r(&seed) % 2;
    as_watch_thread_enter(watch);
    members[CHAOS + number] = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < 200; i++)
        shared[i % WORDS]++;
    if (leave)
        as_watch_thread_leave(watch);
    return NULL;
}

static void *run_churn(void *argument)
{
    while (!stop) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live_shortly, argument) != 0)
            continue;
        pthread_join(thread, NULL);
        if (++ended % 64 == 0)
            as_watch_sweep(watch);
    }
    return NULL;
}

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        abort();
    return thread;
}

static int report(double seconds)
{
    struct as_watch_counts counts;
    as_watch_counts(watch, &counts);
    bool busy = cycles > 0 && chaos_traps > 0 && ended > 0;
    bool bad = missed || extra || late || undecoded || refused || !busy;
    printf("1..1\n%s 1 - %lu exact sequences, %lu exact and %lu other traps, %lu threads ended, %lu armed, %lu moved, "
           "%lu disarmed, %lu stray signals dropped; missed %lu, too many %lu, after disarm %lu, not decoded %lu, "
           "refused %lu, in %.0f s\n",
           bad ? "not ok" : "ok", cycles, exact_traps, chaos_traps, ended, counts.armed, counts.moved, counts.disarmed,
           counts.stray, missed, extra, late, undecoded, refused, seconds);
    return bad;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    int signal_number = argc > 2 ? SIGRTMIN + atoi(argv[2]) : 0;
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {
        .max_threads = MAX_THREADS, .decode = true, .on_trap = on_trap, .signal = signal_number};
    watch = as_watch_new(&options, &err);
    if (!watch) {
        const char *refusal = unit_no_watchpoints();
        printf("1..1\n%s 1 - watchpoints under load%s%s\n", refusal ? "ok" : "not ok", refusal ? " # SKIP " : ": ",
               refusal ? refusal : err.message);
        return !refusal;
    }
    pthread_t threads[2 * PAIRS + CHAOS + CHURN];
    size_t n = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        threads[n++] = start(work, &pairs[i]);
        threads[n++] = start(control, (void *)i);
    }
    for (size_t i = 0; i < CHAOS; i++)
        threads[n++] = start(run_chaos, (void *)i);
    for (size_t i = 0; i < CHURN; i++)
        threads[n++] = start(run_churn, (void *)i);
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
    stop = true;
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    int status = report(seconds);
    as_watch_free(watch);
    return status;
}
