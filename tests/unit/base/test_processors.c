/* Processors: those that the process may use, not those that there are. */
#include "base/processors.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static void as_many_as_may_be_used(void **state)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(as_processors(), CPU_COUNT(&before));
    int first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(as_processors(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void idle_unless_others_run(void **state)
{
    assert_true(as_processors_idle_by("0.22 1.46 2.25 1/123 4567\n", 2)); /* the caller */
    assert_true(as_processors_idle_by("9.22 1.46 2.25 2/123 4567\n", 3)); /* what was does not matter */
    assert_false(as_processors_idle_by("0.22 1.46 2.25 2/123 4567\n", 2));
    assert_false(as_processors_idle_by("0.22 1.46 2.25 3/123 4567\n", 4));
    assert_false(as_processors_idle_by("0.22 1.46 2.25 1/123 4567\n", 0));
    assert_false(as_processors_idle_by("0.22 1.46 2.25 0/123 4567\n", 2));
    assert_false(as_processors_idle_by("", 2));
}

static void *policy_here(void *policy)
{
    *(int *)policy = sched_getscheduler(0);
    return NULL;
}

static int policy_of_thread(void)
{
    pthread_t thread;
    int policy = -1;
    assert_int_equal(pthread_create(&thread, NULL, policy_here, &policy), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return policy;
}

static int policy_of_process(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(sched_getscheduler(0));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

/* Threads take part, and nothing that is started afterwards. A policy that is another one already stays. */
static void batch_ends(void **state)
{
    const struct sched_param none = {0};
    int before = sched_getscheduler(0);
    assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
    bool begun = as_processors_begin_batch();
    assert_true(begun);
    assert_int_equal(policy_of_thread(), SCHED_BATCH);
    assert_false(as_processors_begin_batch());
    as_processors_end_batch(false);
    assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
    as_processors_end_batch(begun);
    assert_int_equal(policy_of_thread(), SCHED_OTHER);
    assert_int_equal(policy_of_process(), SCHED_OTHER);
    if (before == SCHED_BATCH)
        assert_int_equal(sched_setscheduler(0, before, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_many_as_may_be_used),
                                       cmocka_unit_test(idle_unless_others_run), cmocka_unit_test(batch_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
