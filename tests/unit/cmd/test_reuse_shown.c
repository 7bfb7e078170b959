/* What assay reuse prints, as text, JSON, CSV and a page, against tests/golden/reuse_shown.txt: a small run of two threads worked
 * out by the analysis itself, and an estimate made by hand. Where code is and how it was called says this test. */
#include "unit.h"

#include "cmd/reuse_html.h"
#include "cmd/reuse_show.h"
#include "unit_golden.h"

enum { LOAD = AS_ACCESS_LOAD, STORE = AS_ACCESS_STORE, LINE = 64 };

static struct as_space *nowhere;

static struct as_reuse_location locate(const void *context, uint32_t code)
{
    struct as_location location;
    uint64_t address = 0x1000 + 16 * (uint64_t)code;
    if (!code)
        return (struct as_reuse_location){0};
    as_space_find(nowhere, address, &location);
    return as_reuse_location_in(nowhere, address, &location);
}

/* Path 3 is "f1 > f2 > f3", the last being the innermost. */
static size_t frames(const void *context, uint32_t path, const char **names, size_t n)
{
    static const char *const functions[] = {"f1", "f2", "f3", "f4", "f5", "f6", "f<7>"};
    for (uint32_t i = 0; i < path && i < n; i++)
        names[i] = functions[path - 1 - i];
    return path;
}

static struct as_reuse_options options(void)
{
    return (struct as_reuse_options){
        .shape = {.shift = 6,
                  .levels = {{.lines = 8, .ways = 2}, {.lines = 32, .ways = 4}, {.lines = 64, .ways = 8}},
                  .interval = 50},
        .sockets = 1};
}

static void access_one(struct as_reuse *reuse, uint32_t thread, uint64_t address, uint8_t kind, uint32_t code)
{
    struct as_data_access access = {.address = address, .insn = code, .size = 8, .kind = kind};
    as_reuse_take(reuse, thread, 1, &access, 1);
}

/* Thread 1 walks along 20 lines three times, by two instructions, and steps over lines that share a set; thread 2, if it runs, writes other
 * bytes of some of these lines. One access lies in two lines. */
static struct as_reuse *run(const struct as_reuse_options *how, bool two)
{
    struct as_reuse *reuse = as_reuse_new(how);
    for (int turn = 0; turn < 3; turn++)
        for (uint64_t i = 0; i < 20; i++) {
            access_one(reuse, 1, 0x10000 + i * LINE, LOAD, 1);
            access_one(reuse, 1, 0x10008 + i * LINE, LOAD, 2);
            if (two && i % 4 == 0)
                access_one(reuse, 2, 0x10020 + i * LINE, STORE, 3);
        }
    for (int turn = 0; turn < 5; turn++)
        for (uint64_t i = 0; i < 3; i++)
            access_one(reuse, 1, 0x20000 + i * 4 * LINE, LOAD, 4);
    access_one(reuse, 1, 0x1003c, LOAD, 5);
    as_reuse_finish(reuse);
    struct as_reuse_view *all = as_reuse_all_threads(reuse);
    for (size_t i = 0; i < all->pairs.len; i++) {
        all->pairs.data[i].use_path = (uint32_t)i % 8;
        all->pairs.data[i].reuse_path = i % 3 ? (uint32_t)i % 8 : (uint32_t)i % 7 + 1;
        all->pairs.data[i].path_count = all->pairs.data[i].count - (i == 1);
    }
    return reuse;
}

static struct as_reuse_objects objects(void)
{
    struct as_reuse_objects made = {0};
    *as_vec_push(&made.list) = (struct as_reuse_object){.what = {.kind = AS_GUEST_GLOBAL,
                                                                 .process = 1,
                                                                 .name = "matrix<3>",
                                                                 .module = "/bin/prog",
                                                                 .start = 0x10000,
                                                                 .end = 0x10500},
                                                        .lines = 20,
                                                        .misses = {20, 31, 2, 1},
                                                        .llc = 21,
                                                        .fetched_bytes = 540,
                                                        .far_octaves = 165,
                                                        .octaves = {[4] = 30, [5] = 3},
                                                        .hottest = 0x10040,
                                                        .hottest_n = 5,
                                                        .hottest_name = "matrix[1].key"};
    for (int i = 0; i < 16; i++)
        made.list.data[0].bytes[i] = 54;
    *as_vec_push(&made.list) =
        (struct as_reuse_object){.what = {.kind = AS_GUEST_STACK, .process = 1, .name = "stack", .module = ""},
                                 .lines = 1,
                                 .misses = {1},
                                 .llc = 1,
                                 .fetched_bytes = 64,
                                 .hottest = 0x7000,
                                 .hottest_n = 1,
                                 .hottest_name = "+0x0"};
    return made;
}

/* One of each kind. */
static void advise(struct as_reuse_shown *shown)
{
    static struct as_reuse_advice advice[AS_ADVICE_ROWS + 1];
    for (unsigned kind = 0; kind <= AS_ADVICE_ROWS; kind++)
        advice[kind] = (struct as_reuse_advice){.kind = kind,
                                                .use = 1,
                                                .reuse = 1 + kind % 2,
                                                .count = 100 + kind,
                                                .share = 0.5 - 0.1 * kind,
                                                .level = kind % 2 ? AS_REUSE_L2 : AS_REUSE_L1,
                                                .distance = 16 << kind,
                                                .bytes_used = 8.4,
                                                .parts = 3};
    shown->advice = advice;
    shown->n_advice = AS_ADVICE_ROWS + 1;
}

static void show_two(const struct as_reuse_shown *shown, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_reuse_show_text(shown, out);
    unit_golden_section(out, "%s: JSON", what);
    assert_true(as_reuse_show_json(shown, out));
}

static void show_all(const struct as_reuse_shown *shown, const char *what, FILE *out)
{
    show_two(shown, what, out);
    unit_golden_section(out, "%s: CSV", what);
    as_reuse_show_csv(shown, out);
    unit_golden_section(out, "%s: page", what);
    as_reuse_show_html(shown, out);
}

static struct as_machine machine;
static struct as_reuse_native_info native_info;
static char *words[] = {"./prog", "a<b", NULL};

static struct as_reuse_shown make_shown(const struct as_reuse_options *how, const struct as_reuse *exact)
{
    return (struct as_reuse_shown){.argv = words,
                                   .seconds = 0.5,
                                   .instructions = 1000,
                                   .machine = &machine,
                                   .options = how,
                                   .exact = exact,
                                   .names = {locate, frames, NULL},
                                   .native = &native_info,
                                   .watched_bytes = 8,
                                   .top = 4,
                                   .host = {{1, 8, 1024}, {2, 8, 2048}, {3, 16, 16384}},
                                   .n_host = 3};
}

/* Two threads with objects and advice; one thread alone, of which everything is shown; no accesses at all. */
static void test_exact(void **state)
{
    struct as_reuse_options how = options();
    struct as_reuse *two = run(&how, true), *one = run(&how, false), *none = as_reuse_new(&how);
    struct as_reuse_objects found = objects();
    as_reuse_finish(none);
    FILE *out = unit_golden_begin();
    struct as_reuse_shown shown = make_shown(&how, two);
    shown.objects = &found;
    advise(&shown);
    show_all(&shown, "two threads", out);
    shown = make_shown(&how, one);
    shown.top = 100;
    show_all(&shown, "one thread", out);
    shown = make_shown(&how, none);
    show_all(&shown, "no accesses", out);
    unit_golden_check(out, "reuse_shown.txt");
    as_vec_free(&found.list);
    as_reuse_free(two);
    as_reuse_free(one);
    as_reuse_free(none);
}

/* A sample of the lines has no caches with sets; here all of them are in it. */
static void test_sampled(void **state)
{
    _Atomic uint64_t threshold = UINT64_MAX;
    struct as_reuse_options how = options();
    how.shape.sampled = true;
    how.threshold = &threshold;
    how.most = 8;
    how.thinnest = 4;
    struct as_reuse *two = run(&how, true);
    as_reuse_adjust(two, 151, 152);
    FILE *out = unit_golden_begin();
    struct as_reuse_shown shown = make_shown(&how, two);
    show_two(&shown, "a sample", out);
    unit_golden_check(out, "reuse_sampled.txt");
    as_reuse_free(two);
}

static struct as_reuse_estimate estimate(void)
{
    static const uint64_t distances[] = {0, 1, 5, 5, 100, 3000};
    struct as_reuse_estimate made = {
        .result = {.samples = 1001,
                   .armed = 902,
                   .dropped = 53,
                   .busy = 46,
                   .stale = 7,
                   .reuses = 604,
                   .invalidations = 105,
                   .own = 56,
                   .given_up = 67,
                   .never = 78,
                   .relaxed = 9,
                   .lost = 3,
                   .traps = 810},
        .survival = {.reused = 0.6, .invalidated = 0.1, .own = 0.05, .never = 0.25, .effective = 25.4},
        .accesses = 123456};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        as_distances_add(&made.times, 2 * distances[i], 1000 * (i + 1));
        as_distances_add(&made.distances, distances[i], 1000 * (i + 1));
        as_distances_add(&made.hits, distances[i], 1100 * (i + 1));
        as_distances_add(&made.counted, 2 * distances[i], i < 2 ? 1000 * (i + 1) : i < 4 ? 500 : 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        *as_vec_push(&made.pairs) = (struct as_estimated_pair){.use = 1,
                                                               .reuse = 2 + i,
                                                               .use_path = 2,
                                                               .reuse_path = i ? 2 : 3,
                                                               .weight = 100 - 10 * i,
                                                               .samples = 50 - i,
                                                               .distance = 1234.5 + i};
    return made;
}

/* From watchpoints: on this machine, where all of it was timed, counted or assumed; and beside every access, in threads and in the
 * cache that they share. */
static void test_estimates(void **state)
{
    struct as_reuse_options how = options();
    struct as_reuse *two = run(&how, true);
    struct as_reuse_estimate watched = estimate();
    struct as_reuse_shown shown = make_shown(&how, NULL);
    FILE *out = unit_golden_begin();
    shown.estimate = &watched;
    for (native_info.how = 0; native_info.how < 3; native_info.how++) {
        native_info.unsure = native_info.how == 2;
        show_two(&shown, (const char *[]){"counted", "timed", "assumed"}[native_info.how], out);
    }
    native_info.how = AS_LENS_TIMED, native_info.unsure = false;
    shown.exact = two;
    shown.pmu = "unit<1>", shown.missed = 17;
    show_all(&shown, "beside every access, in threads", out);
    shown.shared = true;
    watched.survival.effective = 1000;
    watched.result.relaxed = 0;
    show_two(&shown, "… in the shared cache", out);
    watched.times.total = 0;
    watched.survival.effective = 0;
    watched.accesses = 0;
    unit_golden_section(out, "nothing was watched to its end");
    as_reuse_show_text(&shown, out);
    unit_golden_check(out, "reuse_watched.txt");
    as_vec_free(&watched.pairs);
    as_reuse_free(two);
}

static void test_sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {1536, "1.5 KiB"},
                 {10240, "10 KiB"},
                 {10752, "10 KiB"},
                 {UINT64_C(3) << 19, "1.5 MiB"},
                 {UINT64_C(1) << 30, "1 GiB"},
                 {UINT64_C(5) << 40, "5 TiB"},
                 {UINT64_C(1) << 52, "4096 TiB"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(as_reuse_size_text(cases[i].bytes, text), cases[i].text);
}

/* Where next to nothing is missing, all of a bin was counted. */
static void test_how(void **state)
{
    assert_string_equal(as_reuse_how(5000, 5000), "counted");
    assert_string_equal(as_reuse_how(5000, 4995), "counted");
    assert_string_equal(as_reuse_how(5000, 4994), "both");
    assert_string_equal(as_reuse_how(5000, 6), "both");
    assert_string_equal(as_reuse_how(5000, 5), "timed");
    assert_string_equal(as_reuse_how(10, 9), "both");
    assert_string_equal(as_reuse_how(10, 0), "timed");
}

static int set_up(void **state)
{
    snprintf(machine.name, sizeof machine.name, "tiny");
    native_info = (struct as_reuse_native_info){.seconds = 2,
                                                .threads = 2,
                                                .least = 900,
                                                .most = 1100,
                                                .rates = 3,
                                                .accesses = 1000,
                                                .rate = 0.75,
                                                .trap = 16500,
                                                .gain = 1.5,
                                                .stopped = 0.25,
                                                .looked = 33,
                                                .traps = 44,
                                                .armings = 55,
                                                .without = 6,
                                                .twice = 8,
                                                .refused = 2,
                                                .processor = 3.5};
    nowhere = as_space_new(NULL);
    return nowhere ? 0 : -1;
}

static int tear_down(void **state)
{
    as_space_free(nowhere);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_estimates),
                                       cmocka_unit_test(test_sampled), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_how)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
