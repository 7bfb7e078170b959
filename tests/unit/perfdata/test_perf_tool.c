/* The reader against perf itself: recordings made here with `perf record` in several ways, and those of other machines,
 * read by us and printed by `perf script`; sample by sample they must be the same, functions included. The argument is
 * the directory with other machines' recordings. Skipped where there is no perf that can record.
 */
#include "apart.h"
#include "base/str.h"
#include "base/vec.h"
#include "perfdata/perf_spaces.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static const char *recordings, *self;
static char scratch[256];

/* ---- the program that is recorded ---- */

static volatile uint64_t sum;

UNIT_APART static void work_alpha(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sum += i * i;
}

UNIT_APART static void work_beta(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sum ^= i;
}

static void *work(void *argument)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        work_alpha(30000);
        work_beta(10000);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 60);
    return argument;
}

/* A thread and a child beside the main thread. */
static int be_busy(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pid_t child = fork();
    work(NULL);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}

/* ---- both readings ---- */

struct one {
    uint64_t time, ip, period, offset; /* offset: in its function; UINT64_MAX: unknown */
    uint32_t tid;
    char event[64], module[64], function[64];
    size_t frames, branches;
    uint64_t branch_from;
    bool user;
};

struct list {
    AS_VEC(struct one) items;
    struct as_perf_spaces *spaces;
};

static void fill(struct one *one, const struct as_perf_sample *sample)
{
    *one = (struct one){.time = sample->time,
                        .ip = sample->ip,
                        .period = sample->period,
                        .offset = UINT64_MAX,
                        .tid = sample->tid,
                        .branches = sample->n_branches};
    one->branch_from = sample->n_branches > 0 ? sample->branches[0].from : 0;
    one->user = sample->mode == AS_PERF_USER;
    snprintf(one->event, sizeof one->event, "%s", sample->event->name);
}

static void fill_function(struct one *one, const char *module, const char *function, uint64_t offset)
{
    const char *slash = module != NULL ? strrchr(module, '/') : NULL;
    snprintf(one->module, sizeof one->module, "%s", slash != NULL ? slash + 1 : module != NULL ? module : "");
    snprintf(one->function, sizeof one->function, "%s", function != NULL ? function : "");
    one->offset = function != NULL ? offset : UINT64_MAX;
}

static bool on_binary(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct list *list = context;
    struct one *one = as_vec_push(&list->items);
    fill(one, sample);
    struct as_perf_location location;
    as_perf_spaces_find(list->spaces, sample->pid, sample->mode, sample->ip, &location);
    fill_function(one, location.module, location.function, location.module_offset - location.function_start);
    size_t at = 0;
    uint64_t ip;
    enum as_perf_mode mode = sample->mode;
    while (as_perf_chain_next(sample, &at, &ip, &mode))
        one->frames++;
    return true;
}

static bool on_text(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct list *list = context;
    struct one *one = as_vec_push(&list->items);
    fill(one, sample);
    if (sample->n_frames > 0)
        fill_function(one, sample->frames[0].module, sample->frames[0].symbol, sample->frames[0].offset);
    one->frames = sample->n_frames;
    return true;
}

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    return as_perf_spaces_process(((struct list *)context)->spaces, process, err);
}

static bool on_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                        struct as_error *err)
{
    return as_perf_spaces_build_id(((struct list *)context)->spaces, path, mode, id, err);
}

static struct list read_list(const char *path, bool text)
{
    static const struct as_perf_sink binary_sink = {
        .sample = on_binary, .process = on_process, .build_id = on_build_id};
    static const struct as_perf_sink text_sink = {.sample = on_text};
    struct list list = {.spaces = as_perf_spaces_new(&(struct as_perf_spaces_options){.no_debug = true})};
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_open(path, NULL, &err);
    if (reader == NULL || !as_perf_reader_run(reader, text ? &text_sink : &binary_sink, &list, &err))
        fail_msg("%s: %s", path, err.message);
    assert_string_equal(as_perf_reader_summary(reader)->problem, "");
    as_perf_reader_close(reader);
    as_perf_spaces_free(list.spaces);
    return list;
}

/* ---- perf ---- */

AS_PRINTF(1, 2) static int shell(const char *format, ...)
{
    char command[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static bool have_perf(void)
{
    return shell("perf record -q -e cpu-clock -o %s/probe true >/dev/null 2>&1", scratch) == 0;
}

/* Both readings of a file; columns: for perf script -F, behind the usual ones. */
static void both(const char *path, const char *columns, const char *options, struct list *ours, struct list *theirs)
{
    char text[512];
    snprintf(text, sizeof text, "%s/text", scratch);
    assert_int_equal(shell("perf script --ns %s -F comm,pid,tid,time,event,period,ip%s -i '%s' >%s 2>/dev/null",
                           options, columns, path, text),
                     0);
    *ours = read_list(path, false);
    *theirs = read_list(text, true);
    assert_true(ours->items.len > 0);
    assert_int_equal(ours->items.len, theirs->items.len);
    size_t missing = 0;
    for (size_t i = 0; i < ours->items.len; i++) {
        const struct one *a = &ours->items.data[i], *b = &theirs->items.data[i];
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->tid, b->tid);
        missing += b->ip == 0; /* perf leaves out the address of a kernel sample now and then */
        if (b->ip != 0 && (!a->user || strstr(options, "-G") != NULL)) /* in chains it prints offsets in the file */
            assert_int_equal(a->ip, b->ip);
        assert_int_equal(a->period, b->period);
        assert_string_equal(a->event, b->event);
    }
    assert_true(missing <= 1 + ours->items.len / 100);
}

static void free_both(struct list *ours, struct list *theirs)
{
    as_vec_free(&ours->items);
    as_vec_free(&theirs->items);
}

/* Where perf and we both have a name, it is the same function: as far from its start, in the same file. Where only one
 * has, that is rare. */
static void compare_functions(const char *path)
{
    struct list ours, theirs;
    both(path, ",sym,symoff,dso", "-G", &ours, &theirs);
    size_t user = 0, same = 0, alpha = 0, beta = 0;
    for (size_t i = 0; i < ours.items.len; i++) {
        const struct one *a = &ours.items.data[i], *b = &theirs.items.data[i];
        if (!a->user)
            continue;
        user++;
        alpha += strcmp(a->function, "work_alpha") == 0;
        beta += strcmp(a->function, "work_beta") == 0;
        same += a->offset == b->offset && strcmp(a->module, b->module) == 0;
        if (strncmp(a->function, "work_", 5) == 0)
            assert_string_equal(a->function, b->function);
    }
    print_message("%s: %zu samples, %zu in the program, %zu of them the same function\n", strrchr(path, '/') + 1,
                  ours.items.len, user, same);
    assert_true(user > 100);
    assert_true(same * 100 >= user * 98);
    assert_true(alpha * 2 > user && beta * 20 > user);
    free_both(&ours, &theirs);
}

static void compare_chains(const char *path)
{
    struct list ours, theirs;
    both(path, "", "", &ours, &theirs);
    size_t deep = 0, left_out = 0;
    for (size_t i = 0; i < ours.items.len; i++) {
        deep += ours.items.data[i].frames > 1;
        left_out += theirs.items.data[i].frames == 0;
        if (theirs.items.data[i].frames > 0) /* perf's text leaves out a chain now and then */
            assert_int_equal(ours.items.data[i].frames, theirs.items.data[i].frames);
    }
    assert_true(deep > 0 && left_out * 50 <= ours.items.len);
    free_both(&ours, &theirs);
}

static void record(const char *name, const char *options, bool pipe, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", scratch, name);
    int status = pipe ? shell("perf record -q %s -o - '%s' --busy >%s 2>/dev/null", options, self, path)
                      : shell("perf record -q %s -o %s '%s' --busy >/dev/null 2>&1", options, path, self);
    assert_int_equal(status, 0);
}

static void expect_same(const char *name, const char *options, bool pipe, bool chains)
{
    char path[512];
    if (!have_perf())
        unit_skip("no perf here that can record cpu-clock");
    record(name, options, pipe, path, sizeof path);
    compare_functions(path);
    if (chains)
        compare_chains(path);
}

static void test_file(void **state)
{
    expect_same("file", "-e cpu-clock -F 4000", false, false);
}

static void test_chains(void **state)
{
    expect_same("chains", "-e cpu-clock -F 2000 -g", false, true);
}

static void test_packed(void **state)
{
    expect_same("packed", "-e cpu-clock -F 4000 -z", false, false);
}

static void test_pipe(void **state)
{
    expect_same("pipe", "-e cpu-clock -F 4000 -g", true, true);
}

static void test_packed_pipe(void **state)
{
    expect_same("packed-pipe", "-e cpu-clock -F 4000 -z", true, false);
}

static void test_two_events(void **state)
{
    expect_same("two", "-e cpu-clock -c 500000 -e task-clock -c 700000 --buildid-all", false, false);
}

static void test_stacks_and_registers(void **state)
{
    char path[512];
    if (!have_perf())
        unit_skip("no perf here that can record cpu-clock");
    record("stacks", "-e cpu-clock -F 500 --call-graph dwarf,4096 --switch-events", false, path, sizeof path);
    struct list ours, theirs;
    both(path, "", "-G", &ours, &theirs);
    free_both(&ours, &theirs);
}

static void test_other_machines(void **state)
{
    static const char *const names[] = {"lbr-skylake", "lost-samples", "pebs-load-latency", "lbr-throttled"};
    if (!have_perf())
        unit_skip("no perf here that can record cpu-clock");
    for (unsigned i = 0; i < 4; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.perf.data", recordings, names[i]);
        if (access(path, R_OK) != 0)
            unit_skip("there is no recording %s in %s", names[i], recordings);
        struct list ours, theirs;
        bool branches = strncmp(names[i], "lbr", 3) == 0;
        /* The file with load latencies has no periods to print. */
        char text[512];
        snprintf(text, sizeof text, "%s/text", scratch);
        assert_int_equal(shell("perf script --ns -F comm,tid,time,event,ip%s -i '%s' >%s 2>/dev/null",
                               branches ? ",brstack" : "", path, text),
                         0);
        ours = read_list(path, false);
        theirs = read_list(text, true);
        assert_int_equal(ours.items.len, theirs.items.len);
        for (size_t k = 0; k < ours.items.len; k++) {
            const struct one *a = &ours.items.data[k], *b = &theirs.items.data[k];
            assert_int_equal(a->time, b->time);
            assert_int_equal(a->tid, b->tid);
            assert_int_equal(a->ip, b->ip);
            assert_int_equal(a->branches, b->branches);
            assert_int_equal(a->branch_from, b->branch_from);
        }
        free_both(&ours, &theirs);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--busy") == 0)
        return be_busy();
    static char path[4096];
    recordings = argc > 1 ? argv[1] : "../shared/data/perf";
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 1;
    self = path;
    const char *temporary = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/perf-tool-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(scratch) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_packed_pipe),
        cmocka_unit_test(test_two_events),
        cmocka_unit_test(test_stacks_and_registers),
        cmocka_unit_test(test_other_machines),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    shell("rm -rf '%s'", scratch);
    return status;
}
