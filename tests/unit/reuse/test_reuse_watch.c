/* Watchpoints on a modelled machine against exact distances of the same accesses: loops over private arrays with stores to
 * shared ones in between, distances shorter and much longer than the sampling period, one to 32 threads. */
#include "shen.h"
#include "unit.h"

#include <math.h>

#include "base/random.h"
#include "lens/modelled_lens.h"
#include "reuse/patience.h"
#include "reuse/reuse.h"
#include "reuse/reuse_estimate.h"
#include "reuse/reuse_watch.h"

/* Under sanitizers the long programs run once through their loops: too short for the shares, which the plain build judges. */
enum { SPAN = 8, MOST_THREADS = 32, LOOPS = 5, SHORT = UNIT_SANITIZED };

/* ---- a program: `turns[i]` times `shared` stores to one array and `sizes[i]` accesses to an own one, for each i ---- */

struct loops {
    int outer, threads, shared;
    int turns[LOOPS], sizes[LOOPS];
};

struct place {
    int outer, loop, turn, at;
    bool done;
};

static bool next_access(const struct loops *loops, int thread, struct place *place, struct as_data_access *access)
{
    while (place->outer < loops->outer) {
        int size = loops->sizes[place->loop], all = loops->shared + size;
        if (place->turn < loops->turns[place->loop] && place->at < all) {
            bool shared = place->at < loops->shared;
            int own = place->at - loops->shared;
            *access =
                (struct as_data_access){.address = shared ? 0x1000000u + 8u * (unsigned)place->at
                                                          : 0x10000000u * (unsigned)(thread + 1) +
                                                                0x1000000u * (unsigned)place->loop + 8u * (unsigned)own,
                                        .size = 8,
                                        .insn = (uint32_t)place->loop,
                                        .kind = shared || own % 2 ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
            place->at++;
            return true;
        }
        place->at = 0;
        if (++place->turn < loops->turns[place->loop])
            continue;
        place->turn = 0;
        place->loop++;
        if (place->loop == LOOPS) {
            place->loop = 0;
            place->outer++;
        }
    }
    return false;
}

struct run {
    struct as_watch_result result;
    double accuracy, invalidated, stack_accuracy, expected_invalidated;
};

/* Shares of uses that were reused by distance, estimated and exact. */
static void judge(struct run *run, const struct as_reuse_watch *watch, const struct as_reuse *exact)
{
    static struct as_distances times, stack;
    const struct as_reuse_view *all = as_reuse_all_threads(exact);
    uint64_t estimate[AS_DISTANCE_OCTAVES], truth[AS_DISTANCE_OCTAVES];
    size_t n;
    const struct as_watch_outcome *outcomes = as_reuse_watch_outcomes(watch, &n);
    struct as_watched_use *uses = calloc(n + 1, sizeof *uses);
    for (size_t i = 0; i < n; i++)
        uses[i] = outcomes[i].use;
    memset(&times, 0, sizeof times);
    memset(&stack, 0, sizeof stack);
    struct as_survival survival = as_survival_estimate(uses, n, all->counts.touches, &times);
    as_distances_octaves(&times, estimate);
    as_distances_octaves(&all->times, truth);
    run->accuracy = as_distances_accuracy(estimate, truth, AS_DISTANCE_OCTAVES);
    as_distances_from_times(&all->times, &all->times, all->counts.touches, &stack);
    as_distances_octaves(&stack, estimate);
    as_distances_octaves(&all->distances, truth);
    run->stack_accuracy = as_distances_accuracy(estimate, truth, AS_DISTANCE_OCTAVES);
    run->invalidated = survival.invalidated;
    run->expected_invalidated = (double)all->counts.invalidations / (double)all->counts.touches;
    run->result = as_reuse_watch_result(watch);
    free(uses);
}

static uint32_t sockets = 1;

static struct run run_loops(const struct loops *loops, uint64_t period, enum as_watch_mode mode, uint64_t lag)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct as_watch_options watch_options = AS_WATCH_OPTIONS_DEFAULT;
    struct as_reuse_options exact_options = {.shape = {.shift = 3, .interval = 1000000, .distinct = true},
                                             .sockets = 1};
    struct place places[MOST_THREADS] = {0};
    struct run run = {0};
    uint64_t clock = 1;
    options.load_period = options.store_period = period;
    watch_options.mode = mode;
    watch_options.lag = lag;
    watch_options.sockets = sockets;
    struct as_modelled_lens *machine = as_modelled_lens_new(&options);
    struct as_lens lens = as_modelled_lens_open(machine);
    struct as_reuse_watch *watch = as_reuse_watch_new(&watch_options, &lens);
    struct as_reuse *exact = as_reuse_new(&exact_options);
    as_modelled_lens_set_client(machine, &as_reuse_watch_client, watch);
    for (int left = loops->threads; left; clock += SPAN)
        for (int thread = 0; thread < loops->threads; thread++) {
            struct as_data_access accesses[SPAN];
            size_t n = 0;
            while (n < SPAN && next_access(loops, thread, &places[thread], &accesses[n]))
                n++;
            struct as_weave_span span = {.thread = (uint32_t)thread + 1,
                                         .process = 1,
                                         .n = n,
                                         .accesses = accesses,
                                         .clock = clock,
                                         .step = 65536};
            if (n) {
                as_reuse_take(exact, span.thread, 1, accesses, n);
                as_reuse_watch_before(watch, span.thread, accesses, n, as_lens_time(&lens));
                as_modelled_lens_span(machine, NULL, &span);
            } else if (!places[thread].done) {
                places[thread].done = true;
                left--;
                as_modelled_lens_end_thread(machine, span.thread);
            }
        }
    as_reuse_watch_finish(watch);
    as_reuse_finish(exact);
    judge(&run, watch, exact);
    as_reuse_watch_free(watch);
    as_modelled_lens_free(machine);
    as_reuse_free(exact);
    return run;
}

static void adds_up(const struct as_watch_result *result)
{
    assert_int_equal(result->armed + result->dropped + result->busy, result->samples);
    assert_int_equal(result->reuses + result->invalidations + result->own + result->given_up + result->never,
                     result->armed);
    assert_int_equal(result->lost, 0);
}

/* Distances below the period: nearly every use gets its slot and its outcome. The spread of a share is the root of
 * p(1-p)/n: with 400 outcomes and five bins 0.06 off in all is five standard deviations. */
static void shorter_than_the_period(void **state)
{
    const struct loops loops = {
        .outer = SHORT ? 1 : 5, .threads = 1, .turns = {50, 40, 40, 10, 3}, .sizes = {1000, 2000, 4000, 8000, 16000}};
    struct run run = run_loops(&loops, 5000, AS_WATCH_THREADS, 0);
    adds_up(&run.result);
    assert_true(run.result.armed > (SHORT ? 40 : 300));
    assert_true(SHORT || run.accuracy > 0.9);
    assert_int_equal(run.result.invalidations, 0);
}

/* Up to a hundred samples come while one use is watched, from eight threads for four slots. */
static void longer_than_the_period(void **state)
{
    const struct loops loops = {
        .outer = SHORT ? 1 : 4, .threads = 8, .turns = {50, 40, 40, 10, 3}, .sizes = {1000, 2000, 4000, 8000, 16000}};
    struct run run = run_loops(&loops, 300, AS_WATCH_THREADS, 0);
    adds_up(&run.result);
    assert_true(run.result.given_up > run.result.reuses / 4); /* the choice of slots is at work */
    assert_true(SHORT || run.accuracy > 0.9);
}

static void invalidations(void **state)
{
    const struct loops loops = {.outer = SHORT ? 1 : 5,
                                .threads = 4,
                                .shared = 1000,
                                .turns = {50, 40, 40, 10, 3},
                                .sizes = {500, 1500, 3500, 7500, 15500}};
    struct run run = run_loops(&loops, 5000, AS_WATCH_THREADS, 0);
    adds_up(&run.result);
    assert_true(run.result.invalidations > (SHORT ? 5 : 50));
    assert_true(SHORT || run.accuracy > 0.9);
    assert_true(SHORT || fabs(run.invalidated - run.expected_invalidated) < 0.1);
    assert_int_equal(run.result.relaxed, 0);
}

/* 32 threads in step: stores to the shared array are invalidated before the next sample, so slots seem to be free and what is
 * not invalidated seems to be far, all of it. */
static void threads_in_step(void **state)
{
    const struct loops loops = {.outer = SHORT ? 1 : 3,
                                .threads = 32,
                                .shared = 100,
                                .turns = {200, 60, 15, 4, 2},
                                .sizes = {50, 150, 350, 750, 1550}};
    struct run run = run_loops(&loops, 100, AS_WATCH_THREADS, 0);
    adds_up(&run.result);
    assert_true(run.result.armed < run.result.samples / 3);
    assert_true(SHORT || run.accuracy > 0.9);
}

/* While others are not armed yet, their stores go unnoticed: what is then called a reuse is one in the relaxed sense. */
static void relaxed_reuse(void **state)
{
    const struct loops loops = {
        .outer = 5, .threads = 4, .shared = 100, .turns = {400, 1, 1, 1, 1}, .sizes = {20, 20, 20, 20, 20}};
    struct run prompt = run_loops(&loops, 200, AS_WATCH_THREADS, 0),
               late = run_loops(&loops, 200, AS_WATCH_THREADS, 300);
    assert_int_equal(prompt.result.relaxed, 0);
    assert_true(late.result.relaxed > 20);
    assert_true(late.result.invalidations < prompt.result.invalidations);
}

/* Only what another thread does counts, and only the shared array is touched by several. */
static void in_a_cache(void **state)
{
    const struct loops loops = {
        .outer = 5, .threads = 4, .shared = 500, .turns = {50, 1, 1, 1, 1}, .sizes = {500, 2, 2, 2, 2}};
    struct run run = run_loops(&loops, 500, AS_WATCH_CACHE, 0);
    assert_true(run.result.reuses > 50);
    assert_true(run.result.own > 50); /* of the private array */
    assert_int_equal(run.result.invalidations, 0);
}

/* Threads are on sockets in turn: of two, each is alone on its own, and finds nothing of the other there. */
static void on_two_sockets(void **state)
{
    const struct loops loops = {
        .outer = 5, .threads = 2, .shared = 500, .turns = {50, 1, 1, 1, 1}, .sizes = {500, 2, 2, 2, 2}};
    struct run one = run_loops(&loops, 500, AS_WATCH_CACHE, 0);
    sockets = 2;
    struct run two = run_loops(&loops, 500, AS_WATCH_CACHE, 0);
    sockets = 1;
    assert_true(one.result.reuses > 20);
    assert_int_equal(two.result.reuses, 0);
}

/* Two threads walk over one array in turn, each twice in a row: every second walk finds what the same thread has just used, which is
 * no reuse between threads. Unseen, the use before it would seem to be reused by the other thread one walk later. Each element is
 * loaded twice, so there are half as many granules in between as accesses. */
static void turns_in_a_cache(void **state)
{
    enum { WALKS = 2000, ELEMENTS = 48, PERIOD = 61 };
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct as_watch_options watch_options = AS_WATCH_OPTIONS_DEFAULT;
    options.load_period = PERIOD;
    watch_options.mode = AS_WATCH_CACHE;
    struct as_modelled_lens *machine = as_modelled_lens_new(&options);
    struct as_lens lens = as_modelled_lens_open(machine);
    struct as_reuse_watch *watch = as_reuse_watch_new(&watch_options, &lens);
    as_modelled_lens_set_client(machine, &as_reuse_watch_client, watch);
    for (uint64_t i = 0; i < WALKS * 2 * ELEMENTS; i++) {
        struct as_data_access access = {
            .address = 0x1000 + i % (2 * ELEMENTS) / 2 * 8, .size = 8, .kind = AS_ACCESS_LOAD};
        uint32_t thread = 1 + (uint32_t)(i / (2 * ELEMENTS) + 1) / 2 % 2;
        as_modelled_lens_span(
            machine, NULL,
            &(struct as_weave_span){
                .thread = thread, .process = 1, .n = 1, .accesses = &access, .clock = i, .step = 65536});
    }
    as_reuse_watch_finish(watch);
    struct as_reuse_estimate *estimate = as_reuse_estimate_new(watch, WALKS * 2 * ELEMENTS, NULL);
    adds_up(&estimate->result);
    uint64_t times[AS_DISTANCE_OCTAVES], distinct[AS_DISTANCE_OCTAVES];
    as_distances_octaves(&estimate->times, times);
    as_distances_octaves(&estimate->distances, distinct);
    assert_int_equal(times[as_distance_octave(2 * ELEMENTS - 2)], estimate->times.total);
    assert_int_equal(distinct[as_distance_octave(ELEMENTS - 1)], estimate->distances.total);
    /* A quarter of all pairs; 3,000 outcomes, 0.04 is five standard deviations. */
    assert_true(fabs(estimate->survival.reused - 0.25) < 0.04);
    assert_true(fabs(estimate->survival.own - 0.75) < 0.04);
    as_reuse_estimate_free(estimate);
    as_reuse_watch_free(watch);
    as_modelled_lens_free(machine);
}

/* The conversion alone: exact times against exact stack distances, of loops and of random accesses. */
static void times_to_stack(void **state)
{
    const struct loops loops = {
        .outer = 3, .threads = 1, .turns = {50, 40, 40, 10, 3}, .sizes = {1000, 2000, 4000, 8000, 16000}};
    assert_true(UNIT_SANITIZED || run_loops(&loops, 100000, AS_WATCH_THREADS, 0).stack_accuracy > 0.8); /* a long run */
    struct as_reuse_options options = {.shape = {.shift = 3, .interval = 1000000}, .sockets = 1};
    static struct as_distances stack;
    struct as_reuse *exact = as_reuse_new(&options);
    uint64_t seed = 4, estimate[AS_DISTANCE_OCTAVES], truth[AS_DISTANCE_OCTAVES];
    for (int i = 0; i < 400000; i++) {
        uint64_t range = as_random_below(&seed, 4) ? 500 : 20000;
        struct as_data_access access = {
            .address = as_random_below(&seed, range) * 8, .size = 8, .kind = AS_ACCESS_LOAD};
        as_reuse_take(exact, 1, 1, &access, 1);
    }
    as_reuse_finish(exact);
    const struct as_reuse_view *all = as_reuse_all_threads(exact);
    as_distances_from_times(&all->times, &all->times, all->counts.touches, &stack);
    as_distances_octaves(&stack, estimate);
    as_distances_octaves(&all->distances, truth);
    double accuracy = as_distances_accuracy(estimate, truth, AS_DISTANCE_OCTAVES);
    for (uint64_t lines = 64; lines < 20000; lines *= 2) {
        double off = as_distances_beyond(&stack, lines) - as_distances_beyond(&all->distances, lines);
        assert_true(off < 0.03 * (double)stack.total && off > -0.03 * (double)stack.total);
    }
    as_reuse_free(exact);
    assert_true(accuracy > 0.93);
}

/* A use of which was known that it would be given up at some time before 20000, all times alike. */
static struct as_watched_use watched(uint64_t distance, enum as_use_end end)
{
    struct as_watched_use use = {
        .distance = distance, .weight = 1, .kept = 1 - (double)distance / 20000, .end = (uint8_t)end};
    for (uint32_t octave = 0; octave <= as_distance_octave(distance); octave++)
        use.passed[octave] = 1 - (float)as_distance_octave_low(octave) / 20000;
    return use;
}

/* Uses that are given up early do not make long distances rare. */
static void survival(void **state)
{
    static struct as_distances times;
    enum { N = 40000 };
    static struct as_watched_use uses[N];
    uint64_t seed = 8;
    for (int i = 0; i < N;
         i++) { /* half at 100, a quarter at 10000, a quarter ends at 15000; given up at random before 20000 */
        uint64_t kind = as_random_below(&seed, 4), until = as_random_below(&seed, 20000);
        uint64_t distance = kind < 2 ? 100 : kind == 2 ? 10000 : 15000;
        enum as_use_end end = kind < 3 ? AS_USE_REUSED : AS_USE_NEVER;
        uses[i] = distance <= until ? watched(distance, end) : watched(until, AS_USE_GIVEN_UP);
    }
    struct as_survival survival_ = as_survival_estimate(uses, N, 1000000, &times);
    assert_true(survival_.reused > 0.73 && survival_.reused < 0.77); /* 0.0025 is a standard deviation at most */
    assert_true(times.bins[as_distance_bin(100)] > 480000 && times.bins[as_distance_bin(100)] < 520000);
    assert_true(times.bins[as_distance_bin(10000)] > 230000 && times.bins[as_distance_bin(10000)] < 270000);
    assert_true(survival_.effective > N / 4.0 && survival_.effective < N);
    memset(&times, 0, sizeof times);
    survival_ = as_survival_estimate(uses, 0, 10, &times);
    assert_true(survival_.reused == 0 && survival_.never == 0 && times.total == 0);
}

/* Nine of ten end at 100; of the others, all but one are given up: that one stands for all of them. */
static void the_rest_is_far(void **state)
{
    static struct as_distances times;
    struct as_watched_use uses[100];
    for (int i = 0; i < 100; i++)
        uses[i] = (struct as_watched_use){
            .distance = i < 90 ? 100 : 5000, .weight = 1, .kept = 1, .end = i < 90 ? AS_USE_REUSED : AS_USE_GIVEN_UP};
    uses[99].distance = 50000;
    uses[99].end = AS_USE_REUSED;
    struct as_survival seen = as_survival_estimate(uses, 100, 1000, &times);
    assert_int_equal(times.bins[as_distance_bin(100)], 900);
    assert_int_equal(times.bins[as_distance_bin(50000)], 100);
    assert_true(fabs(seen.reused - 1) < 1e-9);
    memset(&times, 0, sizeof times);
    uses[99].end = AS_USE_GIVEN_UP; /* nothing is known of them */
    seen = as_survival_estimate(uses, 100, 1000, &times);
    assert_true(fabs(seen.reused - 0.9) < 1e-9 && fabs(seen.never - 0.1) < 1e-9);
}

/* One of two uses has long distances and is given up in three of four cases, the other never is. Kaplan and Meier alone
 * would have it that the given-up ones end like those that are watched on. */
static void given_up_by_kind(void **state)
{
    static struct as_distances times;
    struct as_watched_use uses[100];
    for (int i = 0; i < 100; i++) {
        bool near = i % 2, gone = !near && i % 8;
        uses[i] = (struct as_watched_use){.distance = near   ? 600
                                                      : gone ? 300
                                                             : 5000,
                                          .weight = 1,
                                          .kept = near || gone ? 1 : 0.25,
                                          .end = gone ? AS_USE_GIVEN_UP : AS_USE_REUSED};
        for (uint32_t octave = as_distance_octave(512); !near && !gone && octave <= as_distance_octave(5000); octave++)
            uses[i].passed[octave] = 0.25;
    }
    as_survival_estimate(uses, 100, 1000, &times);
    assert_true(times.bins[as_distance_bin(600)] > 480 && times.bins[as_distance_bin(600)] < 520);
    assert_true(times.bins[as_distance_bin(5000)] > 480 && times.bins[as_distance_bin(5000)] < 520);
}

/* What ends does so at ages of 1, or of 100: there is no use in giving up in between, and much use in it behind that. */
static void patience(void **state)
{
    struct as_patience patience_;
    as_patience_init(&patience_);
    assert_true(as_patience_reach(&patience_, 0) == 1);
    for (uint64_t age = 4; age < 1 << 10; age *= 2)
        assert_true(as_patience_reach(&patience_, age) < as_patience_reach(&patience_, age / 2));
    for (int i = 0; i < 1000; i++) {
        as_patience_learn(&patience_, 1, true, 1);
        as_patience_learn(&patience_, 100, true, 1);
        as_patience_learn(&patience_, 5000, false, 1);
    }
    assert_true(as_patience_reach(&patience_, 3) == as_patience_reach(&patience_, 100));
    assert_true(as_patience_reach(&patience_, 100) > 3 * as_patience_reach(&patience_, 1000));
    assert_true(as_patience_reach(&patience_, UINT64_MAX) >= 1.0 / 64);
    assert_true(as_patience_later(&patience_, 0) == 1);
    assert_true(as_patience_later(&patience_, 3) > 0.4 && as_patience_later(&patience_, 100) > 0.4);
    assert_true(as_patience_later(&patience_, 1000) < 0.1); /* the third of them that did not end is not in it */
}

/* ---- a machine that answers as the test says: no register, and a trap that comes twice ---- */

static enum as_lens_result refuse(void *context, uint32_t thread, const struct as_lens_watch *watch,
                                  struct as_lens_ref *ref)
{
    return AS_LENS_REFUSED;
}
static struct as_lens_watch last_watch;
static enum as_lens_result accept_(void *context, uint32_t thread, const struct as_lens_watch *watch,
                                   struct as_lens_ref *ref)
{
    *ref = (struct as_lens_ref){.thread = thread};
    last_watch = *watch;
    return AS_LENS_OK;
}
static enum as_lens_result gone(void *context, const struct as_lens_ref *ref)
{
    return AS_LENS_GONE;
}
static bool counts(void *context, uint32_t thread, struct as_lens_counts *made)
{
    *made = (struct as_lens_counts){.accesses = ++*(uint64_t *)context};
    return true;
}
static uint32_t one(void *context)
{
    return 1;
}

static void strange_machines(void **state)
{
    uint64_t clock = 0;
    const struct as_lens_ops refusing = {.arm = refuse, .disarm = gone, .counts = counts, .registers = one},
                             plain = {.arm = accept_, .disarm = gone, .counts = counts, .registers = one};
    struct as_watch_options options = AS_WATCH_OPTIONS_DEFAULT;
    const struct as_lens_sample sample = {
        .access = {.thread = 1, .address = 0x1004, .size = 4, .kind = AS_ACCESS_LOAD, .time = 1}, .period = 10};
    struct as_lens lens = {.ops = &refusing, .context = &clock};
    struct as_reuse_watch *watch = as_reuse_watch_new(&options, &lens);
    as_reuse_watch_client.sample(watch, &sample); /* of a thread that nobody announced */
    as_reuse_watch_client.thread_start(watch, 1, 1);
    as_reuse_watch_client.sample(watch, &sample);
    as_reuse_watch_finish(watch);
    assert_int_equal(as_reuse_watch_result(watch).busy, 1);
    assert_int_equal(as_reuse_watch_result(watch).armed, 0);
    as_reuse_watch_free(watch);

    lens.ops = &plain;
    watch = as_reuse_watch_new(&options, &lens);
    as_reuse_watch_client.thread_start(watch, 1, 1);
    as_reuse_watch_client.sample(watch, &sample);
    assert_int_equal(last_watch.address, 0x1000);
    assert_int_equal(last_watch.kind, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    struct as_lens_trap trap = {.access = sample.access, .watch = last_watch};
    as_reuse_watch_client.trap(watch, &trap);
    as_reuse_watch_client.trap(watch, &trap); /* one outcome a use */
    as_reuse_watch_client.sample(watch, &sample);
    as_reuse_watch_client.trap(watch, &trap); /* of the use before */
    assert_int_equal(as_reuse_watch_result(watch).reuses, 1);
    assert_int_equal(as_reuse_watch_result(watch).stale, 2);
    as_reuse_watch_client.thread_end(watch, 1);
    assert_int_equal(as_reuse_watch_result(watch).never, 1);
    as_reuse_watch_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shorter_than_the_period),
                                       cmocka_unit_test(longer_than_the_period),
                                       cmocka_unit_test(invalidations),
                                       cmocka_unit_test(relaxed_reuse),
                                       cmocka_unit_test(in_a_cache),
                                       cmocka_unit_test(on_two_sockets),
                                       cmocka_unit_test(turns_in_a_cache),
                                       cmocka_unit_test(times_to_stack),
                                       cmocka_unit_test(survival),
                                       cmocka_unit_test(the_rest_is_far),
                                       cmocka_unit_test(threads_in_step),
                                       cmocka_unit_test(given_up_by_kind),
                                       cmocka_unit_test(patience),
                                       cmocka_unit_test(strange_machines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
