/* `assay blocks PROFILE`: counts of blocks from a profile that Assay recorded or imported. */
#include "base/log.h"
#include "base/path.h"
#include "base/show.h"
#include "base/time_unit.h"
#include "blocks/blocks_fit.h"
#include "cmd/blocks_for.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"
#include "view/block_counts.h"

#include <string.h>

/* What these counts are, and how far to believe them. */
static void explain(const struct as_block_counts *counts, struct as_str *text)
{
    const struct as_summary *summary = &counts->view->summary;
    if (counts->method == AS_METHOD_FLOW && counts->samples)
        as_str_add(text,
                   "Branches that were recorded, without their order: a block ran as often as branches lead to it "
                   "and the block before falls into it. The recording itself (--method=lbr) is more accurate. ");
    else if (counts->samples && as_samples_of_branches(counts->samples))
        as_str_addf(text,
                    "A sample of %s says that the block with its address ran, and no more: blocks that control leaves "
                    "without a branch have none, so counts are too low. ",
                    AS_SHOW(summary->sampler));
    else if (counts->samples && !as_block_counts_are_executions(counts))
        as_str_addf(text, "%s says where %s, not how often blocks ran. ", AS_SHOW(summary->sampler),
                    !summary->unit || as_unit_is_time(summary->unit) ? "the time went" : "something happened");
    if (counts->samples && counts->method != AS_METHOD_FLOW && summary->bias)
        as_str_addf(text, "Expect an error of %.0f %% by block: %s. ",
                    100 * summary->trust[AS_BIAS_BLOCK].expected.median, summary->bias->about);
}

static void warn_refused(const struct as_block_counts *counts)
{
    for (size_t i = 0; i < counts->refused.len; i++) {
        const struct as_block_counts_refused *refused = &counts->refused.data[i];
        bool executed = refused->executions > 0;
        as_log_warn("%s: %s (%s %s left out)", AS_SHOW(refused->path), refused->why,
                    AS_COUNT(executed ? refused->executions : refused->samples),
                    executed ? "executed instructions" : "samples");
    }
}

/* A file that is asked for and was left out. */
static const struct as_block_counts_refused *refused_module(const struct as_block_counts *counts, const char *name)
{
    for (size_t i = 0; name && i < counts->refused.len; i++) {
        const char *path = counts->refused.data[i].path;
        if (strcmp(path, name) == 0 || strcmp(as_path_base(path), name) == 0)
            return &counts->refused.data[i];
    }
    return NULL;
}

static int show(const struct as_blocks_options *options, const struct as_block_counts *counts, struct as_output *output)
{
    const struct as_summary *summary = &counts->view->summary;
    struct as_str how = {0}, advice = {0};
    bool estimates = !counts->samples && as_flow_has_estimates(counts->flow);
    const char *method = counts->samples ? as_method_names[counts->method]
                         : estimates     ? "exact counts, estimated edges"
                                         : "exact";
    if (counts->samples)
        as_str_addf(&how, "%s samples of %s, method %s%s", AS_COUNT(summary->samples), AS_SHOW(summary->sampler),
                    method, options->balance ? ", balanced" : "");
    else
        as_str_addf(&how, "every execution of each block, of %s%s", AS_SHOW(summary->sampler),
                    estimates ? "; ~: an estimate, as executions do not say by which way control went" : "");
    if (estimates && options->for_ >= 0)
        as_log_note("the profile has no branch counts, so edges out of multi-way blocks are estimates");
    if (options->for_ >= 0 && counts->samples && !as_estimate_has_edges(counts->samples, counts->method))
        as_blocks_settle_addresses(counts->flow, options->balance);
    struct as_blocks_fit fit = {.flow = counts->flow, .method = counts->method};
    if (as_blocks_add_doubt(&fit, &advice))
        as_log_warn("%.*s", (int)advice.len - 1, as_str_get(&advice)); /* without the blank behind it */
    explain(counts, &advice);
    as_blocks_end_advice(&advice, counts->samples && !as_estimate_has_edges(counts->samples, counts->method));
    struct as_blocks_shown shown = {.flow = counts->flow,
                                    .what = counts->view->options.file,
                                    .recorded = true,
                                    .how = as_str_get(&how),
                                    .method = method,
                                    .balanced = options->balance,
                                    .advice = as_str_get(&advice),
                                    .trouble = counts->samples ? &counts->trouble : NULL,
                                    .unit = as_block_counts_are_executions(counts) ? NULL : summary->unit,
                                    .unplaced = counts->samples ? as_samples_unplaced(counts->samples) : 0,
                                    .fit = &fit,
                                    .seconds = -1};
    int status = as_blocks_write(options, &shown, output);
    as_str_free(&how);
    as_str_free(&advice);
    return status;
}

int as_blocks_profile(const struct as_blocks_options *options, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct as_view view = {0};
    struct as_block_counts counts = {0};
    struct as_block_counts_options how = {.method = options->method > 0 ? options->method - 1 : -1,
                                          .balance = options->balance,
                                          .balance_addresses = options->for_ >= 0,
                                          .edges = true,
                                          .debug_path = options->debug_path};
    bool opened = as_output_open(&output, options->output, &err);
    struct as_view_options what = {.file = path, .series = options->event, .series_option = "event"};
    bool ok = opened && as_view_open(&view, &what, &err) && as_block_counts_make(&counts, &view, &how, &err);
    int status;
    const struct as_block_counts_refused *refused = ok ? refused_module(&counts, options->module) : NULL;
    if (refused)
        ok = as_error_set(&err, "%s: %s", refused->path, refused->why);
    struct as_blocks_fit fit = {.flow = counts.flow, .method = counts.method, .module = options->module};
    ok = ok && as_blocks_check_fit(&fit, &err);
    if (ok) {
        warn_refused(&counts);
        status = show(options, &counts, &output);
    } else {
        if (opened)
            as_output_drop(&output);
        status = as_cli_fail(&as_command_blocks, &err);
    }
    as_block_counts_free(&counts);
    as_view_free(&view);
    return status;
}
