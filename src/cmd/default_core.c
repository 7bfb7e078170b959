/* See default_core.h. */
#include "cmd/default_core.h"

#include "base/log.h"
#include "core/machine.h"
#include "engine/program.h"
#include "native/probe_parts.h"
#include "pmu/pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs of other architectures have no processor here that could be near. */
static const char *const other_core = "boom-tea";

/* As as_probe_cpu_id writes it: "AuthenticAMD,25,17,1". */
static bool identify(struct as_machine_processor *processor)
{
    char text[128];
    *processor = (struct as_machine_processor){0};
    return as_probe_cpu_id("", text, sizeof text) &&
           sscanf(text, "%31[^,],%u,%u", processor->vendor, &processor->family, &processor->model) == 3;
}

static void choose_nearest(struct as_default_core *core)
{
    struct as_machine_processor processor;
    struct as_probe probe = {0};
    bool known = identify(&processor);
    int fits = as_machine_nearest(&processor, core->name);
    as_probe_processor("", &probe);
    if (known)
        snprintf(core->why, sizeof core->why, "core %.60s: %s this %.80s (%s, family %u, model %u)", core->name,
                 fits > 1 ? "nearest to" : "none is near to", probe.model[0] ? probe.model : "processor",
                 processor.vendor, processor.family, processor.model);
    else
        snprintf(core->why, sizeof core->why, "core %.60s: this machine is not an x86-64 one that could be near",
                 core->name);
}

/* Whether there is such a program; `arch` is then its architecture. */
static bool find_arch(const char *program, enum as_arch *arch)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_program *found = program ? malloc(sizeof *found) : NULL;
    bool ok = found && as_program_find(program, getenv("PATH"), found, &err);
    if (ok)
        *arch = found->arch;
    free(found);
    return ok;
}

static bool is_x86(const char *program)
{
    enum as_arch arch;
    return !find_arch(program, &arch) || arch == AS_ARCH_X86_64;
}

static bool choose_wished(struct as_default_core *core)
{
    const char *wish = getenv("ASSAY_CORE");
    *core = (struct as_default_core){0};
    if (wish && *wish)
        snprintf(core->name, sizeof core->name, "%s", wish);
    return core->name[0];
}

void as_default_core(const char *program, struct as_default_core *core)
{
    if (!choose_wished(core) && is_x86(program))
        choose_nearest(core);
    if (!core->name[0])
        snprintf(core->name, sizeof core->name, "%s", other_core);
}

const char *as_core_of_unit(const struct as_pmu *pmu)
{
    static const char *const cores[AS_PMU_KINDS] = {[AS_PMU_PEBS] = "skylake-like",
                                                    [AS_PMU_IBS] = "zen4-like",
                                                    [AS_PMU_SPE] = "zen4-like",
                                                    [AS_PMU_TIP] = "boom-tip",
                                                    [AS_PMU_TEA] = "boom-tea"};
    return cores[pmu->kind];
}

bool as_default_core_of_unit(const char *unit, struct as_default_core *core)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu pmu;
    if (!as_pmu_load(unit, &pmu, &err))
        return false;
    if (choose_wished(core))
        return true;
    snprintf(core->name, sizeof core->name, "%s", as_core_of_unit(&pmu));
    snprintf(core->why, sizeof core->why, "core %.60s: most like that of %.60s", core->name, pmu.name);
    return true;
}

const char *as_core_or_default(const char *given, const char *program, struct as_default_core *core)
{
    if (given)
        return given;
    enum as_arch arch;
    as_default_core(program, core);
    if (core->why[0] && find_arch(program, &arch)) /* else there will be no run, and the error about that comes alone */
        as_log_note("%s", core->why);
    return core->name;
}
