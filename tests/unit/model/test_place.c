/* Places as users name them: what they are read as, and which instructions they hold. */
#include "model/place.h"

#include "unit.h"

static struct as_place parse(const char *text)
{
    struct as_place place;
    struct as_error err = AS_ERROR_INIT;
    if (!as_place_parse(text, &place, &err))
        fail_msg("%s: %s", text, err.message);
    return place;
}

static void test_parse(void **state)
{
    struct as_place place = parse("libfoo.so:std::sort+0x1c");
    assert_string_equal(place.module, "libfoo.so");
    assert_string_equal(place.function, "std::sort");
    assert_true(place.has_offset && !place.has_address);
    assert_int_equal(place.offset, 0x1c);
    assert_true(as_place_is_one(&place));
    as_place_free(&place);
    place = parse("operator+");
    assert_null(place.module);
    assert_string_equal(place.function, "operator+");
    assert_false(as_place_is_one(&place));
    as_place_free(&place);
    place = parse("0x10430");
    assert_true(place.has_address && as_place_is_one(&place));
    assert_int_equal(place.address, 0x10430);
    as_place_free(&place);
}

static void test_refused(void **state)
{
    static const char *const texts[] = {"", "+0x1c", ":main", "demo:", ":0x10430"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct as_place place;
        struct as_error err = AS_ERROR_INIT;
        if (as_place_parse(texts[i], &place, &err))
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(err.status, AS_EXIT_USAGE);
        assert_null(place.text);
    }
}

/* An instruction at 0x4010 of the run, 0x1010 of /bin/demo, in a function that begins at 0x4000. */
static bool holds(const char *text, const char *function, const char *raw)
{
    struct as_place place = parse(text);
    struct as_insn insn = {.address = 0x4010};
    struct as_location location = {.module = "/bin/demo",
                                   .module_name = "demo",
                                   .function = function,
                                   .raw_function = raw,
                                   .function_start = 0x4000,
                                   .module_offset = 0x1010};
    bool held = as_place_holds(&place, &insn, &location);
    as_place_free(&place);
    return held;
}

static void test_holds(void **state)
{
    static const struct {
        const char *text;
        bool held;
    } named[] = {{"f", true},        {"f(int)", true},      {"_Z1fi", true},         {"g", false},
                 {"f(", false},      {"f+0x10", true},      {"f+0x11", false},       {"0x4010", true},
                 {"0x1010", true},   {"0x4011", false},     {"demo:f", true},        {"/bin/demo:f", true},
                 {"other:f", false}, {"demo:0x1010", true}, {"other:0x1010", false}, {"demo+0x1010", false}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (holds(named[i].text, "f(int)", "_Z1fi") != named[i].held)
            fail_msg("%s: not %d", named[i].text, named[i].held);
    assert_true(holds("demo+0x1010", NULL, NULL));
    assert_false(holds("demo+0x1011", NULL, NULL));
    assert_false(holds("demo", NULL, NULL));
    assert_false(holds("other+0x1010", NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
