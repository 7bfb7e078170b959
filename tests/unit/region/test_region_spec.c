/* Regions as text: what each form means, and what is refused with which words. */
#include "region/region_run.h"

#include "unit.h"

#include <stdio.h>

static struct as_regions list;

static int set_up(void **state)
{
    list = (struct as_regions){0};
    return 0;
}

static int tear_down(void **state)
{
    as_regions_free(&list);
    return 0;
}

static const struct as_region *parse(const char *text)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_regions_parse(&list, text, &err))
        fail_msg("%s", err.message);
    const struct as_region *region = &list.list.data[list.list.len - 1];
    assert_string_equal(region->text, text);
    return region;
}

static void expect_point(const struct as_point *point, enum as_point_kind kind, uint64_t number)
{
    assert_int_equal(point->kind, kind);
    assert_int_equal(point->number, number);
}

static void expect_landmark(const struct as_point *point, const char *name, uint64_t number)
{
    expect_point(point, AS_POINT_LANDMARK, number);
    char *seen = as_landmark_name(&list.landmarks.data[point->landmark]);
    assert_string_equal(seen, name);
    free(seen);
}

static void test_counts(void **state)
{
    const struct as_region *region = parse("..");
    expect_point(&region->start, AS_POINT_NONE, 0);
    expect_point(&region->stop, AS_POINT_NONE, 0);
    assert_int_equal(region->max, AS_REGION_ALL);
    assert_true(region->weight == 1);
    assert_int_equal(region->mode, AS_MODE_DETAIL);

    region = parse("10k..20M");
    expect_point(&region->start, AS_POINT_INSTRUCTION, 10000);
    expect_point(&region->stop, AS_POINT_INSTRUCTION, 20000000);

    region = parse("5+3..+7");
    expect_point(&region->start, AS_POINT_INSTRUCTION, 5);
    assert_int_equal(region->offset, 3);
    expect_point(&region->stop, AS_POINT_NONE, 0);
    assert_int_equal(region->max, 7);
}

static void test_places(void **state)
{
    const struct as_region *region = parse("main+2k..exit");
    expect_landmark(&region->start, "main", 0);
    assert_int_equal(region->offset, 2000);
    expect_landmark(&region->stop, "exit", 0);

    region = parse("libm.so.6:sin#3..libm.so.6:sin#10");
    expect_landmark(&region->start, "libm.so.6:sin", 3);
    expect_landmark(&region->stop, "libm.so.6:sin", 10);
    assert_int_equal(region->start.landmark, region->stop.landmark);

    region = parse("0x401000#2..prog:0x1139");
    expect_landmark(&region->start, "0x401000", 2);
    expect_landmark(&region->stop, "prog:0x1139", 0);
    const struct as_landmark *mapped = &list.landmarks.data[region->start.landmark];
    const struct as_landmark *of_file = &list.landmarks.data[region->stop.landmark];
    assert_true(mapped->kind == AS_LANDMARK_ADDRESS && mapped->address == 0x401000 && !mapped->symbol);
    assert_true(of_file->kind == AS_LANDMARK_ADDRESS && of_file->address == 0x1139);
    assert_string_equal(of_file->symbol, "prog");

    region = parse("marker..marker:7#2");
    expect_landmark(&region->start, "marker", 0);
    expect_landmark(&region->stop, "marker:7", 2);

    region = parse("symbol:marker..symbol:signal");
    assert_int_equal(list.landmarks.data[region->start.landmark].kind, AS_LANDMARK_SYMBOL);
    expect_landmark(&region->start, "marker", 0);
    expect_landmark(&region->stop, "signal", 0);
}

/* Names of C++ hold commas, colons, equal signs and more. */
static void test_names(void **state)
{
    const struct as_region *region = parse("std::sort<int*>(int*, int*)..a::operator+(a const&, a),weight=2");
    expect_landmark(&region->start, "std::sort<int*>(int*, int*)", 0);
    expect_landmark(&region->stop, "a::operator+(a const&, a)", 0);
    assert_true(region->weight == 2);
    region = parse("markers..marker_end");
    expect_landmark(&region->start, "markers", 0);
    expect_landmark(&region->stop, "marker_end", 0);
    region = parse("f(int, x=1)..g");
    expect_landmark(&region->start, "f(int, x=1)", 0);
}

static void test_outside(void **state)
{
    const struct as_region *region = parse("cycle:1M..cycle:2M");
    expect_point(&region->start, AS_POINT_CYCLE, 1000000);
    expect_point(&region->stop, AS_POINT_CYCLE, 2000000);
    region = parse("signal..signal,repeat");
    expect_point(&region->start, AS_POINT_SIGNAL, 0);
    expect_point(&region->stop, AS_POINT_SIGNAL, 0);
    assert_true(region->repeat);
    region = parse("delay:0.5..delay:2s");
    expect_point(&region->start, AS_POINT_DELAY, 500000000);
    expect_point(&region->stop, AS_POINT_DELAY, 2000000000);
}

static void test_options(void **state)
{
    const struct as_region *region = parse("main..,warm=3,settle=4k,max=5M,weight=0.25,mode=warm");
    assert_int_equal(region->warm, 3);
    assert_int_equal(region->settle, 4000);
    assert_int_equal(region->max, 5000000);
    assert_true(region->weight == 0.25);
    assert_int_equal(region->mode, AS_MODE_WARM);
    assert_int_equal(parse("5..,warm=all")->warm, AS_REGION_ALL);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "expected START..STOP"},
        {"main", "expected START..STOP"},
        {"main.exit", "expected START..STOP"},
        {"12x..", "a number of instructions"},
        {"..99999999999999999999999", "a number of instructions"},
        {"..+", "a number of instructions"},
        {"..+0", "a number of instructions"},
        {"..+5,max=6", "either +N or max=N"},
        {"main#0..", "numbered from #1"},
        {"symbol:..", "the name of a function is missing"},
        {"marker:x..", "markers are numbered"},
        {"marker:2048..", "markers are numbered"},
        {"cycle:..", "a number of cycles"},
        {"cycle:-1..", "a number of cycles"},
        {"delay:..", "a number of seconds"},
        {"delay:-1..", "a number of seconds"},
        {"delay:nan..", "a number of seconds"},
        {"delay:3m..", "a number of seconds"},
        {"main..,weight=0", "a weight is a number above 0"},
        {"main..,weight=-1", "a weight is a number above 0"},
        {"main..,weight=inf", "a weight is a number above 0"},
        {"main..,weight=1x", "a weight is a number above 0"},
        {"main..,warm=lots", "a number of instructions"},
        {"main..,mode=fast", "count, warm, settle or detail"},
        {"main..,wram=3", "unknown option 'wram'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_regions_parse(&list, cases[i].text, &err));
        assert_int_equal(err.status, AS_EXIT_USAGE);
        if (!strstr(err.message, cases[i].why))
            fail_msg("'%s': %s", cases[i].text, err.message);
    }
}

static bool check_list(const char *const *texts, struct as_error *err)
{
    tear_down(NULL);
    for (; *texts; texts++)
        parse(*texts);
    return as_regions_check(&list, err);
}

static void test_lists(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(check_list((const char *const[]){"30..40", "10..20", "20..30", NULL}, &err));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(list.list.data[i].start.number, 10 * (i + 1));
    assert_true(check_list((const char *const[]){"main..+5", "10..20", "f..g,repeat", NULL}, &err));
    assert_true(check_list((const char *const[]){"main..+5,warm=all", "f+10..+2,warm=8,settle=2", NULL}, &err));
    assert_true(check_list((const char *const[]){NULL}, &err));
}

static void test_lists_refused(void **state)
{
    static const struct {
        const char *texts[4], *why;
    } cases[] = {
        {{"10..20", "15..30"}, "'10..20' and '15..30' overlap"},
        {{"10..+20", "29..+3"}, "overlap"},
        {{"10..5"}, "'10..5' holds no instructions: it must stop after 10"},
        {{"4+1..5"}, "it must stop after 5"},
        {{"..0"}, "it must stop after 0"},
        {{"10..", "29..+3"}, "has no end, so '29..+3' never starts"},
        {{"main..", "f.."}, "has no end"},
        {{"main..exit,warm=5"}, "warm=all"},
        {{"main+5..exit,warm=5,settle=1"}, "6 instructions before it"},
        {{"5..6,repeat"}, "its start happens only once"},
        {{"f#2..g,repeat"}, "its start happens only once"},
        {{"f..g,repeat", "h..i"}, "no region can follow"},
        {{"f..g", "20..30", "10..15"}, "put them in the order of the run"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        assert_false(check_list(cases[i].texts, &err));
        assert_int_equal(err.status, AS_EXIT_USAGE);
        if (!strstr(err.message, cases[i].why))
            fail_msg("case %zu: %s", i, err.message);
    }
}

/* ---- files ---- */

static bool read_text(const char *text, size_t length, struct as_error *err)
{
    char path[] = "/tmp/assay-regions-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    tear_down(NULL);
    bool ok = as_regions_read(&list, path, err);
    unlink(path);
    return ok;
}

static void test_file(void **state)
{
    static const char text[] = "assay-regions 1\r\n# from somewhere\n\n  10..20,weight=0.5 \n\t30..+1";
    struct as_error err = AS_ERROR_INIT;
    assert_true(read_text(text, sizeof text - 1, &err));
    assert_int_equal(list.list.len, 2);
    assert_string_equal(list.list.data[0].text, "10..20,weight=0.5");
    assert_int_equal(list.list.data[1].max, 1);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "the file has no regions"},
        {"assay-regions 1\n# none\n", "the file has no regions"},
        {"10..20\n", "its first line is not 'assay-regions 1'"},
        {"assay-regions 2\n10..20\n", "its first line is not"},
        {"assay-regions 1\n\n10-20\n", ":3: region '10-20'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        assert_false(read_text(cases[i].text, strlen(cases[i].text), &err));
        if (!strstr(err.message, cases[i].why))
            fail_msg("case %zu: %s", i, err.message);
    }
    struct as_error err = AS_ERROR_INIT;
    static const char binary[] = "assay-regions 1\n10..\0020\n\0";
    assert_false(read_text(binary, sizeof binary, &err));
    assert_non_null(strstr(err.message, ":3: not text"));
    assert_false(as_regions_read(&list, "/nowhere/regions", &err));
    assert_non_null(strstr(err.message, "No such file"));
}

/* ---- what did not go as asked ---- */

/* Runs `count` instructions, of which the landmark 0 is passed `passes` times at the start. */
static void expect_trouble(const char *text, unsigned passes, uint64_t count, bool known, const char *why)
{
    struct as_region_run run;
    char seen[512] = "";
    tear_down(NULL);
    parse(text);
    as_region_run_init(&run, &list);
    for (unsigned i = 0; i < passes; i++)
        as_region_run_pass(&run, 0);
    for (uint64_t i = 0; i < count && !run.over; i++) {
        as_region_run_cross(&run);
        as_region_run_count(&run, run.over ? 0 : 1);
    }
    bool trouble = as_region_run_explain(&run, 0, known, seen, sizeof seen);
    if (trouble != (why != NULL) || (why && !strstr(seen, why)))
        fail_msg("'%s': \"%s\" instead of \"%s\"", text, seen, why ? why : "");
    as_region_run_free(&run);
}

static void test_troubles(void **state)
{
    expect_trouble("..", 0, 10, false, NULL);
    expect_trouble("5..+3", 0, 10, false, NULL);
    expect_trouble("5..+30", 0, 10, false, NULL); /* the program may end first: that is what "at most" means */
    expect_trouble("50..+3", 0, 10, false, "the program ended after 10 instructions");
    expect_trouble("f..", 0, 10, false, "never reached 'f', and no function of that name was seen");
    expect_trouble("f..", 0, 10, true, "nothing was measured: the program never reached 'f'");
    expect_trouble("f..", 1, 10, true, NULL);
    expect_trouble("f#3..", 2, 10, true, "executed 'f' 2 times, not 3");
    expect_trouble("f+100..", 1, 10, true, "the program ended before region 'f+100..' began");
    expect_trouble("f..g", 1, 10, true, "never reached 'g': measured to the program's end");
    expect_trouble("f..f", 1, 10, true, "never reached 'f' after that: measured to the program's end");
    expect_trouble("marker:1..", 0, 10, false, "never executed 'marker:1'");
    expect_trouble("0x10..", 0, 10, false, "never reached '0x10'");
    expect_trouble("signal..", 0, 10, false, "no signal came");
    expect_trouble("delay:2..", 0, 10, false, "within the delay of 2 seconds");
    expect_trouble("cycle:5..", 0, 10, false, "before cycle 5");
    expect_trouble("..signal", 0, 10, false, "the program ended before region '..signal' stopped");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* What follows a comma is an option only if it begins like one: names of functions have commas, too. */
static void test_names_with_commas(void **state)
{
    static const char *const names[] = {"f,A=1", "f,=1", "f<int,b=(c)>", "f(a,b)", "f,1=b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64];
        snprintf(text, sizeof text, "main..%s,weight=2", names[i]);
        const struct as_region *region = parse(text);
        assert_string_equal(list.landmarks.data[region->stop.landmark].symbol, names[i]);
        assert_true(region->weight == 2);
        as_regions_free(&list);
        list = (struct as_regions){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names_with_commas), TEST(test_counts),  TEST(test_places),    TEST(test_names),
        TEST(test_outside),           TEST(test_options), TEST(test_refused),   TEST(test_lists),
        TEST(test_lists_refused),     TEST(test_file),    TEST(test_bad_files), TEST(test_troubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
