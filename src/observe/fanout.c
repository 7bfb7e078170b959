/* See fanout.h. Published batches are numbered; a ring holds the last `in_flight` of them. Each member (an observer, or
 * one of its workers) has the number of the batch that it needs next; it has seen or skipped all batches before that.
 * The slowest member's number determines which buffers are free again. One mutex guards all of this; every thread takes
 * it once per batch.
 *
 * Waking a thread is a system call, so it is done rarely: an observer that has caught up sleeps until a quarter of
 * `in_flight` is waiting for it, and a producer that has to wait sleeps until half of `in_flight` is free. This cannot
 * deadlock: when the producer waits, the slowest observer has all of `in_flight` before it, and finish wakes all.
 */
#include "observe/fanout.h"

#include "base/log.h"
#include "base/vec.h"
#include "observe/guard.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { SMALLEST_IN_FLIGHT = 2 };

/* A thread: an observer, or one of its workers. The workers of an observer are adjacent. */
struct member {
    const struct as_observer *ops;
    void *self;
    bool foreign, crashed;
    uint32_t worker, workers; /* its number among this many, from 0 */
    struct as_fanout *fanout;
    pthread_t thread;
    bool running;
    /* guarded by the mutex */
    uint64_t next; /* number of the batch that it waits for, or works on */
    bool asleep;
    pthread_cond_t more;
};

struct as_fanout {
    struct as_fanout_options options;
    AS_VEC(struct member) members;
    bool started, finished;
    AS_VEC(struct as_buffer *) idle; /* free buffers for the producer */

    pthread_mutex_t mutex; /* guards all that follows */
    pthread_cond_t room;
    struct as_buffer **ring; /* number % in_flight */
    uint64_t published, reclaimed;
    bool producer_waits, closing;
    bool resting; /* the producer waits until all observers have seen everything */
};

struct as_fanout *as_fanout_new(const struct as_fanout_options *options)
{
    struct as_fanout *fanout = as_alloc(sizeof *fanout);
    fanout->options = *options;
    if (!fanout->options.kind)
        fanout->options.kind = &as_pipe_buffers;
    if (fanout->options.batch == 0)
        fanout->options.batch = 1;
    if (fanout->options.in_flight < SMALLEST_IN_FLIGHT)
        fanout->options.in_flight = SMALLEST_IN_FLIGHT;
    fanout->ring = as_alloc_array(fanout->options.in_flight, sizeof *fanout->ring);
    pthread_mutex_init(&fanout->mutex, NULL);
    pthread_cond_init(&fanout->room, NULL);
    return fanout;
}

void as_fanout_add_workers(struct as_fanout *fanout, const struct as_observer *ops, void *const *selves, size_t n,
                           bool foreign)
{
    assert(!fanout->started && (n == 1 || ops->merge));
    for (size_t i = 0; i < n; i++) {
        struct member *member = as_vec_push(&fanout->members);
        *member = (struct member){.ops = ops,
                                  .self = selves[i],
                                  .foreign = foreign,
                                  .worker = (uint32_t)i,
                                  .workers = (uint32_t)n,
                                  .fanout = fanout,
                                  .next = i};
        pthread_cond_init(&member->more, NULL);
    }
}

void as_fanout_add(struct as_fanout *fanout, const struct as_observer *ops, void *self, bool foreign)
{
    as_fanout_add_workers(fanout, ops, &self, 1, foreign);
}

size_t as_fanout_count_workers(const struct as_observer *ops, size_t processors)
{
    size_t spare = processors > 3 ? processors - 2 : 1;
    size_t most = ops->workers > 1 && ops->merge ? ops->workers : 1;
    return most < spare ? most : spare;
}

uint32_t as_fanout_wants(const struct as_fanout *fanout)
{
    uint32_t wants = 0;
    for (size_t i = 0; i < fanout->members.len; i++)
        wants |= fanout->members.data[i].ops->wants;
    return wants;
}

/* ---- calling observers ---- */

/* The argument of a call that may be guarded. */
struct call {
    const struct member *member;
    struct as_buffer *buffer;
    void *other; /* worker to merge */
    FILE *out;
};

static void call_deliver(void *argument)
{
    const struct call *call = argument;
    const struct member *member = call->member;
    member->fanout->options.kind->deliver(call->buffer, member->ops, member->self);
}

static void call_merge(void *argument)
{
    const struct call *call = argument;
    call->member->ops->merge(call->member->self, call->other);
}

static void call_finish(void *argument)
{
    const struct call *call = argument;
    if (call->member->ops->finish)
        call->member->ops->finish(call->member->self, call->out);
}

static void call_free(void *argument)
{
    const struct call *call = argument;
    if (call->member->ops->free)
        call->member->ops->free(call->member->self);
}

/* Does not use the log, which allocates. */
static void tell_crash(const struct member *member, const char *crash)
{
    char line[256];
    int n = snprintf(line, sizeof line,
                     "assay: the observer '%.150s' crashed (%s): the run continues, and its result is missing\n",
                     member->ops->name, crash);
    ssize_t written = write(STDERR_FILENO, line, (size_t)n);
    (void)written;
}

/* A member that has crashed is not called again. */
static void call(struct member *member, void (*function)(void *), struct call argument)
{
    if (member->crashed)
        return;
    argument.member = member;
    if (!member->foreign) {
        function(&argument);
        return;
    }
    const char *crash = as_guard_call(function, &argument);
    if (crash) {
        member->crashed = true;
        tell_crash(member, crash);
    }
}

/* ---- observers' threads ---- */

static bool worth_waking(const struct member *member)
{
    const struct as_fanout *fanout = member->fanout;
    uint64_t waiting = fanout->published > member->next ? fanout->published - member->next : 0;
    return fanout->closing || (waiting > 0 && (fanout->resting || waiting >= fanout->options.in_flight / 4));
}

/* Returns the next buffer, or NULL at the end. Called with the lock held. */
static struct as_buffer *next_buffer(struct member *member)
{
    struct as_fanout *fanout = member->fanout;
    if (member->next >= fanout->published) {
        member->asleep = true;
        while (!worth_waking(member))
            pthread_cond_wait(&member->more, &fanout->mutex);
        member->asleep = false;
    }
    bool over = member->next >= fanout->published;
    return over ? NULL : fanout->ring[member->next % fanout->options.in_flight];
}

static uint64_t slowest(const struct as_fanout *fanout)
{
    uint64_t next = fanout->published;
    for (size_t i = 0; i < fanout->members.len; i++)
        next = fanout->members.data[i].next < next ? fanout->members.data[i].next : next;
    return next;
}

static bool has_room(const struct as_fanout *fanout, size_t buffers)
{
    return fanout->published - slowest(fanout) + buffers <= fanout->options.in_flight;
}

static void begin_guards(const struct member *member)
{
    if (member->foreign)
        as_guard_begin_thread();
}

static void *observe(void *argument)
{
    struct member *member = argument;
    struct as_fanout *fanout = member->fanout;
    struct as_buffer *buffer;
    begin_guards(member);
    pthread_mutex_lock(&fanout->mutex);
    while ((buffer = next_buffer(member))) {
        pthread_mutex_unlock(&fanout->mutex);
        call(member, call_deliver, (struct call){.buffer = buffer});
        pthread_mutex_lock(&fanout->mutex);
        member->next += member->workers;
        if (fanout->producer_waits &&
            has_room(fanout, fanout->resting ? fanout->options.in_flight : fanout->options.in_flight / 2))
            pthread_cond_signal(&fanout->room);
    }
    pthread_mutex_unlock(&fanout->mutex);
    as_guard_end_thread();
    return NULL;
}

/* Signals are handled by the main thread, except those that an observer's own crash raises. */
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
    for (size_t i = 0; fanout->options.inline_ && i < fanout->members.len; i++)
        begin_guards(&fanout->members.data[i]);
    for (size_t i = 0; !fanout->options.inline_ && i < fanout->members.len; i++)
        if (!start_member(&fanout->members.data[i]))
            return as_error_set(err, "cannot start a thread for the observer '%s'", fanout->members.data[i].ops->name);
    return true;
}

/* ---- the producer ---- */

/* Collects the buffers that all members are done with. Called with the lock held. */
static void reclaim(struct as_fanout *fanout)
{
    for (uint64_t done = slowest(fanout); fanout->reclaimed < done; fanout->reclaimed++)
        *as_vec_push(&fanout->idle) = fanout->ring[fanout->reclaimed % fanout->options.in_flight];
}

struct as_buffer *as_fanout_take(struct as_fanout *fanout)
{
    assert(fanout->started && !fanout->finished);
    return fanout->idle.len ? fanout->idle.data[--fanout->idle.len] : fanout->options.kind->make(fanout->options.batch);
}

void as_fanout_give_back(struct as_fanout *fanout, struct as_buffer *buffer)
{
    *as_vec_push(&fanout->idle) = buffer;
}

size_t as_fanout_batch(const struct as_fanout *fanout)
{
    return fanout->options.batch;
}

/* Only the producer changes the number. */
uint64_t as_fanout_published(const struct as_fanout *fanout)
{
    return fanout->published;
}

static void publish_inline(struct as_fanout *fanout, struct as_buffer *buffer)
{
    uint64_t number = fanout->published++;
    for (size_t i = 0; i < fanout->members.len; i++)
        if (number % fanout->members.data[i].workers == fanout->members.data[i].worker)
            call(&fanout->members.data[i], call_deliver, (struct call){.buffer = buffer});
    as_fanout_give_back(fanout, buffer);
}

/* Called with the lock held. */
static void publish_to_threads(struct as_fanout *fanout, struct as_buffer *buffer)
{
    if (!has_room(fanout, 1)) {
        fanout->producer_waits = true;
        while (!has_room(fanout, fanout->options.in_flight / 2))
            pthread_cond_wait(&fanout->room, &fanout->mutex);
        fanout->producer_waits = false;
    }
    reclaim(fanout);
    fanout->ring[fanout->published++ % fanout->options.in_flight] = buffer;
    for (size_t i = 0; i < fanout->members.len; i++)
        if (fanout->members.data[i].asleep && worth_waking(&fanout->members.data[i]))
            pthread_cond_signal(&fanout->members.data[i].more);
}

void as_fanout_publish(struct as_fanout *fanout, struct as_buffer *buffer)
{
    if (fanout->options.inline_) {
        publish_inline(fanout, buffer);
        return;
    }
    pthread_mutex_lock(&fanout->mutex);
    publish_to_threads(fanout, buffer);
    pthread_mutex_unlock(&fanout->mutex);
}

static void rest(struct as_fanout *fanout)
{
    pthread_mutex_lock(&fanout->mutex);
    fanout->resting = fanout->producer_waits = true;
    for (size_t i = 0; i < fanout->members.len; i++)
        pthread_cond_signal(&fanout->members.data[i].more);
    while (!has_room(fanout, fanout->options.in_flight))
        pthread_cond_wait(&fanout->room, &fanout->mutex);
    fanout->resting = fanout->producer_waits = false;
    pthread_mutex_unlock(&fanout->mutex);
}

static void call_forget(void *argument)
{
    const struct call *call = argument;
    call->member->ops->forget(call->member->self);
}

void as_fanout_forget(struct as_fanout *fanout)
{
    if (!fanout->options.inline_)
        rest(fanout);
    for (size_t i = 0; i < fanout->members.len; i++)
        if (fanout->members.data[i].ops->forget)
            call(&fanout->members.data[i], call_forget, (struct call){0});
}

/* Merges an observer's other workers into the first. If one has crashed, a part of the result is missing, so all of it
 * counts as lost. */
static void merge_workers(struct member *first)
{
    for (uint32_t i = 1; i < first->workers; i++)
        first->crashed |= first[i].crashed;
    for (uint32_t i = 1; i < first->workers; i++) {
        call(first, call_merge, (struct call){.other = first[i].self});
        call(&first[i], call_free, (struct call){0});
        first->crashed |= first[i].crashed;
        first[i].self = NULL;
    }
}

/* May also be called when start failed half-way. */
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
    if (fanout->options.inline_)
        as_guard_end_thread();
    else
        reclaim(fanout);
    for (size_t i = 0; i < fanout->members.len; i += fanout->members.data[i].workers)
        merge_workers(&fanout->members.data[i]);
}

size_t as_fanout_report(struct as_fanout *fanout, FILE *out)
{
    size_t crashed = 0;
    assert(fanout->finished);
    for (size_t i = 0; i < fanout->members.len; i += fanout->members.data[i].workers) {
        call(&fanout->members.data[i], call_finish, (struct call){.out = out});
        crashed += fanout->members.data[i].crashed;
    }
    return crashed;
}

bool as_fanout_crashed(const struct as_fanout *fanout, size_t index)
{
    size_t at = 0;
    for (; index > 0; index--)
        at += fanout->members.data[at].workers;
    return fanout->members.data[at].crashed;
}

size_t as_fanout_free(struct as_fanout *fanout)
{
    size_t crashed = 0;
    if (!fanout)
        return 0;
    as_fanout_finish(fanout);
    for (size_t i = 0; i < fanout->members.len; i++) {
        struct member *member = &fanout->members.data[i];
        if (member->worker == 0) {
            call(member, call_free, (struct call){0});
            crashed += member->crashed;
        }
        pthread_cond_destroy(&member->more);
    }
    for (size_t i = 0; i < fanout->idle.len; i++)
        fanout->options.kind->free(fanout->idle.data[i]);
    pthread_cond_destroy(&fanout->room);
    pthread_mutex_destroy(&fanout->mutex);
    as_vec_free(&fanout->members);
    as_vec_free(&fanout->idle);
    free(fanout->ring);
    free(fanout);
    return crashed;
}
