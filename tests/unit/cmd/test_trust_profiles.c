/* What error to expect of a profile's samples, and how far two profiles are apart, as text and JSON, against
 * tests/golden/trust_profiles.txt: of the profiles of view_bed.h, and of some whose estimates are made to come to each verdict. */
#include "unit.h"

#include "../view/view_bed.h"
#include "cmd/trust_profiles.h"
#include "unit_golden.h"

enum { SERIES = 6 };

static void show(const char *file, const char *series, FILE *out)
{
    for (int json = 0; json <= 1; json++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_trust_asked asked = {.json = json, .series = {&series, series != NULL}};
        unit_golden_section(out, "%s %s: %s", file, series ? series : "", json ? "JSON" : "text");
        if (!as_trust_show_profile(file, &asked, out, &err))
            fprintf(out, "(%s)\n", err.message);
    }
}

static void compare(const char *first, const char *second, const char *one, const char *other, FILE *out)
{
    const char *series[] = {one, other};
    for (int json = 0; json <= 1; json++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_trust_asked asked = {.json = json, .series = {series, one ? 2 : 0}};
        unit_golden_section(out, "%s %s, %s %s: %s", first, one ? one : "", second, other ? other : "",
                            json ? "JSON" : "text");
        if (!as_trust_compare_profiles(first, second, &asked, out, &err))
            fprintf(out, "(%s)\n", err.message);
    }
}

static void add_code(struct as_store_writer *writer)
{
    enum { NONE = AS_STORE_NONE };
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/prog"});
    for (uint32_t i = 0; i < 2; i++)
        as_store_add_function(writer,
                              &(struct as_store_function){i ? "second" : "first", NULL, 0, NONE, 0, 64 * i, 64});
    for (uint32_t i = 0; i < 4; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 + 32 * i, 0, i / 2, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
}

/* One series for each row: its samples, its errors by instruction, block and function, and how its samples lie. */
static const struct {
    const char *name;
    uint64_t samples;
    double errors[3];
    uint32_t units[4];
} all[SERIES] = {{"golden", 0, {0, 0, 0}, {400, 300, 200, 100}},
                 {"exactly", 100000, {0.01, 0.008, 0.004}, {401, 299, 200, 100}},
                 {"by-block", 100000, {0.62, 0.07, 0.03}, {100, 600, 50, 250}},
                 {"by-function", 100000, {0.71, 0.42, 0.05}, {0, 690, 0, 310}},
                 {"not-at-all", 100000, {0.9, 0.8, 0.53}, {0, 100, 500, 400}},
                 {"few", 20, {0.5, 0.4, 0.3}, {5, 5, 5, 5}}};

static void make_verdicts(const char *path)
{
    static const char *const levels[] = {"instruction", "block", "function"};
    struct as_store_writer *writer = bed_writer(path);
    add_code(writer);
    for (uint32_t i = 0; i < SERIES; i++) {
        as_store_add_series(writer, &(struct as_store_series){.name = all[i].name,
                                                              .exact = i == 0,
                                                              .unit = "cycles",
                                                              .scale = 1,
                                                              .event = "cycles",
                                                              .precise = -1,
                                                              .samples = all[i].samples});
        for (uint32_t k = 0; k < 4; k++)
            as_store_add_time(writer, &(struct as_store_time){.series = i,
                                                              .instruction = k,
                                                              .thread = 0,
                                                              .units = all[i].units[k],
                                                              .samples = all[i].samples * all[i].units[k] / 1000});
        for (uint32_t k = 0; i && k < 3; k++)
            as_store_add_estimate(writer, &(struct as_store_estimate){i, "error", levels[k], all[i].errors[k]});
    }
    bed_commit(writer);
}

static void test_profiles(void **state)
{
    FILE *out = unit_golden_begin();
    make_verdicts("verdicts.db");
    for (size_t i = 0; i < SERIES; i++)
        show("verdicts.db", all[i].name, out);
    show("verdicts.db", "absent", out);
    show("absent.db", NULL, out);
    show("shop.db", NULL, out);
    show("old.db", NULL, out);
    for (size_t i = 1; i < SERIES; i++)
        compare("verdicts.db", "verdicts.db", "golden", all[i].name, out);
    compare("verdicts.db", "verdicts.db", "by-block", "by-function", out);
    compare("verdicts.db", "verdicts.db", "exactly", "not-at-all", out);
    compare("shop.db", "old.db", NULL, NULL, out);
    compare("shop.db", "absent.db", NULL, NULL, out);
    unit_golden_check(out, "trust_profiles.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profiles)};
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
