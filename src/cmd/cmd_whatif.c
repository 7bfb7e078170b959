/* assay whatif: runs the program again with named causes of time made ideal, and reports the speed-up. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "cmd/whatif_shown.h"

struct whatif_options {
    struct as_run_options run;
    bool json;
    const char *output;
    struct as_whatif_request asked;
};

static const struct as_option options_table[] = {
    {.name = "ideal",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, asked.ideal),
     .value = "EVENT[@PLACE]",
     .help = "Try it without this event (several joined by '+') at PLACE: a function, NAME+0xOFFSET, MODULE:NAME or "
             "0xADDRESS; without PLACE, everywhere. May be given several times: each is an experiment."},
    {.name = "remove",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, asked.remove),
     .value = "PLACE",
     .help = "Try it with a nop in place of each instruction there (branches stay); each is an experiment."},
    {.name = "change",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, asked.change),
     .value = "KEY=VALUE",
     .help = "Try it with another value of the machine (memory.llc.latency=1); each is an experiment."},
    {.name = "separate",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct whatif_options, asked.separate),
     .value = "VARIABLE",
     .help = "Try it with each element of this array (each word of another variable) on a cache line of its own, as "
             "padding would do against false sharing. heap:FUNCTION: each block that this function allocates; "
             "heap:FUNCTION/BYTES: each part of so many bytes. Each is an experiment."},
    {.name = "together",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct whatif_options, asked.together),
     .help = "Also try all of these at once."},
    {.name = "rank",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct whatif_options, asked.rank),
     .value = "N",
     .help = "Try the N pairs of instruction and event with the most time in cycle stacks, and rank them by their "
             "measured speed-up (default 5 if nothing else is asked for)."},
    AS_CORE_OPTION(struct whatif_options, asked.core, AS_NEAREST_CORE, "."),
    AS_SET_OPTION(struct whatif_options, asked.set,
                  "Change one value of the machine for all runs; may be given several times."),
    AS_JSON_OPTION(struct whatif_options, json, AS_JSON_HELP),
    AS_OUTPUT_OPTION(struct whatif_options, output, "Write the result to FILE."),
    AS_MEMO_OPTIONS(struct whatif_options, run),
    AS_RUN_OPTIONS(struct whatif_options, run),
    {.name = NULL},
};

/* ---- the command ---- */

static int show(const struct whatif_options *options, const struct as_whatif *whatif, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    if (options->json) {
        struct as_json *json = as_json_new(output->file);
        as_whatif_json(whatif, json);
        if (!as_json_finish(json) && !output->path)
            return as_cli_stdout_failed();
    } else {
        as_whatif_text(whatif, output->file);
    }
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_whatif, &err);
}

static int run_session(const struct whatif_options *options, struct as_whatif *whatif)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    bool ok = as_whatif_prepare(whatif, &err) && as_output_open(&output, options->output, &err) &&
              as_whatif_run_as_is(whatif, &err);
    if (ok)
        as_fanout_report(whatif->as_is.fanout, stderr);
    int status = ok ? as_run_report(&whatif->as_is.result.engine, &options->run) : AS_EXIT_OK;
    if (!ok || !as_whatif_try(whatif, &err)) {
        as_output_drop(&output);
        return as_cli_fail(&as_command_whatif, &err);
    }
    int failed = show(options, whatif, &output);
    if (whatif->missing)
        as_log_warn("interrupted: %zu of %zu experiments are missing", whatif->missing, whatif->experiments.len);
    return failed ? failed : whatif->missing ? 128 + whatif->interrupted_by : status;
}

static int run(struct whatif_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_default_core core;
    struct as_progress progress;
    struct as_whatif_request *asked = &options->asked;
    struct as_whatif whatif = {.request = asked};
    if (!as_run_options_settle(&options->run, &err) || !as_run_refuse_weights(&options->run, &err))
        return as_cli_fail(&as_command_whatif, &err);
    asked->core =
        as_core_or_default(asked->core, argv[0], &core); /* says which: after what is wrong with the options */
    asked->engine = as_run_engine_options(&options->run, argv);
    asked->memo = as_run_memo_options(&options->run);
    asked->meter = &as_progress_meter;
    asked->meter_context = &progress;
    asked->notices = as_notices_to_log;
    int status = run_session(options, &whatif);
    as_whatif_free(&whatif);
    return status;
}

static int run_whatif(int argc, char **argv)
{
    struct whatif_options options = {.run = AS_RUN_OPTIONS_DEFAULT, .asked.rank = AS_WHATIF_USUAL};
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_whatif, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    int status = rest < argc ? run(&options, argv + rest) : as_cli_usage(&as_command_whatif, "no program given");
    as_strlist_free(&options.asked.set);
    as_strlist_free(&options.asked.ideal);
    as_strlist_free(&options.asked.remove);
    as_strlist_free(&options.asked.change);
    as_strlist_free(&options.asked.separate);
    as_run_options_free(&options.run);
    return status;
}

const struct as_command as_command_whatif = {
    .name = "whatif",
    .summary = "The speed-up from removing a cause of time",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program on a modelled core as it is, then again with named causes made ideal: an event at an "
        "instruction, in a function or everywhere, a value of the machine, or parts of a variable on cache lines of "
        "their own. It prints the speed-up that the cycle "
        "stacks promise next to the one that the second run shows; only the latter includes what hides behind a cause "
        "or is exposed when it is gone. The program runs once more for each cause; its standard output is not shown.",
    .options = options_table,
    .examples = "assay whatif -- ./prog\n"
                "assay whatif --ideal ST-L1@main+0x1c --ideal FL-MB -- ./prog\n"
                "assay whatif --separate counters -- ./prog\n"
                "assay whatif --separate heap:make_counters/24 -- ./prog\n"
                "assay whatif --change memory.llc.latency=10 --core zen4-like -- ./prog\n",
    .run = run_whatif,
};
