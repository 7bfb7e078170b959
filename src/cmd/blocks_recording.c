/* `assay blocks RECORDING`: counts of blocks from what perf sampled. */
#include "base/log.h"
#include "base/show.h"
#include "base/time_unit.h"
#include "blocks/recording_counts.h"
#include "cmd/blocks_for.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

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

static int show(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                struct as_recording_counts *counts, struct as_output *output)
{
    struct as_str how = {0}, advice = {0};
    warn_refused(recording);
    if (options->for_ >= 0 && !counts->has_edges)
        as_blocks_settle_addresses(counts->flow, options->balance);
    as_str_addf(&how, "%s samples of %s, method %s%s", AS_COUNT(as_samples_counted(recording->samples)->samples),
                recording->event, as_method_names[counts->method], options->balance ? ", balanced" : "");
    bool doubted = as_blocks_add_doubt(&counts->fit, &advice);
    if (doubted)
        as_log_warn("%.*s", (int)advice.len - 1, as_str_get(&advice)); /* without the blank behind it */
    explain(recording, counts->method, doubted, &advice);
    as_blocks_end_advice(&advice, !counts->has_edges);
    struct as_blocks_shown shown = {.flow = counts->flow,
                                    .what = path,
                                    .recorded = true,
                                    .how = as_str_get(&how),
                                    .method = as_method_names[counts->method],
                                    .balanced = options->balance,
                                    .advice = as_str_get(&advice),
                                    .trouble = &counts->trouble,
                                    .unit = counts->unit,
                                    .unplaced = as_samples_unplaced(recording->samples),
                                    .fit = &counts->fit,
                                    .seconds = -1};
    int status = as_blocks_write(options, &shown, output);
    as_str_free(&how);
    as_str_free(&advice);
    return status;
}

static int count(const struct as_blocks_options *options, const char *path, const struct as_recording *recording,
                 struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording_counts counts;
    struct as_recording_counts_options how = {.method = options->method > 0 ? options->method - 1 : -1,
                                              .balance = options->balance,
                                              .balance_addresses = options->for_ >= 0,
                                              .drop_oldest = options->drop_oldest,
                                              .module = options->module};
    bool ok = as_recording_count(&counts, recording, path, &how, &err);
    int status = ok ? show(options, path, recording, &counts, output) : fail(output, &err);
    as_recording_counts_free(&counts);
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
        status = count(options, path, &recording, &output);
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
