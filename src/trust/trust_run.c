/* Kernels under a modelled unit. See trust.h. */
#include "base/install.h"
#include "base/signals.h"
#include "native/probe.h"
#include "pmu/pmu_cost.h"
#include "pmu/pmu_stream.h"
#include "record/modelled.h"
#include "region/regions.h"
#include "trust/trust_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#ifndef AS_LIBEXEC_DIR
#define AS_LIBEXEC_DIR "libexec/assay"
#endif

bool as_trust_open(struct as_trust_subject *subject, const struct as_trust_options *options, struct as_error *err)
{
    *subject = (struct as_trust_subject){.options = options, .timer = !options->pmu && !options->machine};
    if (options->program)
        snprintf(subject->program, sizeof subject->program, "%s", options->program);
    else if (!as_install_find(options->riscv ? "qualify-riscv64" : "qualify", "workloads", AS_LIBEXEC_DIR,
                              subject->program))
        return as_error_set(err, "the program '%s' is neither beside assay nor in %s: it is built %s",
                            options->riscv ? "qualify-riscv64" : "qualify", AS_LIBEXEC_DIR,
                            options->riscv ? "where there is a cross compiler" : "on x86-64 only");
    if (access(subject->program, X_OK) != 0)
        return as_error_set_status(err, AS_EXIT_NOT_FOUND, "%s: cannot be run", subject->program);
    if (subject->timer)
        return true;
    if (options->machine) {
        struct as_probe probe;
        as_probe_machine("", &probe);
        return as_trust_open_machine(subject, "", &probe, err);
    }
    return as_pmu_load(options->pmu, &subject->pmu, err) &&
           as_pmu_set(&subject->pmu, (const char *const *)options->pmu_set.data, options->pmu_set.len, err);
}

/* ---- samples ---- */

struct counting {
    const struct as_trust_probe *probe;
    struct as_trust_result *result;
};

/* The label that the address lies in; AS_KERNEL_LABELS: none. */
static size_t label_at(const struct as_kernel_code *code, uint64_t ip)
{
    for (size_t i = 0; i < code->n_labels; i++)
        if (ip - AS_KERNEL_ADDRESS >= code->labels[i].offset && ip - AS_KERNEL_ADDRESS < code->labels[i].end)
            return i;
    return AS_KERNEL_LABELS;
}

static void count_load(struct as_trust_counts *counts, const struct as_kernel_code *code, size_t label)
{
    counts->loads++;
    if (label < AS_KERNEL_LABELS && code->labels[label].events >> AS_KERNEL_LOADS & 1)
        counts->loads_at[label]++;
    else
        counts->loads_elsewhere++;
}

static void take(void *context, const struct as_pmu_sample *sample)
{
    const struct counting *counting = context;
    const struct as_kernel_code *code = &counting->result->code;
    struct as_trust_counts *counts = &counting->result->counts[sample->counter];
    bool inside = sample->ip - AS_KERNEL_ADDRESS < code->size;
    size_t label = label_at(code, sample->ip);
    if (!inside && !sample->was_kernel)
        return;
    counts->samples++;
    if (label < AS_KERNEL_LABELS)
        counts->at[label]++;
    if (sample->insn_flags & AS_INSN_LOAD)
        count_load(counts, code, label);
    counts->stores += (sample->insn_flags & AS_INSN_STORE) != 0;
    counts->branches += AS_INSN_CONTROL_CLASSES >> sample->class_ & 1;
    counts->taken += (sample->flags & AS_PIPE_TAKEN) != 0;
    counts->returns += sample->class_ == AS_CLASS_RETURN;
    counts->l1_misses += sample->insn_flags & AS_INSN_LOAD && sample->events & AS_EVENT_ST_L1;
    if (sample->insn_flags & AS_INSN_ATOMIC) {
        counts->locked++;
        counts->locked_in_user += !sample->kernel;
    }
}

/* ---- the run ---- */

enum { WORDS = 8, WORD = 48 };

struct command {
    char words[WORDS][WORD];
    char *argv[WORDS + 2];
};

static void add_word(struct command *command, size_t *n, const char *key, uint64_t value)
{
    snprintf(command->words[*n], WORD, "%s=%" PRIu64, key, value);
    command->argv[1 + *n] = command->words[*n];
    ++*n;
}

static void make_command(struct command *command, const struct as_trust_subject *subject,
                         const struct as_trust_probe *probe)
{
    size_t n = 1;
    *command = (struct command){0};
    command->argv[0] = (char *)subject->program;
    command->argv[1] = (char *)probe->kernel->name;
    add_word(command, &n, "iterations", probe->options.iterations);
    add_word(command, &n, "ratio", probe->options.ratio ? probe->options.ratio : 1);
    add_word(command, &n, "places", probe->options.places ? probe->options.places : 1);
    add_word(command, &n, "nops", probe->options.nops);
    add_word(command, &n, "fence", probe->options.fence);
    add_word(command, &n, "threads", probe->threads ? probe->threads : 1);
}

static bool make_request(struct as_pmu_request *request, const struct as_trust_subject *subject,
                         const struct as_trust_probe *probe, struct as_error *err)
{
    *request = (struct as_pmu_request){.pmu = &subject->pmu, .handler = probe->handler, .seed = probe->seed};
    for (size_t i = 0; i < probe->n_events; i++)
        if (!as_pmu_request_add(request, probe->events[i], probe->period, err))
            return false;
    return true;
}

static void sum_up(const struct as_trust_subject *subject, const struct as_trust_probe *probe,
                   const struct as_pmu_stream *stream, const struct as_modelled *modelled,
                   struct as_trust_result *result)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < probe->n_events; i++) {
        const struct as_pmu_counts *counts = as_pmu_stream_counts(stream, i);
        result->counts[i].happened = counts->happened;
        samples += subject->pmu.kind >= AS_PMU_TIP ? counts->overflows : counts->samples; /* TIP's have parts */
    }
    struct as_pmu_price price;
    for (int handler = 0; handler < AS_HANDLER_COUNT; handler++) {
        price = as_pmu_price(&subject->pmu, (enum as_pmu_handler)handler, samples, modelled->result.cycles, 1);
        result->overhead[handler] = price.overhead;
    }
    result->cycles = modelled->result.cycles;
    result->instructions = modelled->result.instructions;
    result->bytes = price.bytes;
}

static bool run_model(struct as_modelled *modelled, const struct command *command, const struct as_regions *regions,
                      struct as_error *err)
{
    struct as_engine_options engine = AS_ENGINE_OPTIONS_DEFAULT;
    char *ignored = NULL;
    size_t size;
    engine.argv = command->argv;
    engine.regions = regions; /* NULL: all */
    engine.discard_stdout = true;
    as_model_set_memo(modelled->model, &(struct as_memo_options){.bytes = AS_MODEL_MEMO_BYTES});
    if (!as_modelled_run(modelled, engine, err))
        return false;
    FILE *out = open_memstream(&ignored, &size);
    if (!out)
        return as_error_set(err, "out of memory");
    size_t crashed = as_fanout_report(modelled->fanout, out);
    fclose(out);
    free(ignored);
    if (crashed)
        return as_error_set(err, "the modelled unit crashed");
    const struct as_run_end *end = &modelled->result.engine.end;
    int signal = as_signals_between();
    if (signal || as_run_end_is_cut(end))
        return as_trust_interrupted(signal ? signal : as_run_end_cut_by(end), err);
    return modelled->result.engine.end.exit_status == 0 ||
           as_error_set(err, "%s ended with status %d", command->argv[0], modelled->result.engine.end.exit_status);
}

bool as_trust_run(struct as_trust_subject *subject, const struct as_trust_probe *probe, struct as_trust_result *result,
                  struct as_error *err)
{
    struct as_modelled modelled = {0};
    struct as_pmu_request request;
    struct command command;
    struct as_regions regions = {0};
    struct counting counting = {.probe = probe, .result = result};
    if (subject->timer || subject->machine)
        return as_trust_run_native(subject, probe, result, err);
    *result = (struct as_trust_result){.code.bytes = as_alloc(AS_KERNEL_BYTES)};
    bool fits = as_kernel_build(probe->kernel, &probe->options, &result->code);
    free(result->code.bytes);
    result->code.bytes = NULL;
    make_command(&command, subject, probe);
    subject->runs++;
    bool ok = (fits || as_error_set(err, "so many nops do not fit into the kernel")) &&
              make_request(&request, subject, probe, err) && as_regions_parse(&regions, "marker:1..marker:2", err) &&
              as_regions_check(&regions, err) &&
              as_modelled_open(&modelled, subject->options->core, &subject->options->set, err);
    struct as_pmu_stream *stream =
        ok ? as_pmu_stream_new(as_model_run_info(modelled.model), &request, take, &counting, err) : NULL;
    if (stream)
        as_fanout_add(modelled.fanout, &as_pmu_observer, stream, false);
    /* Where a region ends in one thread, what others had done before may not have been read yet. */
    ok = stream && run_model(&modelled, &command, probe->threads > 1 ? NULL : &regions, err);
    if (ok)
        sum_up(subject, probe, stream, &modelled, result);
    as_regions_free(&regions);
    as_modelled_free(&modelled);
    return ok;
}
