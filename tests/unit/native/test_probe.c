/* The machine probe: what it reads is read right from made-up trees, what it tries agrees with the kernel's own word.
 */
#include "native/probe_parts.h"

#include "machine_tree.h"
#include "unit.h"

#include <errno.h>
#include <sys/utsname.h>

static void reads_x86_cpuinfo(void **state)
{
    (void)state;
    struct as_probe probe;
    machine_put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\nmodel name\t: Xeon: Gold\n"
                                 "flags\t\t: fpu vme hypervisors\n\nprocessor\t: 1\nvendor_id\t: Other\n");
    as_probe_machine(machine_root, &probe);
    assert_string_equal(probe.vendor, "GenuineIntel");
    assert_string_equal(probe.model, "Xeon: Gold");
    assert_false(probe.virtual_machine); /* "hypervisors" is another word */
    assert_string_equal(probe.hypervisor, "");
}

static void reads_hypervisor_flag(void **state)
{
    (void)state;
    struct as_probe probe;
    machine_put("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\nflags\t\t: fpu hypervisor vme\n");
    as_probe_machine(machine_root, &probe);
    assert_true(probe.virtual_machine);
    machine_put("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\nflags\t\t: fpu vme hypervisor\n");
    as_probe_machine(machine_root, &probe);
    assert_true(probe.virtual_machine);
}

static void reads_arm_and_riscv_cpuinfo(void **state)
{
    (void)state;
    struct as_probe probe;
    machine_put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
    machine_put("/sys/hypervisor/type", "xen\n");
    as_probe_machine(machine_root, &probe);
    assert_string_equal(probe.vendor, "0x41");
    assert_string_equal(probe.model, "0xd0c");
    assert_true(probe.virtual_machine);
    assert_string_equal(probe.hypervisor, "xen");
    machine_put("/proc/cpuinfo", "hart\t\t: 0\nuarch\t\t: sifive,u74-mc\nmvendorid\t: 0x489");
    as_probe_machine(machine_root, &probe);
    assert_string_equal(probe.vendor, "0x489");
    assert_string_equal(probe.model, "sifive,u74-mc");
}

static void knows_nothing_of_nothing(void **state)
{
    (void)state;
    struct as_probe probe;
    as_probe_machine(machine_root, &probe);
    assert_string_equal(probe.vendor, "");
    assert_string_equal(probe.model, "");
    assert_int_equal(probe.n_sources, 0);
    assert_false(probe.paranoid.known);
    assert_false(probe.ptrace_scope.known);
    assert_false(probe.ibs_op.present);
    assert_false(probe.ibs_op.sampling.works);
}

static void reads_settings(void **state)
{
    (void)state;
    struct as_probe probe;
    machine_put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    machine_put("/proc/sys/kernel/kptr_restrict", "2\n");
    machine_put("/proc/sys/kernel/perf_event_mlock_kb", "many\n");
    machine_put("/proc/sys/kernel/perf_event_max_sample_rate", "99999999999999999999\n");
    machine_put("/proc/sys/kernel/yama/ptrace_scope", "");
    as_probe_machine(machine_root, &probe);
    assert_true(probe.paranoid.known);
    assert_int_equal(probe.paranoid.value, -1);
    assert_true(probe.kptr_restrict.known);
    assert_int_equal(probe.kptr_restrict.value, 2);
    assert_false(probe.mlock_kb.known);
    assert_false(probe.max_sample_rate.known);
    assert_false(probe.ptrace_scope.known);
    machine_put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
    machine_put("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
    machine_put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    as_probe_machine(machine_root, &probe);
    assert_true(probe.mlock_kb.known && probe.max_sample_rate.known && probe.ptrace_scope.known);
    assert_int_equal(probe.mlock_kb.value, 516);
    assert_int_equal(probe.max_sample_rate.value, 100000);
    assert_int_equal(probe.ptrace_scope.value, 1);
}

/* A unit whose type no kernel has: there, but it does not open. */
static void tries_units(void **state)
{
    (void)state;
    struct as_probe probe;
    machine_put("/sys/bus/event_source/devices/ibs_op/type", "4242\n");
    machine_put("/sys/bus/event_source/devices/software/type", "1\n");
    machine_put("/sys/bus/event_source/devices/breakpoint/type", "5\n");
    as_probe_machine(machine_root, &probe);
    assert_int_equal(probe.n_sources, 3);
    assert_string_equal(probe.sources[0], "breakpoint");
    assert_string_equal(probe.sources[1], "ibs_op");
    assert_true(probe.ibs_op.present);
    assert_false(probe.ibs_op.sampling.works);
    assert_int_not_equal(probe.ibs_op.sampling.error, 0);
    assert_false(probe.ibs_fetch.present);
}

/* cpuinfo cut in the middle of everything, and long lines. */
static void survives_odd_cpuinfo(void **state)
{
    (void)state;
    struct as_probe probe;
    char text[20000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    memcpy(text, "vendor_id\t: ", 12);
    machine_put("/proc/cpuinfo", text);
    as_probe_machine(machine_root, &probe);
    assert_int_equal(strlen(probe.vendor), sizeof probe.vendor - 1);
    static const char *const odd[] = {"vendor_id", "vendor_id\t", "vendor_id :", "vendor_id : ", "\n\n:\n", "flags"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        machine_put("/proc/cpuinfo", odd[i]);
        as_probe_machine(machine_root, &probe);
        assert_string_equal(probe.vendor, "");
    }
}

static void identifies_processors(void **state)
{
    (void)state;
    char text[64];
    machine_put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97\n"
                                 "model name\t: AMD Ryzen\nstepping\t: 2\n");
    assert_true(as_probe_cpu_id(machine_root, text, sizeof text));
    assert_string_equal(text, "AuthenticAMD,25,97,2");
    machine_put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
    assert_false(as_probe_cpu_id(machine_root, text, sizeof text));
    machine_put("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000413fd0c1\n");
    assert_true(as_probe_cpu_id(machine_root, text, sizeof text));
    assert_string_equal(text, "0x00000000413fd0c1");
}

static void agrees_with_this_machine(void **state)
{
    (void)state;
    struct as_probe probe;
    struct utsname name;
    as_probe_machine("", &probe);
    assert_int_equal(uname(&name), 0);
    assert_string_equal(probe.architecture, name.machine);
    assert_true(probe.processors >= 1);
    assert_true(probe.processors_allowed >= 1 && probe.processors_allowed <= probe.processors);
    assert_true(probe.precise >= -1 && probe.precise <= 3);
    assert_true(probe.sampling.works == (probe.precise >= 0));
    assert_true(probe.watchpoints <= AS_PROBE_MAX_WATCHPOINTS);
    assert_true(probe.memory.works);
}

/* Everything tried is undone: the debug registers are free again, no child is left. */
static void leaves_nothing_behind(void **state)
{
    (void)state;
    struct as_probe first, second;
    as_probe_machine("", &first);
    as_probe_machine("", &second);
    assert_int_equal(first.watchpoints, second.watchpoints);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_x86_cpuinfo, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(reads_hypervisor_flag, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(reads_arm_and_riscv_cpuinfo, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(knows_nothing_of_nothing, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(reads_settings, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(tries_units, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(survives_odd_cpuinfo, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(identifies_processors, machine_set_up, machine_tear_down),
        cmocka_unit_test(agrees_with_this_machine),
        cmocka_unit_test(leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
