/* See default_core.h. Machine files name the processors that they stand for in their key `cpuid`. */
#include "cmd/default_core.h"

#include "base/log.h"
#include "base/split.h"
#include "core/machine.h"
#include "engine/program.h"
#include "native/probe_parts.h"
#include "pmu/pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs of other architectures have no processor here that could be near. */
static const char *const other_core = "boom-tea";

/* "25", "25:17", "25:16-31" */
static int fits_family(const char *word, unsigned family, unsigned model)
{
    unsigned its, first, last;
    int n = sscanf(word, "%u:%u-%u", &its, &first, &last);
    if (n < 1 || its != family)
        return 0;
    if (n == 1)
        return 3;
    return model >= first && model <= (n == 3 ? last : first) ? 4 : 0;
}

static bool is_vendor(const char *word)
{
    return strchr("0123456789*", word[0]) == NULL;
}

int as_core_fits(const char *cpuid, const char *vendor, unsigned family, unsigned model)
{
    size_t n;
    char **words = as_split(cpuid, " ", &n);
    bool mine = true; /* a star before all vendors is for any processor */
    bool any = true;
    int best = 0;
    for (size_t i = 0; i < n; i++) {
        int fits = 0;
        if (is_vendor(words[i])) {
            mine = strcmp(words[i], vendor) == 0;
            any = false;
        } else if (strcmp(words[i], "*") == 0)
            fits = any ? 1 : mine ? 2 : 0;
        else if (mine && !any)
            fits = fits_family(words[i], family, model);
        best = fits > best ? fits : best;
    }
    as_split_free(words);
    return best;
}

struct search {
    char vendor[32];
    unsigned family, model;
    int best;
    struct as_default_core *core;
};

static void consider(void *context, const char *name)
{
    struct search *search = context;
    struct as_error err = AS_ERROR_INIT;
    struct as_machine machine;
    if (!as_machine_load(name, &machine, &err))
        return; /* a file that is broken is reported when it is asked for */
    int fits = as_core_fits(machine.cpuid, search->vendor, search->family, search->model);
    if (fits > search->best) {
        search->best = fits;
        snprintf(search->core->name, sizeof search->core->name, "%s", name);
    }
}

/* As as_probe_cpu_id writes it: "AuthenticAMD,25,17,1". */
static bool identify(struct search *search)
{
    char text[128];
    return as_probe_cpu_id("", text, sizeof text) &&
           sscanf(text, "%31[^,],%u,%u", search->vendor, &search->family, &search->model) == 3;
}

static void choose_nearest(struct as_default_core *core)
{
    struct search search = {.core = core};
    struct as_probe probe = {0};
    bool known = identify(&search);
    as_machine_list(consider, &search);
    as_probe_processor("", &probe);
    if (known)
        snprintf(core->why, sizeof core->why, "core %.60s: %s this %.80s (%s, family %u, model %u)", core->name,
                 search.best > 1 ? "nearest to" : "none is near to", probe.model[0] ? probe.model : "processor",
                 search.vendor, search.family, search.model);
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
