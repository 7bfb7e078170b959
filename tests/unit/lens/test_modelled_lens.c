/* The modelled machine: which accesses it samples, what traps, what it costs, where threads run. */
#include "unit.h"

#include "base/random.h"
#include "lens/modelled_lens.h"

struct seen {
    struct as_lens lens;
    uint64_t samples[4], period, last_time, traps; /* samples by counter */
    uint64_t accesses;                             /* when the last sample came */
    struct as_lens_access last;
    uint32_t starts, ends, core;
    bool arms, right;
};

static void on_start(void *context, uint32_t thread, uint32_t process)
{
    ((struct seen *)context)->starts++;
}

static void on_end(void *context, uint32_t thread)
{
    ((struct seen *)context)->ends++;
}

static void on_sample(void *context, const struct as_lens_sample *sample)
{
    struct seen *seen = context;
    struct as_lens_counts counts;
    struct as_lens_ref ref;
    struct as_lens_watch watch = {
        .address = sample->access.address & ~UINT64_C(7), .length = 8, .kind = AS_ACCESS_LOAD | AS_ACCESS_STORE};
    seen->samples[sample->counter]++;
    seen->period += sample->period;
    seen->last = sample->access;
    seen->core = sample->access.core;
    seen->right &= sample->access.time >= seen->last_time && sample->access.time == as_lens_time(&seen->lens) &&
                   as_lens_counts(&seen->lens, sample->access.thread, &counts);
    seen->accesses = counts.accesses;
    seen->last_time = sample->access.time;
    if (seen->arms)
        seen->right &= as_lens_arm(&seen->lens, sample->access.thread, &watch, &ref) == AS_LENS_OK;
}

static void on_trap(void *context, const struct as_lens_trap *trap)
{
    struct seen *seen = context;
    seen->traps++;
    seen->last = trap->access;
    seen->right &= as_lens_disarm(&seen->lens, &trap->ref) == AS_LENS_OK;
}

static const struct as_lens_client client = {
    .thread_start = on_start, .thread_end = on_end, .sample = on_sample, .trap = on_trap};

static struct as_modelled_lens *open_lens(const struct as_modelled_options *options, struct seen *seen)
{
    struct as_modelled_lens *lens = as_modelled_lens_new(options);
    *seen = (struct seen){.lens = as_modelled_lens_open(lens), .right = true, .arms = seen->arms};
    as_modelled_lens_set_client(lens, &client, seen);
    return lens;
}

/* n accesses of one kind, one with every `step`-th instruction. */
static void access_many(struct as_modelled_lens *lens, uint32_t thread, uint64_t address, uint8_t kind, size_t n,
                        uint64_t step, uint64_t *clock)
{
    struct as_data_access access = {.address = address, .size = 8, .kind = kind, .insn = 5};
    for (size_t i = 0; i < n; i++, *clock += step) {
        struct as_weave_span span = {.thread = thread, .process = 1, .n = 1, .accesses = &access, .clock = *clock};
        as_modelled_lens_span(lens, NULL, &span);
    }
}

/* Every period-th load, every period-th store; an atomic is both; prefetches are none. */
static void counters_overflow(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.load_period = 10;
    options.store_period = 4;
    options.random = false;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 3, 0x1000, AS_ACCESS_LOAD, 9, 1, &clock);
    access_many(lens, 3, 0x1000, AS_ACCESS_STORE, 3, 1, &clock);
    access_many(lens, 3, 0x1000, AS_ACCESS_PREFETCH, 50, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_LOAD] == 0 && seen.samples[AS_ACCESS_STORE] == 0 && seen.starts == 1);
    access_many(lens, 3, 0x2000, AS_ACCESS_LOAD | AS_ACCESS_STORE, 1, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_LOAD] == 1 && seen.samples[AS_ACCESS_STORE] == 1 && seen.right);
    assert_true(seen.last.address == 0x2000 && seen.last.insn == 5 && seen.last.thread == 3 && seen.accesses == 13);
    access_many(lens, 3, 0x2000, AS_ACCESS_STORE, 400, 1, &clock);
    assert_int_equal(seen.samples[AS_ACCESS_STORE], 101);
    struct as_lens_counts counts;
    assert_true(as_lens_counts(&seen.lens, 3, &counts) && counts.how == AS_LENS_COUNTED);
    assert_true(counts.loads == 10 && counts.stores == 404 && counts.accesses == 413);
    assert_int_equal(as_modelled_lens_cost(lens).stood, 102 * options.sample_cost);
    assert_int_equal(as_modelled_lens_cost(lens).samples, 102);
    as_modelled_lens_end_thread(lens, 3);
    as_modelled_lens_end_thread(lens, 3);
    assert_int_equal(seen.ends, 1);
    as_modelled_lens_free(lens);
}

/* Random periods: 100,000 stores at 100 on average. A period's standard deviation is 100 / sqrt(12), so the number of
 * samples has one of 9.1; five of them. */
static void periods_vary(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.store_period = 100;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 100000, 1, &clock);
    assert_in_range(seen.samples[AS_ACCESS_STORE], 1000 - 46, 1000 + 46);
    as_modelled_lens_free(lens);
}

/* Like IBS: of 300,000 instructions each third accesses memory. Every 100th on average is tagged, a third of those is a
 * sample: 1,000, with a standard deviation below 32. */
static void operations_are_tagged(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.sampling = AS_SAMPLING_OPERATIONS;
    options.period = 100;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 1, 0x1000, AS_ACCESS_LOAD, 100000, 3, &clock);
    uint64_t samples = seen.samples[AS_ACCESS_LOAD | AS_ACCESS_STORE];
    assert_in_range(samples, 1000 - 160, 1000 + 160);
    assert_in_range(samples + as_modelled_lens_cost(lens).untagged, 3000 - 160, 3000 + 160);
    assert_int_equal(seen.samples[AS_ACCESS_LOAD], 0);
    as_modelled_lens_free(lens);
}

/* One counter for loads and stores in turns; an atomic counts once, prefetches do not. */
static void accesses_have_one_counter(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.sampling = AS_SAMPLING_ACCESSES;
    options.load_period = 10;
    options.store_period = 3;
    options.random = false;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 1, 0x1000, AS_ACCESS_LOAD, 4, 1, &clock);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 4, 1, &clock);
    access_many(lens, 1, 0x1000, AS_ACCESS_PREFETCH, 9, 1, &clock);
    access_many(lens, 1, 0x1000, AS_ACCESS_LOAD | AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(as_modelled_lens_cost(lens).samples, 0);
    access_many(lens, 1, 0x2000, AS_ACCESS_LOAD | AS_ACCESS_STORE, 1, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_LOAD | AS_ACCESS_STORE] == 1 && seen.last.address == 0x2000);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 100, 1, &clock);
    assert_int_equal(as_modelled_lens_cost(lens).samples, 11);
    assert_int_equal(seen.samples[AS_ACCESS_LOAD | AS_ACCESS_STORE], 11);
    as_modelled_lens_free(lens);
}

/* Accesses of a span are so many instructions apart: the samples are those of as many spans of one. */
static void spans_are_single_accesses(void **state)
{
    enum { N = 2000, APART = 3 };
    static struct as_data_access accesses[N];
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen one_by_one = {0}, together = {0};
    uint64_t clock = 0;
    options.sampling = AS_SAMPLING_OPERATIONS;
    options.period = 100;
    struct as_modelled_lens *lens = open_lens(&options, &one_by_one);
    access_many(lens, 1, 0x1000, AS_ACCESS_LOAD, N, APART, &clock);
    uint64_t untagged = as_modelled_lens_cost(lens).untagged;
    as_modelled_lens_free(lens);
    for (size_t i = 0; i < N; i++)
        accesses[i] = (struct as_data_access){.address = 0x1000, .size = 8, .kind = AS_ACCESS_LOAD, .insn = 5};
    struct as_weave_span span = {.thread = 1, .process = 1, .n = N, .accesses = accesses, .step = APART << 16};
    lens = open_lens(&options, &together);
    as_modelled_lens_span(lens, NULL, &span);
    assert_true(one_by_one.last_time > 0);
    assert_int_equal(together.last_time, one_by_one.last_time);
    assert_memory_equal(together.samples, one_by_one.samples, sizeof together.samples);
    assert_int_equal(as_modelled_lens_cost(lens).untagged, untagged);
    as_modelled_lens_free(lens);
}

/* A unit's shadow: the sample is the first load ten instructions behind the overflow, and two overflows before that are one
 * sample. Loads alternate between two addresses, so a period of 4 would always meet the same; the shadow moves it. */
static void shadows_move_samples(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.load_period = 4;
    as_modelled_set_unit(&options, &(struct as_lens_unit){.load_shadow = 10, .sample_cost = 7});
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    for (int i = 0; i < 2; i++) { /* loads at 0, 3, 6, 9: the fourth overflows; armed from 19 on */
        access_many(lens, 1, 0x1000, AS_ACCESS_LOAD, 1, 3, &clock);
        access_many(lens, 1, 0x2000, AS_ACCESS_LOAD, 1, 3, &clock);
    }
    access_many(lens, 1, 0x3000, AS_ACCESS_LOAD, 2, 3, &clock); /* 12, 15 */
    access_many(lens, 1, 0x3000, AS_ACCESS_STORE, 9, 1, &clock);
    assert_int_equal(seen.samples[AS_ACCESS_LOAD], 0);
    access_many(lens, 1, 0x4000, AS_ACCESS_LOAD, 1, 1, &clock); /* 27 */
    assert_true(seen.samples[AS_ACCESS_LOAD] == 1 && seen.last.address == 0x4000);
    access_many(lens, 1, 0x5000, AS_ACCESS_LOAD, 6, 1, &clock); /* overflows at 28 and 32; armed from 38 on */
    assert_true(seen.samples[AS_ACCESS_LOAD] == 1 && as_modelled_lens_cost(lens).missed == 1);
    assert_int_equal(as_modelled_lens_cost(lens).stood, 7);
    as_modelled_lens_free(lens);
}

/* Stores have a shadow of their own: the first store three instructions behind the overflow, whatever loads come between. */
static void shadows_of_stores(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    uint64_t clock = 0;
    options.store_period = 2;
    as_modelled_set_unit(&options, &(struct as_lens_unit){.store_shadow = 3, .sample_cost = 7});
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 2, 1, &clock); /* 0, 1: the second overflows; armed from 4 on */
    access_many(lens, 1, 0x2000, AS_ACCESS_STORE, 1, 1, &clock); /* 2 */
    access_many(lens, 1, 0x3000, AS_ACCESS_LOAD, 3, 1, &clock);  /* 3, 4, 5 */
    assert_int_equal(seen.samples[AS_ACCESS_STORE], 0);
    access_many(lens, 1, 0x4000, AS_ACCESS_STORE, 1, 1, &clock); /* 6 */
    assert_true(seen.samples[AS_ACCESS_STORE] == 1 && seen.last.address == 0x4000);
    assert_int_equal(seen.samples[AS_ACCESS_LOAD], 0);
    as_modelled_lens_free(lens);
}

/* IBS's period is shorter by up to 2^3 - 1, SPE's longer; what is not heard comes on top. Of 100,000 operations that all access
 * memory, at a period of 100: means of 96.5 and 103.5, and of 196.5. */
static void units_vary_periods(void **state)
{
    const struct {
        struct as_lens_unit unit;
        uint64_t samples;
    } cases[] = {{{.sampling = AS_SAMPLING_OPERATIONS, .random_bits = 3}, 1036},
                 {{.sampling = AS_SAMPLING_OPERATIONS, .random_bits = 3, .adds = true}, 966},
                 {{.sampling = AS_SAMPLING_OPERATIONS, .random_bits = 3, .deaf = 100}, 509}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
        struct seen seen = {0};
        uint64_t clock = 0;
        options.period = 100;
        as_modelled_set_unit(&options, &cases[i].unit);
        struct as_modelled_lens *lens = open_lens(&options, &seen);
        access_many(lens, 1, 0x1000, AS_ACCESS_LOAD, 100000, 1, &clock);
        assert_in_range(seen.samples[AS_ACCESS_LOAD | AS_ACCESS_STORE], cases[i].samples - 5, cases[i].samples + 5);
        as_modelled_lens_free(lens);
    }
}

static enum as_lens_result arm_at(const struct seen *seen, uint64_t address, uint8_t length, uint8_t kind,
                                  struct as_lens_ref *ref)
{
    struct as_lens_watch watch = {.address = address, .length = length, .kind = kind, .data = 9};
    return as_lens_arm(&seen->lens, 1, &watch, ref);
}

static void registers_trap(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    struct as_lens_ref ref, other;
    uint64_t clock = 0;
    options.registers = 2;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    assert_int_equal(arm_at(&seen, 0x1000, 8, AS_ACCESS_STORE, &ref), AS_LENS_GONE);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(arm_at(&seen, 0x1001, 8, AS_ACCESS_STORE, &ref), AS_LENS_REFUSED);
    assert_int_equal(arm_at(&seen, 0x1000, 8, AS_ACCESS_LOAD, &ref), AS_LENS_REFUSED);
    assert_int_equal(arm_at(&seen, 0x1000, 3, AS_ACCESS_STORE, &ref), AS_LENS_REFUSED);
    assert_int_equal(arm_at(&seen, 0x1008, 8, AS_ACCESS_STORE, &ref), AS_LENS_OK);
    assert_int_equal(arm_at(&seen, 0x2000, 4, AS_ACCESS_LOAD | AS_ACCESS_STORE, &other), AS_LENS_OK);
    assert_int_equal(arm_at(&seen, 0x3000, 4, AS_ACCESS_STORE, &other), AS_LENS_FULL);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 1, 1, &clock); /* beside it */
    access_many(lens, 1, 0x1008, AS_ACCESS_LOAD, 1, 1, &clock);  /* only stores are watched */
    access_many(lens, 2, 0x1008, AS_ACCESS_STORE, 1, 1, &clock); /* another thread */
    assert_int_equal(seen.traps, 0);
    access_many(lens, 1, 0x1004, AS_ACCESS_STORE, 2, 1, &clock); /* overlaps; disarmed by the first */
    assert_true(seen.traps == 1 && seen.last.address == 0x1004);
    assert_int_equal(as_lens_disarm(&seen.lens, &ref), AS_LENS_GONE);
    access_many(lens, 1, 0x1ffc, AS_ACCESS_LOAD, 1, 1, &clock);
    assert_int_equal(seen.traps, 2);
    assert_int_equal(as_modelled_lens_cost(lens).stood, 2 * options.trap_cost);
    assert_int_equal(as_modelled_lens_cost(lens).traps, 2);
    assert_int_equal(as_modelled_lens_cost(lens).armings, 4); /* each register is set, and set back */
    assert_int_equal(as_lens_registers(&seen.lens), 2);
    as_modelled_lens_free(lens);
}

/* No machine has more registers than a thread keeps, whatever is asked for. */
static void registers_are_limited(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    struct as_lens_ref ref;
    uint64_t clock = 0;
    options.registers = AS_LENS_REGISTERS + 3;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    assert_int_equal(as_lens_registers(&seen.lens), AS_LENS_REGISTERS);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 1, 1, &clock);
    for (uint64_t i = 0; i < AS_LENS_REGISTERS; i++)
        assert_int_equal(arm_at(&seen, 0x2000 + 8 * i, 8, AS_ACCESS_STORE, &ref), AS_LENS_OK);
    assert_int_equal(arm_at(&seen, 0x3000, 8, AS_ACCESS_STORE, &ref), AS_LENS_FULL);
    as_modelled_lens_free(lens);
}

/* What a sample arms does not trap on the sampled access; a moved watchpoint is where it was moved; the end of a thread
 * disarms. */
static void arming_moves(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {.arms = true};
    struct as_lens_ref ref;
    struct as_lens_watch watch = {.address = 0x5000, .length = 8, .kind = AS_ACCESS_STORE};
    uint64_t clock = 0;
    options.random = false;
    options.store_period = 10;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 10, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_STORE] == 1 && seen.traps == 0);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(seen.traps, 1);
    assert_int_equal(arm_at(&seen, 0x4000, 8, AS_ACCESS_STORE, &ref), AS_LENS_OK);
    struct as_lens_ref old = ref;
    assert_int_equal(as_lens_move(&seen.lens, &ref, &watch), AS_LENS_OK);
    assert_int_equal(as_lens_move(&seen.lens, &old, &watch), AS_LENS_GONE);
    access_many(lens, 1, 0x4000, AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(seen.traps, 1);
    access_many(lens, 1, 0x5000, AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(seen.traps, 2);
    assert_int_equal(arm_at(&seen, 0x4000, 8, AS_ACCESS_STORE, &ref), AS_LENS_OK);
    as_modelled_lens_end_thread(lens, 1);
    assert_int_equal(as_lens_disarm(&seen.lens, &ref), AS_LENS_GONE);
    assert_int_equal(arm_at(&seen, 0x4000, 8, AS_ACCESS_STORE, &ref), AS_LENS_GONE);
    as_modelled_lens_free(lens);
}

static void check_cores(const struct as_modelled_options *options, const uint32_t *expected, uint32_t n)
{
    struct seen seen = {0};
    uint64_t clock = 0;
    struct as_modelled_lens *lens = open_lens(options, &seen);
    for (uint32_t i = 0; i < n; i++) {
        access_many(lens, 10 + i, 0x1000, AS_ACCESS_LOAD, 1, 1, &clock);
        assert_int_equal(as_modelled_lens_core(lens, 10 + i), expected[i]);
    }
    assert_int_equal(as_modelled_lens_core(lens, 1000), 0);
    as_modelled_lens_free(lens);
}

static void threads_have_cores(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    const uint32_t pins[] = {6, 2};
    check_cores(&options, (const uint32_t[]){0, 1, 2, 3, 4}, 5);
    options.cores = 4;
    check_cores(&options, (const uint32_t[]){0, 1, 2, 3, 0}, 5);
    options.pinning = AS_PINNING_SCATTER;
    options.sockets = 0; /* as one */
    check_cores(&options, (const uint32_t[]){0, 1, 2, 3, 0}, 5);
    options.sockets = 2;
    check_cores(&options, (const uint32_t[]){0, 2, 1, 3, 0}, 5);
    options.pins = pins;
    options.n_pins = 2;
    check_cores(&options, (const uint32_t[]){6, 2, 6}, 3);
}

static uint32_t path_of(void *context, uint32_t thread)
{
    return *(const uint32_t *)context + thread;
}

/* Samples and traps say which path of calls their thread is in, if anybody knows. */
static void paths_are_asked_for(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    struct as_lens_ref ref;
    uint32_t first = 100;
    uint64_t clock = 0;
    options.random = false;
    options.load_period = 2;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    access_many(lens, 7, 0x1000, AS_ACCESS_LOAD, 2, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_LOAD] == 1 && seen.last.path == 0);
    as_modelled_lens_set_paths(lens, path_of, &first);
    access_many(lens, 7, 0x1000, AS_ACCESS_LOAD, 2, 1, &clock);
    assert_true(seen.samples[AS_ACCESS_LOAD] == 2 && seen.last.path == 107);
    access_many(lens, 1, 0x1000, AS_ACCESS_STORE, 1, 1, &clock);
    assert_int_equal(arm_at(&seen, 0x1000, 8, AS_ACCESS_STORE, &ref), AS_LENS_OK);
    access_many(lens, 1, 0x1004, AS_ACCESS_STORE, 1, 1, &clock);
    assert_true(seen.traps == 1 && seen.last.path == 101);
    assert_true(seen.last.size == 8 && seen.last.kind == AS_ACCESS_STORE && seen.last.core == 1);
    assert_true(seen.last.time == 6 && as_lens_time(&seen.lens) == 6);
    as_modelled_lens_free(lens);
}

/* A thread number that is used again is another thread: on the next core, with what its first access tells. */
static void numbers_come_again(void **state)
{
    struct as_modelled_options options = AS_MODELLED_OPTIONS_DEFAULT;
    struct seen seen = {0};
    struct as_lens_counts counts;
    uint64_t clock = 0;
    struct as_modelled_lens *lens = open_lens(&options, &seen);
    assert_false(as_lens_counts(&seen.lens, 3, &counts));
    as_modelled_lens_end_thread(lens, 3); /* of which nothing is known */
    access_many(lens, 3, 0x1000, AS_ACCESS_LOAD, 5, 1, &clock);
    as_modelled_lens_end_thread(lens, 3);
    assert_false(as_lens_counts(&seen.lens, 3, &counts));
    access_many(lens, 3, 0x1000, AS_ACCESS_LOAD, 1, 1, &clock);
    assert_true(as_lens_counts(&seen.lens, 3, &counts));
    assert_true(seen.starts == 2 && seen.ends == 1);
    assert_int_equal(as_modelled_lens_core(lens, 3), 1);
    as_modelled_lens_free(lens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_asked_for),
        cmocka_unit_test(numbers_come_again),
        cmocka_unit_test(counters_overflow),
        cmocka_unit_test(periods_vary),
        cmocka_unit_test(operations_are_tagged),
        cmocka_unit_test(accesses_have_one_counter),
        cmocka_unit_test(spans_are_single_accesses),
        cmocka_unit_test(shadows_move_samples),
        cmocka_unit_test(shadows_of_stores),
        cmocka_unit_test(units_vary_periods),
        cmocka_unit_test(registers_trap),
        cmocka_unit_test(registers_are_limited),
        cmocka_unit_test(arming_moves),
        cmocka_unit_test(threads_have_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
