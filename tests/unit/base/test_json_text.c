/* JSON text from files: what is a value and what is not, where it ends, members and first elements. */
#include "unit.h"

#include "base/json_text.h"

static void accepts_values(void **state)
{
    static const char *const texts[] = {"1",
                                        " {} ",
                                        "[]",
                                        "-0.5e+3",
                                        "0",
                                        "12E2",
                                        "1e-5",
                                        "10.25E-07",
                                        "\"\"",
                                        "\"\\u00e9\\\\ \xc3\xa9\"",
                                        "[1, [2], {\"a\": [true, false, null]}]",
                                        "{\"a\":1,\"a\":2}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(as_json_text_wrong(texts[i]));
}

static void refuses_others(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        {"", 0},    {"[1,]", 3},    {"{\"a\" 1}", 5},   {"{a:1}", 1},    {"01", 1},     {"1.", 2},
        {"-", 1},   {"1e", 2},      {"1e+", 3},         {"1e-", 3},      {"1e+-2", 3},  {"--1", 1},
        {"\"a", 2}, {"\"\\x\"", 2}, {"\"\\u12g4\"", 2}, {"\"\xff\"", 1}, {"\"\n\"", 1}, {"[1 2]", 3},
        {"tru", 0}, {"{} {}", 3},   {"{\"a\":1", 6},    {"[", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *wrong = as_json_text_wrong(cases[i].text);
        assert_non_null(wrong);
        assert_int_equal(wrong - cases[i].text, cases[i].at);
    }
}

static void bounds_the_depth(void **state)
{
    char text[2 * (AS_JSON_TEXT_DEPTH + 1) + 1];
    for (int depth = AS_JSON_TEXT_DEPTH; depth <= AS_JSON_TEXT_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        assert_int_equal(as_json_text_wrong(text) == NULL, depth == AS_JSON_TEXT_DEPTH);
    }
}

static void finds_members(void **state)
{
    static const char text[] = " {\"long\": [\"a/b\", 2], \"lo\" : {\"x\": 1} , \"last\":7}";
    size_t length;
    const char *found = as_json_text_member(text, "lo", &length);
    assert_non_null(found);
    assert_memory_equal(found, "{\"x\": 1}", length);
    found = as_json_text_member(text, "last", &length);
    assert_non_null(found);
    assert_int_equal(length, 1);
    assert_int_equal(*found, '7');
    assert_null(as_json_text_member(text, "x", &length));
    assert_null(as_json_text_member("[1]", "x", &length));
    assert_null(as_json_text_member("{}", "x", &length));
    found = as_json_text_first(as_json_text_member(text, "long", &length), &length);
    assert_non_null(found);
    assert_memory_equal(found, "\"a/b\"", length);
    assert_null(as_json_text_first("[ ]", &length));
    assert_null(as_json_text_first("{\"a\":1}", &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_values),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(bounds_the_depth),
        cmocka_unit_test(finds_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
