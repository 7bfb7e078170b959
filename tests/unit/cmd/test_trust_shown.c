/* What assay trust prints, as text, JSON, CSV and a page, against tests/golden/trust_shown.txt: rows of every kind of picture, made by
 * hand, with numbers that are missing. */
#include "unit.h"

#include "cmd/trust_html.h"
#include "unit_golden.h"

#include <math.h>

static void add(struct as_trust_shown *shown, const char *experiment, const char *what, const char *setting,
                enum as_trust_unit unit, double expected, double got)
{
    size_t n = shown->report.rows.len;
    struct as_trust_row row = {.experiment = experiment,
                               .unit = unit,
                               .expected = expected,
                               .got = got,
                               .error = unit == AS_TRUST_SHARE ? got - expected : got / expected - 1,
                               .spread = n % 3 ? 0.01 * (double)n : NAN,
                               .chance = n % 2 ? 0.002 * (double)n : NAN};
    snprintf(row.what, sizeof row.what, "%s", what);
    snprintf(row.setting, sizeof row.setting, "%s", setting);
    *as_vec_push(&shown->report.rows) = row;
}

static void add_rows(struct as_trust_shown *shown)
{
    add(shown, "accuracy", "loads", "interval 101", AS_TRUST_SAMPLES, 12000, 12345.6);
    add(shown, "accuracy", "stores <all>", "interval 101", AS_TRUST_SAMPLES, 200, 150.25);
    add(shown, "accuracy", "branches", "", AS_TRUST_SAMPLES, 999.96, NAN);
    add(shown, "interval", "loads", "interval 101", AS_TRUST_SAMPLES, 1000, 1010);
    add(shown, "interval", "loads", "interval 1,009", AS_TRUST_SAMPLES, 1000, 980);
    add(shown, "interval", "stores", "interval 10,007", AS_TRUST_SAMPLES, 1000, NAN);
    add(shown, "interval", "stores", "interval 100,003", AS_TRUST_SAMPLES, 1000, 1002);
    add(shown, "distance", "", "4 nops", AS_TRUST_SHARE, 0.5, 0.25);
    add(shown, "distance", "", "12 nops", AS_TRUST_SHARE, 0.5, 0.75);
    add(shown, "ratio", "misses", "1 of 8", AS_TRUST_SAMPLES, 100, 101);
    add(shown, "ratio", "misses", "1 of 64", AS_TRUST_SAMPLES, 100, 100.5);
    add(shown, "bias", "first", "", AS_TRUST_SHARE, 0.125, 0.5);
    add(shown, "bias", "second", "of 8 & more", AS_TRUST_SHARE, 0.125, 0.001);
    add(shown, "bias", "third", "", AS_TRUST_SHARE, NAN, 0.2);
    add(shown, "bias", "fourth", "", AS_TRUST_SHARE, 0.125, NAN);
    add(shown, "memory", "buffers", "64 KiB", AS_TRUST_BYTES, 65536, 70000);
}

static void add_shadows(struct as_trust_shown *shown)
{
    *as_vec_push(&shown->shadows) = (struct as_trust_shadow){.event = "loads",
                                                             .kernel = "row",
                                                             .fence = true,
                                                             .even = true,
                                                             .nops = 12,
                                                             .samples = 4000,
                                                             .cycles = 3.25,
                                                             .before = 0.9,
                                                             .after = 0.13,
                                                             .fair = 0.125,
                                                             .cost = 0.4};
    *as_vec_push(&shown->shadows) = (struct as_trust_shadow){
        .event = "stores", .kernel = "row", .nops = 128, .samples = 4000, .before = 0.6, .after = 0.5, .fair = 0.25};
    *as_vec_push(&shown->shadows) =
        (struct as_trust_shadow){.event = "misses", .kernel = "walk", .few = true, .samples = 1234, .fair = 0.5};
    *as_vec_push(&shown->shadows) =
        (struct as_trust_shadow){.event = "calls", .kernel = "walk", .few = true, .fair = 0.5};
}

static void show_all(const struct as_trust_shown *shown, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_trust_print(shown, out);
    unit_golden_section(out, "%s: JSON", what);
    assert_true(as_trust_print_json(shown, out));
    unit_golden_section(out, "%s: CSV", what);
    as_trust_print_csv(shown, out);
    unit_golden_section(out, "%s: page", what);
    as_trust_print_html(shown, out);
}

static void test_documents(void **state)
{
    struct as_trust_options options = {.core = "tiny<1>", .runs = 3};
    static struct as_trust_subject subject = {.runs = 77, .pmu = {.name = "unit<2>", .description = "a unit & more"}};
    struct as_trust_shown shown = {.subject = &subject,
                                   .has_hardware = true,
                                   .hardware = {.tip_bytes = 57,
                                                .tea_bytes = 192,
                                                .rob_bits = 9,
                                                .fetch_bits = 2,
                                                .plain_sample = 40,
                                                .tip_sample = 88,
                                                .plain_rate = 160000,
                                                .tip_rate = 352000,
                                                .oracle_rate = 179e9}};
    FILE *out = unit_golden_begin();
    subject.options = &options;
    add_rows(&shown);
    add_shadows(&shown);
    *as_vec_push(&shown.report.verdicts) =
        "It counts what it should, but a verdict that is longer than a line of text is cut into "
        "several, each of which begins further to the right than the first.";
    *as_vec_push(&shown.report.verdicts) = "Short & plain.";
    show_all(&shown, "a modelled unit", out);
    as_vec_clear(&shown.shadows);
    as_vec_clear(&shown.report.rows);
    shown.has_hardware = false;
    options.core = NULL;
    subject.machine = true;
    show_all(&shown, "this machine's unit", out);
    subject.timer = true;
    show_all(&shown, "clocks", out);
    unit_golden_check(out, "trust_shown.txt");
    as_vec_free(&shown.report.rows);
    as_vec_free(&shown.report.verdicts);
    as_vec_free(&shown.shadows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
