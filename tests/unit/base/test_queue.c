/* The bounded queue: order, the bound itself, closing with threads asleep inside, and no item lost or doubled when
 * several threads push and pop. */
#include "unit.h"

#include "base/queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static void keeps_order(void **state)
{
    struct as_queue *queue = as_queue_new(3);
    int items[5];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++)
            assert_true(as_queue_push(queue, &items[i]));
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(as_queue_pop(queue), &items[i]);
    }
    as_queue_free(queue);
}

static void drains_after_close(void **state)
{
    struct as_queue *queue = as_queue_new(2);
    int item;
    assert_true(as_queue_push(queue, &item));
    as_queue_close(queue);
    assert_false(as_queue_push(queue, &item));
    assert_ptr_equal(as_queue_pop(queue), &item);
    assert_null(as_queue_pop(queue));
    assert_null(as_queue_pop(queue));
    as_queue_free(queue);
}

static int status_of_new(size_t capacity)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        as_queue_new(capacity);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* One without room, or whose size cannot be computed, is a mistake of the program. */
static void impossible_capacities(void **state)
{
    const size_t wrong[] = {0, SIZE_MAX, SIZE_MAX / sizeof(void *), SIZE_MAX / sizeof(void *) / 2 + 1};
    assert_int_equal(status_of_new(1), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_not_equal(status_of_new(wrong[i]), 0);
}

struct sleeper {
    struct as_queue *queue;
    atomic_bool done, result;
};

static void *push_one(void *argument)
{
    struct sleeper *sleeper = argument;
    sleeper->result = as_queue_push(sleeper->queue, sleeper);
    sleeper->done = true;
    return NULL;
}

static void *pop_one(void *argument)
{
    struct sleeper *sleeper = argument;
    sleeper->result = as_queue_pop(sleeper->queue) != NULL;
    sleeper->done = true;
    return NULL;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

static void push_waits_for_room(void **state)
{
    struct sleeper sleeper = {.queue = as_queue_new(1)};
    pthread_t thread;
    int item;
    assert_true(as_queue_push(sleeper.queue, &item));
    assert_int_equal(pthread_create(&thread, NULL, push_one, &sleeper), 0);
    rest();
    assert_false(sleeper.done);
    assert_ptr_equal(as_queue_pop(sleeper.queue), &item);
    assert_ptr_equal(as_queue_pop(sleeper.queue), &sleeper);
    pthread_join(thread, NULL);
    assert_true(sleeper.result);
    as_queue_free(sleeper.queue);
}

static void close_wakes_everyone(void **state)
{
    for (int full = 0; full < 2; full++) {
        struct sleeper sleepers[3] = {0};
        struct as_queue *queue = as_queue_new(1);
        pthread_t threads[3];
        if (full)
            assert_true(as_queue_push(queue, queue));
        for (int i = 0; i < 3; i++) {
            sleepers[i].queue = queue;
            assert_int_equal(pthread_create(&threads[i], NULL, full ? push_one : pop_one, &sleepers[i]), 0);
        }
        rest();
        as_queue_close(queue);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            assert_true(sleepers[i].done);
            assert_false(sleepers[i].result);
        }
        as_queue_free(queue);
    }
}

enum { WORKERS = 3, ITEMS = 5000 };

struct crowd {
    struct as_queue *queue;
    atomic_int seen[WORKERS * ITEMS], next;
};

static void *push_many(void *argument)
{
    struct crowd *crowd = argument;
    for (int i = 0; i < ITEMS; i++)
        if (!as_queue_push(crowd->queue, (void *)&crowd->seen[atomic_fetch_add(&crowd->next, 1)]))
            return argument;
    return NULL;
}

static void *pop_many(void *argument)
{
    struct crowd *crowd = argument;
    for (atomic_int *item; (item = as_queue_pop(crowd->queue));)
        atomic_fetch_add(item, 1);
    return NULL;
}

static void loses_nothing(void **state)
{
    static struct crowd crowd;
    pthread_t pushers[WORKERS], poppers[WORKERS];
    crowd.queue = as_queue_new(7);
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&pushers[i], NULL, push_many, &crowd), 0);
        assert_int_equal(pthread_create(&poppers[i], NULL, pop_many, &crowd), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        void *failed;
        pthread_join(pushers[i], &failed);
        assert_null(failed);
    }
    as_queue_close(crowd.queue);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(poppers[i], NULL);
    for (int i = 0; i < WORKERS * ITEMS; i++)
        assert_int_equal(crowd.seen[i], 1);
    as_queue_free(crowd.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order),         cmocka_unit_test(drains_after_close),
        cmocka_unit_test(push_waits_for_room), cmocka_unit_test(close_wakes_everyone),
        cmocka_unit_test(loses_nothing),       cmocka_unit_test(impossible_capacities),
    };
    alarm(300); /* a lost wake-up would hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
