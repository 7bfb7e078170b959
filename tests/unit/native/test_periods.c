/* Periods of counters, fixed and varied: the victim's page faults go through its pages in order, so that the distance
 * of the addresses of two samples is the period between them. */
#include "native/session.h"

#include "perf_here.h"
#include "unit.h"

#include "base/map.h"
#include "base/vec.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { PERIOD = 150, PRIME = 149, GAP = 7 /* between primes */, FAULTS = 600000, PAGES = 4096 };

struct seen {
    AS_VEC(uint64_t) addresses;
    double weight;
    struct as_native_session *session;
};

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct seen *seen = context;
    (void)err;
    *as_vec_push(&seen->addresses) = sample->addr;
    seen->weight += as_native_weight(seen->session, sample);
    return true;
}

static const struct as_perf_sink sink = {.sample = on_sample};

/* On one processor: each has a counter of its own. */
static void run(struct seen *seen, bool random)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_native_event event;
    char number[16];
    cpu_set_t before, one;
    snprintf(number, sizeof number, "%d", FAULTS);
    char *const argv[] = {(char *)VICTIM, (char *)"faults", number, NULL};
    struct as_native_options options = {.n_events = 1,
                                        .events = &event,
                                        .period = PERIOD,
                                        .random = random,
                                        .mode = AS_NATIVE_USER,
                                        .fields = PERF_SAMPLE_ADDR};
    assert_true(as_native_event_parse("", "page-faults", &event, &err));
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    seen->session = as_native_launch(&options, argv, &err);
    sched_setaffinity(0, sizeof before, &before);
    if (!seen->session && unit_no_task_clock())
        unit_skip("no software events here: %s", unit_no_task_clock());
    if (!seen->session)
        fail_msg("%s", err.message);
    assert_true(as_native_run(seen->session, &sink, seen, &err));
    assert_int_equal(as_native_info(seen->session)->lost, 0);
}

/* How often each period was seen; what the program does besides its pages is in few of them. */
static void periods_of(const struct seen *seen, struct as_map *periods)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 1; i < seen->addresses.len; i++) {
        uint64_t pages = (seen->addresses.data[i] - seen->addresses.data[i - 1]) / page;
        ++*as_map_put(periods, pages % PAGES);
    }
}

static void forget(struct seen *seen, struct as_map *periods)
{
    as_native_close(seen->session);
    as_vec_free(&seen->addresses);
    as_map_free(periods);
}

static void a_period_is_kept(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct as_map periods = {0};
    run(&seen, false);
    periods_of(&seen, &periods);
    const uint64_t *usual = as_map_get(&periods, PRIME);
    assert_non_null(usual);
    assert_true(*usual > 0.98 * FAULTS / PRIME);
    assert_true(fabs(seen.weight - FAULTS) < 2000); /* the start of the program has some hundred */
    forget(&seen, &periods);
}

static void random_periods_vary(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct as_map periods = {0};
    uint64_t near = 0;
    size_t different = 0;
    run(&seen, true);
    periods_of(&seen, &periods);
    for (uint64_t period = PERIOD * 9 / 10 - GAP; period <= PERIOD * 11 / 10 + GAP; period++) {
        const uint64_t *count = as_map_get(&periods, period);
        near += count ? *count : 0;
        different += count && *count > 20; /* a period stays for 64 samples at the least */
        if (count && *count > 20)
            assert_int_equal(as_prime_near(period), period);
    }
    assert_true(different >= 2);
    /* When a period is changed the kernel forgets how far the last one was. */
    assert_true((double)near > 0.95 * (double)(seen.addresses.len - 1));
    assert_true(fabs(seen.weight - FAULTS) < 0.1 * FAULTS);
    forget(&seen, &periods);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_period_is_kept),
        cmocka_unit_test(random_periods_vary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
