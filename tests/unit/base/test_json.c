/* The JSON writer: the exact text of a document, escapes, numbers at their limits, and misuse that must abort. */
#include "unit.h"

#include "base/json.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>

struct page {
    char *text;
    size_t size;
    FILE *out;
    struct as_json *json;
};

static void begin(struct page *page)
{
    page->out = open_memstream(&page->text, &page->size);
    assert_non_null(page->out);
    page->json = as_json_new(page->out);
}

static void expect_page(struct page *page, const char *text)
{
    assert_true(as_json_finish(page->json));
    fclose(page->out);
    assert_string_equal(page->text, text);
    free(page->text);
}

static void writes_a_document(void **state)
{
    struct page page;
    begin(&page);
    as_json_object(page.json, NULL);
    as_json_u64(page.json, "u", UINT64_MAX);
    as_json_i64(page.json, "i", INT64_MIN);
    as_json_bool(page.json, "t", true);
    as_json_bool(page.json, "f", false);
    as_json_null(page.json, "n");
    as_json_address(page.json, "a", 0x7fff0000);
    as_json_string(page.json, "none", NULL);
    as_json_array(page.json, "list");
    as_json_u64(page.json, NULL, 1);
    as_json_array(page.json, NULL);
    as_json_end(page.json);
    as_json_object(page.json, NULL);
    as_json_end(page.json);
    as_json_end(page.json);
    as_json_end(page.json);
    expect_page(&page, "{\n  \"u\": 18446744073709551615,\n  \"i\": -9223372036854775808,\n  \"t\": true,\n"
                       "  \"f\": false,\n  \"n\": null,\n  \"a\": \"0x7fff0000\",\n  \"none\": null,\n"
                       "  \"list\": [\n    1,\n    [],\n    {}\n  ]\n}\n");
}

static void writes_without_breaks(void **state)
{
    struct page page;
    begin(&page);
    as_json_compact(page.json);
    as_json_object(page.json, NULL);
    as_json_array(page.json, "list");
    as_json_u64(page.json, NULL, 1);
    as_json_u64(page.json, NULL, 2);
    as_json_end(page.json);
    as_json_string(page.json, "a b", "c: d");
    as_json_end(page.json);
    expect_page(&page, "{\"list\":[1,2],\"a b\":\"c: d\"}\n");
}

static void expect_text(const char *value, const char *text)
{
    struct page page;
    begin(&page);
    as_json_string(page.json, NULL, value);
    expect_page(&page, text);
}

static void escapes_strings(void **state)
{
    expect_text("", "\"\"\n");
    expect_text("a\"b\\c/", "\"a\\\"b\\\\c/\"\n");
    expect_text("\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"\n");
    expect_text("caf\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x98\x80\"\n");
}

#define FFFD "\xef\xbf\xbd"

static void replaces_invalid_utf8(void **state)
{
    expect_text("\xff", "\"" FFFD "\"\n");
    expect_text("a\x80z", "\"a" FFFD "z\"\n");
    expect_text("\xc0\xaf", "\"" FFFD FFFD "\"\n");                   /* overlong */
    expect_text("\xe0\x80\x80", "\"" FFFD FFFD FFFD "\"\n");          /* overlong */
    expect_text("\xed\xa0\x80", "\"" FFFD FFFD FFFD "\"\n");          /* a surrogate */
    expect_text("\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\"\n"); /* above U+10FFFF */
    expect_text("\xe2\x80", "\"" FFFD FFFD "\"\n");                   /* torn at the end */
    expect_text("\xf0\x9f\x98", "\"" FFFD FFFD FFFD "\"\n");
    expect_text("\xc3", "\"" FFFD "\"\n");
    expect_text("\xc3\"", "\"" FFFD "\\\"\"\n");
}

static void escapes_names(void **state)
{
    struct page page;
    begin(&page);
    as_json_object(page.json, NULL);
    as_json_null(page.json, "a\"\n");
    as_json_end(page.json);
    expect_page(&page, "{\n  \"a\\\"\\n\": null\n}\n");
}

static void expect_double(double value, const char *text)
{
    struct page page;
    begin(&page);
    as_json_double(page.json, NULL, value);
    expect_page(&page, text);
}

static void writes_shortest_numbers(void **state)
{
    expect_double(0, "0\n");
    expect_double(0.1, "0.1\n");
    expect_double(1.0 / 3, "0.3333333333333333\n");
    expect_double(0.1 + 0.2, "0.30000000000000004\n");
    expect_double(-2.5, "-2.5\n");
    expect_double(DBL_MAX, "1.7976931348623157e+308\n");
    expect_double(5e-324, "5e-324\n");
    expect_double(NAN, "null\n");
    expect_double(INFINITY, "null\n");
    expect_double(-INFINITY, "null\n");
}

static void tells_write_errors(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct as_json *json = as_json_new(full);
    as_json_null(json, NULL);
    assert_false(as_json_finish(json));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}

static void misuse(void *which)
{
    struct as_json *json = as_json_new(stdout);
    switch (*(int *)which) {
    case 0: /* an end too many */
        as_json_end(json);
        break;
    case 1: /* a member without a name */
        as_json_object(json, NULL);
        as_json_null(json, NULL);
        break;
    case 2: /* a name inside an array */
        as_json_array(json, NULL);
        as_json_null(json, "name");
        break;
    case 3: /* an end missing */
        as_json_array(json, NULL);
        (void)!as_json_finish(json);
        break;
    case 4: /* two values at the top */
        as_json_null(json, NULL);
        as_json_null(json, NULL);
        break;
    case 5: /* no value at all */
        (void)!as_json_finish(json);
        break;
    }
}

static void aborts_on_misuse(void **state)
{
    for (int which = 0; which <= 5; which++) {
        char text[1000];
        int status = unit_run_child(misuse, &which, text, sizeof text);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_document),       cmocka_unit_test(escapes_strings),
        cmocka_unit_test(replaces_invalid_utf8),   cmocka_unit_test(escapes_names),
        cmocka_unit_test(writes_shortest_numbers), cmocka_unit_test(tells_write_errors),
        cmocka_unit_test(aborts_on_misuse),        cmocka_unit_test(writes_without_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
