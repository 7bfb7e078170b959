/* Rates of a traced program from places that it comes to after a known number of accesses: the traps and their times are made
 * up, the watchpoints are real ones of a child that waits. What follows from them is known by hand. */
#include "reuse/reuse_native_internal.h"

#include "base/clock.h"
#include "perf_here.h"
#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>

#ifdef __x86_64__
/* A trap takes 5 us; the thread makes 2 accesses a nanosecond. */
#define TRAP 5000.0
#define RATE 2.0
enum { USE = 40, FIRST = 100, NEXT = 110, LAST = NEXT + 100000, BEYOND = LAST + 50000, STEP = 500 };

static _Alignas(64) uint64_t memory[1 << 16];
static struct as_reuse_native native;
static struct as_traced_thread *thread;
static pid_t child;

static uint64_t at(size_t i)
{
    return (uintptr_t)&memory[i];
}

static int set_up(void **state)
{
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    memset(&native, 0, sizeof native);
    native.samples = 5;
    *as_vec_push(&native.processes) = (struct as_traced_process){.pid = child};
    *as_vec_push(&native.threads) = (struct as_traced_thread){
        .number = 1, .process = 1, .tid = child, .live = true, .accesses = 1000, .last = 1000000};
    thread = &native.threads.data[0];
    struct as_error err = {0};
    native.tracer = as_tracer_attach(child, &err);
    return native.tracer ? 0 : -1;
}

static int tear_down(void **state)
{
    as_gauge_end(&native);
    as_tally_end(&native);
    as_again_end(&native);
    as_tracer_close(native.tracer);
    as_vec_free(&native.processes);
    as_vec_free(&native.threads);
    as_vec_free(&native.regs);
    as_vec_free(&native.ways);
    as_vec_free(&native.densities);
    kill(child, SIGKILL);
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static void need_registers(void)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
}

static struct as_ahead_result places(void)
{
    return (struct as_ahead_result){.use_index = USE,
                                    .first = {.address = at(0), .index = FIRST},
                                    .next = {.address = at(8), .index = NEXT},
                                    .last = {.address = at(16), .index = LAST},
                                    .beyond = {.address = at(24), .index = BEYOND},
                                    .step = {.address = 8, .index = STEP}};
}

/* The thread comes to the next place so many nanoseconds later, with as many stops. */
static void trap_after(double nanoseconds, uint64_t stops)
{
    thread->last += (uint64_t)nanoseconds;
    thread->stops += stops;
    as_gauge_trap(&native, thread);
}

static void begin(void)
{
    struct as_ahead_result result = places();
    as_gauge_begin(&native, thread, &result);
    assert_int_equal(native.gauge.left, AS_GAUGE_MARKS);
    as_gauge_use(&native, thread);
    thread->accesses += 7; /* a guess in between, which the place puts right */
    trap_after(300, 1);
}

static void add_use(uint64_t address)
{
    *as_vec_push(&native.regs) = (struct as_traced_reg){
        .armed = true, .thread = 1, .used = 1, .sample = native.samples, .watch = {.address = address, .length = 8}};
}

/* From place to place the thread's accesses are known; the first two tell what a trap takes, the others how fast it is. */
static void tells_the_rate(void **state)
{
    need_registers();
    begin();
    assert_int_equal(native.gauge.left, 3);
    assert_float_equal(thread->accesses, 1000 + FIRST - USE, 1e-9);
    trap_after(TRAP, 1);
    assert_int_equal(native.gauge.left, 2);
    assert_float_equal(thread->accesses, 1000 + NEXT - USE, 1e-9);
    assert_float_equal(as_rate_trap(&native.rate), TRAP, 1e-9);
    assert_float_equal(as_traced_trap(&native, thread), TRAP, 1e-9);
    trap_after((LAST - NEXT) / RATE + TRAP, 1);
    assert_int_equal(native.gauge.left, 1);
    assert_float_equal(thread->accesses, 1000 + LAST - USE, 1e-9);
    assert_float_equal(as_rate_usual(&native.rate), RATE, 1e-9);
    assert_float_equal(thread->local, RATE, 1e-9);
    assert_float_equal(thread->until, (double)thread->last + 2e6, 1);
    assert_int_equal(native.ways.len, native.samples + 1);
    const struct as_rate_way *way = &native.ways.data[native.samples];
    assert_float_equal(way->accesses, LAST - NEXT, 1e-9);
    assert_float_equal(way->nanoseconds, (LAST - NEXT) / RATE + TRAP, 1e-9);
    assert_float_equal(way->stops, 1, 1e-9);
    trap_after((BEYOND - LAST) / RATE + TRAP, 1);
    assert_int_equal(native.gauge.left, 0); /* nobody waits for a further one */
    assert_float_equal(thread->accesses, 1000 + BEYOND - USE, 1e-9);
    assert_float_equal(native.ways.data[native.samples].accesses, LAST - NEXT, 1e-9); /* that was long enough */
}

/* While a use of the sample is watched the last place moves on, by a quarter of the way and whole steps. */
static void moves_on(void **state)
{
    need_registers();
    begin();
    trap_after(TRAP, 1);
    trap_after((LAST - NEXT) / RATE + TRAP, 1);
    add_use(at(40000));
    trap_after((BEYOND - LAST) / RATE + TRAP, 1);
    assert_int_equal(native.gauge.left, 1);
    const struct as_ahead_mark *last = &native.gauge.marks[AS_GAUGE_MARKS - 1];
    uint64_t steps = (BEYOND - USE) / 4 / STEP;
    assert_int_equal(last->index, BEYOND + steps * STEP);
    assert_int_equal(last->address, at(24) + steps * 8);
    as_gauge_reuse(&native, &(struct as_traced_reg){.used = 1, .sample = native.samples + 1, .thread = 1});
    as_gauge_reuse(&native, &(struct as_traced_reg){.used = 1, .sample = native.samples, .thread = 2});
    assert_int_equal(native.gauge.left, 1); /* those are of others */
    as_gauge_reuse(&native, &native.regs.data[0]);
    assert_int_equal(native.gauge.left, 0);
}

/* Behind one sample of four it moves three times the way. */
static void moves_far(void **state)
{
    need_registers();
    native.samples = 8;
    begin();
    trap_after(TRAP, 1);
    trap_after((LAST - NEXT) / RATE + TRAP, 1);
    add_use(at(40000));
    trap_after((BEYOND - LAST) / RATE + TRAP, 1);
    uint64_t steps = (uint64_t)(BEYOND - USE) * 3 / STEP;
    assert_int_equal(native.gauge.marks[AS_GAUGE_MARKS - 1].index, BEYOND + steps * STEP);
    assert_int_equal(native.rate.warmed, 1); /* such a way counts by itself */
    assert_float_equal(native.rate.warm[0], RATE, 1e-9);
}

/* A last place that comes far too late was come to from elsewhere: it says nothing. */
static void does_not_fit(void **state)
{
    need_registers();
    begin();
    trap_after(TRAP, 1);
    trap_after((LAST - NEXT) / RATE + TRAP, 1);
    double before = thread->accesses;
    add_use(at(40000));
    trap_after(100 * (BEYOND - LAST) / RATE, 1);
    assert_int_equal(native.gauge.left, 0);
    assert_float_equal(thread->accesses, before, 1e-9);
    assert_float_equal(as_rate_usual(&native.rate), RATE, 1e-9);
    assert_int_equal(native.rate.warmed, 0);
}

/* Places that say too little, and those that are watched already, are not begun with. */
static void does_not_begin(void **state)
{
    need_registers();
    struct as_ahead_result result = places();
    result.next.address = 0;
    as_gauge_begin(&native, thread, &result);
    result = places();
    result.next.index = FIRST + 65;
    as_gauge_begin(&native, thread, &result);
    result = places();
    result.last.index = NEXT + 511;
    as_gauge_begin(&native, thread, &result);
    for (size_t i = 0; i < AS_GAUGE_MARKS; i++) {
        result = places();
        add_use(at(8 * i));
        as_gauge_begin(&native, thread, &result);
        native.regs.len = 0;
    }
    assert_int_equal(native.gauge.left, 0);
    result.next.index = FIRST + 64;
    result.last.index = result.next.index + 512;
    as_gauge_begin(&native, thread, &result);
    assert_int_equal(native.gauge.left, AS_GAUGE_MARKS);
}

/* A short way is rough: it counts while nothing better is known. */
static void short_ways_are_rough(void **state)
{
    need_registers();
    struct as_ahead_result result = places();
    result.last.index = NEXT + 4094;
    result.beyond.address = 0;
    as_gauge_begin(&native, thread, &result);
    as_gauge_use(&native, thread);
    trap_after(300, 1);
    trap_after(TRAP, 1);
    trap_after(4094 / RATE + TRAP, 1);
    assert_int_equal(native.gauge.left, 0); /* there is no place beyond */
    assert_int_equal(native.rate.measured, 0);
    assert_int_equal(native.rate.roughly, 1);
    assert_float_equal(native.rate.rough[0], RATE, 1e-9);
    assert_float_equal(thread->local, 0, 1e-9);
}

/* ---- weights ---- */

/* By density alone: a sample in code with twice the mean of accesses counts twice, within bounds. */
static void weighs(void **state)
{
    static const double dense[] = {0.1, 0.2, 0.3, 0, 0.001};
    struct as_watch_options options = AS_WATCH_OPTIONS_DEFAULT;
    struct as_lens lens = {.ops = &as_traced_lens_ops, .context = &native};
    for (size_t i = 0; i < 5; i++)
        *as_vec_push(&native.densities) = dense[i];
    native.options.registers = 4;
    native.watch = as_reuse_watch_new(&options, &lens);
    as_gauge_weigh(&native);
    double mean = 0.601 / 4;
    static const double least = 1.0 / 16;
    assert_float_equal(native.densities.data[0], 0.1 / mean, 1e-9);
    assert_float_equal(native.densities.data[1], 0.2 / mean, 1e-9);
    assert_float_equal(native.densities.data[2], 0.3 / mean, 1e-9);
    assert_float_equal(native.densities.data[3], 1, 1e-9); /* not known */
    assert_float_equal(native.densities.data[4], least, 1e-9);
    as_reuse_watch_free(native.watch);
}

/* ---- turns that are counted ---- */

/* Nothing that is not due is counted, and what belongs to another sample, or a thread that has ended, is let go. */
static void tallies(void **state)
{
    need_registers();
    struct as_ahead_turn turn = {.addresses = {at(0), at(8)}, .accesses = 5000, .insn = 77}, none = {.accesses = 5000};
    as_tally_plan(&native, thread, &none);
    assert_int_equal(native.tally.stage, AS_TALLY_NONE);
    double before = as_clock_seconds();
    as_tally_plan(&native, thread, &turn);
    assert_int_equal(native.tally.stage, AS_TALLY_WAITS);
    assert_true(native.tally.due >= before + 2e-3 && native.tally.due <= as_clock_seconds() + 2e-3);
    as_tally_step(&native);
    assert_int_equal(native.tally.stage, AS_TALLY_ONE);
    double due = native.tally.due;
    as_tally_step(&native); /* the thread waits: it has come to no place */
    assert_int_equal(native.tally.stage, AS_TALLY_ONE);
    assert_float_equal(native.tally.due, due + 2e-3, 1e-9);
    for (int tries = 2; tries < 8; tries++)
        as_tally_step(&native);
    assert_int_equal(native.tally.stage, AS_TALLY_ONE);
    as_tally_step(&native); /* that was the last try */
    assert_int_equal(native.tally.stage, AS_TALLY_NONE);
    as_tally_plan(&native, thread, &turn);
    as_tally_step(&native);
    native.samples++;
    as_tally_step(&native);
    assert_int_equal(native.tally.stage, AS_TALLY_NONE);
    native.options.pmu = true; /* which counts all */
    as_tally_plan(&native, thread, &turn);
    assert_int_equal(native.tally.stage, AS_TALLY_NONE);
}

/* ---- long ways once more ---- */

static struct as_traced_reg long_way(double accesses)
{
    return (struct as_traced_reg){
        .sample = native.samples, .thread = 1, .accesses = thread->accesses - accesses, .watch.address = at(4) + 3};
}

/* A way of 0.2 ms behind a stop takes half as long when the thread has run for long: so it is twice as fast then. */
static void measures_again(void **state)
{
    need_registers();
    as_rate_add_trap(&native.rate, TRAP);
    as_rate_add(&native.rate, 100000 * RATE, 100000, 0);
    struct as_traced_reg reg = long_way(0.99e5 * RATE); /* 0.1 ms is the shortest that counts */
    as_again_plan(&native, thread, &reg, 77);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
    reg = long_way(1.01e6 * RATE); /* 1 ms the longest */
    as_again_plan(&native, thread, &reg, 77);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
    reg = long_way(200000 * RATE);
    reg.sample--;
    as_again_plan(&native, thread, &reg, 77);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
    reg.sample++;
    as_again_plan(&native, thread, &reg, 77);
    assert_int_equal(native.again.stage, AS_AGAIN_WAITS);
    assert_int_equal(native.again.address, at(4));
    assert_float_equal(native.again.behind, 200000, 1e-6);
    as_again_arm(&native);
    assert_int_equal(native.again.stage, AS_AGAIN_ARMED);
    thread->cooled = thread->last;
    thread->last += 2000000;
    as_again_trap(&native, thread);
    assert_int_equal(native.again.stage, AS_AGAIN_BEGUN);
    thread->last += 100000 + (uint64_t)TRAP;
    thread->stops++;
    as_again_trap(&native, thread);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
    assert_int_equal(native.rate.gained, 1);
    assert_float_equal(native.rate.later[0], 2 * RATE, 1e-9);
    assert_int_equal(native.rate.sites[0], 77);
}

/* Behind a stop that was just now caches are cold: it is not measured. Nor for a thread that has ended. */
static void does_not_measure_again(void **state)
{
    need_registers();
    as_rate_add_trap(&native.rate, TRAP);
    as_rate_add(&native.rate, 100000 * RATE, 100000, 0);
    struct as_traced_reg reg = long_way(200000 * RATE);
    as_again_plan(&native, thread, &reg, 77);
    as_again_arm(&native);
    thread->cooled = thread->last;
    thread->last += 900000;
    as_again_trap(&native, thread);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
    assert_int_equal(native.rate.gained, 0);
    as_again_plan(&native, thread, &reg, 77);
    thread->live = false;
    as_again_arm(&native);
    assert_int_equal(native.again.stage, AS_AGAIN_NONE);
}

/* Accesses by a clock are assumed as long as nobody knows the rate. One register is the run's own, unless accesses are counted. */
static void what_the_lens_says(void **state)
{
    struct as_lens lens = {.ops = &as_traced_lens_ops, .context = &native};
    struct as_lens_counts counts;
    assert_false(as_lens_counts(&lens, 0, &counts));
    assert_false(as_lens_counts(&lens, 2, &counts));
    thread->accesses = 1000.6;
    assert_true(as_lens_counts(&lens, 1, &counts));
    assert_true(counts.accesses == 1001 && counts.how == AS_LENS_ASSUMED);
    native.rate.rates[0] = RATE;
    native.rate.measured = 1;
    assert_true(as_lens_counts(&lens, 1, &counts));
    assert_int_equal(counts.how, AS_LENS_TIMED);
    native.options.registers = 4;
    assert_int_equal(as_lens_registers(&lens), 3);
    native.options.pmu = true;
    assert_int_equal(as_lens_registers(&lens), 4);
    uint64_t before = as_lens_time(&lens);
    assert_true(before > 0 && as_lens_time(&lens) >= before);
    assert_int_equal(as_traced_name(3, 5), 3 << 16 | 5);
}

static void what_is_watched(void **state)
{
    *as_vec_push(&native.regs) = (struct as_traced_reg){.thread = 1, .armed = true, .watch = {.address = 0x1004}};
    assert_true(as_traced_is_watched(&native, 1, 0x1000) && as_traced_is_watched(&native, 1, 0x1007));
    assert_false(as_traced_is_watched(&native, 1, 0xfff) || as_traced_is_watched(&native, 1, 0x1008));
    assert_false(as_traced_is_watched(&native, 2, 0x1004));
    native.regs.data[0].armed = false;
    assert_false(as_traced_is_watched(&native, 1, 0x1004));
    for (uint64_t i = 0; i < AS_GAUGE_MARKS; i++)
        native.gauge.marks[i].address = 0x2000 + 8 * i;
    assert_false(as_traced_is_watched(&native, 1, 0x2000));
    native.gauge.left = AS_GAUGE_MARKS - 1; /* the thread was at the first place */
    assert_false(as_traced_is_watched(&native, 1, 0x2000));
    assert_true(as_traced_is_watched(&native, 1, 0x200f));
    assert_true(as_traced_is_watched(&native, 1, 0x2000 + 8 * (AS_GAUGE_MARKS - 1)));
    assert_false(as_traced_is_watched(&native, 1, 0x2000 + 8 * AS_GAUGE_MARKS));
    native.gauge.left = 0;
}

/* As measured behind the last sample; as usual, where that was before another sample. */
static void what_a_trap_takes(void **state)
{
    double usual = as_rate_trap(&native.rate);
    assert_float_equal(as_traced_trap(&native, thread), usual, 0);
    thread->trap = usual + 700;
    thread->trap_sample = native.samples;
    assert_float_equal(as_traced_trap(&native, thread), usual + 700, 0);
    native.samples++;
    assert_float_equal(as_traced_trap(&native, thread), usual, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_lens_says),
        TEST(what_is_watched),
        TEST(what_a_trap_takes),
        TEST(tells_the_rate),
        TEST(moves_on),
        TEST(moves_far),
        TEST(does_not_fit),
        TEST(does_not_begin),
        TEST(short_ways_are_rough),
        TEST(weighs),
        TEST(tallies),
        TEST(measures_again),
        TEST(does_not_measure_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
