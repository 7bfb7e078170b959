/* See fanout.h. Published batches have numbers; a ring holds the last `in_flight` of them. Each observer has a count of
 * those that it is done with; the slowest one's count says which buffers are free again. All of that is behind one
 * mutex, taken once a batch by everyone.
 *
 * Waking a thread is a system call, so it is done rarely: an observer that has caught up sleeps until a quarter of
 * `in_flight` is waiting for it, a producer that has to wait until half of `in_flight` is free. No one can wait for a
 * sleeper: when the producer waits, the slowest observer has all of `in_flight` before it, and finish wakes all. */
#include "observe/fanout.h"

#include "base/log.h"
#include "base/vec.h"
#include "observe/guard.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { SMALLEST_IN_FLIGHT = 2 };

/* Records start on a cache line of their own, behind the header. */
struct batch {
    struct as_pipe_batch head;
    char padding[sizeof(struct as_pipe) - sizeof(struct as_pipe_batch)];
    struct as_pipe pipes[];
};
_Static_assert(sizeof(struct batch) == sizeof(struct as_pipe), "records are aligned");

struct member {
    const struct as_observer *ops;
    void *self;
    bool foreign, crashed;
    struct as_fanout *fanout;
    pthread_t thread;
    bool running;
    /* behind the mutex */
    uint64_t done; /* batches */
    bool asleep;
    pthread_cond_t more;
};

struct as_fanout {
    struct as_fanout_options options;
    AS_VEC(struct member) members;
    bool started, finished;
    AS_VEC(struct batch *) idle; /* buffers for the producer to take */

    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t room;
    struct batch **ring; /* number % in_flight */
    uint64_t published, reclaimed;
    bool producer_waits, closing;
};

struct as_fanout *as_fanout_new(const struct as_fanout_options *options)
{
    struct as_fanout *fanout = as_alloc(sizeof *fanout);
    fanout->options = *options;
    if (fanout->options.batch == 0)
        fanout->options.batch = 1;
    if (fanout->options.in_flight < SMALLEST_IN_FLIGHT)
        fanout->options.in_flight = SMALLEST_IN_FLIGHT;
    fanout->ring = as_alloc_array(fanout->options.in_flight, sizeof *fanout->ring);
    pthread_mutex_init(&fanout->mutex, NULL);
    pthread_cond_init(&fanout->room, NULL);
    return fanout;
}

void as_fanout_add(struct as_fanout *fanout, const struct as_observer *ops, void *self, bool foreign)
{
    assert(!fanout->started);
    struct member *member = as_vec_push(&fanout->members);
    *member = (struct member){.ops = ops, .self = self, .foreign = foreign, .fanout = fanout};
    pthread_cond_init(&member->more, NULL);
}

/* ---- calling observers ---- */

struct call {
    const struct member *member;
    const struct as_pipe_batch *batch; /* NULL: finish */
    FILE *out;
};

static void call_member(void *argument)
{
    const struct call *call = argument;
    const struct as_observer *ops = call->member->ops;
    if (call->batch)
        ops->batch(call->member->self, call->batch);
    else if (ops->finish)
        ops->finish(call->member->self, call->out);
}

/* Without the log, which allocates. */
static void tell_crash(const struct member *member, const char *crash)
{
    char line[256];
    int n = snprintf(line, sizeof line, "assay: the observer '%.150s' crashed (%s); the run goes on without it\n",
                     member->ops->name, crash);
    ssize_t written = write(STDERR_FILENO, line, (size_t)n);
    (void)written;
}

static void call_guarded(struct member *member, void (*function)(void *), void *argument)
{
    if (member->crashed)
        return;
    const char *crash = as_guard_call(function, argument);
    if (crash) {
        member->crashed = true;
        tell_crash(member, crash);
    }
}

static void call(struct member *member, const struct as_pipe_batch *batch, FILE *out)
{
    struct call call = {member, batch, out};
    if (member->foreign)
        call_guarded(member, call_member, &call);
    else
        call_member(&call);
}

/* ---- observers' threads ---- */

static bool worth_waking(const struct member *member)
{
    const struct as_fanout *fanout = member->fanout;
    uint64_t waiting = fanout->published - member->done;
    return fanout->closing || (waiting > 0 && waiting >= fanout->options.in_flight / 4);
}

/* The next batch, or NULL at the end. The lock is held. */
static const struct as_pipe_batch *next_batch(struct member *member)
{
    struct as_fanout *fanout = member->fanout;
    if (member->done == fanout->published) {
        member->asleep = true;
        while (!worth_waking(member))
            pthread_cond_wait(&member->more, &fanout->mutex);
        member->asleep = false;
    }
    bool over = member->done == fanout->published;
    return over ? NULL : &fanout->ring[member->done % fanout->options.in_flight]->head;
}

static uint64_t slowest(const struct as_fanout *fanout)
{
    uint64_t done = fanout->published;
    for (size_t i = 0; i < fanout->members.len; i++)
        done = fanout->members.data[i].done < done ? fanout->members.data[i].done : done;
    return done;
}

static bool has_room(const struct as_fanout *fanout, size_t buffers)
{
    return fanout->published - slowest(fanout) + buffers <= fanout->options.in_flight;
}

static void *observe(void *argument)
{
    struct member *member = argument;
    struct as_fanout *fanout = member->fanout;
    const struct as_pipe_batch *batch;
    pthread_mutex_lock(&fanout->mutex);
    while ((batch = next_batch(member))) {
        pthread_mutex_unlock(&fanout->mutex);
        call(member, batch, NULL);
        pthread_mutex_lock(&fanout->mutex);
        member->done++;
        if (fanout->producer_waits && has_room(fanout, fanout->options.in_flight / 2))
            pthread_cond_signal(&fanout->room);
    }
    pthread_mutex_unlock(&fanout->mutex);
    as_guard_end_thread();
    return NULL;
}

/* Signals are the main thread's, except those that an observer's own crash raises. */
static bool start_member(struct member *member)
{
    sigset_t all, old;
    sigfillset(&all);
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    member->running = pthread_create(&member->thread, NULL, observe, member) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return member->running;
}

bool as_fanout_start(struct as_fanout *fanout, struct as_error *err)
{
    fanout->started = true;
    for (size_t i = 0; !fanout->options.inline_ && i < fanout->members.len; i++)
        if (!start_member(&fanout->members.data[i]))
            return as_error_set(err, "cannot start a thread for the observer '%s'", fanout->members.data[i].ops->name);
    return true;
}

/* ---- the producer ---- */

/* Buffers that everyone is done with. The lock is held. */
static void reclaim(struct as_fanout *fanout)
{
    for (uint64_t done = slowest(fanout); fanout->reclaimed < done; fanout->reclaimed++)
        *as_vec_push(&fanout->idle) = fanout->ring[fanout->reclaimed % fanout->options.in_flight];
}

static struct batch *new_batch(const struct as_fanout *fanout)
{
    size_t size = sizeof(struct batch) + fanout->options.batch * sizeof(struct as_pipe);
    struct batch *batch = aligned_alloc(sizeof(struct as_pipe), size);
    if (!batch) {
        as_log_error("out of memory");
        exit(AS_EXIT_FAILURE);
    }
    return batch;
}

struct as_pipe *as_fanout_take(struct as_fanout *fanout)
{
    assert(fanout->started && !fanout->finished);
    struct batch *batch = fanout->idle.len ? fanout->idle.data[--fanout->idle.len] : new_batch(fanout);
    return batch->pipes;
}

static void publish_inline(struct as_fanout *fanout, struct batch *batch)
{
    for (size_t i = 0; i < fanout->members.len; i++)
        call(&fanout->members.data[i], &batch->head, NULL);
    *as_vec_push(&fanout->idle) = batch;
}

/* The lock is held. */
static void publish_to_threads(struct as_fanout *fanout, struct batch *batch)
{
    if (!has_room(fanout, 1)) {
        fanout->producer_waits = true;
        while (!has_room(fanout, fanout->options.in_flight / 2))
            pthread_cond_wait(&fanout->room, &fanout->mutex);
        fanout->producer_waits = false;
    }
    reclaim(fanout);
    fanout->ring[fanout->published++ % fanout->options.in_flight] = batch;
    for (size_t i = 0; i < fanout->members.len; i++)
        if (fanout->members.data[i].asleep && worth_waking(&fanout->members.data[i]))
            pthread_cond_signal(&fanout->members.data[i].more);
}

void as_fanout_publish(struct as_fanout *fanout, struct as_pipe *pipes, uint32_t thread, size_t n)
{
    struct batch *batch = (struct batch *)((char *)pipes - offsetof(struct batch, pipes));
    assert(n <= fanout->options.batch);
    batch->head = (struct as_pipe_batch){.size = sizeof batch->head, .thread = thread, .n = n, .pipes = pipes};
    if (n == 0) {
        *as_vec_push(&fanout->idle) = batch;
        return;
    }
    if (fanout->options.inline_) {
        publish_inline(fanout, batch);
        return;
    }
    pthread_mutex_lock(&fanout->mutex);
    publish_to_threads(fanout, batch);
    pthread_mutex_unlock(&fanout->mutex);
}

/* Also when start failed half-way. */
void as_fanout_finish(struct as_fanout *fanout)
{
    if (fanout->finished)
        return;
    fanout->finished = true;
    pthread_mutex_lock(&fanout->mutex);
    fanout->closing = true;
    for (size_t i = 0; i < fanout->members.len; i++)
        pthread_cond_signal(&fanout->members.data[i].more);
    pthread_mutex_unlock(&fanout->mutex);
    for (size_t i = 0; i < fanout->members.len; i++)
        if (fanout->members.data[i].running)
            pthread_join(fanout->members.data[i].thread, NULL);
    reclaim(fanout);
}

size_t as_fanout_report(struct as_fanout *fanout, FILE *out)
{
    size_t crashed = 0;
    assert(fanout->finished);
    for (size_t i = 0; i < fanout->members.len; i++) {
        call(&fanout->members.data[i], NULL, out);
        crashed += fanout->members.data[i].crashed;
    }
    return crashed;
}

bool as_fanout_crashed(const struct as_fanout *fanout, size_t index)
{
    return fanout->members.data[index].crashed;
}

static void release(void *argument)
{
    const struct member *member = argument;
    if (member->ops->free)
        member->ops->free(member->self);
}

static void free_member(struct member *member)
{
    if (member->foreign)
        call_guarded(member, release, member);
    else
        release(member);
    pthread_cond_destroy(&member->more);
}

size_t as_fanout_free(struct as_fanout *fanout)
{
    size_t crashed = 0;
    if (!fanout)
        return 0;
    as_fanout_finish(fanout);
    for (size_t i = 0; i < fanout->members.len; i++) {
        free_member(&fanout->members.data[i]);
        crashed += fanout->members.data[i].crashed;
    }
    for (size_t i = 0; i < fanout->idle.len; i++)
        free(fanout->idle.data[i]);
    pthread_cond_destroy(&fanout->room);
    pthread_mutex_destroy(&fanout->mutex);
    as_vec_free(&fanout->members);
    as_vec_free(&fanout->idle);
    free(fanout->ring);
    free(fanout);
    return crashed;
}
