/* The summary behind a recording, as text and JSON, against tests/golden/record_summary.txt: of the profiles of view_bed.h, and of one
 * whose names need care. */
#include "unit.h"

#include "../view/view_bed.h"
#include "cmd/record_summary.h"
#include "unit_golden.h"

#include <errno.h>

static void show(const char *path, FILE *out)
{
    struct as_error err = AS_ERROR_INIT;
    for (int json = 0; json <= 1; json++) {
        unit_golden_section(out, "%s: %s", path, json ? "JSON" : "text");
        if (as_record_summary(path, json, out, &err) != AS_EXIT_OK)
            fail_msg("%s", err.message);
    }
}

/* Times in a function whose name is long, in a file without functions and in memory without a file; samplers with and without an error by
 * function. */
static void make_odd(const char *path)
{
    enum { NONE = AS_STORE_NONE };
    static const char *const series[] = {"golden", "tea", "clock"}, *const modules[] = {"/opt/a 'shop'",
                                                                                        "/lib/stripped.so", "[anon]"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 0, 0});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_module(writer, &(struct as_store_module){.path = modules[i]});
    as_store_add_function(
        writer, &(struct as_store_function){
                    "std::map<std::string, std::vector<std::pair<int, long>>>::insert(std::string const&, int)", NULL,
                    0, NONE, 0, 16, 16});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_instruction(
            writer,
            &(struct as_store_insn){{16 * (i + 1), i, i ? NONE : 0, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    for (uint32_t i = 0; i < 3; i++) {
        as_store_add_series(writer, &(struct as_store_series){.name = series[i],
                                                              .exact = i == 0,
                                                              .unit = "cycles",
                                                              .scale = 1,
                                                              .event = "cycles",
                                                              .precise = -1,
                                                              .samples = 1000 - 100 * i});
        for (uint32_t k = 0; k < 3; k++)
            as_store_add_time(writer,
                              &(struct as_store_time){
                                  .series = i, .instruction = k, .thread = 0, .units = 300 + 10 * k, .samples = 3});
    }
    as_store_add_estimate(writer, &(struct as_store_estimate){1, "error", "instruction", 0.125});
    as_store_add_estimate(writer, &(struct as_store_estimate){1, "error", "function", 0.0625});
    as_store_add_estimate(writer, &(struct as_store_estimate){2, "error", "instruction", 0.5});
    bed_commit(writer);
}

static void test_summaries(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    FILE *out = unit_golden_begin();
    program_invocation_name = "./an assay's";
    show("shop.db", out);
    assert_int_equal(rename("old.db", "assay.db"), 0);
    show("assay.db", out); /* the usual name needs no mention */
    make_odd("odd one.db");
    show("odd one.db", out);
    unit_golden_check(out, "record_summary.txt");
    assert_int_equal(as_record_summary("absent.db", false, stdout, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_summaries)};
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
