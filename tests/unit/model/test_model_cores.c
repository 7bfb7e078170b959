/* Which core a thread gets: one of its own, which the next thread of its process takes over, or one of those that there are;
 * and whose turn it is there.
 *
 * usage: test_model_cores MACHINE */
#include "model/model_cores.h"

#include "unit.h"

#include <string.h>

static struct as_machine machine;
static char *machine_path;

static struct as_model_cores cores_of(uint32_t n, uint32_t sockets, const char *pinning)
{
    machine.coherence.cores = n;
    machine.coherence.sockets = sockets;
    snprintf(machine.coherence.pinning, sizeof machine.coherence.pinning, "%s", pinning);
    return (struct as_model_cores){.machine = &machine};
}

static void check(struct as_model_cores *cores, const uint32_t *expected, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(as_model_cores_pick(cores, 1), expected[i]);
    assert_int_equal(cores->started, n);
    as_vec_free(&cores->list);
}

static void cores_of_their_own(void **state)
{
    struct as_model_cores cores = cores_of(0, 1, "compact");
    assert_int_equal(as_model_cores_pick(&cores, 1), 0);
    assert_int_equal(as_model_cores_pick(&cores, 1), 1);
    assert_int_equal(as_model_cores_pick(&cores, 2), 2);
    assert_true(cores.list.data[0].process == 1 && cores.list.data[2].process == 2 && cores.list.data[1].threads == 1);
    cores.list.data[1].threads = 0;                      /* its thread has ended */
    assert_int_equal(as_model_cores_pick(&cores, 2), 3); /* it is another process's */
    assert_int_equal(as_model_cores_pick(&cores, 1), 1);
    cores.list.data[0] = cores.list.data[2] = (struct as_model_core){0}; /* nobody's */
    assert_int_equal(as_model_cores_pick(&cores, 3), 0);
    assert_int_equal(as_model_cores_pick(&cores, 3), 2);
    as_vec_free(&cores.list);
}

static void shared_cores(void **state)
{
    struct as_model_cores cores = cores_of(3, 1, "compact");
    check(&cores, (const uint32_t[]){0, 1, 2, 0, 1}, 5);
    cores = cores_of(4, 2, "scatter");
    check(&cores, (const uint32_t[]){0, 2, 1, 3, 0}, 5);
    cores = cores_of(4, 1, "3 1");
    check(&cores, (const uint32_t[]){3, 1, 3}, 3);
    cores = cores_of(2, 1, "compact");
    as_model_cores_pick(&cores, 1);
    as_model_cores_pick(&cores, 1);
    assert_int_equal(cores.list.data[0].process, 0); /* of nobody */
    cores.list.data[1].threads = 0;
    assert_int_equal(as_model_cores_pick(&cores, 2), 1); /* the one with the fewest */
    as_vec_free(&cores.list);
}

static bool nowhere(void *context, uint64_t address, struct as_code_run *run)
{
    return false;
}

static void seat(struct as_model_cores *cores, struct as_seat *seat, struct as_uncore *uncore, uint64_t time)
{
    seat->number = as_model_cores_pick(cores, 1);
    seat->core = as_core_new(&machine, uncore, seat->number, nowhere, NULL);
    as_core_wait_until(seat->core, time);
}

/* Two threads on one core: when each can go on, and what it is given from when to when. */
static void turns(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_machine_load(machine_path, &machine, &err));
    struct as_uncore *uncore = as_uncore_new(&machine);
    struct as_model_cores cores = cores_of(1, 1, "compact");
    struct as_seat first = {0}, second = {0};
    machine.coherence.slice = 1000;
    seat(&cores, &first, uncore, 500);
    assert_int_equal(as_model_cores_clock(&cores, &first), 500); /* nobody else is there */
    seat(&cores, &second, uncore, 100);
    assert_int_equal(cores.list.data[0].threads, 2);
    assert_int_equal(as_model_cores_clock(&cores, &second), 100);
    as_model_cores_enter(&cores, &first);
    assert_true(as_model_cores_has(&cores, &first) && !as_model_cores_has(&cores, &second));
    assert_int_equal(cores.list.data[0].slice_end, 1500);
    assert_int_equal(as_model_cores_clock(&cores, &second), 1500); /* when the slice ends */
    first.waits = true;
    assert_int_equal(as_model_cores_clock(&cores, &second), 500); /* at once */
    first.waits = false;
    as_core_wait_until(first.core, 2000); /* beyond its slice */
    assert_int_equal(as_model_cores_clock(&cores, &second), 2000);
    assert_int_equal(as_model_cores_clock(&cores, &first), 2000);
    as_model_cores_enter(&cores, &second);
    assert_int_equal(as_core_time(second.core), 2000);
    assert_int_equal(cores.list.data[0].slice_end, 3000);
    as_core_wait_until(second.core, 2300);
    as_model_cores_leave(&cores, &first, uncore, false); /* one that does not run leaves the other alone */
    assert_true(!first.core && as_model_cores_has(&cores, &second) && cores.list.data[0].threads == 1);
    assert_int_equal(cores.list.data[0].free_at, 0);
    as_model_cores_leave(&cores, &second, uncore, true);
    assert_true(!second.core && !cores.list.data[0].current && cores.list.data[0].threads == 0);
    assert_int_equal(cores.list.data[0].free_at, 2300);
    seat(&cores, &first, uncore, 10);
    seat(&cores, &second, uncore, 2500);
    assert_int_equal(as_model_cores_clock(&cores, &first), 2300); /* since the last one has left */
    assert_int_equal(as_model_cores_clock(&cores, &second), 2500);
    as_model_cores_enter(&cores, &first);
    assert_int_equal(as_core_time(first.core), 2300);
    as_model_cores_leave(&cores, &first, uncore, false);
    as_model_cores_leave(&cores, &second, uncore, true);
    as_vec_free(&cores.list);
    as_uncore_free(uncore);
}

/* The cores of a process are nobody's when its last thread has ended. */
static void left_cores(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_machine_load(machine_path, &machine, &err));
    struct as_uncore *uncore = as_uncore_new(&machine);
    struct as_model_cores cores = cores_of(0, 1, "compact");
    struct as_seat first = {0}, second = {0};
    seat(&cores, &first, uncore, 10);
    seat(&cores, &second, uncore, 20);
    assert_int_equal(as_model_cores_pick(&cores, 2), 2);
    as_model_cores_leave(&cores, &first, uncore, false);
    assert_true(cores.list.data[0].process == 1 && cores.list.data[0].threads == 0);
    as_model_cores_leave(&cores, &second, uncore, true);
    assert_true(cores.list.data[0].process == 0 && cores.list.data[1].process == 0);
    assert_true(cores.list.data[2].process == 2 && cores.list.data[2].threads == 1);
    as_vec_free(&cores.list);
    as_uncore_free(uncore);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    machine_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_of_their_own), cmocka_unit_test(shared_cores),
                                       cmocka_unit_test(turns), cmocka_unit_test(left_cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
