/* Rows about the machine itself. Each row names what was tried and what was not found; nothing is inferred from
 * names. */
#include "cmd/doctor_rows.h"

#include "base/show.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES "/sys/bus/event_source/devices/"

const char *as_verdict_name(enum as_verdict verdict)
{
    static const char *const names[AS_VERDICT_COUNT] = {"ok", "limited", "missing"};
    return names[verdict];
}

void as_doctor_add(as_doctor_rows *rows, const char *name, const char *label, enum as_verdict verdict,
                   const char *remedy, const char *state, ...)
{
    struct as_str text = {0};
    va_list args;
    va_start(args, state);
    as_str_vaddf(&text, state, args);
    va_end(args);
    *as_vec_push(rows) = (struct as_doctor_row){.name = name,
                                                .label = label,
                                                .verdict = verdict,
                                                .state = as_strdup(as_str_get(&text)),
                                                .remedy = as_strdup(remedy ? remedy : "")};
    as_str_free(&text);
}

void as_doctor_rows_free(as_doctor_rows *rows)
{
    for (size_t i = 0; i < rows->len; i++) {
        free(rows->data[i].state);
        free(rows->data[i].remedy);
    }
    as_vec_free(rows);
}

static bool refused(const struct as_attempt *attempt)
{
    return attempt->error == EACCES || attempt->error == EPERM;
}

/* What to do if the kernel or a container refused. */
static const char *permission_remedy(const struct as_probe *probe)
{
    if (probe->paranoid.known && probe->paranoid.value > 2)
        return "as root: sysctl kernel.perf_event_paranoid=2";
    return "run as root or with CAP_PERFMON; in a container, allow perf_event_open (its seccomp profile)";
}

static const char *no_pmu_remedy(const struct as_probe *probe)
{
    if (probe->virtual_machine)
        return "measure in the model (it needs no PMU), or on the host itself, or let the hypervisor give this "
               "machine "
               "a virtual PMU (QEMU/KVM: -cpu host,pmu=on)";
    return "measure in the model (it needs no PMU); 'dmesg | grep -i pmu' shows why the kernel has no driver";
}

static void processor_rows(const struct as_probe *probe, as_doctor_rows *rows)
{
    bool told = probe->model[0] || probe->vendor[0];
    as_doctor_add(rows, "cpu", "processor", told ? AS_VERDICT_OK : AS_VERDICT_LIMITED, NULL, "%s%s%s%s, %s",
                  told ? probe->model : "/proc/cpuinfo does not name it", probe->vendor[0] ? " (" : "", probe->vendor,
                  probe->vendor[0] ? ")" : "", probe->architecture);
    if (probe->processors_allowed < probe->processors)
        as_doctor_add(rows, "cores", "cores", probe->processors_allowed < 2 ? AS_VERDICT_LIMITED : AS_VERDICT_OK,
                      probe->processors_allowed < 2 ? "allow this process two (taskset, the container's limits)" : NULL,
                      "%d online, %d allowed to this process", probe->processors, probe->processors_allowed);
    else
        as_doctor_add(rows, "cores", "cores", probe->processors < 2 ? AS_VERDICT_LIMITED : AS_VERDICT_OK,
                      probe->processors < 2 ? "none: the program and its analysis share the one core" : NULL,
                      "%d online", probe->processors);
    if (probe->virtual_machine)
        as_doctor_add(rows, "virtual", "virtual machine", AS_VERDICT_LIMITED,
                      "none needed for the model; hardware events and times depend on the host", "yes%s%s",
                      probe->hypervisor[0] ? ", under " : "", probe->hypervisor);
    else
        as_doctor_add(rows, "virtual", "virtual machine", AS_VERDICT_OK, NULL,
                      "no sign of one (neither the processor nor the kernel reports it)");
}

static void source_list(const struct as_probe *probe, struct as_str *list)
{
    for (size_t i = 0; i < probe->n_sources; i++)
        as_str_addf(list, "%s%s", i ? " " : "", probe->sources[i]);
    if (probe->n_sources == 0)
        as_str_add(list, "none");
}

static void pmu_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    struct as_str sources = {0};
    source_list(probe, &sources);
    const char *have = as_str_get(&sources), *label = "hardware PMU";
    if (probe->cycles.works)
        as_doctor_add(rows, "pmu", label, AS_VERDICT_OK, NULL,
                      "counts cycles (no sampling by Assay has been run on such hardware yet); event sources: %s",
                      have);
    else if (probe->cycles.error == 0)
        as_doctor_add(rows, "pmu", label, AS_VERDICT_MISSING, no_pmu_remedy(probe),
                      "opens, but its cycle counter does not count; event sources: %s", have);
    else if (refused(&probe->cycles))
        as_doctor_add(rows, "pmu", label, AS_VERDICT_MISSING, permission_remedy(probe),
                      "not allowed: perf_event_open(cycles): %s; event sources: %s", strerror(probe->cycles.error),
                      have);
    else
        as_doctor_add(rows, "pmu", label, AS_VERDICT_MISSING, no_pmu_remedy(probe),
                      "not found: perf_event_open(cycles): %s; event sources: %s", strerror(probe->cycles.error), have);
    as_str_free(&sources);
}

static void precise_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    const char *label = "precise sampling";
    if (probe->precise > 0)
        as_doctor_add(rows, "precise", label, AS_VERDICT_OK, NULL, "cycles with precise_ip up to %d", probe->precise);
    else if (probe->precise == 0)
        as_doctor_add(rows, "precise", label, AS_VERDICT_LIMITED,
                      "if PEBS, IBS or SPE exist, the hypervisor or the kernel hides them: measure on the host",
                      "cycles can be sampled, but only with precise_ip 0: samples skid");
    else
        as_doctor_add(rows, "precise", label, AS_VERDICT_MISSING,
                      refused(&probe->sampling) ? permission_remedy(probe) : no_pmu_remedy(probe),
                      "not found: no precise_ip from 0 to 3 (PEBS, or IBS on AMD) is accepted: %s",
                      strerror(probe->sampling.error));
}

/* A sampling unit that some processors have. */
struct unit_text {
    const char *name, *label, *device, *kin; /* kin: the vendor whose processors have it */
    bool related;                            /* this processor is by that vendor */
};

static const char *absent_remedy(const struct as_probe *probe, const struct unit_text *text)
{
    if (!text->related)
        return NULL;
    return probe->virtual_machine ? "measure on the host: hypervisors rarely pass it on"
                                  : "the kernel may lack its driver, or the firmware disables it: see dmesg";
}

static void unit_row(const struct as_probe *probe, const struct as_probe_unit *unit, const struct unit_text *text,
                     as_doctor_rows *rows)
{
    if (!unit->present)
        as_doctor_add(rows, text->name, text->label, AS_VERDICT_MISSING, absent_remedy(probe, text),
                      "not found: there is no " SOURCES "%s%s%s%s", text->device,
                      text->related ? "" : " (only processors by ", text->related ? "" : text->kin,
                      text->related ? "" : " have one)");
    else if (unit->sampling.works)
        as_doctor_add(rows, text->name, text->label, AS_VERDICT_OK, NULL,
                      "sampling opens (Assay decodes it by the manuals: not run on such a processor yet)");
    else
        as_doctor_add(rows, text->name, text->label, AS_VERDICT_LIMITED,
                      refused(&unit->sampling) ? "as root, or: sysctl kernel.perf_event_paranoid=-1"
                                               : "'dmesg | grep -i perf' may show more",
                      "the driver %s is there, but sampling does not open: %s", text->device,
                      strerror(unit->sampling.error));
}

static void unit_rows(const struct as_probe *probe, as_doctor_rows *rows)
{
    bool amd = strcmp(probe->vendor, "AuthenticAMD") == 0, arm = strcmp(probe->architecture, "aarch64") == 0;
    unit_row(probe, &probe->ibs_op, &(struct unit_text){"ibs_op", "AMD IBS op", "ibs_op", "AMD", amd}, rows);
    unit_row(probe, &probe->ibs_fetch, &(struct unit_text){"ibs_fetch", "AMD IBS fetch", "ibs_fetch", "AMD", amd},
             rows);
    unit_row(probe, &probe->spe, &(struct unit_text){"spe", "Arm SPE", "arm_spe_0", "Arm", arm}, rows);
}

static void branch_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    if (probe->branch_stack.works)
        as_doctor_add(rows, "branch_stack", "branch stack (LBR)", AS_VERDICT_OK, NULL, "samples can carry one");
    else
        as_doctor_add(rows, "branch_stack", "branch stack (LBR)", AS_VERDICT_MISSING,
                      refused(&probe->branch_stack) ? permission_remedy(probe)
                                                    : "measure in the model, whose branches are all known",
                      "not found: cycles with a branch stack: %s", strerror(probe->branch_stack.error));
}

static void watchpoint_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    const char *name = "debug_registers", *label = "debug registers";
    if (probe->watchpoints && probe->watchpoint.works)
        as_doctor_add(rows, name, label, AS_VERDICT_OK, NULL, "%d hardware watchpoints per thread; one was fired",
                      probe->watchpoints);
    else if (probe->watchpoints)
        as_doctor_add(rows, name, label, AS_VERDICT_MISSING, "the hypervisor hides them: measure on the host",
                      "%d hardware watchpoints open, but one that should have fired did not", probe->watchpoints);
    else
        as_doctor_add(rows, name, label, AS_VERDICT_MISSING,
                      refused(&probe->watchpoint) ? permission_remedy(probe)
                                                  : "end debuggers that use them; or the kernel lacks "
                                                    "CONFIG_HAVE_HW_BREAKPOINT",
                      "no hardware watchpoint opens: %s", strerror(probe->watchpoint.error));
}

static void clock_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    if (probe->task_clock.works)
        as_doctor_add(rows, "task_clock", "task-clock sampling", AS_VERDICT_OK, NULL, "samples arrive");
    else
        as_doctor_add(rows, "task_clock", "task-clock sampling", AS_VERDICT_MISSING, permission_remedy(probe), "%s%s",
                      probe->task_clock.error ? "does not open: " : "opens, but no sample arrives",
                      probe->task_clock.error ? strerror(probe->task_clock.error) : "");
}

static void paranoid_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    const char *name = "perf_event_paranoid";
    if (!probe->paranoid.known)
        as_doctor_add(rows, name, name, AS_VERDICT_MISSING, "the kernel lacks CONFIG_PERF_EVENTS",
                      "not found: there is no /proc/sys/kernel/%s", name);
    else if (probe->paranoid.value > 2)
        as_doctor_add(rows, name, name, AS_VERDICT_LIMITED, "as root: sysctl kernel.perf_event_paranoid=2",
                      "%ld: users may not open any event", probe->paranoid.value);
    else
        as_doctor_add(rows, name, name, AS_VERDICT_OK, NULL, "%ld: users may measure their own programs%s",
                      probe->paranoid.value, probe->paranoid.value < 2 ? ", the kernel included" : "");
}

static void setting_rows(const struct as_probe *probe, as_doctor_rows *rows)
{
    paranoid_row(probe, rows);
    if (probe->kptr_restrict.known)
        as_doctor_add(rows, "kptr_restrict", "kptr_restrict", AS_VERDICT_OK, NULL, "%ld: kernel addresses are %s",
                      probe->kptr_restrict.value, probe->kptr_restrict.value == 0 ? "shown" : "hidden from users");
    else
        as_doctor_add(rows, "kptr_restrict", "kptr_restrict", AS_VERDICT_LIMITED, NULL,
                      "not found: there is no /proc/sys/kernel/kptr_restrict");
    if (probe->mlock_kb.known)
        as_doctor_add(rows, "perf_event_mlock_kb", "perf_event_mlock_kb",
                      probe->mlock_kb.value < 516 ? AS_VERDICT_LIMITED : AS_VERDICT_OK,
                      probe->mlock_kb.value < 516 ? "as root: sysctl kernel.perf_event_mlock_kb=516" : NULL,
                      "%ld KiB of sample buffers per user", probe->mlock_kb.value);
    else
        as_doctor_add(rows, "perf_event_mlock_kb", "perf_event_mlock_kb", AS_VERDICT_LIMITED, NULL,
                      "not found: there is no /proc/sys/kernel/perf_event_mlock_kb");
    if (probe->max_sample_rate.known)
        as_doctor_add(rows, "perf_event_max_sample_rate", "max. sample rate",
                      probe->max_sample_rate.value < 10000 ? AS_VERDICT_LIMITED : AS_VERDICT_OK,
                      probe->max_sample_rate.value < 10000
                          ? "the kernel has lowered it; as root: sysctl kernel.perf_event_max_sample_rate=100000"
                          : NULL,
                      "%s a second", AS_COUNT((uint64_t)probe->max_sample_rate.value));
    else
        as_doctor_add(rows, "perf_event_max_sample_rate", "max. sample rate", AS_VERDICT_LIMITED, NULL,
                      "not found: there is no /proc/sys/kernel/perf_event_max_sample_rate");
}

static void ptrace_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    static const char *const scopes[] = {"any process of the same user", "own children", "with CAP_SYS_PTRACE only",
                                         "nobody"};
    long scope = probe->ptrace_scope.known ? probe->ptrace_scope.value : -1;
    const char *who = scope >= 0 && scope <= 3 ? scopes[scope] : "";
    if (!probe->ptrace.works)
        as_doctor_add(rows, "ptrace", "ptrace", AS_VERDICT_MISSING,
                      scope >= 2 ? "as root: sysctl kernel.yama.ptrace_scope=1"
                                 : "in a container, allow ptrace (its seccomp profile)",
                      "a child process cannot be traced: %s", strerror(probe->ptrace.error));
    else if (scope < 0)
        as_doctor_add(rows, "ptrace", "ptrace", AS_VERDICT_OK, NULL,
                      "a child was traced; no ptrace_scope (the kernel has no Yama): any process of the same user");
    else
        as_doctor_add(rows, "ptrace", "ptrace", AS_VERDICT_OK, NULL, "a child was traced; ptrace_scope %ld: %s", scope,
                      who);
}

void as_doctor_native_rows(const struct as_probe *probe, as_doctor_rows *rows)
{
    processor_rows(probe, rows);
    pmu_row(probe, rows);
    precise_row(probe, rows);
    unit_rows(probe, rows);
    branch_row(probe, rows);
    watchpoint_row(probe, rows);
    clock_row(probe, rows);
    setting_rows(probe, rows);
    ptrace_row(probe, rows);
}

struct as_doctor_choice as_doctor_choose(const struct as_probe *probe, bool model_works)
{
    if (probe->ibs_op.sampling.works)
        return (struct as_doctor_choice){"pmu", "AMD IBS samples operations precisely"};
    if (probe->spe.sampling.works)
        return (struct as_doctor_choice){"pmu", "Arm SPE samples operations precisely"};
    if (probe->precise > 0)
        return (struct as_doctor_choice){"pmu", "cycles can be sampled with a precise address"};
    if (model_works && probe->precise == 0)
        return (struct as_doctor_choice){
            "model", "the PMU has no precise sampling; the model runs x86-64 and RISC-V programs here"};
    if (model_works)
        return (struct as_doctor_choice){
            "model", "there is no PMU to sample with; the model runs x86-64 and RISC-V programs here"};
    if (probe->task_clock.works)
        return (struct as_doctor_choice){
            "timer", "there is neither precise sampling nor a working model; the task clock samples"};
    return (struct as_doctor_choice){NULL, "no precise sampling, no working model and no task clock"};
}
