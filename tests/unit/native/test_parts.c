/* The measured parts of a native run: where markers and functions lie that start and stop them, which samples lie inside, and
 * how long was measured. The session is made up; the program whose code is searched is this one. */
#include "native/session_internal.h"

#include "base/clock.h"
#include "unit.h"

#include <sys/mman.h>

static struct as_native_session session;
static struct as_regions regions;
static unsigned ons, offs;

static void on_switch(void *context, bool on)
{
    ons += on;
    offs += !on;
}

static int set_up(void **state)
{
    session = (struct as_native_session){.pid = getpid(), .options.on_switch = on_switch};
    regions = (struct as_regions){0};
    ons = offs = 0;
    return 0;
}

static int tear_down(void **state)
{
    as_native_landmarks_close(&session);
    as_native_regions_close(&session);
    as_vec_free(&session.borders);
    as_regions_free(&regions);
    return 0;
}

static void measure(const char *text)
{
    struct as_error err = {0};
    assert_true(as_regions_parse(&regions, text, &err));
    session.options.regions = &regions;
}

/* ---- places ---- */

#ifdef __x86_64__
enum { PIECE = 1 << 20, MARKER_LENGTH = 8, CODE = 3 * PIECE };

static uint8_t *code;

/* Put together here, so that the code of this very program has none. */
static void put_marker(size_t at, int number)
{
    static volatile uint8_t last = 0x41;
    const uint8_t bytes[MARKER_LENGTH] = {0x0f, 0x1f, 0x84, 0x00, (uint8_t)number, (uint8_t)(number >> 8), 0x53, last};
    memcpy(code + at, bytes, sizeof bytes);
}

/* Pages of code in this program: with one marker 77 in `at`. */
static void map_code(size_t at)
{
    code = mmap(NULL, CODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    put_marker(at, 77);
    assert_int_equal(mprotect(code, CODE, PROT_READ | PROT_EXEC), 0);
}

/* A marker is found wherever it lies: at either end of the code, and across the pieces in which it is read. */
static void finds_markers(void **state)
{
    static const size_t places[] = {0,         1,         PIECE - 8,     PIECE - 7, PIECE - 1,           PIECE,
                                    PIECE + 1, PIECE + 9, 2 * PIECE - 5, CODE - 9,  CODE - MARKER_LENGTH};
    struct as_error err = {0};
    measure("marker:77..");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        map_code(places[i]);
        assert_true(as_native_landmarks_find(&session, &err));
        assert_int_equal(session.sites.len, 1);
        assert_int_equal(session.sites.data[0].address, (uintptr_t)code + places[i]);
        assert_int_equal(session.sites.data[0].landmark, 0);
        as_vec_clear(&session.sites);
        munmap(code, CODE);
    }
}

/* Of several markers those that were asked for, each with its landmark. */
static void finds_those_asked_for(void **state)
{
    struct as_error err = {0};
    measure("marker:78..marker:79");
    map_code(100);
    mprotect(code, CODE, PROT_READ | PROT_WRITE);
    put_marker(200, 78);
    put_marker(300, 79);
    put_marker(400, 80);
    mprotect(code, CODE, PROT_READ | PROT_EXEC);
    assert_true(as_native_landmarks_find(&session, &err));
    assert_int_equal(session.sites.len, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct as_native_site *site = &session.sites.data[i];
        assert_int_equal(site->address, (uintptr_t)code + (site->landmark == 0 ? 200 : 300));
    }
    assert_int_not_equal(session.sites.data[0].landmark, session.sites.data[1].landmark);
    munmap(code, CODE);
}

static void refuses_too_many(void **state)
{
    struct as_error err = {0};
    measure("marker:77..");
    map_code(0);
    mprotect(code, CODE, PROT_READ | PROT_WRITE);
    for (size_t i = 1; i < 4; i++)
        put_marker(100 * i, 77);
    mprotect(code, CODE, PROT_READ | PROT_EXEC);
    assert_true(as_native_landmarks_find(&session, &err)); /* four: as many as there are registers */
    as_vec_clear(&session.sites);
    mprotect(code, CODE, PROT_READ | PROT_WRITE);
    put_marker(400, 77);
    mprotect(code, CODE, PROT_READ | PROT_EXEC);
    assert_false(as_native_landmarks_find(&session, &err));
    assert_non_null(strstr(err.message, "start and stop at 5 places, but the processor has 4 debug registers"));
    munmap(code, CODE);
}
#endif

static uint64_t resolve(void *context, pid_t pid, const struct as_landmark *landmark)
{
    assert_int_equal(pid, getpid());
    return strcmp(landmark->symbol, "known") == 0 ? 0x1234 : 0;
}

static void finds_functions(void **state)
{
    struct as_error err = {0};
    session.options.resolve = resolve;
    measure("known..+5");
    assert_true(as_native_landmarks_find(&session, &err));
    assert_int_equal(session.sites.len, 1);
    assert_int_equal(session.sites.data[0].address, 0x1234);
    as_vec_clear(&session.sites);
    measure("unknown..+5");
    assert_false(as_native_landmarks_find(&session, &err));
    assert_non_null(strstr(err.message, "unknown is not in the program"));
}

/* ---- records of landmarks ---- */

enum { ID_OF_FIRST = 5000, ID_OF_SECOND = 6000 };

/* As the kernel writes it: header, id, address, thread, time. */
static const uint8_t *record_of(uint32_t type, uint64_t id, uint64_t time)
{
    static uint64_t words[5];
    struct perf_event_header header = {.type = type, .size = sizeof words};
    memcpy(words, &header, sizeof header);
    words[1] = id;
    words[2] = 0x401000;
    words[3] = 1;
    words[4] = time;
    return (const uint8_t *)words;
}

static const uint8_t *landmark(uint64_t id, uint64_t time)
{
    return record_of(PERF_RECORD_SAMPLE, id, time);
}

static bool is_inside(uint64_t time)
{
    return !as_native_is_outside(&session, landmark(1, time), time);
}

static void begin(const char *text)
{
    measure(text);
    session.options.resolve = resolve;
    *as_map_put(&session.site_ids, ID_OF_FIRST) = 0;
    *as_map_put(&session.site_ids, ID_OF_SECOND) = 1;
    as_native_regions_begin(&session);
}

/* Between two landmarks, as often as they come; what comes in the wrong order changes nothing. */
static void landmarks_switch(void **state)
{
    uint64_t time;
    begin("first..second,repeat");
    assert_false(is_inside(50));
    assert_true(as_native_region_pass(&session, landmark(ID_OF_SECOND, 60), 60));
    assert_int_equal(session.info.parts, 0);
    assert_true(as_native_region_pass(&session, landmark(ID_OF_FIRST, 100), 100));
    assert_true(as_native_region_pass(&session, landmark(ID_OF_FIRST, 150), 150));
    assert_true(as_native_region_pass(&session, landmark(ID_OF_SECOND, 200), 200));
    assert_true(as_native_region_pass(&session, landmark(ID_OF_FIRST, 300), 300));
    assert_int_equal(session.info.parts, 2);
    assert_int_equal(ons, 2);
    assert_int_equal(offs, 1);
    assert_true(!is_inside(99) && is_inside(100) && is_inside(199) && !is_inside(200) && !is_inside(299));
    assert_true(is_inside(300) && is_inside(1000));
    assert_true(as_native_landmark_time(&session, landmark(ID_OF_FIRST, 12345), &time));
    assert_int_equal(time, 12345);
}

/* Samples of other events, other records and short ones are no landmarks. */
static void other_records(void **state)
{
    uint64_t time = 7;
    begin("first..second");
    assert_false(as_native_region_pass(&session, landmark(1, 100), 100));
    assert_false(as_native_region_pass(&session, record_of(PERF_RECORD_EXIT, ID_OF_FIRST, 100), 100));
    uint64_t words[5];
    memcpy(words, landmark(ID_OF_FIRST, 100), sizeof words);
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizeof words - 8};
    memcpy(words, &header, sizeof header);
    assert_false(as_native_landmark_time(&session, (const uint8_t *)words, &time));
    assert_int_equal(time, 7);
    assert_int_equal(ons, 0);
    /* Only samples lie outside; who started and ended is always told. */
    assert_false(as_native_is_outside(&session, record_of(PERF_RECORD_EXIT, 1, 50), 50));
}

/* A region that begins with the program is inside from the first sample on. */
static void from_the_start(void **state)
{
    begin("..first");
    assert_int_equal(session.info.parts, 1);
    assert_true(is_inside(1));
    as_native_region_pass(&session, landmark(ID_OF_FIRST, 100), 100);
    assert_true(is_inside(99) && !is_inside(100));
    session.began = 20e-9;
    session.info.seconds = 1;
    assert_float_equal(as_native_regions_measured(&session), 80e-9, 1e-12);
}

/* Parts add up; one that is still open lasts to the end of the run. */
static void adds_up(void **state)
{
    static const uint64_t seconds[] = {3, 5, 6, 10, 11};
    session.began = 2;
    session.info.seconds = 18;
    for (size_t i = 0; i < 5; i++)
        *as_vec_push(&session.borders) = seconds[i] * UINT64_C(1000000000);
    assert_float_equal(as_native_regions_measured(&session), 2 + 4 + 9, 1e-9);
    session.borders.len = 4;
    assert_float_equal(as_native_regions_measured(&session), 6, 1e-9);
    session.borders.len = 1;
    assert_float_equal(as_native_regions_measured(&session), 17, 1e-9);
    session.borders.len = 0;
    assert_float_equal(as_native_regions_measured(&session), 0, 1e-9);
}

/* ---- regions by the clock and by signals ---- */

enum { SECOND = 1000000000 };

static void pass(uint64_t time)
{
    assert_false(as_native_region_pass(&session, landmark(1, time), time));
}

/* The borders lie where the clock says, wherever the records do. */
static void regions_by_the_clock(void **state)
{
    session.began = 10;
    session.info.seconds = 5;
    begin("delay:0.5..delay:1.25");
    assert_false(as_native_has_landmarks(&session));
    pass(10 * (uint64_t)SECOND + 499999999);
    assert_int_equal(session.borders.len, 0);
    pass(10 * (uint64_t)SECOND + 500000000);
    assert_int_equal(session.info.parts, 1);
    assert_true(is_inside(10 * (uint64_t)SECOND + 500000000));
    pass(14 * (uint64_t)SECOND);
    assert_int_equal(session.info.parts, 1);
    assert_true(is_inside(11 * (uint64_t)SECOND + 249999999) && !is_inside(11 * (uint64_t)SECOND + 250000000));
    assert_float_equal(as_native_regions_measured(&session), 0.75, 1e-9);
}

/* A point behind the last record has passed, too; one behind the end has not. */
static void clock_without_records(void **state)
{
    session.began = 10;
    session.info.seconds = 5;
    begin("delay:1..delay:3");
    assert_float_equal(as_native_regions_measured(&session), 2, 1e-9);
    assert_int_equal(session.info.parts, 1);
    as_native_regions_close(&session);
    session.borders.len = session.info.parts = 0;
    as_regions_free(&regions);
    begin("delay:6..");
    assert_float_equal(as_native_regions_measured(&session), 0, 1e-9);
    assert_int_equal(session.info.parts, 0);
}

/* A signal counts from its time on, also where older records come after it. */
static void regions_by_signals(void **state)
{
    session.info.seconds = 1;
    begin("signal..signal");
    as_native_region_signal(&session, 100);
    pass(90);
    assert_int_equal(session.info.parts, 0);
    pass(110);
    assert_true(!is_inside(99) && is_inside(100));
    as_native_region_signal(&session, 200);
    as_native_region_signal(&session, 300); /* the region does not start again */
    pass(400);
    assert_true(is_inside(199) && !is_inside(200) && !is_inside(300));
    assert_int_equal(session.info.parts, 1);
    assert_int_equal(ons, 1);
    assert_int_equal(offs, 1);
    assert_float_equal(as_native_regions_measured(&session), 100e-9, 1e-12);
}

/* While the program sleeps there are no records: what comes is known a pass later. */
static void without_records(void **state)
{
    session.began = 10;
    begin("delay:1..signal");
    as_native_region_round(&session, 12 * (uint64_t)SECOND);
    assert_int_equal(ons, 0);
    as_native_region_round(&session, 13 * (uint64_t)SECOND);
    assert_int_equal(ons, 1);
    as_native_region_signal(&session, 13 * (uint64_t)SECOND + 1);
    as_native_region_round(&session, 14 * (uint64_t)SECOND);
    assert_int_equal(offs, 0);
    as_native_region_round(&session, 15 * (uint64_t)SECOND);
    assert_int_equal(offs, 1);
    assert_int_equal(session.borders.data[0], 11 * (uint64_t)SECOND);
    assert_int_equal(session.borders.data[1], 13 * (uint64_t)SECOND + 1);
}

/* From a landmark to a signal, from that to a point of the clock: each only once the region waits for it. */
static void mixed_points(void **state)
{
    begin("first..signal");
    as_native_region_signal(&session, 100);
    assert_true(as_native_region_pass(&session, landmark(ID_OF_FIRST, 200), 200));
    pass(250);
    assert_true(is_inside(250));
    as_native_region_signal(&session, 300);
    pass(400);
    assert_true(is_inside(299) && !is_inside(300));
}

/* A stop that had passed before the region started makes it empty. */
static void clock_that_has_passed(void **state)
{
    begin("signal..delay:0.5");
    as_native_region_signal(&session, SECOND);
    pass(2 * (uint64_t)SECOND);
    assert_int_equal(session.borders.len, 2);
    assert_true(session.borders.data[0] == SECOND && session.borders.data[1] == SECOND);
    assert_true(!is_inside(SECOND - 1) && !is_inside(SECOND));
}

/* ---- switches and delays ---- */

static void whole_run(void **state)
{
    session.began = as_clock_seconds();
    uint64_t border;
    assert_false(as_native_has_parts(&session));
    as_native_part_start(&session);
    assert_true(session.measures);
    assert_int_equal(session.info.parts, 1);
    assert_false(as_native_part_crosses(&session, &border));
    assert_true(is_inside(1));
    as_native_part_end(&session);
    assert_float_equal(session.info.measured, session.info.seconds, 1e-9);
}

/* Each press switches; what was pressed before the start does not count. */
static void switches(void **state)
{
    _Atomic uint32_t presses = 3;
    uint64_t border, stop;
    session.options.switches = &presses;
    assert_true(as_native_has_parts(&session));
    session.began = as_clock_seconds();
    as_native_part_start(&session);
    assert_false(session.measures);
    assert_false(as_native_part_crosses(&session, &border));
    double before = as_clock_seconds();
    presses++;
    assert_true(as_native_part_crosses(&session, &border));
    assert_true(session.measures);
    assert_true((double)border >= before * 1e9 - 1 && (double)border <= as_clock_seconds() * 1e9);
    assert_false(as_native_part_crosses(&session, &stop));
    while (as_clock_seconds() < before + 0.003)
        ;
    presses++;
    assert_true(as_native_part_crosses(&session, &stop));
    assert_false(session.measures);
    assert_int_equal(session.info.parts, 1);
    assert_float_equal(session.info.measured, (double)(stop - border) * 1e-9, 1e-6);
    as_native_part_end(&session);
    assert_float_equal(session.info.measured, (double)(stop - border) * 1e-9, 1e-6);
    assert_true(session.info.seconds >= session.info.measured);
    as_native_part_take(&session, border);
    as_native_part_take(&session, stop);
    assert_true(ons == 1 && offs == 1);
    assert_true(!is_inside(border - 1) && is_inside(border) && !is_inside(stop));
}

/* After a delay it measures, to the end. */
static void delays(void **state)
{
    uint64_t border;
    session.options.delay = 1000;
    session.began = as_clock_seconds();
    assert_true(as_native_has_parts(&session));
    as_native_part_start(&session);
    assert_int_equal(session.info.parts, 0);
    assert_false(as_native_part_crosses(&session, &border));
    session.began -= 1000;
    assert_true(as_native_part_crosses(&session, &border));
    assert_false(as_native_part_crosses(&session, &border));
    assert_true(session.measures);
    assert_int_equal(session.info.parts, 1);
    assert_float_equal(session.info.measured, 0, 1e-9);
    as_native_part_end(&session);
    assert_true(session.info.seconds >= 1000 && session.info.measured < session.info.seconds - 999);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __x86_64__
        TEST(finds_markers),
        TEST(finds_those_asked_for),
        TEST(refuses_too_many),
#endif
        TEST(finds_functions),
        TEST(landmarks_switch),
        TEST(other_records),
        TEST(from_the_start),
        TEST(adds_up),
        TEST(whole_run),
        TEST(regions_by_the_clock),
        TEST(clock_without_records),
        TEST(regions_by_signals),
        TEST(without_records),
        TEST(mixed_points),
        TEST(clock_that_has_passed),
        TEST(switches),
        TEST(delays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
