/* How far to look, how long to wait and what a sample weighs on this machine (reuse_native.c): what it decides by what it has seen,
 * without a program. The file itself is included, because all of this is its own. */
#include "unit.h"

#include "../../../src/reuse/reuse_native.c"

#include <string.h>

enum { BOUND = 1 << 16 };

static struct as_reuse_native native_with(uint64_t bound, uint64_t samples)
{
    return (struct as_reuse_native){
        .options = {.bound = bound, .rate = 100, .budget = 0.25}, .samples = samples, .random = 5, .running = 1};
}

/* The first two are a sixteenth and a quarter; of many threads the owner gets its part of two bounds. */
static void first_looks_are_short(void **state)
{
    struct as_reuse_native native = native_with(BOUND, 1);
    assert_int_equal(most_of(&native, 1), BOUND / 16);
    native.samples = 2;
    assert_int_equal(most_of(&native, 1), BOUND / 4);
    native.samples = 3;
    assert_int_equal(most_of(&native, 1), BOUND);
    assert_int_equal(most_of(&native, 2), BOUND);
    assert_int_equal(most_of(&native, 4), BOUND / 2);
    assert_int_equal(most_of(&native, 1000), SHORTEST);
    native.options.bound = 100; /* as the user says */
    assert_int_equal(most_of(&native, 1), 100);
}

static void rare_outcomes(void **state)
{
    static const struct {
        struct as_traced_looks looks;
        bool rare;
    } cases[] = {{{15, 0}, false}, {{16, 0}, true}, {{16, 1}, false}, {{33, 2}, true}, {{32, 2}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(is_rare(&cases[i].looks), cases[i].rare);
    struct as_traced_looks looks = {0};
    for (int i = 0; i < MOST_LOOKS - 1; i++)
        learn(&looks, i % 2);
    assert_int_equal(looks.n, MOST_LOOKS - 1);
    assert_int_equal(looks.found, (MOST_LOOKS - 1) / 2);
    learn(&looks, true); /* older ones count half */
    assert_int_equal(looks.n, MOST_LOOKS / 2);
    assert_int_equal(looks.found, MOST_LOOKS / 4);
}

static void count_bounds(struct as_reuse_native *native, int n[3])
{
    n[0] = n[1] = n[2] = 0;
    for (int i = 0; i < 4000; i++) {
        uint64_t bound = bound_of(native, 1);
        assert_true(bound == BOUND || bound == BOUND / 4 || bound == SHORTEST);
        n[bound == BOUND ? 0 : bound == BOUND / 4 ? 1 : 2]++;
    }
}

/* As long as far looks find something they go all the way; else one of eight does, which is 500 +- 105 of 4000. */
static void long_looks_that_find_nothing(void **state)
{
    struct as_reuse_native native = native_with(BOUND, 10);
    int n[3];
    count_bounds(&native, n);
    assert_int_equal(n[0], 4000);
    native.past_quarter = (struct as_traced_looks){16, 0};
    count_bounds(&native, n);
    assert_int_equal(n[2], 0);
    assert_int_equal(n[0] + n[1], 4000);
    assert_true(n[0] > 395 && n[0] < 605);
    native.past_shortest = (struct as_traced_looks){16, 0};
    count_bounds(&native, n);
    assert_int_equal(n[1], 0);
    assert_true(n[0] > 0 && n[2] > 0);
    native.options.bound = 4 * SHORTEST; /* a quarter is no further than the shortest */
    native.past_quarter = (struct as_traced_looks){16, 0};
    for (int i = 0; i < 100; i++)
        assert_true(bound_of(&native, 1) >= SHORTEST);
    native.options.pmu = true; /* registers alone */
    assert_int_equal(bound_of(&native, 1), 0);
}

static void check_learned(uint64_t bound, bool decided, uint64_t distance, struct as_traced_looks shortest,
                          struct as_traced_looks quarter)
{
    struct as_reuse_native native = native_with(BOUND, 10);
    struct as_ahead_result result = {.has_use = true, .decided = decided, .distance = distance};
    learn_bound(&native, bound, &result);
    if (memcmp(&native.past_shortest, &shortest, sizeof shortest) != 0 ||
        memcmp(&native.past_quarter, &quarter, sizeof quarter) != 0)
        fail_msg("%d, %d, %d: %u of %u, %u of %u", (int)bound, decided, (int)distance, native.past_shortest.found,
                 native.past_shortest.n, native.past_quarter.found, native.past_quarter.n);
}

/* A look tells about a part of the way if it went through all of it, and something was left to be found there. */
static void looks_that_tell_something(void **state)
{
    const struct as_traced_looks none = {0, 0}, without = {1, 0}, with = {1, 1};
    check_learned(BOUND, false, 0, without, without);
    check_learned(BOUND, true, SHORTEST - 1, none, none);
    check_learned(BOUND, true, SHORTEST, with, none);
    check_learned(BOUND, true, BOUND / 4 - 1, with, none);
    check_learned(BOUND, true, BOUND / 4, without, with);
    check_learned(BOUND / 4, false, 0, without, none);
    check_learned(BOUND / 4, true, SHORTEST, with, none);
    check_learned(SHORTEST, false, 0, none, none);
    struct as_reuse_native native = native_with(BOUND, 10);
    learn_bound(&native, BOUND, &(struct as_ahead_result){0});
    assert_int_equal(native.past_quarter.n, 0);
    assert_int_equal(native.past_shortest.n, 0);
}

static uint32_t how_often(struct as_reuse_native *native, uint64_t (*asked)(struct as_reuse_native *native),
                          uint64_t want)
{
    uint32_t n = 0;
    for (int i = 0; i < 6400; i++) {
        uint64_t got = asked(native);
        assert_true(got == 0 || got == want);
        n += got != 0;
    }
    return n;
}

/* One of four, or of sixteen once there are five rates: 1600 and 400 of 6400, five standard deviations 173 and 97. */
static void further_for_rates(void **state)
{
    struct as_reuse_native native = native_with(BOUND, FIRST_LOOKS + 1);
    uint32_t n = how_often(&native, further_of, 2 * BOUND);
    assert_true(n > 1600 - 173 && n < 1600 + 173);
    native.rate.warmed = FEW_RATES;
    n = how_often(&native, further_of, 2 * BOUND);
    assert_true(n > 400 - 97 && n < 400 + 97);
    native.samples = FIRST_LOOKS;
    assert_int_equal(how_often(&native, further_of, 2 * BOUND), 0);
    native.samples++;
    native.options.pmu = true;
    assert_int_equal(how_often(&native, further_of, 2 * BOUND), 0);
}

/* Deep looks are for turns: one of four until there are sixteen of them, or five gains; then one of 64 (100 +- 50). */
static void further_for_turns(void **state)
{
    struct as_reuse_native native = native_with(BOUND, FIRST_LOOKS + 1);
    int asked = 0;
    for (; native.deep < DEEP_LOOKS; asked++)
        (void)turn_of(&native);
    assert_true(asked > DEEP_LOOKS && asked < 16 * DEEP_LOOKS);
    uint32_t n = how_often(&native, turn_of, 4 * BOUND);
    assert_true(n > 50 && n < 150);
    assert_int_equal(native.deep, DEEP_LOOKS + n);
    native = native_with(BOUND, FIRST_LOOKS + 1);
    native.rate.gained = FEW_RATES;
    n = how_often(&native, turn_of, 4 * BOUND);
    assert_true(n > 50 && n < 150);
    native.samples = FIRST_LOOKS;
    assert_int_equal(how_often(&native, turn_of, 4 * BOUND), 0);
    native.options.bound = LEAST_LOOK; /* far enough for a rate: no more than a turn asks for */
    assert_int_equal(least_of(&native), 0);
    native.options.bound = LEAST_LOOK - 1;
    assert_int_equal(least_of(&native), LEAST_LOOK);
    native.options.pmu = true;
    assert_int_equal(least_of(&native), 0);
}

static double weight_after(double since, size_t running)
{
    struct as_reuse_native native = native_with(BOUND, 10);
    struct as_traced_thread threads[] = {{.from = 1000, .last = 5000}, {.from = 70, .last = 70 + (uint64_t)since}};
    native.threads.data = threads;
    native.threads.len = 2;
    native.weighed = 4000;
    native.pause = 1e-3;
    native.running = running;
    double weight = weigh(&native);
    assert_float_equal(native.weighed, 4000 + since, 0);
    return weight;
}

/* A pause of a millisecond: what the threads ran since the last sample, and about that long: as wanted. */
static void samples_weigh_what_was_wanted(void **state)
{
    assert_float_equal(weight_after(1.4e6, 1), 1e6, 0);
    assert_float_equal(weight_after(0.31e6, 1), 1e6, 0);
    assert_float_equal(weight_after(0.29e6, 1), 0.29e6, 0);
    assert_float_equal(weight_after(1.99e6, 1), 1e6, 0);
    assert_float_equal(weight_after(2.01e6, 1), 2.01e6, 0);
    assert_float_equal(weight_after(2.01e6, 2), 2e6, 0);
    assert_float_equal(weight_after(0, 1), 1, 0); /* it waited */
}

/* The mean of the last eight; pauses keep to the budget, and to the rate. */
static void pauses_follow_costs(void **state)
{
    double mean = 0;
    learn_cost(&mean, 0, 4);
    assert_float_equal(mean, 4, 0);
    learn_cost(&mean, 2, 8);
    assert_float_equal(mean, 6, 0);
    learn_cost(&mean, 8, 14);
    assert_float_equal(mean, 7, 0);
    learn_cost(&mean, 100, 15);
    assert_float_equal(mean, 8, 0);
    struct as_reuse_native native = native_with(BOUND, 1);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < 1000; i++) {
        double pause = pause_of(&native, 0.1);
        assert_float_equal(native.pause, 0.3, 1e-9); /* a quarter of the time for samples */
        least = fmin(least, pause);
        most = fmax(most, pause);
        sum += pause;
    }
    assert_true(least >= 0.15 && least < 0.16 && most < 0.45 && most > 0.44);
    assert_true(fabs(sum / 1000 - 0.3) < 5 * 0.3 / sqrt(12 * 1000));
    native = native_with(BOUND, 1);
    pause_of(&native, 1e-6);
    assert_float_equal(native.pause, 0.01, 1e-9); /* a hundred a second at most */
    native.samples = 0;
    native.started = 100;
    native.info.stopped = 1;
    assert_float_equal(earliest(&native, 0.5), 100 + (1.5 + 0.5) / 0.25 - 0.5, 1e-9);
    assert_float_equal(native.info.stopped, 1.5, 0);
}

static void the_next_thing_comes_first(void **state)
{
    struct as_reuse_native native = native_with(BOUND, 1);
    assert_float_equal(next_wait(&native, 7).until, 7, 0);
    assert_null(next_wait(&native, 7).step);
    native.tally.stage = AS_TALLY_WAITS;
    native.tally.due = 6;
    assert_float_equal(next_wait(&native, 7).until, 6, 0);
    assert_ptr_equal(next_wait(&native, 7).step, as_tally_step);
    assert_null(next_wait(&native, 5).step);
    native.again.stage = AS_AGAIN_WAITS;
    native.again.due = 5;
    assert_float_equal(next_wait(&native, 7).until, 5, 0);
    assert_ptr_equal(next_wait(&native, 7).step, as_again_arm);
    native.again.stage = AS_AGAIN_ARMED;
    assert_ptr_equal(next_wait(&native, 7).step, as_tally_step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_looks_are_short),
                                       cmocka_unit_test(rare_outcomes),
                                       cmocka_unit_test(long_looks_that_find_nothing),
                                       cmocka_unit_test(looks_that_tell_something),
                                       cmocka_unit_test(further_for_rates),
                                       cmocka_unit_test(further_for_turns),
                                       cmocka_unit_test(samples_weigh_what_was_wanted),
                                       cmocka_unit_test(pauses_follow_costs),
                                       cmocka_unit_test(the_next_thing_comes_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
