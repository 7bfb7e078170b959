/* assay jobs: one program on many machines, many times; here or on a Slurm cluster. */
#include "base/log.h"
#include "base/split.h"
#include "cmd/commands.h"
#include "cmd/jobs_shown.h"
#include "cmd/shared_options.h"
#include "core/machine.h"
#include "jobs/jobs_run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jobs_command {
    const char *core, *partition;
    struct as_strlist set, record;
    uint64_t repeat, at_once, seconds, megabytes, tasks, tries, task;
    bool slurm, list, json, csv;
};
enum { NO_TASK = INT32_MAX };

static const struct as_option options_table[] = {
    {.name = "core",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct jobs_command, core),
     .value = "LIST",
     .help = "The machines to model, separated by commas, as 'assay record --core' takes them."},
    {.name = "set",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct jobs_command, set),
     .value = "KEY=VALUE,VALUE,...",
     .help = "Values of the machine to try (back.rob=64,128); if given several times, all combinations are run."},
    {.name = "repeat",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, repeat),
     .value = "N",
     .min = 1,
     .max = AS_JOBS_MOST,
     .help = "Run the program N times on each machine, with the seeds 1 to N (default 1)."},
    {.name = "record",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct jobs_command, record),
     .value = "OPTIONS",
     .help = "Options of 'assay record' for every job, separated by blanks (--record='--sampled --budget 20M'); may be "
             "given several times."},
    {.name = "jobs",
     .short_name = 'j',
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, at_once),
     .value = "N",
     .min = 1,
     .max = 4096,
     .help = "Run N jobs at once on this machine (default: one for two processors)."},
    {.name = "time",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, seconds),
     .value = "SECONDS",
     .max = 100000000,
     .help = "End a job that takes longer."},
    {.name = "tries",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, tries),
     .value = "N",
     .min = 1,
     .max = 1000,
     .help = "Try jobs that fail again, N times in all (default 2)."},
    {.name = "slurm",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct jobs_command, slurm),
     .help = "Run the jobs on a Slurm cluster whose hosts see the folder, as one array, and wait for it."},
    {.name = "partition",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct jobs_command, partition),
     .value = "NAME",
     .help = "The partition of Slurm to use."},
    {.name = "memory",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, megabytes),
     .value = "MB",
     .max = 100000000,
     .help = "The memory that Slurm gives to a task."},
    {.name = "tasks",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, tasks),
     .value = "N",
     .min = 1,
     .max = 1000000,
     .help = "Submit at most N tasks, each of which takes its part of the jobs (default 1000, since Slurm refuses "
             "arrays above its MaxArraySize)."},
    {.name = "task",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct jobs_command, task),
     .value = "N",
     .max = NO_TASK - 1,
     .help =
         "Run the jobs of this task of what --slurm has submitted, and nothing else: what the tasks themselves do."},
    {.name = "list",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct jobs_command, list),
     .help = "Run nothing: collect and show what is there."},
    AS_JSON_OPTION(struct jobs_command, json, AS_JSON_HELP),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct jobs_command, csv),
     .help = "Print comma-separated values."},
    {.name = NULL},
};

/* ---- the plan ---- */

static void add_split(struct as_words *words, const char *text, const char *separators)
{
    char **parts = as_split(text ? text : "", separators, NULL);
    for (size_t i = 0; parts[i]; i++)
        as_words_add(words, as_strdup(parts[i]));
    as_split_free(parts);
}

/* A machine that does not exist would fail in each job, and the folder could not be used for another plan. */
static bool check_machines(const struct as_jobs_plan *plan, struct as_error *err)
{
    for (size_t i = 0; i < plan->cores.list.len; i++) {
        struct as_machine machine;
        if (!as_machine_load(plan->cores.list.data[i], &machine, err))
            return false;
    }
    for (size_t i = 0; i < plan->sets.list.len; i++) {
        const char *set = plan->sets.list.data[i];
        char *key = as_format("%.*s", (int)strcspn(set, "="), set);
        bool known = as_machine_meaning(key) != NULL;
        if (!known)
            as_error_set_status(err, AS_EXIT_USAGE, "no machine has the key '%s'", key);
        free(key);
        if (!known)
            return false;
    }
    return true;
}

static bool make_plan(const struct jobs_command *command, char *const *program, struct as_jobs_plan *plan,
                      struct as_error *err)
{
    char directory[PATH_MAX];
    if (!getcwd(directory, sizeof directory))
        return as_error_set(err, "there is no current folder");
    plan->directory = as_strdup(directory);
    plan->repeat = command->repeat;
    add_split(&plan->cores, command->core, ",");
    for (size_t i = 0; i < command->set.len; i++)
        as_words_add(&plan->sets, as_strdup(command->set.data[i]));
    for (size_t i = 0; i < command->record.len; i++)
        add_split(&plan->options, command->record.data[i], " ");
    for (; *program; program++)
        as_words_add(&plan->program, as_strdup(*program));
    return as_jobs_plan_check(plan, err) && check_machines(plan, err);
}

/* A folder that is there has its plan. */
static bool check_options(const struct jobs_command *command, const struct as_jobs *jobs, struct as_error *err)
{
    if ((command->repeat == 1 || command->repeat == jobs->plan.repeat) && !command->core && !command->set.len &&
        !command->record.len)
        return true;
    return as_error_set_status(
        err, AS_EXIT_USAGE,
        "--repeat, --core, --set and --record make a new plan: give the program and a folder for it; "
        "this one has a plan of %" PRIu64 " runs a machine",
        jobs->plan.repeat);
}

static bool open_folder(const struct jobs_command *command, const char *folder, char *const *program,
                        struct as_jobs *jobs, struct as_error *err)
{
    if (!program[0])
        return as_jobs_open(jobs, folder, err) && check_options(command, jobs, err);
    struct as_jobs_plan plan = {0};
    bool ok = make_plan(command, program, &plan, err) && as_jobs_create(jobs, folder, &plan, err);
    as_jobs_plan_free(&plan);
    return ok;
}

/* ---- the run ---- */

static bool find_myself(char path[PATH_MAX], struct as_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n < 0)
        return as_error_set(err, "cannot find the program 'assay' itself: /proc is needed");
    path[n] = '\0';
    return true;
}

static uint64_t count_seats(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? (uint64_t)processors / 2 : 1;
}

/* Until all are done, or nothing more can be. */
static bool run_missing(const struct jobs_command *command, const struct as_jobs *jobs, const struct as_jobs_how *how,
                        struct as_error *err)
{
    struct as_job_list missing = as_jobs_missing(jobs);
    bool ok = true;
    for (uint64_t tries = 0; ok && missing.list.len > 0 && tries < command->tries; tries++) {
        as_log_note("%s %zu of %" PRIu64 " jobs", tries ? "trying again" : "running", missing.list.len,
                    as_jobs_count(&jobs->plan));
        ok = command->slurm ? as_jobs_run_slurm(jobs, &missing, how, err) : as_jobs_run_here(jobs, &missing, how, err);
        as_vec_free(&missing.list);
        missing = as_jobs_missing(jobs);
    }
    as_vec_free(&missing.list);
    return ok;
}

static int run_task(const struct jobs_command *command, const struct as_jobs *jobs, const struct as_jobs_how *how)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_job_list list = {0}, left = {0};
    bool ok = as_jobs_task(jobs, command->task, &list, &err);
    for (size_t i = 0; ok && i < list.list.len; i++) {
        char *profile = as_jobs_profile(jobs, list.list.data[i]); /* a requeued task has done some */
        if (access(profile, F_OK) != 0)
            *as_vec_push(&left.list) = list.list.data[i];
        free(profile);
    }
    ok = ok && as_jobs_run_here(jobs, &left, how, &err);
    as_vec_free(&list.list);
    as_vec_free(&left.list);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_jobs, &err);
}

static int run_folder(const struct jobs_command *command, const char *folder, char *const *program)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = {0};
    char assay[PATH_MAX];
    struct as_jobs_how how = {.assay = assay,
                              .at_once = command->at_once ? command->at_once : count_seats(),
                              .seconds = command->seconds,
                              .partition = command->partition,
                              .megabytes = command->megabytes,
                              .tasks = command->tasks,
                              .notices = as_notices_to_log};
    int status = AS_EXIT_FAILURE;
    bool ok = find_myself(assay, &err) && open_folder(command, folder, program, &jobs, &err);
    if (ok && command->task != NO_TASK) {
        status = run_task(command, &jobs, &how);
    } else if (ok) {
        bool ran = command->list || run_missing(command, &jobs, &how, &err);
        if (!ran)
            as_cli_fail(&as_command_jobs, &err); /* and shows what is there */
        struct as_error reason = AS_ERROR_INIT;
        enum as_jobs_form form = command->json ? AS_JOBS_JSON : command->csv ? AS_JOBS_CSV : AS_JOBS_TEXT;
        int shown = as_jobs_show(&jobs, form, stdout, &reason);
        status = shown < 0 ? as_cli_fail(&as_command_jobs, &reason) : ran ? shown : AS_EXIT_FAILURE;
    } else {
        status = as_cli_fail(&as_command_jobs, &err);
    }
    as_jobs_free(&jobs);
    return status;
}

/* Options may stand before the folder and behind it. */
static enum as_parse parse(int argc, char **argv, struct jobs_command *command, int *rest)
{
    int behind = 0;
    enum as_parse parsed = as_cli_parse(&as_command_jobs, argc, argv, command, rest);
    if (parsed != AS_PARSE_OK || *rest == argc)
        return parsed;
    parsed = as_cli_parse(&as_command_jobs, argc - *rest, argv + *rest, command, &behind);
    argv[*rest + behind - 1] = argv[*rest]; /* the folder, before the program */
    *rest += behind - 1;
    return parsed;
}

static int run_jobs(int argc, char **argv)
{
    struct jobs_command command = {.repeat = 1, .tries = 2, .tasks = 1000, .task = NO_TASK};
    int rest, status;
    enum as_parse parsed = parse(argc, argv, &command, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (rest == argc)
        status = as_cli_usage(&as_command_jobs, "the folder is missing");
    else if (command.json && command.csv)
        status = as_cli_usage(&as_command_jobs, "either --json or --csv");
    else
        status = run_folder(&command, argv[rest], argv + rest + 1);
    as_strlist_free(&command.set);
    as_strlist_free(&command.record);
    return status;
}

const struct as_command as_command_jobs = {
    .name = "jobs",
    .summary = "Record a program on many machines, many times, here or on Slurm",
    .usage = "[options] FOLDER [--] PROGRAM [ARGS…]\n       assay jobs [options] FOLDER",
    .description =
        "Runs 'assay record' for each machine, and on each as often as asked for, as jobs that share a folder. When "
        "all "
        "are done, the profiles of a machine are merged into one, and a table shows its cycles.\n\nA job is done when "
        "its profile is in the folder. Whatever ends jobs, a full disk, a limit of time, a lost host: only "
        "these jobs are lost; the table names what is missing, and the same command, or one with the folder alone, "
        "goes on. The exit "
        "status is 125 as long as something is missing.\n\nWith --record=--sampled, each run has regions of its own, "
        "so "
        "runs side by side give the precision of one that takes as many times longer.",
    .options = options_table,
    .examples = "assay jobs sweep --core boom-tea,zen4-like -- ./prog\n"
                "assay jobs rob --set back.rob=64,128,256 -j 4 -- ./prog\n"
                "assay jobs long --repeat 8 --record=--sampled -- ./prog\n"
                "assay jobs --slurm --partition main --time 3600 sweep\n",
    .run = run_jobs,
};
