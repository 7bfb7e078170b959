/* Which core a thread gets: one of its own, which the next thread of its process takes over, or one of those that there are. */
#include "model/model_cores.h"

#include "unit.h"

#include <string.h>

static struct as_machine machine;

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_of_their_own), cmocka_unit_test(shared_cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
