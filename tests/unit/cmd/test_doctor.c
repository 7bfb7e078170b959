/* The rows of assay doctor on machines made by hand, against tests/golden/doctor_rows.txt: facts, verdicts, remedies and
 * the source that is chosen. */
#include "unit.h"

#include "cmd/doctor_rows.h"
#include "unit_golden.h"

#include <errno.h>

static const struct as_attempt works = {.works = true};

static struct as_attempt fails(int error)
{
    return (struct as_attempt){.error = error};
}

static struct as_setting setting(long value)
{
    return (struct as_setting){true, value};
}

/* A machine of AMD's on which everything works. */
static struct as_probe good(void)
{
    return (struct as_probe){.architecture = "x86_64",
                             .vendor = "AuthenticAMD",
                             .model = "AMD EPYC 1234",
                             .processors = 8,
                             .processors_allowed = 8,
                             .sources = {"breakpoint", "cpu"},
                             .n_sources = 2,
                             .cycles = works,
                             .precise = 2,
                             .sampling = works,
                             .branch_stack = works,
                             .ibs_op = {true, works},
                             .ibs_fetch = {true, works},
                             .watchpoints = 4,
                             .watchpoint = works,
                             .task_clock = works,
                             .paranoid = setting(2),
                             .kptr_restrict = setting(0),
                             .mlock_kb = setting(516),
                             .max_sample_rate = setting(10000),
                             .ptrace_scope = setting(1),
                             .ptrace = works,
                             .memory = works};
}

/* A virtual machine with one core, no PMU, and settings that are too small. */
static struct as_probe guest(void)
{
    struct as_probe probe = good();
    probe.virtual_machine = true;
    strcpy(probe.hypervisor, "KVM");
    probe.processors = probe.processors_allowed = 1;
    probe.n_sources = 0;
    probe.cycles = probe.sampling = probe.branch_stack = fails(ENOENT);
    probe.precise = -1;
    probe.ibs_op = probe.ibs_fetch = (struct as_probe_unit){0};
    probe.watchpoint = fails(0);
    probe.kptr_restrict = setting(2);
    probe.mlock_kb = setting(515);
    probe.max_sample_rate = setting(9999);
    probe.ptrace_scope = setting(3);
    probe.ptrace = fails(EPERM);
    return probe;
}

/* A container that forbids everything. */
static struct as_probe container(void)
{
    struct as_probe probe = good();
    strcpy(probe.vendor, "GenuineIntel");
    probe.processors_allowed = 1;
    probe.cycles = probe.sampling = probe.branch_stack = probe.watchpoint = probe.task_clock = fails(EACCES);
    probe.precise = -1;
    probe.watchpoints = 0;
    probe.ibs_op = (struct as_probe_unit){true, fails(EACCES)};
    probe.ibs_fetch = (struct as_probe_unit){true, fails(EINVAL)};
    probe.paranoid = setting(3);
    probe.ptrace_scope = (struct as_setting){0};
    probe.ptrace = fails(EPERM);
    return probe;
}

/* One of Arm's that tells little of itself. */
static struct as_probe foreign(void)
{
    struct as_probe probe = {.architecture = "aarch64",
                             .processors = 4,
                             .processors_allowed = 3,
                             .cycles = fails(0),
                             .branch_stack = fails(EOPNOTSUPP),
                             .watchpoints = 2,
                             .watchpoint = fails(EINVAL),
                             .task_clock = fails(EINVAL),
                             .ptrace = works};
    probe.spe = (struct as_probe_unit){true, works};
    return probe;
}

static void put_rows(FILE *out, const char *title, const struct as_probe *probe)
{
    as_doctor_rows rows = {0};
    as_doctor_native_rows(probe, &rows);
    unit_golden_section(out, "%s", title);
    for (size_t i = 0; i < rows.len; i++) {
        const struct as_doctor_row *row = &rows.data[i];
        fprintf(out, "%s (%s): %s: %s\n", row->name, row->label, as_verdict_name(row->verdict), row->state);
        if (row->remedy[0])
            fprintf(out, "    -> %s\n", row->remedy);
    }
    for (int model = 0; model < 2; model++) {
        struct as_doctor_choice choice = as_doctor_choose(probe, model);
        fprintf(out, "%s the model: %s: %s\n", model ? "with" : "without", choice.source ? choice.source : "none",
                choice.why);
    }
    as_doctor_rows_free(&rows);
}

static void rows_of_machines(void **state)
{
    struct as_probe probe = good();
    FILE *out = unit_golden_begin();
    put_rows(out, "everything works", &probe);
    probe = guest();
    put_rows(out, "a virtual machine", &probe);
    probe = container();
    put_rows(out, "a container", &probe);
    probe.paranoid = setting(2);
    probe.ptrace_scope = setting(2);
    put_rows(out, "a container whose kernel would allow it", &probe);
    probe = foreign();
    put_rows(out, "another architecture", &probe);
    probe.spe = (struct as_probe_unit){0};
    probe.precise = 0;
    probe.ptrace_scope = setting(0);
    probe.watchpoints = 0;
    put_rows(out, "without a precise event", &probe);
    probe = good();
    probe.ibs_op = (struct as_probe_unit){0};
    probe.processors = 2;
    probe.processors_allowed = 2;
    put_rows(out, "without IBS", &probe);
    unit_golden_check(out, "doctor_rows.txt");
}

static void names_of_verdicts(void **state)
{
    assert_string_equal(as_verdict_name(AS_VERDICT_OK), "ok");
    assert_string_equal(as_verdict_name(AS_VERDICT_LIMITED), "limited");
    assert_string_equal(as_verdict_name(AS_VERDICT_MISSING), "missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_machines),
        cmocka_unit_test(names_of_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
