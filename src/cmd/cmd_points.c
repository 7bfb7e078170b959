/* assay points: phases of a program, the intervals that stand for it, and the CPI that they predict. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/points_shown.h"
#include "cmd/progress.h"
#include "cmd/shared_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const rules[] = {[AS_BIC_RANGE] = "range", [AS_BIC_BEST] = "best", NULL};

#define MEMBER(name) .offset = offsetof(struct as_points_options, name)
static const struct as_option options_table[] = {
    {.name = "interval",
     .type = AS_OPTION_U64,
     MEMBER(interval),
     .value = "N",
     .min = 1000,
     .max = UINT64_C(10000000000),
     .help = "Cut the run into intervals of N instructions (default 10M)."},
    {.name = "loop",
     .type = AS_OPTION_STRING,
     MEMBER(loop),
     .value = "PLACE",
     .help =
         "End an interval where this place is executed next after N instructions, instead of after exactly N: the head "
         "of a loop that all threads work in (a function, an address, marker:N; see --region of 'assay record'). So "
         "intervals are the same in every run, however threads are interleaved."},
    {.name = "by-thread",
     .type = AS_OPTION_FLAG,
     MEMBER(by_thread),
     .help = "Tell the threads' code apart: intervals are alike only where the same threads do the same."},
    {.name = "max-k",
     .type = AS_OPTION_U64,
     MEMBER(max_k),
     .value = "N",
     .min = 1,
     .max = AS_POINTS_K_MOST,
     .help = "Find at most N phases (default 30)."},
    {.name = "dims",
     .type = AS_OPTION_U64,
     MEMBER(dims),
     .value = "N",
     .min = 1,
     .max = AS_POINTS_DIMS_MOST,
     .help = "Project the vectors to N random dimensions (default 15)."},
    {.name = "threshold",
     .type = AS_OPTION_DOUBLE,
     MEMBER(threshold),
     .value = "T",
     .help = "Take the fewest phases whose BIC score is good enough, from 0 (any) to 1 (only the best; default 0.9)."},
    {.name = "rule",
     .type = AS_OPTION_CHOICE,
     MEMBER(rule),
     .value = "range|best",
     .choices = rules,
     .help = "What the threshold is a part of: the range from the worst to the best score, as in SimPoint 3.2 (the "
             "default), or the best score."},
    {.name = "tries",
     .type = AS_OPTION_U64,
     MEMBER(tries),
     .value = "N",
     .min = 1,
     .max = 1000,
     .help = "Run k-means from N random beginnings for each number of phases, and keep the best (default 5)."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     MEMBER(seed),
     .value = "N",
     .help = "Seed of the projection and of k-means (default 1): the same seed gives the same points."},
    {.name = "jobs",
     .type = AS_OPTION_U64,
     MEMBER(jobs),
     .value = "N",
     .max = 1024,
     .help = "Threads to use for choosing (default 0: one for each processor). The result is the same."},
    {.name = "bb",
     .type = AS_OPTION_STRING,
     MEMBER(bb),
     .value = "FILE",
     .writes = true,
     .help = "Also write the vectors, in SimPoint's format of frequency vectors."},
    {.name = "simpoints",
     .type = AS_OPTION_STRING,
     MEMBER(simpoints),
     .value = "FILE",
     .writes = true,
     .help = "Also write the chosen intervals, as SimPoint does: INTERVAL PHASE."},
    {.name = "weights",
     .type = AS_OPTION_STRING,
     MEMBER(weights),
     .value = "FILE",
     .writes = true,
     .help = "Also write their weights, as SimPoint does: WEIGHT PHASE."},
    {.name = "phases",
     .type = AS_OPTION_STRING,
     MEMBER(phases),
     .value = "FILE",
     .writes = true,
     .help =
         "With 'sweep', also write a row of comma-separated values for each interval: its phase, its CPI, and whether "
         "it is the point of the phase."},
    {.name = "from-bb",
     .type = AS_OPTION_STRING,
     MEMBER(from_bb),
     .value = "FILE",
     .help = "Read vectors instead of running a program (-: standard input)."},
    {.name = "from-simpoints",
     .type = AS_OPTION_STRING,
     MEMBER(from_simpoints),
     .value = "FILE",
     .help =
         "Take the points of a file instead of choosing them; only the CPI is predicted. Needs their weights, too."},
    {.name = "from-weights", .type = AS_OPTION_STRING, MEMBER(from_weights), .value = "FILE", .help = "Their weights."},
    {.name = "cpi",
     .type = AS_OPTION_STRING,
     MEMBER(cpi),
     .value = "on|off",
     .help =
         "Whether to run the program again, on the modelled core in the chosen intervals, and predict the CPI of all "
         "of it (default on)."},
    {.name = "warm",
     .type = AS_OPTION_STRING,
     MEMBER(warm),
     .value = "N|all",
     .help =
         "Warm caches, TLBs and predictors with the N instructions before each interval (default 10M), or with all."},
    AS_CORE_OPTION(struct as_points_options, core, AS_NEAREST_CORE, "."),
    AS_SET_OPTION(struct as_points_options, set, AS_SET_HELP),
    AS_JSON_OPTION(struct as_points_options, json, AS_JSON_HELP_RUN),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     MEMBER(csv),
     .help = "Print a row of comma-separated values for each point; the program's standard output goes to standard "
             "error."},
    AS_OUTPUT_OPTION(struct as_points_options, output, AS_OUTPUT_HELP_RUN),
    AS_MEMO_OPTIONS(struct as_points_options, run),
    AS_RUN_TRACING(struct as_points_options, run),
    {.name = NULL},
};

/* ---- vectors ---- */

static FILE *open_input(const char *path, struct as_error *err)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in)
        as_error_set(err, "%s: %s", path, strerror(errno));
    return in;
}

static bool read_vectors(const char *path, struct as_predict *predict, struct as_error *err)
{
    FILE *in = open_input(path, err);
    bool ok = in && as_vectors_read(&predict->read, in, path, err);
    if (in && in != stdin)
        fclose(in);
    predict->vectors = &predict->read;
    return ok;
}

static bool read_points(const struct as_points_options *options, struct as_predict *predict, struct as_error *err)
{
    FILE *points = open_input(options->from_simpoints, err);
    FILE *weights = points ? open_input(options->from_weights, err) : NULL;
    bool ok = weights &&
              as_choice_read(&predict->choice, points, options->from_simpoints, weights, options->from_weights, err);
    if (points && points != stdin)
        fclose(points);
    if (weights && weights != stdin)
        fclose(weights);
    return ok;
}

/* ---- files ---- */

static bool write_bb(const struct as_predict *predict, FILE *out)
{
    return as_vectors_write(predict->vectors, out);
}

static bool write_simpoints(const struct as_predict *predict, FILE *out)
{
    return as_choice_write_points(&predict->choice, out);
}

static bool write_weights(const struct as_predict *predict, FILE *out)
{
    return as_choice_write_weights(&predict->choice, out);
}

/* Files beside the result. They are opened before the program runs, as the result is. */
struct files {
    struct as_output bb, simpoints, weights, phases;
};

static bool open_file(struct as_output *output, const char *path, struct as_error *err)
{
    return !path || as_output_open(output, path, err);
}

static bool open_files(struct files *files, const struct as_points_options *options, struct as_error *err)
{
    return open_file(&files->bb, options->bb, err) && open_file(&files->simpoints, options->simpoints, err) &&
           open_file(&files->weights, options->weights, err) && open_file(&files->phases, options->phases, err);
}

static void drop_files(struct files *files)
{
    as_output_drop(&files->bb);
    as_output_drop(&files->simpoints);
    as_output_drop(&files->weights);
    as_output_drop(&files->phases);
}

static bool write_file(const struct as_predict *predict, struct as_output *output,
                       bool (*write)(const struct as_predict *predict, FILE *out), struct as_error *err)
{
    if (!output->file) /* it is not asked for */
        return true;
    if (write(predict, output->file))
        return as_output_finish(output, err);
    return as_error_set(err, "%s: %s", output->path ? output->path : "standard output", strerror(errno));
}

static bool write_files(struct files *files, const struct as_predict *predict, struct as_error *err)
{
    return (!predict->vectors || write_file(predict, &files->bb, write_bb, err)) &&
           write_file(predict, &files->simpoints, write_simpoints, err) &&
           write_file(predict, &files->weights, write_weights, err);
}

/* ---- the session ---- */

static bool settle(const struct as_points_options *options, char **argv, struct as_predict_request *request,
                   struct as_error *err)
{
    *request = (struct as_predict_request){.engine = as_run_engine_options(&options->run, argv),
                                           .interval = options->interval,
                                           .loop = options->loop,
                                           .by_thread = options->by_thread,
                                           .choose = {.dims = (uint32_t)options->dims,
                                                      .max_k = (uint32_t)options->max_k,
                                                      .tries = (uint32_t)options->tries,
                                                      .seed = options->seed,
                                                      .threshold = options->threshold,
                                                      .rule = (enum as_bic_rule)options->rule,
                                                      .threads = (uint32_t)options->jobs},
                                           .core = options->core,
                                           .set = options->set,
                                           .memo = as_run_memo_options(&options->run),
                                           .meter = &as_progress_meter,
                                           .notices = as_notices_to_log};
    request->engine.stdout_to_stderr = (options->json || options->csv) && !options->output;
    return as_run_read_warm("warm", options->warm, &request->warm, err);
}

static bool find_points(const struct as_points_options *options, struct as_predict *predict, struct as_error *err)
{
    if (options->from_simpoints)
        return read_points(options, predict, err);
    if (!(options->from_bb ? read_vectors(options->from_bb, predict, err) : as_predict_vectors(predict, err)))
        return false;
    as_predict_choose(predict);
    return true;
}

static void warn(const struct as_predict *predict)
{
    static const double tolerable = 0.01;
    double part;
    const struct as_chosen_point *worst = as_predict_worst(predict, &part);
    if (part > tolerable)
        as_log_warn("the program does not do the same in every run: interval %" PRIu32 " differs in %.1f %% of its "
                    "instructions, so its point may stand for something else",
                    worst->interval, 100 * part);
}

/* Whether the user broke off the run of the points. */
static bool is_broken_off(const struct as_predict *predict)
{
    const struct as_run_end *end = &predict->predicted.end;
    if (!as_run_end_is_cut(end))
        return false;
    as_log_warn("interrupted before all points had run: no CPI is predicted");
    return true;
}

static bool show_sweep(const struct as_points_options *options, const struct as_sweep *sweep, FILE *out,
                       struct as_error *err)
{
    if (options->json)
        return as_sweep_json(sweep, out) || as_error_set(err, "cannot write the result");
    if (options->csv)
        as_sweep_csv(sweep, out);
    else
        as_sweep_text(sweep, out);
    return true;
}

static bool run_sweep(const struct as_points_options *options, struct as_predict *predict, FILE *out,
                      struct as_output *phases, struct as_error *err)
{
    struct as_sweep sweep = {.predict = predict};
    bool ok = as_sweep_run(&sweep, err) && show_sweep(options, &sweep, out, err);
    if (ok && phases->file) {
        as_sweep_intervals(&sweep, phases->file);
        ok = as_output_finish(phases, err);
    }
    as_sweep_free(&sweep);
    return ok;
}

static int show(const struct as_points_shown *shown, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    bool ok = true;
    if (shown->options->json)
        ok = as_points_json(shown, output->file);
    else if (shown->options->csv)
        as_points_csv(shown, output->file);
    else
        as_points_text(shown, output->file);
    if (!ok && !output->path)
        return as_cli_stdout_failed();
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_points, &err);
}

static int run_session(const struct as_points_options *options, char **argv, struct as_predict *predict)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct files files = {0};
    bool twice = argv && strcmp(options->cpi, "on") == 0;
    bool ok = as_output_open(&output, options->output, &err) && open_files(&files, options, &err) &&
              (!twice || as_input_keep(&predict->input, &as_notices_to_log, &err)) &&
              find_points(options, predict, &err);
    int status = ok && predict->collect ? as_run_report(&predict->run, &options->run) : AS_EXIT_OK;
    ok = ok && write_files(&files, predict, &err);
    if (ok && twice && (options->sweep || !as_run_end_is_cut(&predict->run.end)))
        ok = options->sweep ? run_sweep(options, predict, output.file, &files.phases, &err)
                            : as_predict_run(predict, &err);
    drop_files(&files);
    if (!ok) {
        as_output_drop(&output);
        return as_cli_fail(&as_command_points, &err);
    }
    warn(predict);
    if (!options->sweep && is_broken_off(predict))
        status = predict->predicted.end.exit_status ? predict->predicted.end.exit_status : AS_EXIT_FAILURE;
    if (options->sweep && !as_output_finish(&output, &err))
        return as_cli_fail(&as_command_points, &err);
    int failed = options->sweep ? AS_EXIT_OK : show(&(struct as_points_shown){options, argv, predict}, &output);
    if (failed != AS_EXIT_OK)
        return failed;
    return predict->collect ? status : argv ? as_run_report(&predict->predicted, &options->run) : 0;
}

static int run(struct as_points_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_default_core core;
    struct as_machine machine;
    struct as_predict_request request;
    struct as_progress progress;
    struct as_predict predict = {.request = &request};
    if (!settle(options, argv, &request, &err))
        return as_cli_fail(&as_command_points, &err);
    if (argv) /* says which: after what is wrong with the options */
        request.core = options->core = as_core_or_default(options->core, argv[0], &core);
    if (argv && strcmp(options->cpi, "on") == 0 && !as_modelled_machine(&machine, request.core, &request.set, &err))
        return as_cli_fail(&as_command_points, &err); /* before the first run, not after it */
    request.meter_context = &progress;
    int status = run_session(options, argv, &predict);
    as_predict_free(&predict);
    return status;
}

static const char *wrong_usage(const struct as_points_options *options, bool program)
{
    if (!(options->threshold >= 0 && options->threshold <= 1))
        return "--threshold takes a number from 0 to 1";
    if (strcmp(options->cpi, "on") != 0 && strcmp(options->cpi, "off") != 0)
        return "--cpi is on or off";
    if (options->sweep && (options->from_bb || options->from_simpoints || !program || strcmp(options->cpi, "on") != 0))
        return "sweep runs a program, twice: give one, without --cpi=off and files to read";
    if (options->phases && !options->sweep)
        return "--phases is for 'assay points sweep', which knows the CPI of all intervals";
    if (options->json && options->csv)
        return "either --json or --csv";
    if ((options->from_simpoints != NULL) != (options->from_weights != NULL))
        return "--from-simpoints and --from-weights belong together";
    if (options->from_simpoints && options->from_bb)
        return "either --from-bb or --from-simpoints";
    if (options->from_bb && program)
        return "either --from-bb or a program";
    if (options->from_simpoints && !program)
        return "--from-simpoints needs the program whose CPI is to be predicted";
    if (options->loop && (options->sweep || options->from_bb || options->from_simpoints))
        return "--loop is for choosing points of a program that runs";
    if (options->loop && options->warm && strcmp(options->warm, "all") != 0)
        return "--loop: where an interval starts is not known in advance, so only --warm=all can warm it";
    if (options->bb && options->from_simpoints)
        return "--bb needs vectors, and points that are read have none";
    return options->from_bb || program ? NULL : "no program given";
}

static int run_points(int argc, char **argv)
{
    struct as_points_options options = {.run = AS_RUN_OPTIONS_DEFAULT,
                                        .interval = 10000000,
                                        .dims = 15,
                                        .max_k = 30,
                                        .tries = 5,
                                        .seed = 1,
                                        .threshold = 0.9,
                                        .cpi = "on",
                                        .core = NULL};
    int rest;
    if (argc > 1 && strcmp(argv[1], "sweep") == 0) {
        options.sweep = true;
        argc--;
        argv++;
    }
    enum as_parse parsed = as_cli_parse(&as_command_points, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    const char *wrong = wrong_usage(&options, rest < argc);
    if (!options.warm)
        options.warm = options.loop ? "all" : "10M";
    int status =
        wrong ? as_cli_usage(&as_command_points, "%s", wrong) : run(&options, rest < argc ? argv + rest : NULL);
    as_strlist_free(&options.set);
    as_run_options_free(&options.run);
    return status;
}

const struct as_command as_command_points = {
    .name = "points",
    .summary = "Phases of a program and the intervals that stand for it",
    .usage = "[options] [--] PROGRAM [ARGS…]\n       assay points [options] --from-bb FILE\n       assay points sweep "
             "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program at the speed of 'assay stat', counts in each interval of its instructions how often each "
        "block "
        "of code was executed, and groups intervals that execute the same code into phases. Each phase is represented "
        "by "
        "its most typical interval. The program then runs a second time, on a modelled core in these intervals only: "
        "their weighted mean is the predicted CPI of the whole program. The exit status is the program's.\n\n'assay "
        "points "
        "sweep' runs the whole program on the modelled core instead, and shows the error of all ways to choose points: "
        "phases, dimensions, thresholds and coverage.",
    .options = options_table,
    .examples = "assay points -- ./prog\n"
                "assay points --interval 1M --max-k 10 --json -- ./prog\n"
                "assay points --bb p.bb --simpoints p.sp --weights p.w --cpi off -- ./prog\n"
                "assay points --from-bb prog.bb --csv\n",
    .run = run_points,
};
