/* Call paths from registers and a stack: those of this very process, at a known place behind known calls. Equal paths have one
 * number. */
#include "reuse/traced_paths.h"

#include "apart.h"
#include "native/process_maps.h"
#include "unit.h"

#include <sys/uio.h>

#ifdef __x86_64__
static struct as_traced_paths *paths;
static size_t most_readable = SIZE_MAX; /* of the stack */
static uint32_t numbers[2];
static uint64_t inner_place;

/* As another process would read it: sanitizers do not like a look at the whole stack. */
static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
    size = size < most_readable ? size : most_readable;
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t n = size ? process_vm_readv(getpid(), &here, 1, &there, 1, 0) : 0;
    return n > 0 ? (size_t)n : 0;
}

static uint32_t find(const struct as_machine_state *state, uint32_t image, uint64_t insn)
{
    const struct as_traced_stop stop = {
        .pid = getpid(), .image = image, .insn = insn, .state = state, .read = read_memory};
    return as_traced_paths_find(paths, &stop);
}

/* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 …: those that a walk needs are the callee's to keep. */
#define TAKE_REGISTERS(state)                                                                                          \
    __asm__ volatile("mov %%rbx, 24(%0)\n mov %%rsp, 32(%0)\n mov %%rbp, 40(%0)\n mov %%r12, 96(%0)\n"                 \
                     "mov %%r13, 104(%0)\n mov %%r14, 112(%0)\n mov %%r15, 120(%0)\n lea 0(%%rip), %%rax\n"            \
                     "mov %%rax, (%1)" ::"r"((state)->value),                                                          \
                     "r"(&(state)->ip)                                                                                 \
                     : "rax", "memory")

UNIT_APART static void inner_call(int which)
{
    struct as_machine_state state = {.known = 0xffff};
    TAKE_REGISTERS(&state);
    inner_place = state.ip;
    numbers[which] = find(&state, 5, state.ip);
}

UNIT_APART static void middle_call(int which)
{
    inner_call(which);
    __asm__ volatile("");
}

UNIT_APART static void other_call(int which)
{
    inner_call(which);
    __asm__ volatile("nop");
}

UNIT_APART static void outer_call(int which, void (*middle)(int))
{
    middle(which);
    __asm__ volatile("");
}

static void take_map(void *context, struct as_perf_process *map)
{
    as_traced_paths_map(paths, map);
}

static int set_up(void **state)
{
    paths = as_traced_paths_new();
    as_process_maps(getpid(), false, take_map, NULL);
    most_readable = SIZE_MAX;
    return 0;
}

static int tear_down(void **state)
{
    as_traced_paths_free(paths);
    return 0;
}

static void is_within(uint64_t address, const void *function)
{
    assert_in_range(address, (uintptr_t)function, (uintptr_t)function + 512);
}

static void walks(void **state)
{
    size_t n;
    uint32_t image = 0;
    outer_call(0, middle_call);
    const uint64_t *frames = as_traced_paths_get(paths, numbers[0], &n, &image);
    assert_non_null(frames);
    assert_int_equal(image, 5);
    assert_true(n >= 4);
    assert_int_equal(frames[0], inner_place);
    is_within(frames[1], (const void *)middle_call);
    is_within(frames[2], (const void *)outer_call);
    is_within(frames[3], (const void *)walks);
}

/* Numbers tell paths apart: by their calls, by what is mapped, by the instruction. */
static void numbers_paths(void **state)
{
    struct as_machine_state state_here = {.known = 0xffff};
    for (volatile int i = 0; i < 2; i++) /* from one place: it is part of the path */
        outer_call(i, middle_call);
    assert_int_equal(numbers[0], numbers[1]);
    outer_call(1, other_call);
    assert_int_not_equal(numbers[0], numbers[1]);
    TAKE_REGISTERS(&state_here);
    uint32_t one = find(&state_here, 5, state_here.ip);
    assert_int_equal(find(&state_here, 5, state_here.ip), one);
    assert_int_not_equal(find(&state_here, 6, state_here.ip), one);
    assert_int_not_equal(find(&state_here, 5, state_here.ip + 1), one);
}

/* Without a stack, or of a process that is not known any more, there is the instruction itself. */
static void cannot_walk(void **state)
{
    size_t n;
    uint32_t image;
    most_readable = 0;
    outer_call(0, middle_call);
    const uint64_t *frames = as_traced_paths_get(paths, numbers[0], &n, &image);
    assert_int_equal(n, 1);
    assert_int_equal(frames[0], inner_place);
    most_readable = SIZE_MAX;
    as_traced_paths_forget(paths, getpid());
    outer_call(0, middle_call);
    as_traced_paths_get(paths, numbers[0], &n, &image);
    assert_int_equal(n, 1);
    assert_null(as_traced_paths_get(paths, 0, &n, &image));
    assert_null(as_traced_paths_get(paths, 1000, &n, &image));
    assert_int_equal(n, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(walks), TEST(numbers_paths), TEST(cannot_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
