/* What is asked of the kernel for each kind of event, by the options of a session; and what is said where it refuses: against golden files. */
#include "native/session_internal.h"

#include "machine_tree.h"
#include "unit.h"
#include "unit_golden.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>

static FILE *out;

static const struct as_native_event events[] = {
    {.name = "task-clock",
     .unit = AS_NATIVE_UNIT_CLOCK,
     .attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK}},
    {.name = "page-faults",
     .unit = AS_NATIVE_UNIT_COUNTER,
     .attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}},
    {.name = "cycles",
     .unit = AS_NATIVE_UNIT_COUNTER,
     .attr = {.type = PERF_TYPE_HARDWARE, .precise_ip = 2},
     .user_only = true},
    {.name = "raw",
     .unit = AS_NATIVE_UNIT_COUNTER,
     .attr = {.type = PERF_TYPE_RAW, .sample_period = 77777},
     .kernel_only = true},
    {.name = "ibs_op", .unit = AS_NATIVE_UNIT_IBS_OP, .attr = {.type = 9}},
    {.name = "ibs_fetch", .unit = AS_NATIVE_UNIT_IBS_FETCH, .attr = {.type = 10}},
    {.name = "arm_spe_0", .unit = AS_NATIVE_UNIT_SPE, .attr = {.type = 11}, .pmu = "arm_spe_0"},
    {.name = "mem", .unit = AS_NATIVE_UNIT_WATCHPOINT, .attr = {.type = PERF_TYPE_BREAKPOINT}},
};
enum { EVENTS = sizeof events / sizeof *events, SPE = 6 };

static void show_kind(const struct as_native_kind *kind)
{
    const struct perf_event_attr *attr = &kind->attr;
    fprintf(out, "%u: unit %d, group %d, period %" PRIu64 " %llu, type %u, %s, fields %llx\n ", kind->event, kind->unit,
            kind->group, kind->period, attr->sample_period, attr->type, attr->freq ? "by rate" : "by period",
            (unsigned long long)attr->sample_type);
#define FLAG(name) fprintf(out, "%s", attr->name ? " " #name : "");
    FLAG(disabled)
    FLAG(inherit)
    FLAG(inherit_thread)
    FLAG(exclude_hv)
    FLAG(exclude_kernel)
    FLAG(exclude_user)
    FLAG(exclude_callchain_kernel)
    FLAG(sample_id_all)
    FLAG(watermark)
    FLAG(mmap)
    FLAG(mmap2)
    FLAG(mmap_data)
    FLAG(comm)
    FLAG(comm_exec)
    FLAG(task)
    FLAG(use_clockid)
    FLAG(context_switch)
    fprintf(out, " read %llx, clock %d, precise %u, registers %llx, stack %u, branches %llx\n",
            (unsigned long long)attr->read_format, attr->clockid, attr->precise_ip,
            (unsigned long long)attr->sample_regs_user, attr->sample_stack_user,
            (unsigned long long)attr->branch_sample_type);
    assert_int_equal(attr->size, sizeof *attr);
}

/* The kinds of events first … end - 1. */
static void make(const char *title, struct as_native_options options, size_t first, size_t end)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_native_session session = {.options = options};
    session.options.n_events = end - first;
    session.options.root = machine_root;
    for (size_t i = first; i < end; i++)
        *as_vec_push(&session.events) = events[i];
    unit_golden_section(out, "%s", title);
    if (!as_native_make_kinds(&session, &err))
        fprintf(out, "%s\n", err.message);
    else
        fprintf(out, "rate %.6g, %u clocks, buffers of %zu\n", session.options.rate, session.info.clocks,
                session.options.ring_bytes);
    for (size_t i = 0; i < session.kinds.len; i++)
        show_kind(&session.kinds.data[i]);
    as_vec_free(&session.kinds);
    as_vec_free(&session.events);
}

static void kinds(void **state)
{
    const uint64_t everything =
        PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK;
    static const uint64_t periods[] = {1, 255, 256, 257, 511, 512, 1000, 4096, 25599, 25600, 26000, 100000, 123456789};
    static const _Atomic uint32_t switches;
    char title[64];
    out = unit_golden_begin();
    make("as it is", (struct as_native_options){0}, 0, EVENTS);
    make("user mode",
         (struct as_native_options){.mode = AS_NATIVE_USER, .no_children = true, .data_maps = true, .rate = 5000}, 0,
         EVENTS);
    make("both modes",
         (struct as_native_options){.mode = AS_NATIVE_BOTH, .processors = true, .no_children = true, .clocks = 3}, 0,
         EVENTS);
    make("all fields", (struct as_native_options){.fields = everything, .ring_bytes = 1 << 16}, 0, EVENTS);
    make("stacks", (struct as_native_options){.fields = PERF_SAMPLE_STACK_USER, .stack_bytes = 1023, .branch_type = 5},
         0, EVENTS);
    make("branches",
         (struct as_native_options){.fields = PERF_SAMPLE_BRANCH_STACK, .branch_type = 5, .mode = AS_NATIVE_USER}, 0,
         3);
    make("a part", (struct as_native_options){.delay = 1}, 0, SPE);
    make("a part of SPE", (struct as_native_options){.switches = &switches}, SPE, EVENTS);
    make("clocks", (struct as_native_options){.clocks = 8, .period = 1000000}, 0, 1);
    make("too many clocks", (struct as_native_options){.clocks = 9}, 0, 1);
    make("too fast", (struct as_native_options){.rate = 1000001}, 0, 1);
    make("fast", (struct as_native_options){.rate = 1e6}, 0, EVENTS);
    make("slow", (struct as_native_options){.rate = 0.01}, 0, EVENTS);
    make("too slow", (struct as_native_options){.rate = 0.009}, 0, 1);
    make("nothing", (struct as_native_options){0}, 0, 0);
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        snprintf(title, sizeof title, "period %" PRIu64, periods[i]);
        make(title, (struct as_native_options){.period = periods[i]}, 0, EVENTS);
    }
    machine_put("/sys/bus/event_source/devices/arm_spe_0/caps/min_interval", "65536\n");
    make("least interval, by rate", (struct as_native_options){.rate = 100000}, SPE, SPE + 1);
    make("least interval", (struct as_native_options){.period = 1000}, SPE, SPE + 1);
    make("above the least interval", (struct as_native_options){.period = 100000}, SPE, SPE + 1);
    unit_golden_check(out, "native_kinds.txt");
}

/* ---- refusals ---- */

static void refuse(struct as_native_session *session, const struct as_native_event *event)
{
    static const int errors[] = {EACCES, EPERM,  EMFILE,     ENFILE, EBUSY,  ENOSPC, ESRCH,
                                 ENOENT, ENODEV, EOPNOTSUPP, EINVAL, ENOSYS, EIO};
    static const char *const names[] = {"EACCES", "EPERM",  "EMFILE",     "ENFILE", "EBUSY",  "ENOSPC", "ESRCH",
                                        "ENOENT", "ENODEV", "EOPNOTSUPP", "EINVAL", "ENOSYS", "EIO"};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_native_open_error(session, event, errors[i], &err));
        fprintf(out, "%s: %s\n", names[i], err.message);
    }
}

static void refusals(void **state)
{
    static const char *const levels[] = {NULL, "-1\n", "1\n", "2\n", "3\n", "4\n"};
    struct as_native_session session = {.pid = 77};
    out = unit_golden_begin();
    session.options.root = machine_root;
    for (size_t i = 0; i < 7; i++)
        *as_vec_push(&session.fds) = (struct as_native_fd){0};
    for (size_t level = 0; level < sizeof levels / sizeof *levels; level++) {
        if (levels[level])
            machine_put("/proc/sys/kernel/perf_event_paranoid", levels[level]);
        for (int how = 0; how < 5; how++) {
            struct as_error err = AS_ERROR_INIT;
            session.options.everything = how == 0;
            session.options.processors = how <= 1;
            session.child = how == 2;
            session.options.mode = how == 3 ? AS_NATIVE_BOTH : AS_NATIVE_USER;
            as_native_open_error(&session, &events[0], EACCES, &err);
            fprintf(out, "level %zu, %d: %s\n", level, how, err.message);
        }
    }
    for (size_t i = 0; i < EVENTS; i += EVENTS - 1)
        refuse(&session, &events[i]);
    as_vec_free(&session.fds);
    unit_golden_check(out, "native_refusals.txt");
}

/* ---- notes ---- */

/* Each once, in their order, and no more than there is room for. */
static void notes(void **state)
{
    struct as_native_session session = {0};
    for (int i = 0; i < 2 * AS_NATIVE_NOTES; i++) {
        as_native_note(&session, "note %d", i / 2 % (AS_NATIVE_NOTES + 1));
        as_native_note(&session, "note %d", 0);
    }
    for (int i = 0; i < AS_NATIVE_NOTES; i++) {
        char want[32];
        snprintf(want, sizeof want, "note %d", i);
        assert_string_equal(session.info.notes[i], want);
    }
    as_native_note(&session, "one more");
    assert_string_equal(session.info.notes[AS_NATIVE_NOTES - 1][0] ? "full" : "", "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(kinds, machine_set_up, machine_tear_down),
                                       cmocka_unit_test_setup_teardown(refusals, machine_set_up, machine_tear_down),
                                       cmocka_unit_test(notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
