/* Unwinding copies of stacks: our own stack, taken here and now, gives our own callers; records and samples that make
 * no sense give one frame or none, in bounded time and memory. */
#include "native/stack_walk.h"

#include "unit.h"

#include <execinfo.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum { PID = 42, COPY = 16384 };

static struct as_stack_walker *walker;
static struct as_error err;

static int set_up(void **state)
{
    walker = as_stack_walker_new(NULL);
    return 0;
}

static int tear_down(void **state)
{
    as_stack_walker_free(walker);
    return 0;
}

static void tell(struct as_perf_process event)
{
    event.time = AS_PERF_NO_TIME;
    event.mode = AS_PERF_USER;
    assert_true(as_stack_walker_process(walker, &event, &err));
}

static void map(uint32_t pid, const char *name, uint64_t start, uint64_t length, uint64_t offset)
{
    tell((struct as_perf_process){
        .kind = AS_PERF_MAP, .pid = pid, .tid = pid, .name = name, .start = start, .length = length, .offset = offset});
}

static uintptr_t stack_end;

/* What is executable in this process, and where its stack ends. */
static void map_self(void)
{
    char line[512], path[256], rights[8];
    unsigned long start, end, offset;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255[^\n]", &start, &end, rights, &offset, path) != 5)
            continue;
        if (rights[2] == 'x')
            map(PID, path, start, end - start, offset);
        if (strcmp(path, "[stack]") == 0)
            stack_end = end;
    }
    fclose(maps);
}

/* ---- our own stack ---- */

static uint8_t copy[COPY];
static uint64_t values[24];

/* Registers in perf's order, without the segments. */
static struct as_perf_sample sample_of(const ucontext_t *context)
{
    static const int order[24] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                  REG_RIP, -1,      -1,      -1,      -1,      -1,      -1,      -1,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    size_t n = 0;
    struct as_perf_sample sample = {.pid = PID, .tid = PID, .mode = AS_PERF_USER, .stack = copy};
    for (int i = 0; i < 24; i++)
        if (order[i] >= 0) {
            values[n++] = (uint64_t)context->uc_mcontext.gregs[order[i]];
            sample.user_regs.mask |= UINT64_C(1) << i;
        }
    sample.user_regs.abi = PERF_SAMPLE_REGS_ABI_64;
    sample.user_regs.values = values;
    sample.user_regs.count = n;
    sample.ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    sample.stack_size = sample.stack_valid = COPY;
    return sample;
}

/* The stack as the kernel would copy it: as far as it goes. */
__attribute__((noinline, no_sanitize("address"))) static struct as_perf_sample take_own(void **trace, int *n)
{
    ucontext_t context;
    getcontext(&context);
    struct as_perf_sample sample = sample_of(&context);
    const uint8_t *from = (const uint8_t *)(uintptr_t)context.uc_mcontext.gregs[REG_RSP];
    size_t left = stack_end - (uintptr_t)from, size = left < COPY ? left : COPY;
    for (size_t i = 0; i < size; i++)
        copy[i] = from[i];
    sample.stack_size = sample.stack_valid = size;
    *n = backtrace(trace, 32);
    return sample;
}

static void own_callers(void **state)
{
    uint64_t frames[AS_WALK_MAX];
    void *trace[32];
    int n;
    map_self();
    struct as_perf_sample sample = take_own(trace, &n);
    size_t found = as_stack_walker_walk(walker, &sample, frames, AS_WALK_MAX);
    assert_true(n >= 6 && found >= 4);
    int first = 0; /* below it are take_own and, with sanitizers, what stands before backtrace */
    while (first < 3 && (uintptr_t)trace[first] != frames[1])
        first++;
    for (int i = 0; i < 3; i++)
        assert_int_equal(frames[1 + i], (uint64_t)(uintptr_t)trace[first + i]);
    assert_int_equal(frames[0], sample.ip);
    assert_int_equal(as_stack_walker_end(walker), AS_WALK_ENDED);
    assert_int_equal(as_stack_walker_walk(walker, &sample, frames, 2), 2);
    assert_int_equal(as_stack_walker_end(walker), AS_WALK_AT_MAX);
    struct as_perf_sample full = sample, partial = sample;
    full.stack_size = full.stack_valid = partial.stack_valid = 16;
    as_stack_walker_walk(walker, &full, frames, AS_WALK_MAX);
    assert_int_equal(as_stack_walker_end(walker), AS_WALK_BEYOND_COPY);
    as_stack_walker_walk(walker, &partial, frames, AS_WALK_MAX); /* the stack ends there */
    assert_int_equal(as_stack_walker_end(walker), AS_WALK_LOST);
    sample.stack_valid = 8; /* nothing to see: the interrupted place alone, or what registers give */
    assert_in_range(as_stack_walker_walk(walker, &sample, frames, AS_WALK_MAX), 1, 2);
}

static unsigned asked;

static bool refuse(void *context, uint32_t pid, uint64_t address)
{
    assert_int_equal(pid, PID);
    asked++;
    return false;
}

static void files_that_must_not_be_used(void **state)
{
    uint64_t frames[AS_WALK_MAX];
    void *trace[32];
    int n;
    as_stack_walker_free(walker);
    walker = as_stack_walker_new(&(struct as_stack_walker_options){.usable = refuse});
    asked = 0;
    map_self();
    struct as_perf_sample sample = take_own(trace, &n);
    assert_int_equal(as_stack_walker_walk(walker, &sample, frames, AS_WALK_MAX), 1);
    assert_int_equal(frames[0], sample.ip);
    assert_true(asked > 1);
}

/* ---- nonsense ---- */

static void samples_that_make_no_sense(void **state)
{
    uint64_t frames[AS_WALK_MAX];
    void *trace[32];
    int n;
    map_self();
    struct as_perf_sample good = take_own(trace, &n), bad = good;
    bad.user_regs.abi = 0;
    assert_int_equal(as_stack_walker_walk(walker, &bad, frames, AS_WALK_MAX), 0);
    bad = good;
    bad.user_regs.mask = 0;
    assert_int_equal(as_stack_walker_walk(walker, &bad, frames, AS_WALK_MAX), 0);
    bad = good;
    bad.user_regs.count = 3; /* fewer than the mask says */
    assert_int_equal(as_stack_walker_walk(walker, &bad, frames, AS_WALK_MAX), 0);
    bad = good;
    bad.pid = 1000; /* unknown */
    assert_int_equal(as_stack_walker_walk(walker, &bad, frames, AS_WALK_MAX), 1);
    assert_int_equal(as_stack_walker_walk(walker, &good, frames, 0), 0);
    static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63, 4096};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t k = 0; k < good.user_regs.count; k++) {
            uint64_t kept = values[k];
            values[k] = odd[i];
            assert_in_range(as_stack_walker_walk(walker, &good, frames, AS_WALK_MAX), 1, AS_WALK_MAX);
            values[k] = kept;
        }
    for (size_t i = 0; i < COPY; i++)
        copy[i] = (uint8_t)(i * 167 + 13);
    assert_in_range(as_stack_walker_walk(walker, &good, frames, AS_WALK_MAX), 1, AS_WALK_MAX);
}

/* Files that are none, at addresses that cannot be. */
static void maps_that_make_no_sense(void **state)
{
    uint64_t frames[AS_WALK_MAX];
    void *trace[32];
    int n;
    static const uint64_t places[] = {0, 1, 4095, UINT64_MAX, UINT64_MAX - 4095, UINT64_C(1) << 47};
    static const char *const names[] = {"/dev/zero", "/proc/self/mem", "/etc/passwd", "/", "/absent", "//anon", "",
                                        "x"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            map(PID, names[k], places[i], places[(i + 1) % 6], places[(i + k) % 6]);
    map_self();
    struct as_perf_sample sample = take_own(trace, &n);
    assert_in_range(as_stack_walker_walk(walker, &sample, frames, AS_WALK_MAX), 1, AS_WALK_MAX);
}

/* A recording of a few megabytes could ask for that: each fork of a process with many files would copy them all. */
static void forks_of_processes_with_many_files(void **state)
{
    for (uint64_t i = 0; i < 30000; i++)
        map(1, "/absent", i << 16, 4096, 0);
    for (uint32_t i = 2; i < 100000; i++)
        tell((struct as_perf_process){.kind = AS_PERF_FORK, .pid = i, .tid = i, .parent_pid = 1, .parent_tid = 1});
    map_self(); /* there is no room for it any more; nothing breaks */
    for (uint32_t i = 2; i < 100000; i++)
        tell((struct as_perf_process){.kind = AS_PERF_EXIT, .pid = i, .tid = i});
    own_callers(state); /* and now there is again */
}

int main(void)
{
#define BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        BED(own_callers),
        BED(files_that_must_not_be_used),
        BED(samples_that_make_no_sense),
        BED(maps_that_make_no_sense),
        BED(forks_of_processes_with_many_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* it is x86-64's */
}

#endif
