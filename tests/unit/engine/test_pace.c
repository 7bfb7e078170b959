/* Budgets of threads (pace.h), by where the threads are. */
#include "reader_fixture.h"

#include <unistd.h>

static uint64_t now;
static uint64_t ahead[3]; /* of that, by thread */

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    return now + ahead[thread->number];
}

static const struct as_shared_ranges *shared_of(void *context, const struct as_thread *thread)
{
    static const struct as_shared_ranges none;
    return &none;
}

static int set_up(void **state)
{
    set_up_reader(state);
    now = 1000;
    memset(ahead, 0, sizeof ahead);
    reader_sink.clock = clock_of;
    reader_sink.shared = shared_of;
    reader.gear.state = AS_GEAR_RECORD;
    child.wire->quantum = options.quantum;
    as_pace_init(&reader);
    return 0;
}

/* A child that has to stop before its first block, while its parent waits for it in a system call: nobody else can let it go. */
static void test_only_thread_begins(void **state)
{
    const struct as_wire_lane *parent = add_thread(1, 1), *begins = add_thread(2, 2);
    atomic_store(&child.wire->lanes[0].activity, AS_WIRE_IN_SYSCALL);
    uint32_t rung = atomic_load(&begins->ring);
    assert_true(as_pace_turn(&reader, true));
    assert_true(atomic_load(&begins->stop_at) > 0);
    assert_int_equal(atomic_load(&begins->ring), rung + 1);
    assert_true(atomic_load(&parent->stop_at) > 0); /* it comes back some time */
    assert_false(as_pace_turn(&reader, true));      /* it need not be told twice */
}

/* Two that run: neither gets more than takes it a quantum beyond the other. */
static void test_two_threads(void **state)
{
    const struct as_wire_lane *one = add_thread(1, 1), *other = add_thread(2, 1);
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&one->stop_at), options.quantum);
    assert_int_equal(atomic_load(&other->stop_at), options.quantum);
}

/* The least that a thread gets, or it would sleep for every few instructions: less where threads meet, more where they have not for long. */
static void test_least_budgets(void **state)
{
    const struct as_wire_lane *one = add_thread(1, 1);
    add_thread(2, 1);
    options.quantum = 100;
    child.wire->quantum = 100;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 600);
    reader.handovers.on = true;
    atomic_store(&child.wire->lanes[0].stop_at, 0);
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 300);
    now = 2000; /* 20 quanta without a meeting */
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 300);
    now = 2001;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 4800);
}

/* At its own pace: what takes it a quantum further. Time in which it waited does not count, nor does a pace that cannot be. */
static void test_own_pace(void **state)
{
    const struct as_wire_lane *one = add_thread(1, 1), *other = add_thread(2, 1);
    now = 0;
    as_pace_turn(&reader, true);
    reader.streams[0]->executed = 20000;
    reader.streams[1]->executed = 5000;
    now += options.quantum;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 20000 + 2 * options.quantum);
    assert_int_equal(atomic_load(&other->stop_at), 5000 + options.quantum / 2);
    reader.streams[0]->executed += 10; /* it waited: a quarter of the pace before */
    reader.streams[1]->executed += 1000 * options.quantum;
    now += options.quantum;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), 20010 + options.quantum / 2);
    assert_int_equal(atomic_load(&other->stop_at), 5000 + 1008 * options.quantum);
}

/* A thread that is ahead gets what takes it a quantum beyond the one that is behind; one that is further ahead gets nothing. */
static void test_ahead(void **state)
{
    const struct as_wire_lane *one = add_thread(1, 1), *other = add_thread(2, 1);
    now = 0;
    ahead[2] = reader.streams[1]->executed = options.quantum / 4;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&one->stop_at), options.quantum);
    assert_int_equal(atomic_load(&other->stop_at), options.quantum);
    ahead[2] = reader.streams[1]->executed = 2 * options.quantum;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&other->stop_at), 2 * options.quantum);
}

/* One that waits by looking gets an eighth of what it has looked for, and a few instructions at least. */
static void test_budget_of_a_spinning_thread(void **state)
{
    static const struct {
        uint64_t from, spun, looked, budget;
    } cases[] = {{1000, 1800, 1800, 100}, {1000, 1160, 1160, 20},  {0, 1800, 1800, 20},
                 {1000, 1800, 1899, 100}, {1000, 1800, 1900, 300}, {0, 0, 5, 300}};
    const struct as_wire_lane *one = add_thread(1, 1), *looks = add_thread(2, 1);
    now = 0;
    reader.handovers.on = true;
    *as_vec_push(&reader.handovers.lanes) = (struct as_handover_lane){.thread = 1};
    *as_vec_push(&reader.handovers.lanes) = (struct as_handover_lane){.thread = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_handover_lane *own = &reader.handovers.lanes.data[1];
        own->spins_from = cases[i].from;
        own->spun = cases[i].spun;
        own->looked = cases[i].looked;
        as_pace_turn(&reader, true);
        assert_int_equal(atomic_load(&looks->stop_at), cases[i].budget);
        assert_int_equal(atomic_load(&one->stop_at), 300);
    }
    reader.handovers.lanes.data[1] = (struct as_handover_lane){.thread = 2, .spins_from = 1000, .spun = 1800};
    reader.handovers.on = false; /* nobody knows whether they meet */
    child.wire->quantum = options.quantum;
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&looks->stop_at), options.quantum);
}

/* As long as threads meet they are no further apart than two meetings; `met` is what hand-overs count. */
static void test_quantum_follows_meetings(void **state)
{
    enum { CYCLES = 300, TURNS = 100 };
    add_thread(1, 1);
    add_thread(2, 1);
    reader.handovers.on = true;
    for (int i = 0; i < TURNS; i++, now += CYCLES) {
        as_pace_turn(&reader, true);
        reader.handovers.met++;
    }
    assert_in_range(atomic_load(&child.wire->quantum), CYCLES / 2, 2 * CYCLES);
    for (int i = 0; i < TURNS; i++, now += 10 * CYCLES)
        as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&child.wire->quantum), options.quantum);
}

/* Between processes whose shared memory is not known, nobody can tell how often they meet. */
static void test_unknown_meetings(void **state)
{
    struct as_process processes[2] = {{.number = 1}, {.number = 2}};
    add_thread(1, 1);
    add_thread(2, 2);
    reader.handovers.on = true;
    reader_sink.shared = NULL;
    for (int i = 0; i < 2; i++)
        *as_vec_push(&reader.processes) = &processes[i];
    for (int i = 0; i < 100; i++, now += 300) {
        as_pace_turn(&reader, true);
        reader.handovers.met++;
    }
    assert_int_equal(atomic_load(&child.wire->quantum), options.quantum);
    reader.processes.len = 0;
}

/* A thread that was woken is waited for until it runs, or for so long; if it comes after all, the next one is waited for all the same. */
static void test_woken_thread(void **state)
{
    enum { LONG_MICROSECONDS = 60000 };
    add_thread(1, 1);
    add_thread(2, 1);
    atomic_store(&child.wire->woken, 1);
    assert_false(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&child.wire->lanes[0].stop_at), 0);
    usleep(LONG_MICROSECONDS);
    assert_true(as_pace_turn(&reader, true)); /* it is given up */
    now += options.quantum;
    as_pace_turn(&reader, true); /* … for good */
    assert_int_equal(reader.pace.granted, now);
    atomic_store(&child.wire->woken, 0); /* it runs, late */
    as_pace_turn(&reader, true);
    atomic_store(&child.wire->woken, 1); /* another one is woken */
    now += options.quantum;
    as_pace_turn(&reader, true);
    assert_true(reader.pace.granted < now);
    atomic_store(&child.wire->woken, 0);
    as_pace_turn(&reader, true);
    assert_int_equal(reader.pace.granted, now);
}

/* Threads that meet execute atomics in the order of their times, whichever came to its atomic first. */
static void test_atomics_in_order(void **state)
{
    struct as_wire_lane *early = add_thread(1, 1), *late = add_thread(2, 1);
    reader.handovers.on = true;
    ahead[2] = 50;
    atomic_store(&late->asked, 1);
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&child.wire->orders), 1);
    assert_int_equal(atomic_load(&late->given), 0); /* the other one may come to an atomic, too */
    atomic_store(&early->asked, 1);
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&early->given), 0); /* clocks are those of earlier rounds: the next one asks exactly */
    reader.exactly = true;
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&early->given), 1);
    assert_int_equal(atomic_load(&late->given), 0);
    ahead[1] = 60; /* its atomic has been read */
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&late->given), 1);
}

static uint64_t served[3]; /* by thread: when it would have its line */

static uint64_t turn_of(void *context, const struct as_thread *thread)
{
    return served[thread->number];
}

/* A core that has a line goes on using it until it leaves: the thread that is behind gets it only then. */
static void test_atomic_waits_for_its_line(void **state)
{
    struct as_wire_lane *behind = add_thread(1, 1), *owner = add_thread(2, 1);
    reader_sink.turn = turn_of;
    reader.handovers.on = reader.exactly = true;
    ahead[2] = 50;
    served[1] = now + 70;
    served[2] = now + 50;
    atomic_store(&behind->asked, 1);
    atomic_store(&owner->asked, 1);
    as_pace_turn(&reader, true); /* from now on threads wait for their turns */
    assert_int_equal(as_pace_time(&reader, 0), now + 70);
    assert_int_equal(atomic_load(&owner->given), 1);
    assert_int_equal(atomic_load(&behind->given), 0);
    atomic_store(&owner->asked, 2);
    served[2] = now + 71;
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&owner->given), 1);
    assert_int_equal(atomic_load(&behind->given), 1);
    assert_int_equal(as_pace_time(&reader, 0), now); /* it does not wait any more */
    reader_sink.turn = NULL;
}

/* What a thread has executed must have been read: before that its time is not known. */
static void test_atomic_behind_words(void **state)
{
    struct as_wire_lane *lane = add_thread(1, 1);
    add_thread(2, 1);
    reader.handovers.on = true;
    reader.exactly = true;
    ahead[2] = 50;
    atomic_store(&lane->asked, 1);
    atomic_store(&lane->published, 1);
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&lane->given), 0);
    atomic_store(&lane->consumed, 1);
    as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&lane->given), 1);
}

/* A thread that runs alone because those that it meets are asleep wakes them some time: it must not be far ahead then. */
static void test_alone_among_sleepers(void **state)
{
    const struct as_wire_lane *runs = add_thread(1, 1);
    add_thread(2, 1);
    atomic_store(&child.wire->lanes[1].activity, AS_WIRE_IN_SYSCALL);
    reader.handovers.on = true;
    reader.handovers.met = 1;
    assert_true(as_pace_turn(&reader, true));
    assert_in_range(atomic_load(&runs->stop_at), 1, options.quantum);
    for (int i = 0; i < 100; i++, now += options.quantum) /* nobody meets anybody any more */
        as_pace_turn(&reader, true);
    assert_int_equal(atomic_load(&child.wire->orders), 0);
    assert_true(atomic_load(&runs->stop_at) > 10 * options.quantum);
}

/* In turn: a thread has executed another program, before whose first block it waits. Its old lane has words, and the kernel knows the thread
 * still: nobody waits for its end. */
static void test_executed_in_turn(void **state)
{
    struct as_wire_lane *before = add_thread(1, 1), *after = add_thread(2, 1);
    reader.pace.in_turn = true;
    before->pid = before->tid = after->pid = after->tid = getpid();
    before->image = 1;
    after->image = 2;
    after->instructions = 1;
    atomic_store(&before->published, 5);
    atomic_store(&before->state, AS_WIRE_ENDED);
    assert_true(as_pace_turn(&reader, true));
    assert_true(reader.pace.reads);
    reader.pace.reads = false;
    after->tid = 0; /* another one's: the first has not ended yet */
    assert_false(as_pace_turn(&reader, true));
    assert_false(reader.pace.reads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_thread_begins, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_two_threads, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_least_budgets, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_own_pace, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_ahead, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_budget_of_a_spinning_thread, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_quantum_follows_meetings, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_unknown_meetings, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_atomics_in_order, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_atomic_waits_for_its_line, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_atomic_behind_words, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_alone_among_sleepers, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_woken_thread, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_executed_in_turn, set_up, tear_down_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
