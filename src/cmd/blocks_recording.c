/* `assay blocks RECORDING`: counts of blocks from what perf sampled. */
#include "base/log.h"
#include "base/path.h"
#include "base/show.h"
#include "base/time_unit.h"
#include "blocks/balance.h"
#include "blocks/blocks_fit.h"
#include "blocks/estimate.h"
#include "blocks/recording.h"
#include "cmd/blocks_for.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum as_method choose(const struct as_blocks_options *options, const struct as_recording *recording)
{
    if (options->method > 0)
        return (enum as_method)(options->method - 1);
    if (as_samples_runs(recording->samples)->len)
        return AS_METHOD_LBR;
    return recording->counted == AS_COUNTED_UOPS ? AS_METHOD_UOPS : AS_METHOD_IP;
}

/* What a method needs and the recording has not; an option that nothing is there for. */
static bool check_method(const struct as_blocks_options *options, const struct as_recording *recording,
                         enum as_method method, struct as_error *err)
{
    bool stacks = as_samples_counted(recording->samples)->with_branches > 0;
    bool needs = method == AS_METHOD_LBR || method == AS_METHOD_FIXED || method == AS_METHOD_FLOW;
    if (needs && !stacks)
        return as_error_set(
            err,
            "the samples of %s have no branch stacks, which --method=%s needs: perf record -b makes them, "
            "--method=ip does without",
            recording->event, as_method_names[method]);
    if (options->drop_oldest && !stacks)
        return as_error_set(err, "the samples of %s have no branch stacks: leave --drop-oldest out", recording->event);
    if (recording->counted == AS_COUNTED_OTHER && method == AS_METHOD_UOPS)
        return as_error_set(err,
                            "%s counts neither instructions nor micro-operations, so --method=uops says nothing of it",
                            recording->event);
    if (recording->counted == AS_COUNTED_TAKEN && (method == AS_METHOD_FIXED || method == AS_METHOD_UOPS))
        return as_error_set(err,
                            "%s counts branches, and --method=%s spreads samples over %s; --method=%s is for branches",
                            recording->event, as_method_names[method],
                            method == AS_METHOD_UOPS ? "micro-operations" : "instructions", stacks ? "lbr" : "ip");
    return true;
}

/* What these counts are, and how far to believe them. */
static void explain(const struct as_recording *recording, enum as_method method, bool doubted, struct as_str *text)
{
    bool lbr = method == AS_METHOD_LBR;
    if (lbr && recording->counted == AS_COUNTED_TAKEN && doubted)
        as_str_add(text, "The rest is every run of every branch stack, sampled on taken branches. ");
    else if (lbr && recording->counted == AS_COUNTED_TAKEN)
        as_str_add(text, "Every run of every branch stack, sampled on taken branches: the method to believe. ");
    else if (lbr)
        as_str_addf(
            text,
            "Every run of every branch stack; but %s counts no taken branches, so places where the time goes have "
            "more of them, and counts are relative. Better: perf record -b -e br_inst_retired.near_taken. ",
            recording->event);
    else if (method == AS_METHOD_FLOW)
        as_str_addf(text,
                    "Branches of the stacks without their order: a block ran as often as branches lead to it and the "
                    "block before falls into it.%s ",
                    recording->counted == AS_COUNTED_TAKEN
                        ? ""
                        : " The event counts no taken branches, so places where the time goes have more of them, and "
                          "counts are relative.");
    else if (recording->counted == AS_COUNTED_TAKEN)
        as_str_addf(text,
                    "A sample of %s says that the block with its address ran, and no more: blocks that control leaves "
                    "without a branch have none, so counts are too low. Better: branch stacks (perf record -b). ",
                    recording->event);
    else if (recording->counted == AS_COUNTED_OTHER)
        as_str_addf(text, "%s counts neither instructions nor branches: this is where %s, not how often blocks ran. ",
                    recording->event,
                    as_unit_is_time(recording->unit) || as_unit_is_time(recording->event) ? "the time went"
                                                                                          : "that happened");
    else if (!recording->precise)
        as_str_addf(text, "%s is not precise: samples are late and lie in the blocks behind. ", recording->event);
    if (!lbr && as_samples_runs(recording->samples)->len)
        as_str_add(text, "The recording has branch stacks: --method=lbr is more accurate. ");
    if (recording->round_period)
        as_str_addf(text, "The period %" PRIu64 " is round: loops can run in step with it; a prime is better. ",
                    recording->period);
}

static void warn_refused(const struct as_recording *recording)
{
    enum { MOST = 5 };
    for (size_t i = 0; i < recording->refused.len && i < MOST; i++)
        as_log_warn("%s: %s (%s address%s left out)", AS_SHOW(recording->refused.data[i].path),
                    recording->refused.data[i].why, AS_COUNT(recording->refused.data[i].samples),
                    recording->refused.data[i].samples == 1 ? "" : "es");
    if (recording->refused.len > MOST)
        as_log_warn("… and %zu more file%s", recording->refused.len - MOST,
                    recording->refused.len - MOST == 1 ? "" : "s");
}

static void warn_trouble(const struct as_recording *recording)
{
    enum { MOST = 4 };
    const struct as_samples_counts *counts = as_samples_counted(recording->samples);
    struct as_samples_sticky sticky[MOST];
    if (recording->problem[0])
        as_log_warn("the recording is not whole: %s", recording->problem);
    if (recording->lost)
        as_log_warn("perf lost %" PRIu64 " samples", recording->lost);
    if (counts->repeated)
        as_log_note("%" PRIu64 " stacks have their newest branch twice, as Skylake writes some; it counts once",
                    counts->repeated);
    size_t n = as_samples_sticky(recording->samples, sticky, MOST);
    for (size_t i = 0; i < n; i++)
        as_log_warn("the branch 0x%" PRIx64 " → 0x%" PRIx64
                    " is the oldest of %.0f %% of the stacks, and %.1f %% of all "
                    "branches: the stack is biased there; --drop-oldest leaves the oldest out",
                    sticky[i].from, sticky[i].to, 100 * sticky[i].share, 100 * sticky[i].expected);
}

static int fail(struct as_output *output, const struct as_error *err)
{
    as_output_drop(output);
    return as_cli_fail(&as_command_blocks, err);
}

/* A file that is asked for and was left out. */
static const struct as_recording_refused *refused_module(const struct as_recording *recording, const char *name)
{
    for (size_t i = 0; name && i < recording->refused.len; i++) {
        const char *path = recording->refused.data[i].path;
        if (strcmp(path, name) == 0 || strcmp(as_path_base(path), name) == 0)
            return &recording->refused.data[i];
    }
    return NULL;
}

static bool check(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                  enum as_method method, struct as_error *err)
{
    const struct as_recording_refused *refused = refused_module(recording, options->module);
    struct as_error why = AS_ERROR_INIT;
    if (refused)
        return as_error_set(err, "%s: %s", refused->path, refused->why);
    return check_method(options, recording, method, &why) || as_error_set(err, "%s: %s", path, why.message);
}

/* Nothing can be said: one line with the reason of most addresses, in place of warnings that would say it too. */
static void say_unread(const struct as_recording *recording, const char *path, struct as_error *err)
{
    const struct as_recording_refused *most = recording->refused.data;
    for (size_t i = 1; i < recording->refused.len; i++)
        most = recording->refused.data[i].samples > most->samples ? &recording->refused.data[i] : most;
    bool kernel = recording->kernel == as_samples_counted(recording->samples)->samples;
    if (recording->refused.len)
        as_error_set(err, "%s: no sample is in code that could be read; %s: %s", path, AS_SHOW(most->path), most->why);
    else
        as_error_set(err, "%s: no sample is in code that could be read%s", path,
                     kernel            ? "; all are of the kernel"
                     : recording->text ? ": text of perf script does not say where code lies in files"
                                       : ": no address is in a file that the recording says was mapped");
}

static struct as_blocks_fit fit_of(const struct as_recording *recording, const struct as_flow *flow,
                                   enum as_method method, const char *module)
{
    const struct as_samples_counts *counts = as_samples_counted(recording->samples);
    double runs = counts->entries > counts->with_branches ? (double)(counts->entries - counts->with_branches) : 0;
    return (struct as_blocks_fit){
        .flow = flow, .method = method, .disordered = runs > 0 ? (double)counts->backward / runs : 0, .module = module};
}

/* Addresses may fit where branch stacks do not. */
static bool addresses_fit(const struct as_recording *recording, const char *module)
{
    struct as_error ignored = AS_ERROR_INIT;
    struct as_flow *flow = as_estimate(recording->samples, recording->cfg, AS_METHOD_IP, NULL);
    struct as_blocks_fit fit = fit_of(recording, flow, AS_METHOD_IP, module);
    bool fits = as_flow_total(flow) > 0 && as_blocks_check_fit(&fit, &ignored);
    as_flow_free(flow);
    return fits;
}

static bool check_fit(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                      const struct as_flow *flow, enum as_method method, struct as_error *err)
{
    struct as_error why = AS_ERROR_INIT;
    struct as_blocks_fit fit = fit_of(recording, flow, method, options->module);
    if (as_blocks_check_fit(&fit, &why))
        return true;
    bool instead = method != AS_METHOD_IP && method != AS_METHOD_UOPS && addresses_fit(recording, options->module);
    return as_error_set(err, "%s: %s%s", path, why.message,
                        instead ? " (the sampled addresses fit: --method=ip uses those alone)" : "");
}

static int show(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                struct as_output *output)
{
    enum as_method method = choose(options, recording);
    struct as_estimate_trouble trouble;
    struct as_error err = AS_ERROR_INIT;
    if (!check(options, path, recording, method, &err))
        return fail(output, &err);
    struct as_flow *flow = as_estimate(recording->samples, recording->cfg, method, &trouble);
    struct as_str how = {0}, advice = {0};
    bool some = as_flow_total(flow) > 0;
    if (!check_fit(options, path, recording, flow, method, &err) || !some) {
        if (!err.message[0])
            say_unread(recording, path, &err);
        as_flow_free(flow);
        return fail(output, &err);
    }
    warn_refused(recording);
    bool addresses = !as_estimate_has_edges(recording->samples, method), alone = options->for_ >= 0 && addresses;
    if (addresses)
        as_flow_guess_edges(flow, options->balance || alone);
    else if (options->balance)
        as_flow_balance(flow, method == AS_METHOD_LBR);
    if (alone)
        as_blocks_settle_addresses(flow, options->balance);
    as_str_addf(&how, "%s samples of %s, method %s%s", AS_COUNT(as_samples_counted(recording->samples)->samples),
                recording->event, as_method_names[method], options->balance ? ", balanced" : "");
    struct as_blocks_fit fit = fit_of(recording, flow, method, NULL);
    bool doubted = as_blocks_add_doubt(&fit, &advice);
    if (doubted)
        as_log_warn("%.*s", (int)advice.len - 1, as_str_get(&advice)); /* without the blank behind it */
    explain(recording, method, doubted, &advice);
    as_blocks_end_advice(&advice, addresses);
    bool is_time = recording->counted == AS_COUNTED_OTHER && (method == AS_METHOD_IP || method == AS_METHOD_FIXED);
    struct as_blocks_shown shown = {.flow = flow,
                                    .what = path,
                                    .recorded = true,
                                    .how = as_str_get(&how),
                                    .method = as_method_names[method],
                                    .balanced = options->balance,
                                    .advice = as_str_get(&advice),
                                    .trouble = &trouble,
                                    .unit = is_time ? recording->unit : NULL,
                                    .unplaced = as_samples_unplaced(recording->samples),
                                    .fit = &fit,
                                    .seconds = -1};
    int status = as_blocks_write(options, &shown, output);
    as_str_free(&how);
    as_str_free(&advice);
    as_flow_free(flow);
    return status;
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int as_blocks_recording(const struct as_blocks_options *options, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct as_recording recording;
    const char *home = getenv("HOME");
    char *cache = home ? as_format("%s/.debug", home) : NULL;
    struct as_recording_options reading = {
        .spaces = {.debug_path = options->debug_path, .search = {.cache = cache}, .trust_paths = options->trust_paths},
        .event = options->event,
        .drop_oldest = options->drop_oldest,
    };
    char *symfs = NULL;
    bool ok = !options->symfs || ((symfs = realpath(options->symfs, NULL)) && is_directory(symfs)) ||
              as_error_set(&err, "--symfs: '%s' is not a directory", options->symfs);
    reading.spaces.search.symfs = symfs;
    bool opened = ok && as_output_open(&output, options->output, &err);
    ok = opened && as_recording_read(&recording, path, &reading, &err);
    int status;
    if (ok) {
        warn_trouble(&recording);
        status = show(options, path, &recording, &output);
        as_recording_free(&recording);
    } else {
        if (opened)
            as_output_drop(&output);
        status = as_cli_fail(&as_command_blocks, &err);
    }
    free(cache);
    free(symfs);
    return status;
}
