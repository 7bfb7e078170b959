/* assay points: phases of a program, the intervals that stand for it, and the CPI that they predict. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/points.h"
#include "cmd/points_sweep.h"
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
     .help = "Also write the vectors, in SimPoint's format of frequency vectors."},
    {.name = "simpoints",
     .type = AS_OPTION_STRING,
     MEMBER(simpoints),
     .value = "FILE",
     .help = "Also write the chosen intervals, as SimPoint does: INTERVAL PHASE."},
    {.name = "weights",
     .type = AS_OPTION_STRING,
     MEMBER(weights),
     .value = "FILE",
     .help = "Also write their weights, as SimPoint does: WEIGHT PHASE."},
    {.name = "phases",
     .type = AS_OPTION_STRING,
     MEMBER(phases),
     .value = "FILE",
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
    {.name = "window",
     .type = AS_OPTION_U64,
     MEMBER(run.window),
     .value = "N",
     .help =
         "Let no thread run ahead of its process's slowest running thread by more than N instructions (default 100k; "
         "0: no limit)."},
    {.name = "no-follow",
     .type = AS_OPTION_FLAG,
     MEMBER(run.no_follow),
     .help = "Do not trace programs that the program executes; they run natively. Forked children are always traced."},
    {.name = "qemu",
     .type = AS_OPTION_STRING,
     MEMBER(run.qemu),
     .value = "FILE",
     .help = "The QEMU user-mode emulator to use (default: qemu-x86_64 or qemu-riscv64 on PATH)."},
    {.name = NULL},
};

/* ---- vectors ---- */

static bool check_run(const struct as_points_session *session, struct as_error *err)
{
    const struct as_vectors *vectors = session->vectors;
    uint64_t instructions = as_vectors_instructions(vectors);
    if (instructions == 0)
        return as_error_set(err, "the program executed no instruction");
    bool is_long = instructions > session->options->interval;
    if (vectors->list.len == 1 && !session->run.end.interrupted && session->options->loop && is_long)
        return as_error_set(err, "no interval ends: '%s' was not executed after the first %" PRIu64 " instructions",
                            session->options->loop, session->options->interval);
    if (vectors->list.len == 1 && !session->run.end.interrupted)
        return as_error_set(err,
                            "the program executed %" PRIu64 " instructions, less than one interval of %" PRIu64
                            ": choose a shorter --interval, or 'assay record' it whole",
                            instructions, session->options->interval);
    return true;
}

static bool run_program(struct as_points_session *session, struct as_error *err)
{
    const struct as_points_options *options = session->options;
    struct as_regions regions = {0};
    struct as_progress_watch watch = {0};
    struct as_engine_options engine = as_run_engine_options(&options->run, session->argv);
    session->collect = as_collect_new(options->by_thread);
    bool ok = !options->loop || as_collect_by_loop(session->collect, &regions, options->loop, options->interval, err);
    if (!options->loop)
        as_collect_region(&regions, options->interval);
    engine.regions = &regions;
    engine.blocks_only = true;
    engine.stdout_to_stderr = (options->json || options->csv) && !options->output;
    engine.tick = as_progress_tick;
    engine.tick_context = &watch;
    ok = ok && (session->engine = as_engine_start(&engine, err)) != NULL;
    watch.engine = session->engine;
    as_progress_start(&watch.progress, 0);
    ok = ok && as_engine_run(session->engine, &as_collect_sink, session->collect, &session->run, err);
    as_progress_end(&watch.progress);
    as_regions_free(&regions);
    if (!ok)
        return false;
    session->vectors = as_collect_finish(session->collect);
    return check_run(session, err);
}

static FILE *open_input(const char *path, struct as_error *err)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in)
        as_error_set(err, "%s: %s", path, strerror(errno));
    return in;
}

static bool read_vectors(struct as_points_session *session, struct as_error *err)
{
    const char *path = session->options->from_bb;
    FILE *in = open_input(path, err);
    bool ok = in && as_vectors_read(&session->read, in, path, err);
    if (in && in != stdin)
        fclose(in);
    session->vectors = &session->read;
    return ok;
}

static bool read_points(struct as_points_session *session, struct as_error *err)
{
    const struct as_points_options *options = session->options;
    FILE *points = open_input(options->from_simpoints, err);
    FILE *weights = points ? open_input(options->from_weights, err) : NULL;
    bool ok = weights &&
              as_choice_read(&session->choice, points, options->from_simpoints, weights, options->from_weights, err);
    if (points && points != stdin)
        fclose(points);
    if (weights && weights != stdin)
        fclose(weights);
    return ok;
}

/* ---- files ---- */

static bool write_bb(const struct as_points_session *session, FILE *out)
{
    return as_vectors_write(session->vectors, out);
}

static bool write_simpoints(const struct as_points_session *session, FILE *out)
{
    return as_choice_write_points(&session->choice, out);
}

static bool write_weights(const struct as_points_session *session, FILE *out)
{
    return as_choice_write_weights(&session->choice, out);
}

static bool write_file(const struct as_points_session *session, const char *path,
                       bool (*write)(const struct as_points_session *session, FILE *out), struct as_error *err)
{
    struct as_output output = {0};
    if (!path)
        return true;
    if (!as_output_open(&output, path, err))
        return false;
    if (write(session, output.file))
        return as_output_finish(&output, err);
    as_error_set(err, "%s: %s", path, strerror(errno));
    as_output_drop(&output);
    return false;
}

static bool write_files(const struct as_points_session *session, struct as_error *err)
{
    const struct as_points_options *options = session->options;
    return (!session->vectors || write_file(session, options->bb, write_bb, err)) &&
           write_file(session, options->simpoints, write_simpoints, err) &&
           write_file(session, options->weights, write_weights, err);
}

/* ---- the session ---- */

static void choose(struct as_points_session *session)
{
    const struct as_points_options *options = session->options;
    struct as_choose_options how = {.dims = (uint32_t)options->dims,
                                    .max_k = (uint32_t)options->max_k,
                                    .tries = (uint32_t)options->tries,
                                    .seed = options->seed,
                                    .threshold = options->threshold,
                                    .rule = (enum as_bic_rule)options->rule,
                                    .threads = (uint32_t)options->jobs};
    double before = as_clock_seconds();
    as_choose(session->vectors, &how, &session->choice);
    session->seconds = as_clock_seconds() - before;
}

static bool find_points(struct as_points_session *session, struct as_error *err)
{
    if (session->options->from_simpoints)
        return read_points(session, err);
    if (!(session->options->from_bb ? read_vectors(session, err) : run_program(session, err)))
        return false;
    choose(session);
    return true;
}

static void warn(const struct as_points_session *session)
{
    static const double tolerable = 0.01;
    double most = 0;
    size_t worst = 0;
    for (size_t i = 0; i < session->results.len; i++)
        if (session->results.data[i].differs > most) {
            worst = i;
            most = session->results.data[i].differs;
        }
    if (most > tolerable)
        as_log_warn("the program does not do the same in every run: interval %" PRIu32 " differs in %.1f %% of its "
                    "instructions, so its point may stand for something else",
                    session->choice.points.data[worst].interval, 100 * most);
}

static int show(const struct as_points_session *session, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    bool ok = true;
    if (session->options->json)
        ok = as_points_json(session, output->file);
    else if (session->options->csv)
        as_points_csv(session, output->file);
    else
        as_points_text(session, output->file);
    if (!ok && !output->path)
        return as_cli_stdout_failed();
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_points, &err);
}

static int run_session(struct as_points_session *session)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    bool twice = session->argv && strcmp(session->options->cpi, "on") == 0;
    bool ok = as_output_open(&output, session->options->output, &err) &&
              (!twice || as_input_keep(&session->input, &as_notices_to_log, &err)) && find_points(session, &err);
    int status = ok && session->collect ? as_run_report(&session->run, &session->options->run) : AS_EXIT_OK;
    ok = ok && write_files(session, &err);
    if (ok && twice && (session->options->sweep || !session->run.end.interrupted))
        ok = session->options->sweep ? as_points_sweep(session, output.file, &err) : as_points_predict(session, &err);
    if (!ok) {
        as_output_drop(&output);
        return as_cli_fail(&as_command_points, &err);
    }
    warn(session);
    if (session->options->sweep && !as_output_finish(&output, &err))
        return as_cli_fail(&as_command_points, &err);
    int shown = session->options->sweep ? AS_EXIT_OK : show(session, &output);
    if (shown != AS_EXIT_OK)
        return shown;
    return session->collect ? status : session->argv ? as_run_report(&session->predicted, &session->options->run) : 0;
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

static void clean_up(struct as_points_session *session)
{
    as_choice_free(&session->choice);
    as_collect_free(session->collect);
    as_engine_free(session->engine);
    as_vectors_free(&session->read);
    as_vec_free(&session->results);
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
    struct as_default_core core;
    if (rest < argc && !wrong)
        options.core = as_core_or_default(options.core, argv[rest], &core);
    struct as_points_session session = {.options = &options, .argv = rest < argc ? argv + rest : NULL};
    int status = wrong ? as_cli_usage(&as_command_points, "%s", wrong) : run_session(&session);
    clean_up(&session);
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
    .examples = "  assay points -- ./prog\n"
                "  assay points --interval 1M --max-k 10 --json -- ./prog\n"
                "  assay points --bb p.bb --simpoints p.sp --weights p.w --cpi off -- ./prog\n"
                "  assay points --from-bb prog.bb --csv\n",
    .run = run_points,
};
