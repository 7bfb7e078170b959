/* The table of sources, and the choice of `auto`: a PMU that samples precisely; else the model, which accounts for
 * every cycle; if the model cannot run the program, a PMU with skid, then the task clock. An option that only one
 * source has selects that source. See record.h. */
#include "engine/find_qemu.h"
#include "engine/program.h"
#include "record/record_internal.h"
#include "record/record_native.h"
#include "record/record_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct as_record_source *const sources[] = {&as_record_pmu, &as_record_model, &as_record_timer, NULL};

const char *as_record_source_name(size_t i)
{
    return i < sizeof sources / sizeof *sources && sources[i] ? sources[i]->name : NULL;
}

/* ---- auto ---- */

static const struct as_record_source *take(struct as_record *record, const struct as_record_source *source,
                                           const char *first, const char *second)
{
    snprintf(record->source_why, sizeof record->source_why, "auto: %s%s%s", first, second ? "; " : "",
             second ? second : "");
    return source;
}

/* A program that is not an ELF file of the model's architectures may still run on this machine. */
#if defined(__x86_64__) || defined(__riscv)
static const bool others_run_here = false;
#else
static const bool others_run_here = true;
#endif

enum verdict { MODEL_RUNS, MODEL_CANNOT, NOBODY_CAN };

static enum verdict ask_model(const struct as_record *record, struct as_error *err)
{
    struct as_program *program = as_alloc(sizeof *program);
    struct as_qemu qemu;
    bool known = as_program_find(record->argv[0], as_record_variable(record->options, "PATH"), program, err);
    enum as_arch arch = program->arch;
    free(program);
    if (!known)
        return others_run_here && err->status != AS_EXIT_NOT_FOUND ? MODEL_CANNOT : NOBODY_CAN;
    return as_qemu_find(arch, NULL, &qemu, err) ? MODEL_RUNS : MODEL_CANNOT;
}

static const struct as_record_source *choose_native(struct as_record *record, const struct as_native_outlook *outlook,
                                                    const char *reason, struct as_error *err)
{
    const struct as_record_options *options = record->options;
    const struct as_record_source *source =
        outlook->precise || outlook->skid || options->event.len ? &as_record_pmu : &as_record_timer;
    return source->possible(options, err) ? take(record, source, outlook->why, reason) : NULL;
}

static const struct as_record_source *choose_any(struct as_record *record, struct as_error *err)
{
    const struct as_record_options *options = record->options;
    struct as_native_outlook outlook;
    const char *model = options->model_wish, *native = options->native_wish;
    char reason[256];
    if (model && native) {
        as_error_set_status(err, AS_EXIT_USAGE, "--%s needs --source=model, but --%s needs another source", model,
                            native);
        return NULL;
    }
    if (model) {
        snprintf(reason, sizeof reason, "--%s needs the model", model);
        return as_record_model.possible(options, err) ? take(record, &as_record_model, reason, NULL) : NULL;
    }
    as_native_look(&outlook);
    if (outlook.precise || native) {
        snprintf(reason, sizeof reason, "--%s measures the real machine", native ? native : "");
        return choose_native(record, &outlook, native ? reason : NULL, err);
    }
    enum verdict verdict = as_record_model.possible(options, err) ? ask_model(record, err) : NOBODY_CAN;
    if (verdict == NOBODY_CAN)
        return NULL;
    if (verdict == MODEL_CANNOT) {
        snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, err->message);
        return choose_native(record, &outlook, reason, err);
    }
    snprintf(record->hint, sizeof record->hint,
             "%s, so this is the model; --source=timer quickly measures this machine itself", outlook.why);
    return take(record, &as_record_model, outlook.why, "the model accounts for every cycle");
}

/* ---- by name ---- */

const char *as_record_unit_name(const char *source)
{
    size_t length = strlen(AS_RECORD_UNIT_PREFIX);
    return strncmp(source, AS_RECORD_UNIT_PREFIX, length) == 0 ? source + length : NULL;
}

static const struct as_record_source *choose_named(const struct as_record_options *options, struct as_error *err)
{
    const char *native = options->native_wish;
    if (as_record_unit_name(options->source))
        return as_record_unit.possible(options, err) ? &as_record_unit : NULL;
    if (options->pmu_set.len || options->perf_data) {
        as_error_set_status(err, AS_EXIT_USAGE, "--%s needs a modelled PMU: --source=pmu:NAME",
                            options->perf_data ? "perf-data" : "pmu-set");
        return NULL;
    }
    for (size_t i = 0; sources[i]; i++) {
        if (strcmp(sources[i]->name, options->source) != 0)
            continue;
        if (sources[i] == &as_record_model && native) {
            as_error_set_status(err, AS_EXIT_USAGE, "--%s needs the pmu or timer source: the model does not have it",
                                native);
            return NULL;
        }
        return sources[i]->possible(options, err) ? sources[i] : NULL;
    }
    as_error_set_status(err, AS_EXIT_USAGE,
                        "--source=%s: unknown; the sources are auto, model, pmu, timer, and pmu:NAME for a "
                        "modelled PMU",
                        options->source);
    return NULL;
}

const struct as_record_source *as_record_choose(struct as_record *record, struct as_error *err)
{
    if (strcmp(record->options->source, "auto") == 0)
        return choose_any(record, err);
    snprintf(record->source_why, sizeof record->source_why, "asked for");
    return choose_named(record->options, err);
}
