/* Communication on the machine, of a session that is played here: what processes map, fork and share, and two threads that
 * hand a line over. No debug registers are used. */
#include "unit.h"

#include "base/signals.h"
#include "comm/comm_native.h"
#include "native/choose.h"
#include "native/process_maps.h"
#include "native/session.h"
#include "native/thread_start.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PARENT = 2000000001,
    CHILD,
    PERIOD = 500,
    HEAP = 0x10000,
    ANON = 0x30000,
    FILES = 0x50000,
    CODE = 0x400000,
    AGENT = 0x500000
};

/* ---- the session ---- */

struct as_native_session {
    struct as_native_info info;
    struct as_native_options options;
    bool attached, closed, stopped;
};
static struct as_native_session session;
static bool runs_on; /* the program, when the session is over */
static const struct as_perf_sink *sink_;
static void *context_;

bool as_native_choose(const char *root, const struct as_probe *probe, enum as_native_source source,
                      enum as_native_want want, struct as_native_choice *choice, struct as_error *err)
{
    if (want != AS_NATIVE_ACCESSES || probe->precise != 7) /* as found below */
        return as_error_set(err, "nothing to sample");
    *choice = (struct as_native_choice){.fields = PERF_SAMPLE_ADDR, .n_events = source == AS_NATIVE_PMU ? 2 : 1};
    return true;
}

void as_probe_machine(const char *root, struct as_probe *probe)
{
    probe->precise = 7;
}

struct as_native_session *as_native_launch(const struct as_native_options *options, char *const argv[],
                                           struct as_error *err)
{
    if (strcmp(argv[0], "missing") == 0)
        return as_error_set(err, "no such program"), NULL;
    session = (struct as_native_session){.options = *options};
    return &session;
}

struct as_native_session *as_native_attach(const struct as_native_options *options, pid_t pid, struct as_error *err)
{
    session = (struct as_native_session){.options = *options, .attached = true};
    return &session;
}

const struct as_native_info *as_native_info(const struct as_native_session *played)
{
    return &played->info;
}

pid_t as_native_pid(const struct as_native_session *played)
{
    return PARENT;
}

int as_native_wait_status(const struct as_native_session *played)
{
    return played->attached || runs_on ? -1 : 3 << 8; /* exit(3) */
}

double as_native_weight(const struct as_native_session *played, const struct as_perf_sample *sample)
{
    return sample->weight ? 0.25 : PERIOD;
}

void as_native_stop(struct as_native_session *played)
{
    played->stopped = true;
}

void as_native_close(struct as_native_session *played)
{
    if (played)
        played->closed = true;
}

/* ---- what happens in it ---- */

static void tell(struct as_perf_process process)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(sink_->process(context_, &process, &err));
}

static void map(uint32_t pid, uint64_t start, const char *name, uint32_t flags)
{
    tell((struct as_perf_process){.kind = AS_PERF_MAP,
                                  .pid = pid,
                                  .tid = pid,
                                  .mode = AS_PERF_USER,
                                  .name = name,
                                  .start = start,
                                  .length = 0x1000,
                                  .data = start != CODE && start != AGENT,
                                  .flags = flags,
                                  .inode = flags ? 77 : 0});
}

static bool with_starts;        /* the samples have stacks, and the C library knows what threads began with */
static uint64_t code_at = CODE; /* what is sampled */

static void sample(uint32_t pid, uint32_t tid, uint64_t time, uint64_t address, uint64_t op)
{
    struct as_perf_event event = {0};
    const uint64_t chain[] = {code_at + tid % 100, CODE + 0x21, 0xfffffffe, CODE + 0x31};
    struct as_perf_sample made = {.event = &event,
                                  .has = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
                                  .mode = AS_PERF_USER,
                                  .chain = chain,
                                  .n_chain = 4,
                                  .ip = code_at + tid % 100,
                                  .addr = address,
                                  .data_src = op << PERF_MEM_OP_SHIFT,
                                  .time = time,
                                  .pid = pid,
                                  .tid = tid};
    const uint64_t registers[] = {ANON + 64, code_at};
    if (with_starts) {
        made.has |= PERF_SAMPLE_REGS_USER;
        made.user_regs = (struct as_perf_regs){
            .abi = PERF_SAMPLE_REGS_ABI_64, .mask = 3 << 7 /* SP, IP */, .count = 2, .values = registers};
    }
    struct as_error err = AS_ERROR_INIT;
    assert_true(sink_->sample(context_, &made, &err));
}

/* Each look at the clock is a second after the one before. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static time_t seconds;
    *time = (struct timespec){.tv_sec = ++seconds};
    return 0;
}

static void begins_with_this(void)
{
}

bool as_thread_start_words(pid_t pid, uint64_t stack_end, uint64_t words[AS_THREAD_START_WORDS])
{
    uint64_t start = (uintptr_t)begins_with_this;
    if (pid != PARENT || stack_end != ANON + 0x1000)
        return false;
    memcpy(words, (const uint64_t[]){0, start + 1, 0, start, 7}, 5 * sizeof *words);
    return true;
}

static void map_own(void *unused, struct as_perf_process *own)
{
    own->kind = AS_PERF_MAP;
    own->pid = own->tid = PARENT;
    own->mode = AS_PERF_USER;
    tell(*own);
}

/* The code is this program's. A sample each of the first thread and of another one, which have the same stack here. */
static void play_starts(void)
{
    as_process_maps(getpid(), true, map_own, NULL);
    map(PARENT, ANON, "//anon", 0);
    sample(PARENT, PARENT, 10, HEAP + 8, PERF_MEM_OP_STORE);
    sample(PARENT, PARENT + 50, 20, HEAP + 8, PERF_MEM_OP_LOAD);
}

static bool of_this_process; /* it alone is sampled, so that its mappings are looked at */

bool as_native_run(struct as_native_session *played, const struct as_perf_sink *sink, void *context,
                   struct as_error *err)
{
    sink_ = sink;
    context_ = context;
    if (with_starts) {
        play_starts();
        return true;
    }
    if (of_this_process) {
        sample((uint32_t)getpid(), (uint32_t)getpid(), 5, HEAP + 8, PERF_MEM_OP_LOAD);
        return true;
    }
    map(PARENT, CODE, "/nowhere/prog", 0);
    map(PARENT, AGENT, "/nowhere/assay-agent.so", 0);
    map(PARENT, HEAP, "[heap]", 0);
    map(PARENT, HEAP, "[heap]", 0); /* once more */
    map(PARENT, ANON, "//anon", 0);
    map(PARENT, FILES, "/nowhere/data", 0);
    map(PARENT, FILES + 0x2000, "/dev/shm/pool", MAP_SHARED);
    tell((struct as_perf_process){
        .kind = AS_PERF_FORK, .pid = CHILD, .tid = CHILD, .parent_pid = PARENT, .parent_tid = PARENT});
    map(CHILD, ANON + 0x4000, "[stack]", 0);
    sample(PARENT, PARENT, 10, HEAP + 8, PERF_MEM_OP_STORE);
    code_at = AGENT; /* which is not the program's */
    sample(PARENT, PARENT + 50, 15, HEAP + 8, PERF_MEM_OP_STORE);
    code_at = CODE;
    sample(PARENT, PARENT + 50, 20, HEAP + 8, PERF_MEM_OP_LOAD);
    sample(CHILD, CHILD, 30, HEAP + 8, PERF_MEM_OP_LOAD); /* its own memory */
    played->info.seconds = 2;
    played->info.counted = 1.5;
    played->info.lost = 4;
    played->info.threads = 9;
    for (size_t i = 0; i < AS_NATIVE_NOTES; i++)
        strcpy(played->info.notes[i], "one thing was given up");
    if (played->attached)
        raise(SIGINT);
    return true;
}

/* ---- what comes of it ---- */

#ifdef __x86_64__
static unsigned noted;
static void note(void *context, enum as_log_level level, const char *text)
{
    noted += level == AS_LOG_NOTE && strcmp(text, "one thing was given up") == 0;
}

enum { RATE = 10 };
static char *environment[] = {"HOME=/nowhere", NULL};

static struct as_comm_native *run(enum as_comm_source source, uint64_t pid, bool no_paths)
{
    struct as_comm_native_options options = {.source = source,
                                             .rate = RATE,
                                             .machine = AS_NATIVE_LENS_OPTIONS_DEFAULT,
                                             .detect = AS_DETECT_OPTIONS_DEFAULT,
                                             .pid = pid,
                                             .environment = environment,
                                             .no_paths = no_paths,
                                             .stdout_to_stderr = no_paths,
                                             .notices = {.say = note}};
    char *argv[] = {"prog", NULL};
    struct as_error err = AS_ERROR_INIT;
    options.machine.registers = 0;
    struct as_comm_native *native = as_comm_native_new(&options);
    noted = 0;
    assert_true(as_comm_native_run(native, argv, &err));
    as_signals_restore();
    return native;
}

static void regions(void **state)
{
    static const struct {
        uint64_t start;
        bool heap, stack, shared;
    } expected[] = {{HEAP, true, false, false},           {ANON, false, false, false},
                    {FILES + 0x2000, false, false, true}, {HEAP, true, false, false},
                    {ANON, false, false, false},          {FILES + 0x2000, false, false, true},
                    {ANON + 0x4000, false, true, false}};
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    struct as_comm_result result = as_comm_native_result(native);
    assert_int_equal(result.n_regions, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct as_guest_region *region = &result.regions[i];
        assert_true(region->start == expected[i].start && region->end == expected[i].start + 0x1000);
        assert_true(region->is_heap == expected[i].heap && region->is_stack == expected[i].stack);
        assert_int_equal(region->shared != NULL, expected[i].shared);
        assert_int_equal(region->process == result.regions[0].process, i < 3);
    }
    assert_string_equal(result.regions[2].shared, result.regions[5].shared);
    as_comm_native_free(native);
    assert_true(session.closed);
}

/* What has no file comes from /proc: the stack that this runs on. Files come as records, here none. */
static void regions_that_nobody_told(void **state)
{
    of_this_process = true;
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    of_this_process = false;
    struct as_comm_result result = as_comm_native_result(native);
    const struct as_comm_thread *thread = &result.threads[0];
    assert_int_equal(thread->pid, getpid());
    /* AddressSanitizer has variables elsewhere; the frame itself is on the stack. */
    const struct as_guest_region *region =
        as_guest_region_at(result.regions, result.n_regions, thread->process, (uintptr_t)__builtin_frame_address(0));
    assert_non_null(region);
    assert_true(region->is_stack);
    char *text = as_comm_code_text(&result, thread->process, (uintptr_t)regions_that_nobody_told);
    assert_non_null(strchr(text, '['));
    free(text);
    as_comm_native_free(native);
}

static void names(void **state)
{
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    struct as_comm_result result = as_comm_native_result(native);
    for (size_t i = 0; i < 2; i++) { /* the child has its parent's code */
        uint32_t process = result.threads[2 * i].process;
        char *text = as_comm_code_text(&result, process, CODE + 0x10);
        assert_string_equal(text, "prog+0x10");
        free(text);
    }
    char *text = as_comm_code_text(&result, 1000, CODE);
    assert_string_equal(text, "[unknown]");
    free(text);
    assert_true(result.names.cut && result.names.address(NULL, 123) == 123);
    const char *frames[4]; /* up to the caller that is no code */
    assert_int_equal(as_comm_frames(&result, result.contacts->list.data[0].from.path, frames, 4), 2);
    assert_int_equal(as_comm_frames(&result, 1000, frames, 4), 0);
    as_comm_native_free(native);
}

static void a_line_is_handed_over(void **state)
{
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    struct as_comm_result result = as_comm_native_result(native);
    assert_string_equal(result.source, "pmu");
    assert_false(result.is_time);
    assert_int_equal(result.n_threads, 3);
    assert_true(result.threads[0].tid == PARENT && result.threads[1].tid == PARENT + 50);
    assert_true(result.threads[1].pid == PARENT && result.threads[2].pid == CHILD);
    assert_true(result.estimate->n == 3 && !result.exact);
    assert_int_equal(as_pair_matrix_pair(result.estimate, 0, 1).true_, PERIOD);
    assert_int_equal(as_pair_sum(as_pair_matrix_total(result.estimate)), PERIOD);
    assert_int_equal(result.contacts->list.len, 1);
    assert_true(result.contacts->list.data[0].line == HEAP && result.contacts->list.data[0].from.offset == 8);
    assert_int_equal(result.contacts->list.data[0].process, result.regions[0].process);
    assert_true(result.detect.load_samples == 2 && result.detect.store_samples == 1 && result.detect.found == 1);
    assert_true(as_comm_native_info(native)->sampling < 4 * 16e-6); /* a PMU has no clock */
    as_comm_native_free(native);
}

/* User code with registers, and often: samples of many threads are held against each other while the line is still theirs. */
static void what_is_sampled(void **state)
{
    uint64_t fields = PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    as_comm_native_free(run(AS_COMM_TIMER, 0, true));
    const struct as_native_options *options = &session.options;
    assert_true(options->n_events == 1 && options->rate == RATE && options->mode == AS_NATIVE_USER);
    assert_int_equal(options->fields, fields);
    assert_true(options->data_maps && options->stdout_to_stderr && options->environment == environment);
    assert_in_range(options->wait_ms, 1, 30); /* a register is armed before the other thread is through */
    assert_in_range(options->stack_bytes, 8, 4096);
    as_comm_native_free(run(AS_COMM_PMU, 0, false));
    assert_true(options->n_events == 2 && !options->stdout_to_stderr);
    assert_int_equal(options->fields, fields | PERF_SAMPLE_CALLCHAIN);
}

static void how_it_ended(void **state)
{
    struct as_comm_native *native = run(AS_COMM_TIMER, 0, true);
    const struct as_comm_native_info *info = as_comm_native_info(native);
    assert_string_equal(as_comm_native_result(native).source, "timer");
    assert_true(as_comm_native_result(native).is_time);
    assert_true(info->seconds == 2 && info->processor == 1.5 && info->lost == 4 && info->threads == 9);
    assert_int_equal(info->cost.samples, 3);
    double sampling = 1.5 * RATE * 16e-6; /* interrupts of the kernel's code give no samples */
    assert_true(info->sampling > sampling - 1e-9 && info->sampling < sampling + 1e-9);
    assert_true(info->end.exit_status == 3 && !info->end.running && !info->end.interrupted);
    assert_int_equal(noted, AS_NATIVE_NOTES);
    assert_false(session.stopped);
    as_comm_native_free(native);
    native = run(AS_COMM_PMU, PARENT, false);
    assert_true(session.attached);
    assert_false(as_comm_native_info(native)->end.running); /* not a child */
    assert_true(session.stopped);
    as_comm_native_free(native);
}

static void what_threads_begin_with(void **state)
{
    with_starts = true;
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    with_starts = false;
    struct as_comm_result result = as_comm_native_result(native);
    assert_int_equal(result.n_threads, 2);
    assert_null(result.threads[0].start); /* main is not started by the library */
    assert_string_equal(result.threads[1].start, "begins_with_this");
    for (size_t i = 0; i < 2; i++)
        assert_true(result.threads[i].stack_start == ANON && result.threads[i].stack_end == ANON + 0x1000);
    as_comm_native_free(native);
}

static void a_program_that_runs_on(void **state)
{
    runs_on = true;
    struct as_comm_native *native = run(AS_COMM_PMU, 0, false);
    runs_on = false;
    assert_true(as_comm_native_info(native)->end.running && !as_comm_native_info(native)->end.interrupted);
    as_comm_native_free(native);
}

static void a_program_that_is_missing(void **state)
{
    struct as_comm_native_options options = {.source = AS_COMM_PMU, .detect = AS_DETECT_OPTIONS_DEFAULT};
    char *argv[] = {"missing", NULL};
    struct as_error err = AS_ERROR_INIT;
    struct as_comm_native *native = as_comm_native_new(&options);
    assert_false(as_comm_native_run(native, argv, &err));
    assert_string_equal(err.message, "no such program");
    as_comm_native_free(native);
}

#else
static void is_for_x86(void **state)
{
    unit_skip("only the registers of x86-64 are understood");
}
#endif

int main(void)
{
#ifdef __x86_64__
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions),
                                       cmocka_unit_test(regions_that_nobody_told),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(a_line_is_handed_over),
                                       cmocka_unit_test(how_it_ended),
                                       cmocka_unit_test(what_is_sampled),
                                       cmocka_unit_test(a_program_that_is_missing),
                                       cmocka_unit_test(a_program_that_runs_on),
                                       cmocka_unit_test(what_threads_begin_with)};
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_for_x86)};
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
