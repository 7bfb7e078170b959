/* assay remedy: nops in the assembly or object of a function, against the shadow of a sampler. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/split.h"
#include "cmd/arch_option.h"
#include "cmd/commands.h"
#include "cmd/model_options.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/shared_options.h"
#include "pmu/pmu.h"
#include "trust/remedy.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct remedy_command {
    const char *function, *pmu, *core, *output, *at;
    uint64_t nops;
    int event, arch;
    bool show;
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
     .help = "How many nops to put before each of them."},
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
     .choices = as_arch_choices,
     .help = "What the assembly is for (default x86_64)."},
    {.name = "at",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct remedy_command, at),
     .value = "PLACE,…",
     .help = "Nops before these instructions instead: lines of assembly (12), offsets in the function of an object "
             "(0x1c)."},
    {.name = "show",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct remedy_command, show),
     .help = "Print the function, with what is added in lines that begin with +; with --output to standard output, "
             "else to standard error."},
    AS_OUTPUT_OPTION(struct remedy_command, output,
                     "Write the changed assembly to FILE instead of standard output (-). A FILE.o of an object is "
                     "assembled by as(1)."),
    {.name = NULL},
};

static enum as_remedy_event event_of(const struct remedy_command *command)
{
    return command->event < 0 ? AS_REMEDY_LOADS : (enum as_remedy_event)command->event;
}

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
    if (command->core && !command->pmu)
        return as_error_set_status(err, AS_EXIT_USAGE, "--core has no effect without --pmu");
    if (command->event >= 0 && command->at)
        return as_error_set_status(err, AS_EXIT_USAGE, "--event has no effect with --at");
    *nops = (uint32_t)command->nops;
    if (!command->pmu)
        return command->nops > 0 ||
               as_error_set_status(err, AS_EXIT_USAGE, "the number of nops is missing: give --nops=N or --pmu=NAME");
    if (!as_pmu_load(command->pmu, &pmu, err) ||
        !as_machine_load(command->core ? command->core : "skylake-like", &machine, err))
        return false;
    if (pmu.kind != AS_PMU_PEBS)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s has no shadow: it is for PEBS", pmu.name);
    uint32_t slots = pmu.shadow[shadows[event_of(command)]] * machine.back.commit_width;
    *nops = slots ? slots - 1 : 0;
    return true;
}

/* The caller frees options->places. */
static bool read_places(const struct remedy_command *command, struct as_remedy_options *options, struct as_error *err)
{
    if (!command->at)
        return true;
    char **words = as_split(command->at, ",", &options->n_places);
    uint64_t *places = as_alloc_array(options->n_places + 1, sizeof *places);
    bool ok = options->n_places > 0;
    for (size_t i = 0; ok && i < options->n_places; i++)
        ok = as_number_read(words[i], &places[i]);
    as_split_free(words);
    options->places = places;
    if (!ok)
        return as_error_set_status(err, AS_EXIT_USAGE, "--at takes numbers with commas between them: 12 or 0x1c,0x30");
    if (!command->function)
        return as_error_set_status(err, AS_EXIT_USAGE, "--at needs --function=NAME");
    return true;
}

static void say(const struct remedy_command *command, const char *file, uint32_t nops,
                const struct as_remedy_result *result)
{
    as_log_note("%s: %" PRIu64 " %s among %" PRIu64 " instructions of %s got %u nops each", file, result->events,
                command->at ? "places" : as_remedy_event_names[event_of(command)], result->instructions,
                command->function ? command->function : "all functions", nops);
    if (result->debug_dropped)
        as_log_note("%s: its debug information is left out", file);
}

static bool apply(const struct remedy_command *command, const char *file, struct as_str *changed,
                  struct as_remedy_result *result, uint32_t *nops, struct as_error *err)
{
    struct as_remedy_options options = {
        .arch = as_arch_chosen(command->arch), .function = command->function, .event = event_of(command)};
    struct as_error reason = AS_ERROR_INIT;
    size_t size = 0;
    char *bytes = NULL;
    bool ok = count_nops(command, &options.nops, err) && read_places(command, &options, err) &&
              (bytes = as_remedy_read(file, &size, err));
    if (ok && !as_remedy_apply(&options, bytes, size, changed, result, &reason))
        ok = as_error_set_status(err, reason.status, "%s: %s", file, reason.message);
    free(bytes);
    free((void *)options.places);
    *nops = options.nops;
    if (ok && result->events == 0)
        ok = as_error_set(err, "%s: %s has no %s among %" PRIu64 " instructions (--arch, --event)", file,
                          command->function ? command->function : "the file", as_remedy_event_names[event_of(command)],
                          result->instructions);
    return ok;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = name ? strlen(name) : 0, behind = strlen(suffix);
    return length > behind && strcmp(name + length - behind, suffix) == 0;
}

/* The assembler reads the text from a file without a name. */
static bool run_assembler(const char *path, int text, struct as_error *err)
{
    char *const argv[] = {"as", "-o", (char *)path, "-", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, text, STDIN_FILENO);
    int failed = posix_spawnp(&pid, "as", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return as_error_set(err, "as cannot be run: %s; write the assembly (-o FILE.s) instead", strerror(failed));
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return as_error_set(err, "%s: as refused the assembly; -o FILE.s shows it", path);
    return true;
}

static bool assemble(const char *path, const struct as_str *changed, struct as_error *err)
{
    FILE *text = tmpfile();
    bool ok = text && fwrite(as_str_get(changed), 1, changed->len, text) == changed->len && fflush(text) == 0 &&
              lseek(fileno(text), 0, SEEK_SET) == 0;
    if (!ok)
        as_error_set(err, "the assembly cannot be kept for the assembler: %s", strerror(errno));
    ok = ok && run_assembler(path, fileno(text), err);
    if (text)
        fclose(text);
    return ok;
}

static bool write_out(const struct remedy_command *command, const struct as_str *changed, const struct as_str *shown,
                      struct as_error *err)
{
    struct as_output output;
    fputs(as_str_get(shown), as_output_name(command->output) ? stdout : stderr);
    if (has_suffix(command->output, ".o"))
        return assemble(command->output, changed, err);
    if (!as_output_open(&output, as_output_name(command->output), err))
        return false;
    fputs(as_str_get(changed), output.file);
    return as_output_finish(&output, err);
}

static int run_remedy(int argc, char **argv)
{
    struct remedy_command command = {.event = -1};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands files;
    struct as_str changed = {0}, shown = {0};
    enum as_parse parsed = as_operands_parse(&as_command_remedy, argc, argv, &command, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (files.n != 1)
        return as_cli_usage(&as_command_remedy, "which file? Assembly as 'cc -S' writes it, or an object");
    struct as_remedy_result result = {.shown = command.show ? &shown : NULL};
    uint32_t nops;
    bool ok =
        apply(&command, files.words[0], &changed, &result, &nops, &err) && write_out(&command, &changed, &shown, &err);
    if (ok)
        say(&command, files.words[0], nops, &result);
    as_str_free(&changed);
    as_str_free(&shown);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_remedy, &err);
}

const struct as_command as_command_remedy = {
    .name = "remedy",
    .summary = "Put nops into a function, out of a sampler's shadow",
    .usage = "[options] FILE.s|FILE.o",
    .description = "PEBS records an event only if it retires when the shadow of the one that overflowed has ended, so "
                   "of events close together some get all samples and others none. Reads assembly as compilers write "
                   "it, or an object of x86-64, and puts so many nops before each event of a function that every one "
                   "can be recorded. The "
                   "program is slower then, and its samples are right; 'assay trust --shadow' says how many nops it "
                   "takes and what they cost.",
    .options = options_table,
    .examples = "assay remedy --function hot --pmu skylake hot.s -o hot-nops.s\n"
                "assay remedy --function hot --pmu skylake hot.o -o hot-nops.o\n"
                "assay remedy --event branches --nops 46 hot.s\n",
    .run = run_remedy,
};
