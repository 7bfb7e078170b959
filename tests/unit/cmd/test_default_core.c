/* Which core is modelled where none is named. Processors, machine files, units and programs are made up. */
#include "unit.h"

#include "cmd/default_core.h"
#include "core/machine.h"
#include "engine/program.h"
#include "native/probe_parts.h"
#include "pmu/pmu.h"

#include <stdlib.h>
#include <string.h>

static const char *cpu_id = "AuthenticAMD,25,17,1"; /* of this machine; NULL: unknown */

bool as_probe_cpu_id(const char *root, char *text, size_t size)
{
    if (cpu_id)
        snprintf(text, size, "%s", cpu_id);
    return cpu_id != NULL;
}

void as_probe_processor(const char *root, struct as_probe *probe)
{
    snprintf(probe->model, sizeof probe->model, "%s", cpu_id && strstr(cpu_id, "AMD") ? "AMD EPYC" : "");
}

static const struct {
    const char *name, *cpuid;
} machines[] = {{"any", "*"},
                {"broken", NULL},
                {"intel", "GenuineIntel 6:85 6 *"},
                {"amd", "AuthenticAMD *"},
                {"zen3", "AuthenticAMD 25:0-15 25"},
                {"zen4", "AuthenticAMD 25:16-31 25"},
                {"zen5", "AuthenticAMD 26"}};

void as_machine_list(void (*each)(void *context, const char *name), void *context)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        each(context, machines[i].name);
}

bool as_machine_load(const char *name, struct as_machine *machine, struct as_error *err)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(name, machines[i].name) == 0 && machines[i].cpuid) {
            snprintf(machine->cpuid, sizeof machine->cpuid, "%s", machines[i].cpuid);
            return true;
        }
    return as_error_set(err, "there is no machine '%s'", name);
}

bool as_program_find(const char *name, const char *path, struct as_program *program, struct as_error *err)
{
    program->arch = strcmp(name, "riscv") == 0 ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    return strcmp(name, "absent") != 0;
}

bool as_pmu_load(const char *name, struct as_pmu *pmu, struct as_error *err)
{
    static const char *const names[AS_PMU_KINDS] = {
        [AS_PMU_PEBS] = "pebs", [AS_PMU_IBS] = "ibs", [AS_PMU_SPE] = "spe", [AS_PMU_TIP] = "tip", [AS_PMU_TEA] = "tea"};
    for (int kind = 0; kind < AS_PMU_KINDS; kind++)
        if (names[kind] && strcmp(name, names[kind]) == 0) {
            pmu->kind = (enum as_pmu_kind)kind;
            snprintf(pmu->name, sizeof pmu->name, "%s", name);
            return true;
        }
    return as_error_set(err, "there is no unit '%s'", name);
}

/* ---- */

static void check_core(const char *program, const char *name, const char *why)
{
    struct as_default_core core;
    memset(&core, 'x', sizeof core);
    as_default_core(program, &core);
    assert_string_equal(core.name, name);
    assert_string_equal(core.why, why);
}

static void of_a_program(void **state)
{
    check_core("prog", "zen4", "core zen4: nearest to this AMD EPYC (AuthenticAMD, family 25, model 17)");
    check_core(NULL, "zen4", "core zen4: nearest to this AMD EPYC (AuthenticAMD, family 25, model 17)");
    check_core("riscv", "boom-tea", "");
    cpu_id = "AuthenticAMD,25,99,1"; /* of two that have the family the first */
    check_core("prog", "zen3", "core zen3: nearest to this AMD EPYC (AuthenticAMD, family 25, model 99)");
    cpu_id = "AuthenticAMD,23,1,0";
    check_core("prog", "amd", "core amd: nearest to this AMD EPYC (AuthenticAMD, family 23, model 1)");
    cpu_id = "CentaurHauls,7,1,0";
    check_core("prog", "any", "core any: none is near to this processor (CentaurHauls, family 7, model 1)");
    cpu_id = "odd";
    check_core("prog", "any", "core any: this machine is not an x86-64 one that could be near");
    cpu_id = NULL;
    check_core("prog", "any", "core any: this machine is not an x86-64 one that could be near");
    setenv("ASSAY_CORE", "wished", 1);
    check_core("prog", "wished", "");
    check_core("riscv", "wished", "");
    setenv("ASSAY_CORE", "", 1);
    check_core("riscv", "boom-tea", "");
    unsetenv("ASSAY_CORE");
    cpu_id = "AuthenticAMD,25,17,1";
}

static void of_a_unit(void **state)
{
    static const char *const cores[][2] = {
        {"pebs", "skylake-like"}, {"ibs", "zen4-like"}, {"spe", "zen4-like"}, {"tip", "boom-tip"}, {"tea", "boom-tea"}};
    struct as_default_core core;
    char why[128];
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        snprintf(why, sizeof why, "core %s: most like that of %s", cores[i][1], cores[i][0]);
        assert_true(as_default_core_of_unit(cores[i][0], &core));
        assert_string_equal(core.name, cores[i][1]);
        assert_string_equal(core.why, why);
    }
    assert_false(as_default_core_of_unit("absent", &core));
    setenv("ASSAY_CORE", "wished", 1);
    assert_true(as_default_core_of_unit("ibs", &core));
    assert_true(strcmp(core.name, "wished") == 0 && !core.why[0]);
    unsetenv("ASSAY_CORE");
}

static void choose(void *words)
{
    struct as_default_core core;
    const char *const *word = words;
    const char *chosen = as_core_or_default(word[0], word[1], &core);
    _exit(strcmp(chosen, word[2]) != 0);
}

static void what_is_said(void **state)
{
    static const char *const cases[][4] = {
        {"given", "prog", "given", ""},
        {NULL, "prog", "zen4", "assay: core zen4: nearest to this AMD EPYC (AuthenticAMD, family 25, model 17)\n"},
        {NULL, "absent", "zen4", ""}, /* what is wrong is said elsewhere */
        {NULL, "riscv", "boom-tea", ""}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(unit_run_child(choose, (void *)cases[i], text, sizeof text), 0);
        assert_string_equal(text, cases[i][3]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_program), cmocka_unit_test(of_a_unit),
                                       cmocka_unit_test(what_is_said)};
    unsetenv("ASSAY_CORE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
