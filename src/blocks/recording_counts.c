/* See recording_counts.h. */
#include "blocks/recording_counts.h"

#include "base/path.h"
#include "base/show.h"
#include "blocks/balance.h"

#include <string.h>

/* ---- the method ---- */

static enum as_method choose(const struct as_recording_counts_options *options, const struct as_recording *recording)
{
    if (options->method >= 0)
        return (enum as_method)options->method;
    if (as_samples_runs(recording->samples)->len)
        return AS_METHOD_LBR;
    return recording->counted == AS_COUNTED_UOPS ? AS_METHOD_UOPS : AS_METHOD_IP;
}

/* What a method needs and the recording has not; an option that nothing is there for. */
static bool check_method(const struct as_recording_counts_options *options, const struct as_recording *recording,
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

static bool check(const struct as_recording_counts_options *options, const char *path,
                  const struct as_recording *recording, enum as_method method, struct as_error *err)
{
    const struct as_recording_refused *refused = refused_module(recording, options->module);
    struct as_error why = AS_ERROR_INIT;
    if (refused)
        return as_error_set(err, "%s: %s", refused->path, refused->why);
    return check_method(options, recording, method, &why) || as_error_set(err, "%s: %s", path, why.message);
}

/* ---- whether samples fit the code ---- */

/* Nothing can be said: one line with the reason of most addresses. */
static bool say_unread(const struct as_recording *recording, const char *path, struct as_error *err)
{
    const struct as_recording_refused *most = recording->refused.data;
    for (size_t i = 1; i < recording->refused.len; i++)
        most = recording->refused.data[i].samples > most->samples ? &recording->refused.data[i] : most;
    bool kernel = recording->kernel == as_samples_counted(recording->samples)->samples;
    if (recording->refused.len)
        return as_error_set(err, "%s: no sample is in code that could be read; %s: %s", path, AS_SHOW(most->path),
                            most->why);
    return as_error_set(err, "%s: no sample is in code that could be read%s", path,
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

static bool check_fit(const struct as_recording_counts_options *options, const char *path,
                      const struct as_recording *recording, const struct as_flow *flow, enum as_method method,
                      struct as_error *err)
{
    struct as_error why = AS_ERROR_INIT;
    struct as_blocks_fit fit = fit_of(recording, flow, method, options->module);
    if (as_blocks_check_fit(&fit, &why))
        return true;
    bool instead = method != AS_METHOD_IP && method != AS_METHOD_UOPS && addresses_fit(recording, options->module);
    return as_error_set(err, "%s: %s%s", path, why.message,
                        instead ? " (the sampled addresses fit: --method=ip uses those alone)" : "");
}

bool as_recording_count(struct as_recording_counts *counts, const struct as_recording *recording, const char *path,
                        const struct as_recording_counts_options *options, struct as_error *err)
{
    enum as_method method = choose(options, recording);
    *counts = (struct as_recording_counts){.method = method};
    if (!check(options, path, recording, method, err))
        return false;
    struct as_flow *flow = counts->flow = as_estimate(recording->samples, recording->cfg, method, &counts->trouble);
    if (!check_fit(options, path, recording, flow, method, err))
        return false;
    if (as_flow_total(flow) <= 0)
        return say_unread(recording, path, err);
    counts->has_edges = as_estimate_has_edges(recording->samples, method);
    if (!counts->has_edges)
        as_flow_guess_edges(flow, options->balance || options->balance_addresses);
    else if (options->balance)
        as_flow_balance(flow, method == AS_METHOD_LBR);
    counts->fit = fit_of(recording, flow, method, NULL);
    if (recording->counted == AS_COUNTED_OTHER && (method == AS_METHOD_IP || method == AS_METHOD_FIXED))
        counts->unit = recording->unit;
    return true;
}

void as_recording_counts_free(struct as_recording_counts *counts)
{
    as_flow_free(counts->flow);
}
