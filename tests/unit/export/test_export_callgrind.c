/* callgrind's format on profiles made for what is special in it. */
#include "unit.h"

#include "export/export.h"
#include "export_bed.h"
#include "store_bed.h"

#define NONE AS_STORE_NONE

/* All of them are in the text, in this order. */
static void assert_in_order(const char *text, const char *const *parts)
{
    for (const char *at = text; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("'%s' is not behind '%.60s' in: %s", *parts, at, text);
        at = found + strlen(*parts);
    }
}

/* Readers strip blanks at both ends of a name, unless it is in quotes. */
static void names_with_blanks(void **state)
{
    static const char *const names[] = {"plain", " before", "behind ", " ", "in the middle"};
    static const char *const expected[] = {"fn=(1) plain\n",
                                           "fn=(2) \" before\"\n",
                                           "fn=(3) \"behind \"\n",
                                           "fn=(4) \" \"\n",
                                           "fn=(5) in the middle\n",
                                           "totals: 15\n",
                                           NULL};
    const struct as_store_series golden = {
        .name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1};
    struct as_store_writer *writer = bed_writer(bed_path("names.db"));
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/shop");
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_run(writer, &(struct as_store_run){1, 15, 5, 1, 0.5, 0});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, NULL, 15, 5, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/shop"});
    for (uint32_t i = 0; i < 5; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], names[i], 0, NONE, 0, 0x1000 + 16 * i, 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{0x1000 + 16 * i, 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    }
    uint32_t s = as_store_add_series(writer, &golden);
    for (uint32_t i = 0; i < 5; i++)
        as_store_add_time(writer, &(struct as_store_time){s, 0, i, i + 1, 0, 1});
    bed_commit(writer);
    size_t size;
    struct as_store *named = bed_open(bed_path("names.db"));
    char *text = export_written(named, "callgrind", (struct as_export_options){0}, &size);
    assert_in_order(text, expected);
    free(text);
    as_store_close(named);
}

/* Two functions that call themselves, each below main: what a call costs with all below it counts once, however often the call is open. */
static void functions_that_call_themselves(void **state)
{
    enum { MAIN, A, B, FUNCTIONS, PATHS = 7, UNITS = 10 };
    static const char *const names[] = {"main", "a", "b"};
    static const struct as_store_path paths[PATHS] = {
        {NONE, MAIN, NONE, 0x1000, 0, false}, {0, A, MAIN, 0x2000, 0x1000, false}, {1, A, A, 0x2000, 0x2000, false},
        {2, A, A, 0x2000, 0x2000, false},     {0, B, MAIN, 0x3000, 0x1000, false}, {4, B, B, 0x3000, 0x3000, false},
        {5, B, B, 0x3000, 0x3000, false}};
    const struct as_store_series golden = {
        .name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1};
    struct as_store_writer *writer = bed_writer(bed_path("deep.db"));
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/shop");
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_run(writer, &(struct as_store_run){1, PATHS * UNITS, 3, 1, 0.5, 0});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, NULL, PATHS * UNITS, 3, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/shop"});
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        uint64_t start = 0x1000 * (i + 1);
        as_store_add_function(writer, &(struct as_store_function){names[i], names[i], 0, NONE, 0, start, 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{start, 0, i, NONE, NONE, 0, NONE}, 0, "call", "call", NULL, 0});
    }
    uint32_t s = as_store_add_series(writer, &golden);
    for (uint32_t i = 0; i < PATHS; i++)
        as_store_add_path(writer, &paths[i]);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        as_store_add_time(writer, &(struct as_store_time){s, 0, i, i == MAIN ? UNITS : 3 * UNITS, 0, 1});
    for (uint32_t i = 0; i < PATHS; i++)
        as_store_add_path_time(writer, &(struct as_store_path_time){s, 0, i, NONE, UNITS, 0});
    bed_commit(writer);
    size_t size;
    struct as_store *deep = bed_open(bed_path("deep.db"));
    char *text = export_written(deep, "callgrind", (struct as_export_options){0}, &size);
    assert_in_order(text, (const char *const[]){"fn=(1) main\n0x1000 0 10\n", "cfn=(2) a\n", "\n0x1000 0 30\n",
                                                "cfn=(3) b\n", "\n0x1000 0 30\n", "fn=(2)\n0x2000 0 30\n", "cfn=(2)\n",
                                                "\n0x2000 0 20\n", "fn=(3)\n0x3000 0 30\n", "cfn=(3)\n",
                                                "\n0x3000 0 20\n", "totals: 70\n", NULL});
    free(text);
    as_store_close(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_with_blanks),
                                       cmocka_unit_test(functions_that_call_themselves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
