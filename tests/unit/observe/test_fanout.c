/* The fan-out: every observer sees every batch, in order, once; a slow one holds the producer back; buffers come back;
 * an observer that crashes is left out and the others go on. Run under ThreadSanitizer as well. */
#include "unit.h"

#include "observe/pipe_buffer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Records carry a running number in `fetch` and one by guest thread in `dispatch`. */
struct watcher {
    uint64_t records, by_thread[8], batches;
    uint64_t finished, freed;
    long delay;        /* nanoseconds a batch */
    atomic_uint *gate; /* waits while it is 0 */
    uint64_t crash_at; /* batch number; 0: never */
    bool in_order;
};

static int *volatile nowhere = (int *)16;

static void watch(void *self, const struct as_pipe_batch *batch)
{
    struct watcher *watcher = self;
    watcher->batches++;
    while (watcher->gate && atomic_load(watcher->gate) == 0)
        sched_yield();
    if (watcher->delay)
        nanosleep(&(struct timespec){.tv_nsec = watcher->delay}, NULL);
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_pipe *pipe = &batch->pipes[i];
        watcher->in_order &= pipe->fetch == watcher->records++ && pipe->thread == batch->thread &&
                             pipe->dispatch == watcher->by_thread[batch->thread]++;
    }
    if (watcher->batches == watcher->crash_at)
        *nowhere = 1;
}

static void on_finish(void *self, FILE *out)
{
    struct watcher *watcher = self;
    watcher->finished++;
    if (out)
        fprintf(out, "%d\n", (int)watcher->records);
}

static void on_free(void *self)
{
    ((struct watcher *)self)->freed++;
}

static const struct as_observer ops = {
    .version = AS_OBSERVER_VERSION, .name = "watcher", .batch = watch, .finish = on_finish, .free = on_free};

static void produce(struct as_fanout *fanout, uint64_t *records, uint64_t *by_thread, uint32_t thread, size_t n)
{
    struct as_pipe_buffer *buffer = as_pipe_buffer_take(fanout);
    assert_int_equal((uintptr_t)buffer->pipes % 64, 0);
    for (size_t i = 0; i < n; i++)
        buffer->pipes[i] =
            (struct as_pipe){.fetch = (*records)++, .dispatch = by_thread[thread]++, .thread = (uint16_t)thread};
    as_pipe_buffer_publish(fanout, buffer, thread, n, false);
}

enum { BATCH = 32, WATCHERS = 4 };

static struct as_fanout *start(const struct as_fanout_options *options, struct watcher *watchers, size_t n,
                               bool foreign)
{
    struct as_fanout *fanout = as_fanout_new(options);
    struct as_error err = AS_ERROR_INIT;
    for (size_t i = 0; i < n; i++) {
        watchers[i].in_order = true;
        as_fanout_add(fanout, &ops, &watchers[i], foreign);
    }
    assert_true(as_fanout_start(fanout, &err));
    return fanout;
}

static void stress(const struct as_fanout_options *options, int batches)
{
    struct watcher watchers[WATCHERS] = {{.delay = 0}, {.delay = 20000}, {.delay = 0}, {.delay = 100}};
    struct as_fanout *fanout = start(options, watchers, WATCHERS, false);
    uint64_t records = 0, by_thread[8] = {0};
    for (int i = 0; i < batches; i++)
        produce(fanout, &records, by_thread, (uint32_t)(i * 7 % 5), 1 + (size_t)i * 13 % BATCH);
    as_fanout_finish(fanout);
    for (int i = 0; i < WATCHERS; i++) {
        assert_true(watchers[i].in_order);
        assert_int_equal(watchers[i].records, records);
        assert_int_equal(watchers[i].batches, batches);
    }
    assert_int_equal(as_fanout_report(fanout, NULL), 0);
    as_fanout_free(fanout);
    for (int i = 0; i < WATCHERS; i++) {
        assert_int_equal(watchers[i].finished, 1);
        assert_int_equal(watchers[i].freed, 1);
    }
}

static void everyone_sees_everything(void **state)
{
    for (size_t in_flight = 1; in_flight <= 9; in_flight += 2)
        stress(&(struct as_fanout_options){.batch = BATCH, .in_flight = in_flight}, 400);
}

static void without_threads(void **state)
{
    stress(&(struct as_fanout_options){.inline_ = true, .batch = BATCH, .in_flight = 4}, 100);
}

static void without_observers(void **state)
{
    assert_int_equal(as_fanout_free(NULL), 0);
    struct as_fanout *fanout = start(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4}, NULL, 0, false);
    uint64_t records = 0, by_thread[8] = {0};
    for (int i = 0; i < 100; i++)
        produce(fanout, &records, by_thread, 0, BATCH);
    as_fanout_free(fanout);
}

/* One observer stands at a gate: the producer must stop after `in_flight` batches, and must go on when it opens. */
struct blocked {
    struct as_fanout *fanout;
    atomic_uint published;
};

static void *produce_many(void *argument)
{
    struct blocked *blocked = argument;
    uint64_t records = 0, by_thread[8] = {0};
    for (int i = 0; i < 50; i++) {
        produce(blocked->fanout, &records, by_thread, 1, BATCH);
        atomic_fetch_add(&blocked->published, 1);
    }
    return NULL;
}

static void slow_observers_hold_the_producer(void **state)
{
    atomic_uint gate = 0;
    struct watcher watchers[2] = {{.gate = &gate}, {.delay = 0}};
    struct blocked blocked = {
        .fanout = start(&(struct as_fanout_options){.batch = BATCH, .in_flight = 6}, watchers, 2, false)};
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_many, &blocked), 0);
    while (atomic_load(&blocked.published) < 6)
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(atomic_load(&blocked.published), 6);
    atomic_store(&gate, 1);
    pthread_join(producer, NULL);
    as_fanout_finish(blocked.fanout);
    for (int i = 0; i < 2; i++)
        assert_true(watchers[i].in_order && watchers[i].batches == 50);
    as_fanout_free(blocked.fanout);
}

/* Before observers forget what they know of the code, they have seen all that ran so far. */
struct forgetful {
    struct watcher watcher; /* first: it is what `watch` gets */
    uint64_t times, seen;
};

static void on_forget(void *self)
{
    struct forgetful *forgetful = self;
    forgetful->times++;
    forgetful->seen = forgetful->watcher.records;
}

static void all_is_seen_before_it_is_forgotten(void **state)
{
    static const struct as_observer forgets = {
        .version = AS_OBSERVER_VERSION, .name = "forgetful", .batch = watch, .forget = on_forget};
    for (int inline_ = 0; inline_ < 2; inline_++) {
        struct forgetful forgetful = {.watcher = {.delay = 3000000, .in_order = true}};
        struct as_error err = AS_ERROR_INIT;
        struct as_fanout *fanout =
            as_fanout_new(&(struct as_fanout_options){.inline_ = inline_, .batch = BATCH, .in_flight = 8});
        uint64_t records = 0, by_thread[8] = {0};
        as_fanout_add(fanout, &forgets, &forgetful, false);
        assert_true(as_fanout_start(fanout, &err));
        for (uint64_t round = 1; round <= 3; round++) {
            for (int i = 0; i < 5; i++)
                produce(fanout, &records, by_thread, 0, BATCH);
            as_fanout_forget(fanout);
            assert_int_equal(forgetful.times, round);
            assert_int_equal(forgetful.seen, records);
        }
        as_fanout_finish(fanout);
        as_fanout_free(fanout);
    }
}

/* Buffers are reused: with everything in lock-step, a handful serves any number of batches. */
static void buffers_are_reused(void **state)
{
    struct watcher watcher = {.delay = 0};
    struct as_fanout *fanout = start(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4}, &watcher, 1, false);
    struct as_pipe_buffer *seen[64];
    size_t n_seen = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        struct as_pipe_buffer *buffer = as_pipe_buffer_take(fanout);
        size_t at = 0;
        while (at < n_seen && seen[at] != buffer)
            at++;
        if (at == n_seen) {
            assert_in_range(n_seen, 0, 5); /* in flight, the one in hand, and one that came back too late */
            seen[n_seen++] = buffer;
        }
        buffer->pipes[0] = (struct as_pipe){.fetch = i, .dispatch = i};
        as_pipe_buffer_publish(fanout, buffer, 0, 1, false);
    }
    as_fanout_finish(fanout);
    assert_true(watcher.in_order);
    as_fanout_free(fanout);
}

/* A buffer for each of several guest threads at a time, published in another order than taken; empty ones are no batch.
 */
static void several_buffers_in_hand(void **state)
{
    struct watcher watcher = {.delay = 0};
    struct as_fanout *fanout = start(&(struct as_fanout_options){.batch = BATCH, .in_flight = 2}, &watcher, 1, false);
    struct as_pipe_buffer *buffers[8];
    for (uint32_t t = 0; t < 8; t++)
        buffers[t] = as_pipe_buffer_take(fanout);
    for (uint32_t t = 8; t-- > 0;) {
        buffers[t]->pipes[0] = (struct as_pipe){.fetch = 7 - t, .thread = (uint16_t)t};
        as_pipe_buffer_publish(fanout, buffers[t], t, 1, false);
    }
    as_pipe_buffer_publish(fanout, as_pipe_buffer_take(fanout), 0, 0, false);
    as_fanout_finish(fanout);
    assert_int_equal(watcher.batches, 8);
    assert_true(watcher.in_order);
    as_fanout_free(fanout);
}

static void reports_in_order(void **state)
{
    struct watcher watchers[3] = {{.records = 0}};
    struct as_fanout *fanout = start(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4}, watchers, 3, true);
    uint64_t records = 0, by_thread[8] = {0};
    produce(fanout, &records, by_thread, 0, 3);
    as_fanout_finish(fanout);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(as_fanout_report(fanout, out), 0);
    fclose(out);
    assert_string_equal(text, "3\n3\n3\n");
    free(text);
    as_fanout_free(fanout);
}

/* ---- workers ---- */

struct worker {
    uint32_t number, n; /* of so many */
    uint64_t batches, records, merged, finished, freed;
    uint64_t crash_at; /* batch that it sees; 0: never */
    bool in_turn;
};

static void work(void *self, const struct as_pipe_batch *batch)
{
    struct worker *worker = self;
    worker->in_turn &= batch->number == worker->batches++ * worker->n + worker->number;
    worker->records += batch->n;
    if (worker->batches == worker->crash_at)
        *nowhere = 1;
}

static void on_merge(void *self, void *other)
{
    struct worker *worker = self;
    worker->records += ((struct worker *)other)->records;
    worker->merged++;
}

static void worker_finish(void *self, FILE *out)
{
    ((struct worker *)self)->finished++;
}

static void worker_free(void *self)
{
    ((struct worker *)self)->freed++;
}

static const struct as_observer worker_ops = {.version = AS_OBSERVER_VERSION,
                                              .name = "worker",
                                              .batch = work,
                                              .finish = worker_finish,
                                              .free = worker_free,
                                              .workers = 64,
                                              .merge = on_merge};
enum { MOST_WORKERS = 5 };

/* `n` workers beside an ordinary observer; returns how many observers crashed. */
static size_t share_work(struct worker *workers, uint32_t n, bool inline_, bool foreign, int batches)
{
    struct watcher watcher = {.in_order = true, .delay = 1000};
    void *selves[MOST_WORKERS];
    struct as_error err = AS_ERROR_INIT;
    struct as_fanout *fanout =
        as_fanout_new(&(struct as_fanout_options){.inline_ = inline_, .batch = BATCH, .in_flight = 4});
    for (uint32_t i = 0; i < n; i++) {
        workers[i].number = i;
        workers[i].n = n;
        workers[i].in_turn = true;
        selves[i] = &workers[i];
    }
    as_fanout_add_workers(fanout, &worker_ops, selves, n, foreign);
    as_fanout_add(fanout, &ops, &watcher, false);
    assert_true(as_fanout_start(fanout, &err));
    uint64_t records = 0, by_thread[8] = {0};
    for (int i = 0; i < batches; i++)
        produce(fanout, &records, by_thread, 0, 1 + (size_t)i % BATCH);
    as_fanout_finish(fanout);
    size_t crashed = as_fanout_report(fanout, NULL);
    assert_true(as_fanout_crashed(fanout, 0) == (crashed > 0) && !as_fanout_crashed(fanout, 1));
    assert_true(crashed || workers[0].records == records);
    as_fanout_free(fanout);
    assert_true(watcher.in_order && watcher.records == records && watcher.finished == 1 && watcher.freed == 1);
    return crashed;
}

static void workers_take_turns_and_are_merged(void **state)
{
    for (uint32_t n = 1; n <= MOST_WORKERS; n++)
        for (int batches = 0; batches < 40; batches += 13) {
            struct worker workers[MOST_WORKERS] = {{0}};
            assert_int_equal(share_work(workers, n, batches == 13, batches == 26, batches), 0);
            assert_int_equal(workers[0].merged, n - 1);
            assert_int_equal(workers[0].finished, 1);
            for (uint32_t i = 0; i < n; i++) {
                assert_true(workers[i].in_turn);
                assert_int_equal(workers[i].batches, ((uint32_t)batches + n - 1 - i) / n);
                assert_int_equal(workers[i].freed, 1);
                assert_int_equal(workers[i].finished, i == 0);
            }
        }
}

/* Its share is missing: nothing is merged, nothing is reported. */
static void crash_of_a_worker(void *argument)
{
    struct worker workers[MOST_WORKERS] = {{0}, {.crash_at = 2}};
    size_t crashed = share_work(workers, 3, false, true, 30);
    bool right = crashed == 1 && workers[0].merged == 0 && workers[0].finished == 0 && workers[0].batches == 10 &&
                 workers[2].batches == 10 && workers[1].batches == 2 && workers[1].freed == 0;
    _exit(right ? 0 : 1);
}

static void a_worker_that_crashes_ends_its_observer(void **state)
{
    char text[1024];
    assert_int_equal(unit_run_child(crash_of_a_worker, NULL, text, sizeof text), 0);
    assert_string_equal(
        text, "assay: the observer 'worker' crashed (SIGSEGV): the run continues, and its result is missing\n");
}

static void as_many_workers_as_there_are_processors(void **state)
{
    const struct as_observer three = {.workers = 3, .merge = on_merge}, lacks_merge = {.workers = 3};
    assert_int_equal(as_fanout_count_workers(&ops, 64), 1);
    assert_int_equal(as_fanout_count_workers(&lacks_merge, 64), 1);
    assert_int_equal(as_fanout_count_workers(&three, 0), 1);
    assert_int_equal(as_fanout_count_workers(&three, 2), 1);
    assert_int_equal(as_fanout_count_workers(&three, 3), 1);
    assert_int_equal(as_fanout_count_workers(&three, 4), 2);
    assert_int_equal(as_fanout_count_workers(&three, 64), 3);
}

/* ---- what observers ask for ---- */

struct asker {
    uint64_t batches, accesses, stays;
    bool right;
};

/* As ask_for fills them: access k of a batch is record k's, stays are one for each record. */
static void ask(void *self, const struct as_pipe_batch *batch)
{
    struct asker *asker = self;
    asker->batches++;
    asker->right &= batch->size == sizeof *batch;
    for (size_t i = 0; i < batch->n_accesses; i++)
        asker->right &= batch->owners[i] == i && batch->accesses[i].address == 100 * batch->number + i &&
                        batch->accesses[i].size == 8 && batch->accesses[i].kind == AS_ACCESS_STORE &&
                        batch->accesses[i].insn == batch->pipes[i].insn;
    for (size_t i = 0; i < batch->n_stays; i++)
        asker->right &= batch->stays[i].from == batch->number && batch->stays[i].resource == AS_RESOURCE_ROB;
    asker->accesses += batch->n_accesses;
    asker->stays += batch->n_stays;
}

static void wants_are_joined_and_met(void **state)
{
    const struct as_observer ops_of[] = {{.name = "a", .batch = ask, .wants = AS_WANT_ACCESSES},
                                         {.name = "b", .batch = ask, .wants = AS_WANT_OCCUPANCY},
                                         {.name = "c", .batch = ask}};
    struct asker askers[3] = {{.right = true}, {.right = true}, {.right = true}};
    struct as_error err = AS_ERROR_INIT;
    struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4});
    uint32_t wants[] = {0, AS_WANT_ACCESSES, AS_WANT_ACCESSES | AS_WANT_OCCUPANCY,
                        AS_WANT_ACCESSES | AS_WANT_OCCUPANCY};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(as_fanout_wants(fanout), wants[i]);
        as_fanout_add(fanout, &ops_of[i], &askers[i], false);
    }
    assert_int_equal(as_fanout_wants(fanout), wants[3]);
    assert_true(as_fanout_start(fanout, &err));
    for (uint64_t number = 0; number < 20; number++) { /* more than buffers: what is left in one must not show again */
        struct as_pipe_buffer *buffer = as_pipe_buffer_take(fanout);
        size_t n = 1 + number % 7;
        for (uint32_t i = 0; i < n; i++) {
            struct as_stay stay = {.from = number, .cycles = 1, .resource = AS_RESOURCE_ROB};
            struct as_data_access access = {.address = 100 * number + i, .insn = i, .size = 8, .kind = AS_ACCESS_STORE};
            buffer->pipes[i] = (struct as_pipe){.insn = i};
            as_pipe_buffer_add_access(buffer, i, &access);
            *as_vec_push(&buffer->stays) = stay;
        }
        as_pipe_buffer_publish(fanout, buffer, 1, n, false);
    }
    as_fanout_finish(fanout);
    for (int i = 0; i < 3; i++) {
        assert_true(askers[i].right);
        assert_int_equal(askers[i].accesses, 20 + (0 + 1 + 2 + 3 + 4 + 5 + 6) * 2 + (0 + 1 + 2 + 3 + 4 + 5));
        assert_int_equal(askers[i].stays, askers[i].accesses);
    }
    as_fanout_free(fanout);
}

/* ---- runs along edges ---- */

struct reader {
    uint64_t batches, stays;
    bool right;
};

/* Batch `number` has a record with a stay, and two along an edge with two stays, in cycles from 100 * number on. */
static void read_expanded(void *self, const struct as_pipe_batch *batch)
{
    struct reader *reader = self;
    uint64_t base = 100 * batch->number;
    bool last = batch->number == 3;
    static const uint64_t from[] = {7, 1, 2};
    const struct as_pipe *pipes = batch->pipes;
    reader->right &= batch->n == 3 && pipes[0].insn == 5 && pipes[0].commit == base;
    reader->right &= pipes[1].insn == 6 && pipes[1].commit == base + 3 && pipes[1].path == 9 && pipes[1].flags == 0;
    reader->right &= pipes[2].insn == 7 && pipes[2].commit == base + 4 && pipes[2].thread == 1;
    reader->right &= (pipes[2].flags & AS_PIPE_LAST) == (last ? AS_PIPE_LAST : 0);
    for (size_t i = 0; i < batch->n_stays; i++)
        reader->right &= i < 3 && batch->stays[i].from == base + from[i];
    reader->stays += batch->n_stays;
    reader->batches++;
}

/* As they are. */
static void read_edges(void *self, const struct as_edge_batch *batch)
{
    struct reader *reader = self;
    reader->right &= batch->n_runs == 2 && !batch->runs[0].edge && batch->runs[1].edge->n == 2 && batch->n_stays == 1;
    reader->batches++;
}

static void publish_edge(struct as_fanout *fanout, uint64_t number, bool last)
{
    static const struct as_edge_record records[] = {{.commit = 3, .insn = 6}, {.commit = 4, .insn = 7}};
    static const struct as_edge_stay stays[] = {{.from = 1, .cycles = 2}, {.from = 2, .cycles = 2}};
    static const struct as_edge edge = {.n = 2, .committed = 4, .n_stays = 2, .stays = stays, .records = records};
    struct as_pipe_buffer *buffer = as_pipe_buffer_take(fanout);
    struct as_edge_run run = as_edge_run_of(&edge, 100 * number, 9);
    buffer->pipes[0] = (struct as_pipe){.insn = 5, .commit = 100 * number, .thread = 1};
    *as_vec_push(&buffer->stays) = (struct as_stay){.from = 100 * number + 7, .cycles = 1};
    *as_vec_push(&buffer->runs) = as_edge_run_of_records(buffer->pipes, 0, 1);
    run.first = 1;
    *as_vec_push(&buffer->runs) = run;
    as_pipe_buffer_publish(fanout, buffer, 1, 3, last);
}

/* Those who read records get them, once however many they are; the others read edges. */
static void edges_become_records(void **state)
{
    const struct as_observer ops_of[] = {{.name = "a", .batch = read_expanded},
                                         {.name = "b", .batch = read_expanded},
                                         {.name = "c", .batch = read_expanded, .edges = read_edges}};
    struct reader readers[3] = {{.right = true}, {.right = true}, {.right = true}};
    struct as_error err = AS_ERROR_INIT;
    struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4});
    for (int i = 0; i < 3; i++)
        as_fanout_add(fanout, &ops_of[i], &readers[i], false);
    assert_true(as_fanout_start(fanout, &err));
    for (uint64_t number = 0; number < 4; number++)
        publish_edge(fanout, number, number == 3);
    as_fanout_finish(fanout);
    for (int i = 0; i < 3; i++) {
        assert_true(readers[i].right);
        assert_int_equal(readers[i].batches, 4);
        assert_int_equal(readers[i].stays, i < 2 ? 4 * 3 : 0);
    }
    as_fanout_free(fanout);
}

/* ---- crashes ---- */

static void crash_in_the_middle(void *argument)
{
    bool inline_ = *(bool *)argument;
    struct watcher watchers[3] = {{.delay = 0}, {.crash_at = 5}, {.delay = 0}};
    struct as_fanout *fanout =
        start(&(struct as_fanout_options){.inline_ = inline_, .batch = BATCH, .in_flight = 4}, watchers, 3, true);
    uint64_t records = 0, by_thread[8] = {0};
    for (int i = 0; i < 50; i++)
        produce(fanout, &records, by_thread, 0, BATCH);
    as_fanout_finish(fanout);
    bool right = as_fanout_report(fanout, NULL) == 1 && as_fanout_crashed(fanout, 1) && !as_fanout_crashed(fanout, 0);
    as_fanout_free(fanout);
    right = right && watchers[0].batches == 50 && watchers[2].batches == 50 && watchers[1].batches == 5;
    right = right && watchers[0].finished == 1 && watchers[1].finished == 0 && watchers[1].freed == 0;
    _exit(right ? 0 : 1);
}

static void a_crash_ends_one_observer(void **state)
{
    bool modes[] = {false, true};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        assert_int_equal(unit_run_child(crash_in_the_middle, &modes[i], text, sizeof text), 0);
        assert_string_equal(
            text, "assay: the observer 'watcher' crashed (SIGSEGV): the run continues, and its result is missing\n");
    }
}

/* Our own observers are not guarded: a crash there is a crash. */
static void crash_of_our_own(void *argument)
{
    struct watcher watchers[2] = {{.crash_at = 1}, {.delay = 0}};
    struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){.batch = BATCH, .in_flight = 4});
    struct as_error err = AS_ERROR_INIT;
    as_fanout_add(fanout, &ops, &watchers[1], true);
    as_fanout_add(fanout, &ops, &watchers[0], false);
    if (!as_fanout_start(fanout, &err))
        _exit(1);
    uint64_t records = 0, by_thread[8] = {0};
    produce(fanout, &records, by_thread, 0, BATCH);
    as_fanout_finish(fanout);
    _exit(0);
}

static void our_own_crashes_are_not_hidden(void **state)
{
    char text[65536];
    int status = unit_run_child(crash_of_our_own, NULL, text, sizeof text);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0); /* a sanitizer exits by itself */
    assert_null(strstr(text, "the run continues"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_sees_everything),
        cmocka_unit_test(without_threads),
        cmocka_unit_test(without_observers),
        cmocka_unit_test(slow_observers_hold_the_producer),
        cmocka_unit_test(all_is_seen_before_it_is_forgotten),
        cmocka_unit_test(buffers_are_reused),
        cmocka_unit_test(several_buffers_in_hand),
        cmocka_unit_test(reports_in_order),
        cmocka_unit_test(workers_take_turns_and_are_merged),
        cmocka_unit_test(a_worker_that_crashes_ends_its_observer),
        cmocka_unit_test(as_many_workers_as_there_are_processors),
        cmocka_unit_test(wants_are_joined_and_met),
        cmocka_unit_test(edges_become_records),
        cmocka_unit_test(a_crash_ends_one_observer),
        cmocka_unit_test(our_own_crashes_are_not_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
