/* `assay blocks RECORDING`: counts of blocks from what perf sampled. */
#include "base/log.h"
#include "base/show.h"
#include "blocks/balance.h"
#include "blocks/estimate.h"
#include "blocks/recording.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"

#include <inttypes.h>
#include <stdlib.h>

static enum as_method choose(const struct as_blocks_options *options, const struct as_recording *recording)
{
    if (options->method)
        return (enum as_method)(options->method - 1);
    if (as_samples_runs(recording->samples)->len)
        return AS_METHOD_LBR;
    return recording->counted == AS_COUNTED_UOPS ? AS_METHOD_UOPS : AS_METHOD_IP;
}

/* What these counts are, and how far to believe them. */
static void explain(const struct as_recording *recording, enum as_method method, struct as_str *text)
{
    bool lbr = method == AS_METHOD_LBR;
    if (lbr && recording->counted == AS_COUNTED_TAKEN)
        as_str_add(text, "Every run of every branch stack, sampled on taken branches: the method to believe. ");
    else if (lbr)
        as_str_addf(
            text,
            "Every run of every branch stack; but %s counts no taken branches, so places where the time goes have "
            "more of them, and counts are relative. Better: perf record -b -e br_inst_retired.near_taken. ",
            recording->event);
    else if (recording->counted == AS_COUNTED_OTHER)
        as_str_addf(
            text,
            "%s counts neither instructions nor branches: this is where the time went, not how often blocks ran. ",
            recording->event);
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
        as_log_warn("%s: %s (%" PRIu64 " addresses left out)", AS_SHOW(recording->refused.data[i].path),
                    recording->refused.data[i].why, recording->refused.data[i].samples);
    if (recording->refused.len > MOST)
        as_log_warn("… and %zu more files", recording->refused.len - MOST);
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

static int show(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                struct as_output *output)
{
    enum as_method method = choose(options, recording);
    struct as_estimate_trouble trouble;
    struct as_flow *flow = as_estimate(recording->samples, recording->cfg, method, &trouble);
    struct as_str how = {0}, advice = {0};
    if (as_flow_total(flow) <= 0) {
        struct as_error err = AS_ERROR_INIT;
        as_error_set(&err, "%s: no sample is in code that could be read%s%s", path, recording->refused.len ? "; " : "",
                     recording->refused.len ? recording->refused.data[0].why : "");
        as_output_drop(output);
        as_flow_free(flow);
        return as_cli_fail(&as_command_blocks, &err);
    }
    if (options->balance)
        as_flow_balance(flow, method == AS_METHOD_LBR);
    as_str_addf(&how, "%s samples of %s, method %s%s", AS_COUNT(as_samples_counted(recording->samples)->samples),
                recording->event, as_method_names[method], options->balance ? ", balanced" : "");
    explain(recording, method, &advice);
    struct as_blocks_shown shown = {.flow = flow,
                                    .what = path,
                                    .recorded = true,
                                    .how = as_str_get(&how),
                                    .method = as_method_names[method],
                                    .advice = as_str_get(&advice),
                                    .trouble = &trouble,
                                    .unplaced = as_samples_unplaced(recording->samples),
                                    .seconds = -1};
    int status = as_blocks_write(options, &shown, output);
    as_str_free(&how);
    as_str_free(&advice);
    as_flow_free(flow);
    return status;
}

int as_blocks_recording(const struct as_blocks_options *options, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct as_recording recording;
    const char *home = getenv("HOME");
    char *cache = home ? as_format("%s/.debug", home) : NULL;
    struct as_recording_options reading = {
        .spaces = {.debug_path = options->debug_path,
                   .search = {.symfs = options->symfs, .cache = cache},
                   .trust_paths = options->trust_paths},
        .event = options->event,
        .drop_oldest = options->drop_oldest,
    };
    bool opened = as_output_open(&output, options->output, &err);
    bool ok = opened && as_recording_read(&recording, path, &reading, &err);
    int status;
    if (ok) {
        warn_refused(&recording);
        warn_trouble(&recording);
        status = show(options, path, &recording, &output);
        as_recording_free(&recording);
    } else {
        if (opened)
            as_output_drop(&output);
        status = as_cli_fail(&as_command_blocks, &err);
    }
    free(cache);
    return status;
}
