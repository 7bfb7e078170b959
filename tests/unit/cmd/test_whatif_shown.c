/* What assay whatif prints, as text and JSON, against tests/golden/whatif_shown.txt: experiments made by hand. */
#include "unit.h"

#include "cmd/regions_shown.h"
#include "cmd/whatif_shown.h"
#include "unit_golden.h"

#include <math.h>

static const struct as_insn insns[] = {{.address = 0x401010, .length = 1, .bytes = {0x90}, .arch = AS_ARCH_X86_64},
                                       {.address = 0x402000, .length = 1, .bytes = {0xc3}, .arch = AS_ARCH_X86_64}};

/* ---- in place of a run ---- */

const struct as_engine *as_model_engine(const struct as_model *model)
{
    return NULL;
}

const struct as_insn *as_engine_insn(const struct as_engine *engine, uint32_t id)
{
    return &insns[id];
}

bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location)
{
    *location =
        (struct as_location){.module = "/bin/prog", .function = id ? NULL : "hot", .function_start = id ? 0 : 0x401000};
    return true;
}

void as_regions_json(struct as_json *json, const struct as_regions_shown *shown)
{
    as_json_string(json, "regions", "none");
}

double as_experiment_speedup(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    return experiment->skipped ? NAN : (double)whatif->as_is.result.cycles / (double)experiment->result.cycles;
}

double as_experiment_promise(const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    double cycles = (double)whatif->as_is.result.cycles;
    return cycles / (cycles - experiment->promised);
}

/* ---- what is shown ---- */

static char *words[] = {"./prog", "x", NULL};
static struct as_cause load = {.text = "ST-L1+ST-TLB@hot",
                               .events = AS_EVENT_ST_L1 | AS_EVENT_ST_TLB,
                               .place = {.text = "hot"}},
                       removed = {.text = "main+0x4", .events = AS_IDEAL_REMOVED, .place = {.text = "main+0x4"}},
                       machine = {.text = "back.rob=512", .set = "back.rob=512"},
                       apart = {.text = "counters apart", .separate = "counters"};

static void add(struct as_whatif *whatif, const struct as_cause *const *causes, size_t n, double promised,
                uint64_t cycles)
{
    *as_vec_push(&whatif->experiments) =
        (struct as_experiment){.causes = causes,
                               .n = n,
                               .met = 12345 * n,
                               .promised = promised,
                               .skipped = !cycles,
                               .result = {.instructions = 1000, .cycles = cycles, .elapsed = cycles / 2}};
}

static void show(const struct as_whatif *whatif, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_whatif_text(whatif, out);
    unit_golden_section(out, "%s: JSON", what);
    struct as_json *json = as_json_new(out);
    as_whatif_json(whatif, json);
    assert_true(as_json_finish(json));
}

static void test_experiments(void **state)
{
    static const struct as_cause *const both[] = {&load, &removed}, *const changed[] = {&machine},
                                        *const moved[] = {&apart};
    static struct as_whatif whatif = {
        .as_is = {.result = {.instructions = 1000, .cycles = 2000, .elapsed = 1500, .engine = {.threads = 2}}}};
    struct as_whatif_request request = {.engine = {.argv = words}};
    FILE *out = unit_golden_begin();
    whatif.request = &request;
    snprintf(whatif.as_is.machine.name, sizeof whatif.as_is.machine.name, "tiny");
    show(&whatif, "nothing", out);
    add(&whatif, both, 2, 500, 1600);
    add(&whatif, both, 1, 250, 1800);
    whatif.experiments.data[1].about_one = true;
    add(&whatif, both + 1, 1, 100, 1000);
    whatif.experiments.data[2].about_one = true;
    whatif.experiments.data[2].insn = 1;
    whatif.experiments.data[2].result.instructions = 900;
    add(&whatif, changed, 1, NAN, 1900);
    whatif.experiments.data[3].about_one = true;
    add(&whatif, moved, 1, 10, 1990);
    add(&whatif, both, 1, 0, 0);
    add(&whatif, both + 1, 1, 0, 0);
    show(&whatif, "experiments", out);
    unit_golden_check(out, "whatif_shown.txt");
    as_vec_free(&whatif.experiments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_experiments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
