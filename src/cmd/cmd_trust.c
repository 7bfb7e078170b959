/* assay trust: how far a sampler can be trusted. */
#include "base/log.h"
#include "base/split.h"
#include "cmd/arch_option.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/shared_options.h"
#include "cmd/trust_html.h"
#include "cmd/trust_profiles.h"
#include "cmd/trust_shown.h"
#include "pmu/pmu_request.h"

#include <string.h>
#include <unistd.h>

struct trust_command {
    struct as_trust_options trust;
    const char *source, *experiments, *shadow;
    int arch; /* as in as_arch_choices */
    uint64_t runs, scale, max;
    const char *output;
    bool json, csv, html, keys, events, list, again;
    struct as_strlist series;
};

static const struct as_option options_table[] = {
    {.name = "source",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct trust_command, source),
     .value = "NAME",
     .help =
         "What is qualified: pmu:NAME, the same as NAME alone (%s, or the path of a file); pmu, this machine's PMU; or "
         "timer, its kernel's clocks.",
     .names = as_pmu_names},
    {.name = "experiments",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct trust_command, experiments),
     .value = "LIST",
     .help = "Only these experiments, separated by commas (default: all that the sampler supports; --list)."},
    {.name = "shadow",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct trust_command, shadow),
     .value = "EVENT",
     .help = "Also search for the nops that take each event out of the shadow of the one before (PEBS): loads, stores, "
             "branches, l1-miss, l2-miss, l3-miss, or all."},
    {.name = "arch",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct trust_command, arch),
     .value = "x86_64|riscv64",
     .choices = as_arch_choices,
     .help = "The programs' code (default x86_64). In RISC-V there is no snippet3: user code cannot flush a line."},
    AS_CORE_OPTION(struct trust_command, trust.core, "one that fits the PMU", "."),
    AS_SET_OPTION(struct trust_command, trust.set, AS_SET_HELP),
    {.name = "pmu-set",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct trust_command, trust.pmu_set),
     .value = "KEY=VALUE",
     .help = "Change one value of the modelled PMU (shadow.loads=0); may be given several times."},
    {.name = "runs",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct trust_command, runs),
     .value = "N",
     .min = 1,
     .max = 1000,
     .help = "Repeat each program N times, with other random numbers (default 3)."},
    {.name = "scale",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct trust_command, scale),
     .value = "PERCENT",
     .min = 1,
     .max = 100000,
     .help = "Make the programs shorter or longer (default 100)."},
    {.name = "again",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, again),
     .help = "Of profiles: run the program again, in the model, from each of its hottest functions on, and measure "
             "there what such samples get wrong, or how far two such samplers are apart."},
    {.name = "series",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct trust_command, series),
     .value = "NAME",
     .help = "Of a profile: the series to judge (default as for report). Given twice, the second is of the second "
             "profile."},
    {.name = "max",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct trust_command, max),
     .value = "N",
     .min = 1,
     .help = "With --again: measure N instructions in all (default 20M)."},
    {.name = "list",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, list),
     .help = "List the experiments that the sampler supports, and run none."},
    {.name = "events",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, events),
     .help = "List the events of the modelled PMU."},
    {.name = "keys",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, keys),
     .help = "List the keys of a PMU file."},
    AS_JSON_OPTION(struct trust_command, json, AS_JSON_HELP),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, csv),
     .help = "Print the rows of the experiments as comma-separated values; not with --shadow."},
    {.name = "html",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct trust_command, html),
     .help = "Print one HTML page: the verdicts, a picture and a table for each experiment. It needs no network and no "
             "scripts."},
    AS_OUTPUT_OPTION(struct trust_command, output, AS_OUTPUT_HELP),
    {.name = NULL},
};

/* ---- lists ---- */

static void print_key(void *context, const char *key, const char *meaning, const char *allowed)
{
    printf("%-22s %s; %s\n", key, meaning, allowed);
}

static void list_experiments(const struct as_trust_subject *subject)
{
    for (size_t i = 0; i < as_trust_experiments_count; i++)
        if (as_trust_supports(subject, &as_trust_experiments[i]))
            printf("%-12s %s\n", as_trust_experiments[i].name, as_trust_experiments[i].about);
}

static void list_events(const struct as_trust_subject *subject)
{
    for (size_t i = 0; i < as_pmu_events_count; i++)
        if (as_pmu_events[i].kinds >> subject->pmu.kind & 1)
            printf("%-26s %-36s %s\n", as_pmu_events[i].name, as_pmu_events[i].alias, as_pmu_events[i].meaning);
}

/* ---- experiments ---- */

static bool is_asked_for(const struct trust_command *command, const char *name)
{
    char **names = command->experiments ? as_split(command->experiments, ",", NULL) : NULL;
    bool found = !names;
    for (size_t i = 0; names && names[i]; i++)
        found |= strcmp(names[i], name) == 0;
    as_split_free(names);
    return found;
}

/* Every name in the list is an experiment that the sampler supports. */
static bool check_list(const struct trust_command *command, const struct as_trust_subject *subject,
                       struct as_error *err)
{
    char **names = command->experiments ? as_split(command->experiments, ",", NULL) : NULL;
    bool ok = !names || names[0] ||
              as_error_set_status(err, AS_EXIT_USAGE, "--experiments names none; --list shows those that there are");
    for (size_t i = 0; names && names[i] && ok; i++) {
        const struct as_trust_experiment *found = NULL;
        for (size_t j = 0; j < as_trust_experiments_count; j++)
            if (strcmp(as_trust_experiments[j].name, names[i]) == 0)
                found = &as_trust_experiments[j];
        if (!found)
            ok = as_error_set_status(err, AS_EXIT_USAGE, "no experiment '%s'; --list shows those that there are",
                                     names[i]);
        else if (!as_trust_supports(subject, found))
            ok = as_error_set_status(err, AS_EXIT_USAGE, "the experiment '%s' is not for %s", names[i],
                                     subject->timer ? "the timer" : subject->pmu.name);
    }
    as_split_free(names);
    return ok;
}

static bool wants_shadow(const char *event, size_t which)
{
    return strcmp(event, "all") == 0 || strcmp(event, as_trust_shadow_event(which)) == 0;
}

/* There is such a shadow, before anything runs. */
static bool check_shadow(const struct as_trust_subject *subject, const char *event, struct as_error *err)
{
    bool known = false, possible = false;
    if (!event)
        return true;
    if (subject->timer || subject->pmu.kind != AS_PMU_PEBS)
        return as_error_set_status(err, AS_EXIT_USAGE, "--shadow is for PEBS: other units have none");
    if (strcmp(event, "instructions") == 0)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--shadow=instructions: nops are instructions, too, and put nothing between them");
    for (size_t i = 0; i < AS_TRUST_SHADOWS; i++) {
        known |= wants_shadow(event, i);
        possible |= wants_shadow(event, i) && as_trust_has_shadow(subject, i);
    }
    if (!known)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--shadow=%s: there are loads, stores, branches, l1-miss, l2-miss, l3-miss and all",
                                   event);
    return possible || as_error_set_status(err, AS_EXIT_USAGE, "--shadow=%s: %s", event,
                                           subject->machine ? "this machine's PMU has no such event"
                                                            : "RISC-V code cannot flush a line");
}

static bool find_shadows(struct as_trust_subject *subject, const char *event, struct as_trust_shown *shown,
                         struct as_error *err)
{
    for (size_t i = 0; event && i < AS_TRUST_SHADOWS; i++) {
        struct as_trust_shadow shadow;
        if (!wants_shadow(event, i) || !as_trust_has_shadow(subject, i))
            continue;
        if (!as_trust_find_shadow(subject, i, &shadow, err))
            return false;
        *as_vec_push(&shown->shadows) = shadow;
        as_log_debug("shadow of %s: %u nops", shadow.event, shadow.nops);
    }
    return true;
}

static bool find_hardware(const struct as_trust_subject *subject, struct as_trust_shown *shown, struct as_error *err)
{
    struct as_machine machine;
    shown->has_hardware = !subject->timer && !subject->machine && subject->pmu.kind >= AS_PMU_TIP;
    if (!shown->has_hardware)
        return true;
    if (!as_machine_load(subject->options->core, &machine, err))
        return false;
    struct as_pmu_sizes sizes = {.commit_width = machine.back.commit_width,
                                 .dispatch_width = machine.back.width,
                                 .rob = machine.back.rob,
                                 .fetch_buffer = machine.front.fetch_buffer,
                                 .load_queue = machine.back.load_queue,
                                 .store_queue = machine.back.store_queue};
    shown->hardware = as_pmu_hardware(&sizes, machine.frequency, 4000);
    return true;
}

static bool run_all(const struct trust_command *command, struct as_trust_subject *subject, struct as_trust_shown *shown,
                    struct as_error *err)
{
    for (size_t i = 0; i < as_trust_experiments_count; i++) {
        const struct as_trust_experiment *experiment = &as_trust_experiments[i];
        if (!as_trust_supports(subject, experiment) || !is_asked_for(command, experiment->name))
            continue;
        /* Some take minutes: whoever watches sees which. */
        if (isatty(STDERR_FILENO))
            as_log_note("experiment: %s", experiment->name);
        else
            as_log_debug("experiment: %s", experiment->name);
        if (!experiment->run(subject, &shown->report, err))
            return false;
    }
    return find_shadows(subject, command->shadow, shown, err) && find_hardware(subject, shown, err);
}

static bool print(const struct trust_command *command, const struct as_trust_shown *shown, FILE *out,
                  struct as_error *err)
{
    if (command->json)
        return as_trust_print_json(shown, out) || as_error_set(err, "the result cannot be written");
    if (command->html)
        as_trust_print_html(shown, out);
    else if (command->csv)
        as_trust_print_csv(shown, out);
    else
        as_trust_print(shown, out);
    return true;
}

static int qualify(const struct trust_command *command, struct as_trust_subject *subject)
{
    struct as_trust_shown shown = {.subject = subject};
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    bool opened = check_list(command, subject, &err) && check_shadow(subject, command->shadow, &err) &&
                  as_output_open(&output, command->output, &err);
    bool ok = opened && run_all(command, subject, &shown, &err) && print(command, &shown, output.file, &err);
    if (ok)
        ok = as_output_finish(&output, &err);
    else if (opened)
        as_output_drop(&output);
    as_trust_report_free(&shown.report);
    as_vec_free(&shown.shadows);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_trust, &err);
}

/* ---- the command ---- */

static bool choose_source(struct trust_command *command, const char *operand, struct as_error *err)
{
    const char *source = command->source;
    if (source && operand)
        return as_error_set_status(err, AS_EXIT_USAGE, "either --source or '%s'", operand);
    if (!source && !operand)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "which sampler? A modelled PMU (skylake), --source=pmu or --source=timer");
    if (operand || strncmp(source, "pmu:", 4) == 0)
        command->trust.pmu = operand ? operand : source + 4;
    else if (strcmp(source, "timer") != 0 && strcmp(source, "pmu") != 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "--source=%s: use pmu:NAME, pmu or timer", source);
    else if (command->trust.riscv)
        return as_error_set_status(err, AS_EXIT_USAGE, "--arch is for modelled PMUs, not for this machine's");
    else if (command->trust.core || command->trust.set.len || command->trust.pmu_set.len)
        return as_error_set_status(err, AS_EXIT_USAGE, "--core, --set and --pmu-set are for modelled PMUs");
    else
        command->trust.machine = strcmp(source, "pmu") == 0;
    return true;
}

/* Profiles instead of a sampler: one, or one against the other. */
static int judge(const struct trust_command *command, const struct as_operands *operands)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_trust_asked asked = {
        .json = command->json,
        .series = command->series,
        .again = command->again,
        .how = {.core = command->trust.core, .max = command->max, .seed = 1, .notices = command->trust.notices}};
    if (operands->n == 1 ? as_trust_show_profile(operands->words[0], &asked, stdout, &err)
                         : as_trust_compare_profiles(operands->words[0], operands->words[1], &asked, stdout, &err))
        return AS_EXIT_OK;
    return as_cli_fail(&as_command_trust, &err);
}

/* ---- which options go with what ---- */

enum use {
    OF_SAMPLER = 1,  /* experiments of a PMU or a clock */
    OF_PROFILES = 2, /* profiles */
    OF_AGAIN = 4,    /* profiles whose program runs again */
    OF_LIST = 8,     /* what a sampler has */
    OF_KEYS = 16,    /* keys of PMU files */
};

static const struct {
    const char *name;
    unsigned uses;
} option_uses[] = {
    {"source", OF_SAMPLER | OF_LIST},
    {"experiments", OF_SAMPLER},
    {"shadow", OF_SAMPLER},
    {"arch", OF_SAMPLER},
    {"set", OF_SAMPLER},
    {"pmu-set", OF_SAMPLER | OF_LIST},
    {"runs", OF_SAMPLER},
    {"scale", OF_SAMPLER},
    {"list", OF_SAMPLER | OF_LIST},
    {"events", OF_SAMPLER | OF_LIST},
    {"keys", OF_SAMPLER | OF_KEYS},
    {"json", OF_SAMPLER | OF_PROFILES | OF_AGAIN},
    {"csv", OF_SAMPLER},
    {"html", OF_SAMPLER},
    {"output", OF_SAMPLER},
    {"core", OF_SAMPLER | OF_AGAIN},
    {"again", OF_PROFILES | OF_AGAIN},
    {"series", OF_PROFILES | OF_AGAIN},
    {"max", OF_AGAIN},
};

/* An option that has no effect is refused. `use`: what is done. */
static bool check_options(const struct trust_command *command, enum use use, struct as_error *err)
{
    for (size_t i = 0; i < sizeof option_uses / sizeof *option_uses; i++) {
        const char *name = option_uses[i].name;
        unsigned uses = option_uses[i].uses;
        if (uses & use || !as_cli_is_given(&as_command_trust, command, name, 0))
            continue;
        if (use & (OF_LIST | OF_KEYS))
            return as_error_set_status(err, AS_EXIT_USAGE, "--%s has no effect with --%s", name,
                                       command->keys   ? "keys"
                                       : command->list ? "list"
                                                       : "events");
        return as_error_set_status(err, AS_EXIT_USAGE, "--%s is for %s", name,
                                   use == OF_SAMPLER   ? "profiles (A.db)"
                                   : (uses & OF_AGAIN) ? "profiles only with --again"
                                                       : "the experiments of a sampler, not for profiles");
    }
    return true;
}

static enum use use_of(const struct trust_command *command, bool profiles)
{
    if (profiles)
        return command->again ? OF_AGAIN : OF_PROFILES;
    return command->keys ? OF_KEYS : command->list || command->events ? OF_LIST : OF_SAMPLER;
}

/* Given or not: from here on each has its value. */
static void use_defaults(struct trust_command *command)
{
    command->runs = command->runs ? command->runs : 3;
    command->scale = command->scale ? command->scale : 100;
    command->max = command->max ? command->max : 20000000;
    command->arch = command->arch < 0 ? 0 : command->arch;
}

/* A file that is a profile, and not one of a PMU. */
static bool is_profile(const char *word)
{
    size_t length = strlen(word);
    return length > 3 && strcmp(word + length - 3, ".db") == 0;
}

static int start(struct trust_command *command, const char *operand)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_trust_subject subject;
    command->trust.runs = (uint32_t)command->runs;
    command->trust.scale = (uint32_t)command->scale;
    command->trust.riscv = as_arch_chosen(command->arch) == AS_ARCH_RISCV64;
    if (command->keys) {
        as_pmu_keys(print_key, NULL);
        return AS_EXIT_OK;
    }
    if (!choose_source(command, operand, &err) || !as_trust_open(&subject, &command->trust, &err))
        return as_cli_fail(&as_command_trust, &err);
    if (!command->trust.core && !subject.timer && !subject.machine)
        command->trust.core = as_core_of_unit(&subject.pmu);
    if (command->events && (subject.timer || subject.machine))
        return as_cli_usage(&as_command_trust,
                            "--events is for modelled PMUs; 'assay doctor' shows what this machine has");
    if (command->list || command->events)
        (command->list ? list_experiments : list_events)(&subject);
    else
        return qualify(command, &subject);
    return AS_EXIT_OK;
}

static int run_trust(int argc, char **argv)
{
    struct trust_command command = {.arch = -1, .trust.notices = as_notices_to_log};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands operands;
    int status;
    enum as_parse parsed = as_operands_parse(&as_command_trust, argc, argv, &command, &operands);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    bool two_samplers = operands.n == 2 && !is_profile(operands.words[0]) && !is_profile(operands.words[1]) &&
                        access(operands.words[0], F_OK) != 0;
    bool profiles = operands.n == 2 || (operands.n == 1 && is_profile(operands.words[0]));
    bool fits = check_options(&command, use_of(&command, profiles), &err);
    use_defaults(&command);
    command.output = as_output_name(command.output);
    if (command.json + command.csv + command.html > 1)
        status = as_cli_usage(&as_command_trust, "--json, --csv and --html exclude each other");
    else if (command.list && command.events)
        status = as_cli_usage(&as_command_trust, "--list and --events exclude each other");
    else if (command.csv && command.shadow)
        status = as_cli_usage(&as_command_trust,
                              "--csv has the rows of experiments only: --shadow goes with text, --json and --html");
    else if (two_samplers)
        status = as_cli_usage(&as_command_trust, "one sampler at a time, but got '%s' and '%s'", operands.words[0],
                              operands.words[1]);
    else if (operands.n > 2)
        status = as_cli_usage(&as_command_trust, "one sampler or two profiles, but got '%s' too", operands.words[2]);
    else if (!fits)
        status = as_cli_fail(&as_command_trust, &err);
    else if (profiles)
        status = judge(&command, &operands);
    else
        status = start(&command, operands.n ? operands.words[0] : NULL);
    as_strlist_free(&command.trust.set);
    as_strlist_free(&command.trust.pmu_set);
    as_strlist_free(&command.series);
    return status;
}

const struct as_command as_command_trust = {
    .name = "trust",
    .summary = "Qualify a sampler on programs whose events are known",
    .usage = "[options] PMU\n       assay trust [options] --source=pmu|timer\n       assay trust [--again] [--json] "
             "A.db [B.db]",
    .description =
        "Runs small programs whose events are known exactly under a sampler, and compares its samples with "
        "what happened: are the numbers right, at which intervals, in how many threads; do equal "
        "instructions get equal numbers of samples; are samples put on the right instruction, and in the "
        "right mode; what do they cost.\n\n"
        "The sampler is a modelled PMU on a modelled core, this machine's PMU, or its kernel's clocks. What is "
        "expected is known from the code of the programs, not from another sampler.\n\n"
        "Of a profile it reports the error to expect of its samples by function, block and instruction. Two "
        "profiles of one program are held against each other: how far they are apart by instruction, line, "
        "function and module, and whether chance explains it.",
    .options = options_table,
    .examples = "assay trust skylake\n"
                "assay trust --shadow=loads --experiments=bias cascade-lake\n"
                "assay trust --pmu-set off_by_one=yes --experiments=bias zen2\n"
                "assay trust --json zen3\n"
                "assay trust --shadow=all --html -o skylake.html skylake\n"
                "assay trust --source=timer\n"
                "assay trust --source=pmu --shadow=loads\n"
                "assay trust --again assay.db\n"
                "assay trust pebs.db ibs.db\n",
    .run = run_trust,
};
