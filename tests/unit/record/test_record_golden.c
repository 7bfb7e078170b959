/* What recordings in the model write, number by number, against tests/golden/record_profiles.txt. The program is in assembly
 * (record_victim.S), so that it is the same wherever it is built. A change of the core model changes the numbers: review them then.
 *
 * usage: test_record_golden VICTIM MACHINE PLUGIN */
#include "record_bed.h"
#include "unit_golden.h"

static void whole(FILE *out)
{
    struct as_record_options options = record_options("model", out);
    options.samplers = "tea,nci";
    options.period = 500;
    record_show(out, "the model", &options);
}

static void units(FILE *out)
{
    static const char *const names[] = {"pmu:skylake", "pmu:zen4", "pmu:neoverse-n1", "pmu:tea"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct as_record_options options = record_options(names[i], out);
        options.period = 4001;
        record_show(out, names[i], &options);
    }
}

static void unit_events(FILE *out)
{
    const char *events[] = {"loads", "mispredicted"};
    struct as_record_options options = record_options("pmu:skylake", out);
    options.event = (struct as_strlist){events, 2};
    options.branches = true;
    options.period = 301;
    record_show(out, "pmu:skylake, loads and mispredicted branches", &options);
    options = record_options("pmu:skylake", out);
    options.call_graph = AS_RECORD_LBR;
    options.period = 997;
    record_show(out, "pmu:skylake, calls from the branch record", &options);
}

static void two_threads(FILE *out)
{
    static const struct as_sampled_options plan = {
        .head = 20000, .unit = 1000, .period = 8000, .warm = 3000, .seed = 1};
    record_threads = true;
    struct as_record_options options = record_options("model", out);
    options.engine.deterministic = true;
    options.engine.quantum = 10000;
    record_show(out, "two threads", &options);
    options = record_options("model", out);
    options.engine.deterministic = true;
    options.engine.quantum = 10000;
    options.sampled = &plan;
    record_show(out, "two threads, systematically", &options);
    record_threads = false;
}

static void sampled(FILE *out)
{
    static const struct as_sampled_options plan = {
        .head = 20000, .unit = 1000, .period = 8000, .warm = 3000, .seed = 1};
    struct as_record_options options = record_options("model", out);
    options.sampled = &plan;
    record_show(out, "systematically", &options);
    /* How long to warm is found out with pilots in the head. */
    static const struct as_sampled_options pilots = {
        .head = 60000, .unit = 200, .period = 4000, .warm = AS_SAMPLED_AUTO, .seed = 1};
    options = record_options("model", out);
    options.sampled = &pilots;
    record_show(out, "systematically, with pilots", &options);
}

static void points(FILE *out)
{
    static const struct as_plan_point list[] = {
        {.start = 5000, .phase = 0, .number = 0, .chosen = 1, .of = 3, .weight = 0.3},
        {.start = 30000, .phase = 1, .number = 0, .chosen = 2, .of = 8, .weight = 0.35},
        {.start = 60000, .phase = 1, .number = 1, .chosen = 2, .of = 8, .weight = 0.35}};
    static const struct as_points_plan plan = {.points = list, .n = 3, .interval = 5000, .warm = 2000, .jobs = 1};
    struct as_record_options options = record_options("model", out);
    options.points = &plan;
    record_show(out, "simulation points", &options);
}

static void profiles(void **state)
{
    record_need_qemu();
    FILE *out = unit_golden_begin();
    whole(out);
    units(out);
    unit_events(out);
    sampled(out);
    points(out);
    two_threads(out);
    unit_golden_check(out, "record_profiles.txt");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles)};
    return record_run_tests(argc, argv, tests, 1);
}
