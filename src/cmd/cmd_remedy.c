/* assay remedy: nops in the assembly of a function, against the shadow of a sampler. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/model_options.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/shared_options.h"
#include "pmu/pmu.h"
#include "trust/remedy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const archs[] = {[AS_ARCH_X86_64] = "x86_64", [AS_ARCH_RISCV64] = "riscv64", NULL};

struct remedy_command {
    const char *function, *pmu, *core, *output;
    uint64_t nops;
    int event, arch;
};

static const struct as_option options_table[] = {
    {.name = "function",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct remedy_command, function),
     .value = "NAME",
     .help = "Change this function only (default: all of the file)."},
    {.name = "event",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct remedy_command, event),
     .value = "loads|stores|branches",
     .choices = as_remedy_event_names,
     .help = "The instructions that are sampled (default loads)."},
    {.name = "nops",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct remedy_command, nops),
     .value = "N",
     .max = 10000,
     .help = "So many nops before each of them."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct remedy_command, pmu),
     .value = "NAME",
     .help = "As many as fill the shadow of a modelled PMU (%s, or the path of a file) on the core.",
     .names = as_pmu_names},
    AS_CORE_OPTION(struct remedy_command, core, "skylake-like", ": how many nops fill a cycle."),
    {.name = "arch",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct remedy_command, arch),
     .value = "x86_64|riscv64",
     .choices = archs,
     .help = "What the assembly is for (default x86_64)."},
    AS_OUTPUT_OPTION(struct remedy_command, output,
                     "Write the changed assembly to FILE instead of standard output (-)."),
    {.name = NULL},
};

/* The event and its nops must take as long as the shadow, at the full width of the core. */
static bool count_nops(const struct remedy_command *command, uint32_t *nops, struct as_error *err)
{
    static const enum as_pmu_shadow shadows[AS_REMEDY_EVENTS] = {[AS_REMEDY_LOADS] = AS_SHADOW_LOADS,
                                                                 [AS_REMEDY_STORES] = AS_SHADOW_STORES,
                                                                 [AS_REMEDY_BRANCHES] = AS_SHADOW_BRANCHES};
    struct as_pmu pmu;
    struct as_machine machine;
    if (command->nops && command->pmu)
        return as_error_set_status(err, AS_EXIT_USAGE, "either --nops or --pmu");
    *nops = (uint32_t)command->nops;
    if (!command->pmu)
        return command->nops > 0 || as_error_set_status(err, AS_EXIT_USAGE, "how many nops? --nops=N or --pmu=NAME");
    if (!as_pmu_load(command->pmu, &pmu, err) || !as_machine_load(command->core, &machine, err))
        return false;
    if (pmu.kind != AS_PMU_PEBS)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s has no shadow: it is for PEBS", pmu.name);
    uint32_t slots = pmu.shadow[shadows[command->event]] * machine.back.commit_width;
    *nops = slots ? slots - 1 : 0;
    return true;
}

static bool apply(const struct remedy_command *command, const char *file, struct as_str *changed, struct as_error *err)
{
    struct as_remedy_options options = {.arch = (enum as_arch)command->arch,
                                        .function = command->function,
                                        .event = (enum as_remedy_event)command->event};
    struct as_remedy_result result;
    struct as_error reason = AS_ERROR_INIT;
    if (!count_nops(command, &options.nops, err))
        return false;
    char *text = as_remedy_read(file, err);
    if (!text)
        return false;
    bool ok = as_remedy_apply(&options, text, changed, &result, &reason);
    free(text);
    if (!ok)
        return as_error_set(err, "%s: %s", file, reason.message);
    as_log_note("%s: %" PRIu64 " %s among %" PRIu64 " instructions of %s got %u nops each", file, result.events,
                as_remedy_event_names[command->event], result.instructions,
                command->function ? command->function : "all functions", options.nops);
    return true;
}

static bool write_out(const struct remedy_command *command, const struct as_str *changed, struct as_error *err)
{
    struct as_output output;
    if (!as_output_open(&output, as_output_name(command->output), err))
        return false;
    fputs(as_str_get(changed), output.file);
    return as_output_finish(&output, err);
}

static int run_remedy(int argc, char **argv)
{
    struct remedy_command command = {.core = "skylake-like"};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands files;
    struct as_str changed = {0};
    enum as_parse parsed = as_operands_parse(&as_command_remedy, argc, argv, &command, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (files.n != 1)
        return as_cli_usage(&as_command_remedy, "which assembly? One file, as 'cc -S' writes it");
    bool ok = apply(&command, files.words[0], &changed, &err) && write_out(&command, &changed, &err);
    as_str_free(&changed);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_remedy, &err);
}

const struct as_command as_command_remedy = {
    .name = "remedy",
    .summary = "Put nops into a function, out of a sampler's shadow",
    .usage = "[options] FILE.s",
    .description = "PEBS records an event only if it retires when the shadow of the one that overflowed has ended, so "
                   "of events close together some get all samples and others none. Reads assembly as compilers write "
                   "it, and puts so many nops before each event of a function that every one can be recorded. The "
                   "program is slower then, and its samples are right; 'assay trust --shadow' says how many nops it "
                   "takes and what they cost.",
    .options = options_table,
    .examples = "  assay remedy --function hot --pmu skylake hot.s -o hot-nops.s\n"
                "  assay remedy --event branches --nops 46 hot.s\n",
    .run = run_remedy,
};
