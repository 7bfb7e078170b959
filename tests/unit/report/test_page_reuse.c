/* Reuse distances for a page: which files are taken for those of the profile's program. */
#include "report/page_document.h"
#include "unit.h"
#include "view_bed.h"

#define REUSE(program)                                                                                                 \
    "{\"program\": " program                                                                                           \
    ", \"method\": \"exact\", \"granularity\": 64, \"histogram\": [], \"time_histogram\": []}\n"

static void taken(const char *text, const char *program)
{
    struct as_error err = AS_ERROR_INIT;
    view_bed_file("reuse.json", text);
    char *found = as_page_reuse_read("reuse.json", program, &err);
    if (!found)
        fail_msg("%s", err.message);
    assert_string_equal(found, text);
    free(found);
}

static void refused(const char *text, const char *program, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    view_bed_file("reuse.json", text);
    assert_null(as_page_reuse_read("reuse.json", program, &err));
    if (!strstr(err.message, part))
        fail_msg("%s", err.message);
}

static void of_the_same_program(void **state)
{
    taken(REUSE("[\"shop\", \"3\"]"), "/opt/bin/shop");
    taken(REUSE("[\"./build/shop\"]"), "/opt/bin/shop");
    taken(REUSE("[\"anything\"]"), NULL); /* the profile does not say which */
    taken(REUSE("[\"a \\\"quoted\\\" name\"]"), "/opt/a \"quoted\" name");
}

static void of_another(void **state)
{
    refused(REUSE("[\"workshop\"]"), "/opt/bin/shop", "of another program than the profile");
    refused(REUSE("[\"hop\"]"), "/opt/bin/shop", "of another program than the profile");
    refused(REUSE("[3]"), "/opt/bin/shop", "of another program than the profile");
    refused(REUSE("[]"), "/opt/bin/shop", "of another program than the profile");
}

static void other_files(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    refused("{\"program\": [\"shop\"]}\n", "shop", "is not what assay reuse --json writes");
    refused("{\"program\": [}\n", "shop", "is not JSON from byte 13 on");
    assert_null(as_page_reuse_read("none.json", "shop", &err));
    assert_non_null(strstr(err.message, "cannot read 'none.json'"));
}

static int set_up(void **state)
{
    view_bed_enter();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_the_same_program), cmocka_unit_test(of_another),
                                       cmocka_unit_test(other_files)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
