/* What `auto` takes on machines that are made up: a server with PEBS, one with IBS, one with SPE, a virtual machine,
 * and one where nothing is allowed. */
#include "native/choose.h"

#include "machine_tree.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>

static struct as_probe machine(const char *vendor, int precise)
{
    struct as_probe probe = {.precise = precise, .task_clock.works = true, .sampling.works = precise >= 0};
    probe.sampling.error = precise >= 0 ? 0 : ENOENT;
    snprintf(probe.vendor, sizeof probe.vendor, "%s", vendor);
    return probe;
}

static struct as_native_choice chosen(const struct as_probe *probe, enum as_native_source source,
                                      enum as_native_want want)
{
    struct as_native_choice choice;
    struct as_error err = AS_ERROR_INIT;
    if (!as_native_choose(machine_root, probe, source, want, &choice, &err))
        fail_msg("%s", err.message);
    assert_true(choice.reason[0] && choice.n_events > 0);
    return choice;
}

static void intel_has_pebs(void **state)
{
    struct as_probe probe = machine("GenuineIntel", 3);
    machine_put("cpu/type", "4\n");
    machine_put("cpu/format/event", "config:0-7\n");
    machine_put("cpu/format/umask", "config:8-15\n");
    machine_put("cpu/format/ldlat", "config1:0-15\n");
    machine_put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    machine_put("cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
    struct as_native_choice choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME);
    assert_int_equal(choice.source, AS_NATIVE_PMU);
    assert_string_equal(choice.how, "PEBS");
    assert_int_equal(choice.events[0].attr.config, PERF_COUNT_HW_CPU_CYCLES);
    choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_ACCESSES);
    assert_int_equal(choice.n_events, 2);
    assert_int_equal(choice.events[0].attr.config, 0x1cd);
    assert_int_equal(choice.events[1].attr.config, 0x82d0);
    assert_int_equal(choice.events[0].attr.precise_ip, 1);
    assert_true(choice.fields & PERF_SAMPLE_ADDR && choice.fields & PERF_SAMPLE_DATA_SRC);
}

static void amd_has_ibs(void **state)
{
    struct as_probe probe = machine("AuthenticAMD", 2);
    probe.ibs_op = (struct as_probe_unit){.present = true, .sampling.works = true};
    machine_put("ibs_op/type", "11\n");
    machine_put("ibs_op/format/cnt_ctl", "config:19\n");
    struct as_native_choice choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME);
    assert_string_equal(choice.how, "IBS op");
    assert_int_equal(choice.fields, PERF_SAMPLE_RAW); /* the registers come with precise cycles */
    choice = chosen(&probe, AS_NATIVE_PMU, AS_NATIVE_ACCESSES);
    assert_int_equal(choice.events[0].unit, AS_NATIVE_UNIT_IBS_OP);
    assert_int_equal(choice.events[0].attr.config, 1 << 19);
    probe.precise = -1;
    assert_int_equal(chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME).events[0].attr.type, 11);
}

static void arm_has_spe(void **state)
{
    struct as_probe probe = machine("", 0);
    probe.spe = (struct as_probe_unit){.present = true, .sampling.works = true};
    machine_put("arm_spe_0/type", "12\n");
    machine_put("arm_spe_0/format/ts_enable", "config:0\n");
    machine_put("arm_spe_0/format/load_filter", "config:33\n");
    machine_put("arm_spe_0/format/store_filter", "config:34\n");
    struct as_native_choice choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME);
    assert_string_equal(choice.how, "SPE");
    assert_int_equal(choice.n_events, 2); /* cycles are the time, and come first */
    assert_int_equal(choice.events[0].attr.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(choice.events[1].unit, AS_NATIVE_UNIT_SPE);
    assert_int_equal(choice.events[1].attr.config, 1);
    probe.precise = -1;
    choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME);
    assert_int_equal(choice.n_events, 1);
    assert_int_equal(choice.events[0].unit, AS_NATIVE_UNIT_SPE);
    probe.precise = 0;
    probe.spe.sampling.works = false;
    assert_string_equal(chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME).how, "cycles with skid");
    probe.spe.sampling.works = true;
    choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_ACCESSES);
    assert_int_equal(choice.events[0].unit, AS_NATIVE_UNIT_SPE);
    assert_int_equal(choice.events[0].attr.config, UINT64_C(3) << 33 | 1);
}

static void virtual_machines_have_the_clock(void **state)
{
    struct as_probe probe = machine("GenuineIntel", -1);
    struct as_native_choice choice;
    struct as_error err = AS_ERROR_INIT;
    probe.virtual_machine = true;
    choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME);
    assert_int_equal(choice.source, AS_NATIVE_TIMER);
    assert_non_null(strstr(choice.reason, "virtual machine"));
    assert_int_equal(choice.fields, 0);
    assert_int_equal(chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_ACCESSES).fields, PERF_SAMPLE_REGS_USER);
    assert_false(as_native_choose(machine_root, &probe, AS_NATIVE_PMU, AS_NATIVE_TIME, &choice, &err));
    assert_non_null(strstr(err.message, "no hardware PMU"));
    probe.sampling.error = EACCES;
    assert_non_null(strstr(chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_TIME).reason, "no permission to use"));
    probe.task_clock = (struct as_attempt){.error = EACCES};
    assert_false(as_native_choose(machine_root, &probe, AS_NATIVE_AUTO, AS_NATIVE_TIME, &choice, &err));
    assert_non_null(strstr(err.message, "Permission denied"));
}

/* A PMU without an event for data addresses: the clock with registers stands in. */
static void pmu_without_addresses(void **state)
{
    struct as_probe probe = machine("GenuineIntel", 0);
    struct as_native_choice choice = chosen(&probe, AS_NATIVE_AUTO, AS_NATIVE_ACCESSES);
    assert_int_equal(choice.source, AS_NATIVE_TIMER);
    assert_int_equal(choice.n_events, 1);
    assert_non_null(strstr(choice.reason, "data addresses"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(intel_has_pebs, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(amd_has_ibs, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(arm_has_spe, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(virtual_machines_have_the_clock, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(pmu_without_addresses, machine_set_up, machine_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
