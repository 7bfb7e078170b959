/* assay comm of a program or process on this machine: sampled, with watchpoints. See comm_given.h. */
#include "agent/mpi_host.h"
#include "base/log.h"
#include "cmd/comm_given.h"
#include "cmd/comm_uses.h"
#include "cmd/commands.h"
#include "comm/comm_blocks.h"
#include "engine/program.h"
#include "record/record.h"

#include <stdlib.h>

static bool settle_native(const struct as_comm_given *options, struct as_comm_native_options *native,
                          struct as_error *err)
{
    if (!(options->rate >= 0.01 && options->rate <= 100000))
        return as_error_set_status(err, AS_EXIT_USAGE, "--rate=%g: must be 0.01 to 100000 samples a second",
                                   options->rate);
    if (!(options->budget >= 0 && options->budget <= 100))
        return as_error_set_status(err, AS_EXIT_USAGE, "--budget=%g: must be 0 to 100 per cent", options->budget);
    if (!(options->duration >= 0 && options->duration < 1e8) || (options->duration > 0 && !options->pid))
        return as_error_set_status(err, AS_EXIT_USAGE, "--duration needs --pid and a number of seconds");
    *native = (struct as_comm_native_options){
        .source = (enum as_comm_source)options->source,
        .machine = {.registers = (uint32_t)options->registers, .budget = options->budget / 100, .seed = options->seed},
        .detect = as_comm_given_detect(options),
        .rate = options->rate,
        .pid = options->pid,
        .duration = options->duration,
        .no_paths = options->no_paths,
        .stdout_to_stderr = as_comm_given_takes_stdout(options),
        .notices = as_notices_to_log};
    native->detect.watch_published = true;
    return true;
}

/* With the agent in the program, if it is asked for and possible. */
static bool open_blocks(const struct as_comm_given *options, const char *program, struct as_comm_blocks *blocks,
                        struct as_error *err)
{
    struct as_error why = AS_ERROR_INIT;
    if (!options->allocations)
        blocks->note = as_strdup("--allocations loads the agent, which sees them");
    else if (options->pid)
        blocks->note = as_strdup("the agent has to be in a program from its start, and --pid comes later");
    else if (!as_record_can_preload(program, getenv("PATH"), &why))
        blocks->note = as_strdup(why.message);
    return blocks->note || as_comm_blocks_open(blocks, err);
}

static void warn_about_native(const struct as_comm_native_info *info, const struct as_comm_result *result)
{
    if (info->cost.note[0])
        as_log_warn("no watchpoints: %s; only look-ups find communication", info->cost.note);
    if (info->lost)
        as_log_warn("the kernel could not keep %llu samples", (unsigned long long)info->lost);
    if (result->detect.unseen)
        as_log_warn("there were more threads than the %d that can be told apart; samples of the others are left out",
                    AS_DETECT_THREADS);
}

static char *native_part(const struct as_comm_given *options, const struct as_comm_native_info *info)
{
    const char *until = as_run_end_until(&info->end);
    if (options->pid)
        return as_format("%.2f seconds of a process that ran already", info->seconds);
    return until ? as_format("%.2f seconds on this machine, %s", info->seconds, until) : NULL;
}

static int show_native(const struct as_comm_given *options, char **argv, struct as_comm_native *native,
                       const struct as_mpi *mpi, struct as_comm_blocks *blocks, struct as_output *output)
{
    const struct as_comm_native_info *info = as_comm_native_info(native);
    struct as_comm_result result = as_comm_native_result(native);
    struct as_mpi_messages messages = mpi ? as_mpi_read(mpi) : (struct as_mpi_messages){0};
    char *part = native_part(options, info);
    as_comm_blocks_read(blocks, native, &as_notices_to_log);
    struct as_comm_shown shown = {.argv = argv,
                                  .result = &result,
                                  .native = info,
                                  .mpi = mpi ? &messages : NULL,
                                  .heap_unknown = blocks->note,
                                  .seconds = info->seconds,
                                  .part = part};
    warn_about_native(info, &result);
    if (options->allocations && blocks->note)
        as_log_warn("heap objects are not known: %s", blocks->note);
    int failed = as_comm_given_show(options, &shown, output);
    as_mpi_messages_free(&messages);
    free(part);
    return failed ? failed : as_run_end_report(&info->end);
}

int as_comm_run_machine(const struct as_comm_given *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct as_comm_native_options asked;
    char text[32], *attached[] = {text, NULL};
    snprintf(text, sizeof text, "pid %llu", (unsigned long long)options->pid);
    struct as_mpi *mpi = NULL;
    struct as_comm_blocks blocks = {0};
    bool settled = (options->pid || (as_comm_is_operand(argv[0], getenv("PATH"), &err) &&
                                     !as_program_is_foreign(argv[0], getenv("PATH"), &err))) &&
                   settle_native(options, &asked, &err) && (!options->mpi || (mpi = as_mpi_open(&err))) &&
                   open_blocks(options, argv[0], &blocks, &err);
    char *const *environment = as_comm_blocks_environment(&blocks);
    asked.environment = mpi ? as_mpi_environment(mpi, environment) : environment;
    struct as_comm_native *native = settled ? as_comm_native_new(&asked) : NULL;
    bool ok = native && as_output_open(&output, options->output, &err) && as_comm_native_run(native, argv, &err);
    int status = AS_EXIT_FAILURE;
    if (ok) {
        status = show_native(options, options->pid ? attached : argv, native, mpi, &blocks, &output);
    } else {
        status = as_cli_fail(&as_command_comm, &err);
        as_output_drop(&output);
    }
    as_comm_native_free(native);
    as_comm_blocks_close(&blocks);
    as_mpi_close(mpi);
    return status;
}
