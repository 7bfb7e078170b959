/* Event names to perf_event_attr: the kernel's own, raw ones, and what a made-up /sys tells of PMUs that this machine
 * does not have. Periods are prime. */
#include "native/event.h"

#include "machine_tree.h"
#include "unit.h"

#include "native/session_internal.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <math.h>
#include <stdio.h>

/* What Skylake, Zen and Neoverse kernels show, shortened. */
static int set_up(void **state)
{
    if (machine_set_up(state) != 0)
        return -1;
    machine_put("cpu/type", "4\n");
    machine_put("cpu/format/event", "config:0-7\n");
    machine_put("cpu/format/umask", "config:8-15\n");
    machine_put("cpu/format/edge", "config:18\n");
    machine_put("cpu/format/cmask", "config:24-31\n");
    machine_put("cpu/format/ldlat", "config1:0-15\n");
    machine_put("cpu/format/offcore_rsp", "config1:0-63\n");
    machine_put("cpu/format/split", "config:0-7,32-35\n");
    machine_put("cpu/format/wrong", "config9:0-7\n");
    machine_put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    machine_put("cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
    machine_put("cpu/events/loop", "loop\n");
    machine_put("ibs_op/type", "11\n");
    machine_put("ibs_op/format/cnt_ctl", "config:19\n");
    machine_put("ibs_fetch/type", "10\n");
    machine_put("ibs_fetch/format/rand_en", "config:57\n");
    machine_put("arm_spe_0/type", "12\n");
    machine_put("arm_spe_0/format/ts_enable", "config:0\n");
    machine_put("arm_spe_0/format/load_filter", "config:33\n");
    machine_put("arm_spe_0/format/min_latency", "config2:0-11\n");
    machine_put("arm_spe_0/cpumask", "0-3,8,10-11\n");
    return 0;
}

struct expected {
    const char *text;
    uint32_t type;
    uint64_t config, config1, config2;
    uint8_t unit, precise;
    const char *pmu;
};

static void check(const struct expected *want)
{
    struct as_native_event event;
    struct as_error err = AS_ERROR_INIT;
    if (!as_native_event_parse(machine_root, want->text, &event, &err))
        fail_msg("%s: %s", want->text, err.message);
    assert_string_equal(event.name, want->text);
    assert_int_equal(event.attr.type, want->type);
    assert_int_equal(event.attr.config, want->config);
    assert_int_equal(event.attr.config1, want->config1);
    assert_int_equal(event.attr.config2, want->config2);
    assert_int_equal(event.attr.precise_ip, want->precise);
    assert_int_equal(event.unit, want->unit);
    assert_string_equal(event.pmu, want->pmu);
    assert_int_equal(event.attr.size, sizeof event.attr);
}

static void names_become_attributes(void **state)
{
    static const struct expected table[] = {
        {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 0, AS_NATIVE_UNIT_CLOCK, 0, "software"},
        {"cpu-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, AS_NATIVE_UNIT_CLOCK, 0, "software"},
        {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0, AS_NATIVE_UNIT_COUNTER, 0, "software"},
        {"cycles:pp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, AS_NATIVE_UNIT_COUNTER, 2, "cpu"},
        {"instructions:uppp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0, AS_NATIVE_UNIT_COUNTER, 3, "cpu"},
        {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"r1a2b", PERF_TYPE_RAW, 0x1a2b, 0, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"rc0:p", PERF_TYPE_RAW, 0xc0, 0, 0, AS_NATIVE_UNIT_COUNTER, 1, "cpu"},
        {"cpu/event=0xd1,umask=8/", 4, 0x8d1, 0, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"cpu/event=0xc4,edge,cmask=255/:pp", 4, 0xff0400c4, 0, 0, AS_NATIVE_UNIT_COUNTER, 2, "cpu"},
        {"cpu/mem-loads/", 4, 0x1cd, 3, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"cpu/mem-loads,ldlat=30/:upp", 4, 0x1cd, 30, 0, AS_NATIVE_UNIT_COUNTER, 2, "cpu"},
        {"cpu/split=0xabc/", 4, UINT64_C(0xa000000bc), 0, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"cpu/offcore_rsp=0xffffffffffffffff/", 4, 0, UINT64_MAX, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"cpu/config=0x3c,config1=7/", 4, 0x3c, 7, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"loads", 4, 0x1cd, 3, 0, AS_NATIVE_UNIT_COUNTER, 0, "cpu"},
        {"stores:p", 4, 0x82d0, 0, 0, AS_NATIVE_UNIT_COUNTER, 1, "cpu"},
        {"ibs_op/cnt_ctl=1/", 11, 1 << 19, 0, 0, AS_NATIVE_UNIT_IBS_OP, 0, "ibs_op"},
        {"ibs_op//", 11, 0, 0, 0, AS_NATIVE_UNIT_IBS_OP, 0, "ibs_op"},
        {"ibs_fetch/rand_en=1/", 10, UINT64_C(1) << 57, 0, 0, AS_NATIVE_UNIT_IBS_FETCH, 0, "ibs_fetch"},
        {"arm_spe_0/ts_enable=1,load_filter=1,min_latency=32/", 12, UINT64_C(1) << 33 | 1, 0, 32, AS_NATIVE_UNIT_SPE, 0,
         "arm_spe_0"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check(&table[i]);
}

static void modifiers_choose_modes(void **state)
{
    struct as_native_event event;
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_native_event_parse(machine_root, "cycles:u", &event, &err));
    assert_true(event.user_only && !event.kernel_only);
    assert_true(as_native_event_parse(machine_root, "cycles:kp", &event, &err));
    assert_true(!event.user_only && event.kernel_only);
    assert_true(as_native_event_parse(machine_root, "cycles:uk", &event, &err));
    assert_true(!event.user_only && !event.kernel_only);
}

static void watchpoints_have_their_form(void **state)
{
    struct as_native_event event;
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_native_event_parse(machine_root, "mem:0x1000/8:w", &event, &err));
    assert_int_equal(event.attr.type, PERF_TYPE_BREAKPOINT);
    assert_int_equal(event.attr.bp_addr, 0x1000);
    assert_int_equal(event.attr.bp_len, 8);
    assert_int_equal(event.attr.bp_type, HW_BREAKPOINT_W);
    assert_true(as_native_event_parse(machine_root, "mem:0x1002/2", &event, &err));
    assert_int_equal(event.attr.bp_type, HW_BREAKPOINT_RW);
    assert_true(as_native_event_parse(machine_root, "mem:0x1001:x", &event, &err));
    assert_int_equal(event.attr.bp_type, HW_BREAKPOINT_X);
}

static void nonsense_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "cpu/event=0x1d1/", /* does not fit 8 bits */
        "cpu/event=/",      /* no number */
        "cpu/event=-1/",
        "cpu/event=5",    /* no end */
        "cpu/event=5/pp", /* modifiers need a colon */
        "cpu/nothing/",
        "cpu/nothing=1/",
        "cpu/wrong=1/", /* a format that makes no sense */
        "cpu/loop/",    /* an event that names itself */
        "cpu/../cpu/type/",
        "../cpu/event=1/",
        "gpu/event=1/",
        "cycles:pppp",
        "mem:",
        "mem:0x1001/8", /* not aligned */
        "mem:0x1000/3",
        "mem:0x1000/8:q",
        "mem:0x1000/8:wx",
        "r12345678901234567", /* more than 64 bits */
        "NO_SUCH_EVENT_ANYWHERE",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct as_native_event event;
        struct as_error err = {.message = ""};
        if (as_native_event_parse(machine_root, bad[i], &event, &err))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_true(err.message[0] != '\0');
        assert_null(strchr(err.message, '\n'));
    }
}

static void processors_of_a_pmu(void **state)
{
    static const bool has[] = {1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0};
    for (int cpu = 0; cpu < 13; cpu++)
        assert_int_equal(as_native_event_pmu_covers(machine_root, "arm_spe_0", cpu), has[cpu]);
    assert_true(as_native_event_pmu_covers(machine_root, "cpu", 99)); /* it does not say */
}

/* libpfm4 has names for the kernel's own events on every machine. */
static void libpfm_knows_names(void **state)
{
    struct as_native_event event;
    struct as_error err = AS_ERROR_INIT;
    if (!as_native_event_parse("", "perf::CONTEXT-SWITCHES", &event, &err))
        fail_msg("%s", err.message);
    assert_int_equal(event.attr.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(event.attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

/* ---- periods ---- */

static bool divides_nothing(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n >= 2;
}

static void primes_are_prime(void **state)
{
    for (uint64_t n = 0; n < 3000; n++) {
        uint64_t prime = as_prime_near(n);
        assert_true(divides_nothing(prime));
        for (uint64_t other = n > 40 ? n - 40 : 2; other < n + 40; other++)
            if (divides_nothing(other)) {
                uint64_t away = other > n ? other - n : n - other, ours = prime > n ? prime - n : n - prime;
                assert_true(n < 2 || ours <= away);
            }
    }
    assert_int_equal(as_prime_near(UINT64_C(4611686018427387904)), UINT64_C(4611686018427387847));
    assert_int_equal(as_prime_near(1000000), 1000003);
}

static void clocks_make_up_the_rate(void **state)
{
    for (unsigned count = 1; count <= 8; count++)
        for (double rate = 50; rate < 20000; rate *= 3) {
            uint64_t periods[8];
            double sum = 0;
            as_clock_periods(rate, count, periods);
            for (unsigned i = 0; i < count; i++) {
                assert_true(divides_nothing(periods[i]));
                assert_true(i == 0 || periods[i] > periods[i - 1]);
                sum += 1e9 / (double)periods[i];
            }
            assert_true(fabs(sum / rate - 1) < 0.005);
        }
}

/* ---- what a session makes of them ---- */

static struct as_native_session *made(struct as_native_options options, const char *text, struct as_native_event *event)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_native_event_parse(machine_root, text, event, &err));
    struct as_native_session *session = as_alloc(sizeof *session);
    options.events = event;
    options.n_events = 1;
    options.root = machine_root;
    session->options = options;
    *as_vec_push(&session->events) = *event;
    assert_true(as_native_make_kinds(session, &err));
    return session;
}

static void drop(struct as_native_session *session)
{
    as_vec_free(&session->events);
    as_vec_free(&session->kinds);
    free(session);
}

static void kinds_have_what_is_wanted(void **state)
{
    struct as_native_event event;
    struct as_native_session *session =
        made((struct as_native_options){.period = 100000, .mode = AS_NATIVE_USER}, "cycles", &event);
    const struct perf_event_attr *attr = &session->kinds.data[0].attr;
    assert_int_equal(attr->sample_period, 100003);
    assert_true(attr->exclude_kernel && attr->inherit && attr->mmap2 && attr->comm_exec && attr->task && !attr->freq);
    assert_true(attr->sample_type & PERF_SAMPLE_IDENTIFIER && attr->sample_type & PERF_SAMPLE_PERIOD);
    drop(session);
    session = made((struct as_native_options){.rate = 2500}, "instructions", &event);
    assert_true(session->kinds.data[0].attr.freq);
    assert_int_equal(session->kinds.data[0].attr.sample_freq, 2500);
    drop(session);
    session = made((struct as_native_options){.period = 1000, .fields = PERF_SAMPLE_BRANCH_STACK}, "cycles", &event);
    assert_true(session->kinds.data[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
    assert_int_equal(session->kinds.data[0].attr.branch_sample_type, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
    drop(session);
    session = made((struct as_native_options){.rate = 3000, .clocks = 3}, "task-clock", &event);
    assert_int_equal(session->kinds.len, 3);
    assert_true(session->kinds.data[0].attr.mmap && !session->kinds.data[1].attr.mmap);
    drop(session);
    session = made((struct as_native_options){.period = 400000}, "ibs_op/cnt_ctl=1/", &event);
    assert_int_equal(session->kinds.data[0].attr.sample_period % 16, 0);
    assert_true(session->kinds.data[0].attr.sample_type & PERF_SAMPLE_RAW);
    drop(session);
    session = made((struct as_native_options){.period = 4096, .fields = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER},
                   "arm_spe_0/ts_enable=1/", &event);
    assert_true(session->kinds.data[0].group > 0); /* a buffer of its own */
    assert_int_equal(session->kinds.data[0].attr.sample_period, 4096);
    assert_true(session->kinds.data[0].attr.context_switch);
    assert_int_equal(session->kinds.data[0].attr.sample_stack_user, 8192);
    drop(session);
    machine_put("arm_spe_0/caps/min_interval", "2048\n");
    session = made((struct as_native_options){.period = 300}, "arm_spe_0/ts_enable=1/", &event);
    assert_int_equal(session->kinds.data[0].attr.sample_period, 2048);
    drop(session);
    session = made((struct as_native_options){.rate = 1000, .fields = PERF_SAMPLE_BRANCH_STACK},
                   "arm_spe_0/ts_enable=1/", &event);
    attr = &session->kinds.data[0].attr;
    assert_true(!attr->freq &&
                attr->sample_period % 256 == 0); /* there is no rate, and the lowest bits count for nothing */
    assert_true(attr->sample_period > 1900000 && attr->sample_period < 2100000);
    assert_false(attr->sample_type & PERF_SAMPLE_BRANCH_STACK);
    drop(session);
}

static void refusals_are_explained(void **state)
{
    static const struct {
        int error;
        const char *level, *text;
        enum as_native_mode mode;
    } table[] = {
        {EACCES, "3\n", "perf_event_paranoid is 3: only root", AS_NATIVE_ALLOWED},
        {EPERM, "4\n", "perf_event_paranoid is 4: only root", AS_NATIVE_USER},
        {EACCES, "2\n", "no permission to sample kernel mode", AS_NATIVE_BOTH},
        {EACCES, "2\n", "no permission to measure process 7", AS_NATIVE_USER},
        {EMFILE, "2\n", "out of file descriptors", AS_NATIVE_USER},
        {ENOSPC, "2\n", "no free hardware counter", AS_NATIVE_USER},
        {ESRCH, "2\n", "there is no process 7", AS_NATIVE_USER},
        {ENOENT, "2\n", "no such PMU", AS_NATIVE_USER},
        {EOPNOTSUPP, "2\n", "not supported", AS_NATIVE_USER},
        {EINVAL, "2\n", "the kernel refuses", AS_NATIVE_USER},
        {ENOSYS, "2\n", "no perf events", AS_NATIVE_USER},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct as_native_event event;
        struct as_error err = AS_ERROR_INIT;
        machine_put("/proc/sys/kernel/perf_event_paranoid", table[i].level);
        struct as_native_session *session = made((struct as_native_options){.mode = table[i].mode}, "cycles", &event);
        session->pid = 7;
        assert_false(as_native_open_error(session, &event, table[i].error, &err));
        if (!strstr(err.message, table[i].text))
            fail_msg("\"%s\" does not say \"%s\"", err.message, table[i].text);
        drop(session);
    }
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(names_become_attributes),     IN_TREE(modifiers_choose_modes),
        IN_TREE(watchpoints_have_their_form), IN_TREE(nonsense_is_refused),
        IN_TREE(processors_of_a_pmu),         cmocka_unit_test(libpfm_knows_names),
        cmocka_unit_test(primes_are_prime),   cmocka_unit_test(clocks_make_up_the_rate),
        IN_TREE(kinds_have_what_is_wanted),   IN_TREE(refusals_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
