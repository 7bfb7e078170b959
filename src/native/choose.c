/* Chooses a source. See choose.h. */
#include "native/choose.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool say(struct as_native_choice *choice, const char *how, const char *format, ...) AS_PRINTF(3, 4);
static bool say(struct as_native_choice *choice, const char *how, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(choice->reason, sizeof choice->reason, format, args);
    va_end(args);
    snprintf(choice->how, sizeof choice->how, "%s", how);
    return true;
}

static bool add(const char *root, struct as_native_choice *choice, const char *name)
{
    struct as_error ignored = AS_ERROR_INIT;
    if (!as_native_event_parse(root, name, &choice->events[choice->n_events], &ignored))
        return false;
    choice->n_events++;
    return true;
}

static bool is_amd(const struct as_probe *probe)
{
    return strcmp(probe->vendor, "AuthenticAMD") == 0;
}

/* ---- time ---- */

static bool choose_time(const char *root, const struct as_probe *probe, struct as_native_choice *choice)
{
    if (probe->precise >= 1 && add(root, choice, "cycles")) {
        choice->fields = is_amd(probe) ? PERF_SAMPLE_RAW : 0; /* the registers of IBS */
        return say(choice, is_amd(probe) ? "IBS op" : "PEBS", "cycles can be sampled with precise_ip %d",
                   probe->precise);
    }
    if (probe->ibs_op.sampling.works && add(root, choice, "ibs_op//"))
        return say(choice, "IBS op", "IBS op can be sampled; cycles cannot precisely");
    bool cycles = probe->precise == 0 && add(root, choice, "cycles");
    /* SPE counts operations, not time, so both are used. */
    bool spe = probe->spe.sampling.works &&
               (add(root, choice, "arm_spe_0/ts_enable=1,jitter=1/") || add(root, choice, "arm_spe_0/ts_enable=1/"));
    if (cycles && spe)
        return say(choice, "SPE", "SPE samples operations precisely; cycles can be sampled as well, with skid");
    if (spe)
        return say(choice, "SPE", "SPE samples operations precisely; cycles cannot be sampled");
    return cycles && say(choice, "cycles with skid", "cycles can be sampled, but with no precise level");
}

/* ---- data accesses ---- */

static bool choose_accesses(const char *root, const struct as_probe *probe, struct as_native_choice *choice)
{
    choice->fields = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
    if (is_amd(probe) && probe->ibs_op.sampling.works && add(root, choice, "ibs_op/cnt_ctl=1/"))
        return say(choice, "IBS op", "IBS op records the data address of what it samples");
    if (probe->spe.sampling.works && add(root, choice, "arm_spe_0/ts_enable=1,load_filter=1,store_filter=1/")) {
        choice->fields = 0; /* everything is in the AUX buffer */
        return say(choice, "SPE", "SPE records the data address of what it samples");
    }
    if (probe->precise >= 1 && add(root, choice, "loads:p") && add(root, choice, "stores:p"))
        return say(choice, "PEBS", "loads and stores can be sampled with their addresses");
    choice->n_events = 0;
    return false;
}

static const char *why_no_pmu(const struct as_probe *probe)
{
    if (probe->sampling.error == EACCES || probe->sampling.error == EPERM)
        return "there is no permission to use the hardware PMU (perf_event_paranoid, or the container)";
    return probe->virtual_machine ? "the virtual machine has no hardware PMU" : "no hardware PMU can be sampled";
}

static bool choose_timer(const char *root, const struct as_probe *probe, enum as_native_want want,
                         struct as_native_choice *choice, const char *reason, struct as_error *err)
{
    choice->source = AS_NATIVE_TIMER;
    choice->fields = want == AS_NATIVE_ACCESSES ? PERF_SAMPLE_REGS_USER : 0;
    if (!probe->task_clock.works)
        return as_error_set(err, "the task clock cannot be sampled: %s (see assay doctor)",
                            probe->task_clock.error ? strerror(probe->task_clock.error) : "no samples arrive");
    return add(root, choice, "task-clock") && say(choice, "task clock", "%s", reason);
}

bool as_native_choose(const char *root, const struct as_probe *probe, enum as_native_source source,
                      enum as_native_want want, struct as_native_choice *choice, struct as_error *err)
{
    *choice = (struct as_native_choice){.source = AS_NATIVE_PMU};
    if (source == AS_NATIVE_TIMER)
        return choose_timer(root, probe, want, choice, "asked for", err);
    if (want == AS_NATIVE_TIME ? choose_time(root, probe, choice) : choose_accesses(root, probe, choice))
        return true;
    bool some = probe->precise >= 0;
    const char *reason = some ? "the PMU has no event that records data addresses" : why_no_pmu(probe);
    if (source == AS_NATIVE_PMU)
        return as_error_set(err, "%s (see assay doctor; the timer source needs no PMU)", reason);
    return choose_timer(root, probe, want, choice, reason, err);
}
