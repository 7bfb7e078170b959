/* See trust_again.h. */
#include "cmd/trust_again.h"

#include "record/record.h"
#include "store/store_write.h"
#include "view/rows.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- how each way is taken in the model: as suite/bias_run does ---- */

static const struct way {
    const char *way, *source, *sampler, *event;
    uint64_t period;
} ways[] = {
    {"interrupt", "model", "software", NULL, 101},
    {"pebs-cycles", "model", "nci", NULL, 101},
    {"tip", "model", "tip", NULL, 101},
    {"pebs-instructions", "pmu:skylake", NULL, "instructions", 499},
    {"pdir-instructions", "pmu:skylake", NULL, "instructions:ppp", 499},
    {"pebs-loads", "pmu:skylake", NULL, "loads", 499},
    {"pebs-branches", "pmu:skylake", NULL, "branches", 499},
    {"pebs-misses", "pmu:skylake", NULL, "l1-miss", 31},
    {"ibs-cycles", "pmu:zen4", NULL, "cycles", 997},
    {"ibs-ops", "pmu:zen4", NULL, "ops", 2003},
    {"spe", "pmu:neoverse-n1", NULL, "operations", 1031},
};

static const struct way *find_way(const struct as_view *of, struct as_error *err)
{
    const struct as_summary *summary = &of->summary;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && summary->bias; i++)
        if (strcmp(ways[i].way, summary->bias->way) == 0)
            return &ways[i];
    as_error_set(err, "%s: %s", of->options.file,
                 summary->exact ? "it is exact: there is nothing to expect"
                 : isnan(as_store_estimate_of(of->store, of->series, "error", "instruction"))
                     ? "the model has no such way of sampling"
                     : "its error was measured in its own run, and is shown without --again");
    return NULL;
}

static const char *core_like(const char *processor)
{
    return processor && strstr(processor, "Intel") ? "skylake-like" : "zen4-like";
}

/* ---- what is run ---- */

static char **arguments_of(const struct as_view *of, struct as_error *err)
{
    size_t n;
    const char *const *words = as_store_arguments(of->store, &n);
    const char *program = as_store_meta(of->store, AS_META_PROGRAM);
    if (n == 0 || !program || access(program, X_OK) != 0) {
        as_error_set_status(err, AS_EXIT_NOT_FOUND, "%s: the program cannot be run again: %s", of->options.file,
                            program && n ? program : "the profile does not say how it was called");
        return NULL;
    }
    char **argv = as_alloc_array(n + 1, sizeof *argv);
    argv[0] = (char *)program;
    for (size_t i = 1; i < n; i++)
        argv[i] = (char *)words[i];
    return argv;
}

/* The function of the program itself with most time; NULL: none has a name. */
static const char *hottest(const struct as_view *of, struct as_error *err)
{
    struct as_rows rows = {0};
    const char *name = NULL, *program = of->summary.program;
    if (!as_rows_make(&rows, of, AS_STORE_BY_FUNCTION, NULL, err))
        return NULL;
    for (size_t i = 0; i < rows.rows.n && !name; i++) {
        const struct as_store_row *row = &rows.rows.rows[i];
        const char *module =
            row->function < of->n_functions ? as_view_module(of, of->function[row->function].module) : NULL;
        if (module && program && strcmp(module, program) == 0)
            name = of->function[row->function].linkage_name ? of->function[row->function].linkage_name
                                                            : of->function[row->function].name;
    }
    as_rows_free(&rows);
    return name;
}

static void limit(struct as_regions *regions, const char *from, uint64_t max)
{
    struct as_region *region = as_regions_add(regions);
    region->max = max;
    if (from)
        region->start = as_regions_symbol(regions, from);
}

/* In the directory where it ran before. */
static bool record(const struct as_view *of, const struct as_record_options *usual, char *const *argv, const char *from,
                   uint64_t max, struct as_error *err)
{
    struct as_record_options options = *usual;
    struct as_record_result result;
    struct as_regions regions = {0};
    const char *directory = as_store_meta(of->store, AS_META_DIRECTORY);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    limit(&regions, from, max);
    options.argv = argv;
    options.engine.regions = &regions;
    if (directory && chdir(directory) != 0)
        as_notice(&options.notices, AS_LOG_NOTE, "%s is not there: the program runs here instead", directory);
    bool ok = as_regions_check(&regions, err) && as_record_run(&options, &result, err);
    if (here < 0 || fchdir(here) != 0)
        ok = ok && as_error_set(err, "the working directory is gone");
    if (here >= 0)
        close(here);
    as_regions_free(&regions);
    return ok;
}

/* ---- into a profile of its own ---- */

static struct as_record_options plan(const struct as_view *of, const struct as_again_options *asked,
                                     const struct way *way)
{
    struct as_record_options options = as_record_defaults;
    options.environment = environ;
    options.source = way->source;
    options.period = way->period;
    options.seed = asked->seed;
    options.notices = asked->notices;
    options.core = asked->core ? asked->core : core_like(of->summary.core);
    options.engine.discard_stdout = true;
    options.random = way->sampler != NULL;
    options.samplers = way->sampler ? way->sampler : options.samplers;
    options.event = (struct as_strlist){(const char **)&way->event, way->event != NULL};
    return options;
}

bool as_trust_again(const struct as_view *of, const struct as_again_options *asked, struct as_view *again,
                    struct as_error *err)
{
    char folder[] = "/tmp/assay-trust-XXXXXX", path[sizeof folder + 16];
    const struct way *way = find_way(of, err);
    char **argv = way ? arguments_of(of, err) : NULL;
    const char *from = argv ? hottest(of, err) : NULL;
    if (!argv || !mkdtemp(folder)) {
        free(argv);
        return way && argv ? as_error_set(err, "%s cannot be made", folder) : false;
    }
    snprintf(path, sizeof path, "%s/again.db", folder);
    struct as_record_options options = plan(of, asked, way);
    options.output = path;
    bool ok = record(of, &options, argv, from, asked->max, err) &&
              as_view_open(again, &(struct as_view_options){.file = path, .series = way->sampler}, err);
    again->options.file = of->options.file; /* the path is gone with this function */
    unlink(path);
    rmdir(folder);
    free(argv);
    return ok;
}

static double bias_of(const struct as_view *again, const char *level)
{
    double error = as_store_estimate_of(again->store, again->series, "error", level);
    double chance = as_store_estimate_of(again->store, again->series, "estimate", level);
    return isnan(error) ? NAN : sqrt(fmax(0, error * error - chance * chance));
}

void as_trust_again_keep(struct as_view *of, const struct as_view *again, const struct as_notices *notices)
{
    struct as_store_estimate estimates[AS_BIAS_LEVELS];
    struct as_error err = AS_ERROR_INIT;
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        estimates[i] =
            (struct as_store_estimate){of->series, "bias", as_bias_levels[i], bias_of(again, as_bias_levels[i])};
        as_store_put_estimate(of->store, &estimates[i]);
    }
    as_summary_find_trust(&of->summary);
    if (as_store_note_estimates(of->options.file, estimates, AS_BIAS_LEVELS, &err))
        as_notice(notices, AS_LOG_NOTE, "%s: reports of it use this bias from now on", of->options.file);
    else
        as_notice(notices, AS_LOG_NOTE, "the bias is not kept in the profile: %s", err.message);
}
