/* What runs ahead on a copy is what the thread does: registers and accesses, instruction by instruction, against single
 * steps of the thread itself; and where it cannot go on, it says so. */
#include "native/lookahead.h"
#include "traced.h"

#ifdef __x86_64__
#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { STEPS = 3000 };

static uint64_t table[512];
static double numbers[64];
static char text[600];

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every flag that an instruction leaves is one that a later one takes: overflow and carry, and the direction. */
static void set_flags(void)
{
    uint64_t x = INT64_MAX, n = 0;
    __asm__ volatile("add $1, %0\n seto %b1\n adc $7, %1\n sub $1, %0\n setl %b1\n adc %0, %1\n"
                     "add %0, %0\n cmovo %0, %1\n std\n inc %1\n cmovns %0, %1\n cld\n cmovz %1, %0"
                     : "+r"(x), "+r"(n)
                     :
                     : "cc");
    table[201] = x + n;
}

/* Integers, doubles, strings of the C library (vectors), indirect calls, a string instruction, atomics. */
static void child_work(void)
{
    for (size_t i = 0; i < 64; i++)
        numbers[i] = (double)i * 1.5 + (i ? numbers[i - 1] / 3 : 0);
    memset(text, 'x', sizeof text - 1);
    text[500] = 'y';
    table[0] = (uint64_t)(strchr(text, 'y') - text) + strlen(text);
    for (size_t i = 1; i < 32; i++)
        table[i] = table[i - 1] * 6364136223846793005u + (uint64_t)numbers[i];
    qsort(table, 32, sizeof *table, compare);
    __atomic_fetch_add(&table[40], table[3], __ATOMIC_SEQ_CST);
    uint64_t *to = &table[64], *from = table;
    uint64_t n = 32;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    table[200] = table[64] % (table[70] | 1);
    set_flags();
}

/* The linker saves the vector registers when a function is first called; that cannot be copied. */
static void call_once(void)
{
    child_work();
    getppid();
    table[1] = 0;
}

static struct user_regs_struct registers_of(pid_t pid)
{
    struct user_regs_struct regs;
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &regs), 0);
    return regs;
}

static void fill(struct as_lookahead_thread *thread, pid_t pid)
{
    struct user_regs_struct r = registers_of(pid);
    const uint64_t values[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                 r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    memset(thread, 0, sizeof *thread);
    memcpy(thread->state.value, values, sizeof values);
    thread->state.known = 0xffff;
    thread->state.ip = r.rip;
    thread->state.flags = r.eflags;
    thread->state.knows_flags = thread->state.knows_segments = true;
    thread->state.segment[1] = r.fs_base;
    thread->state.segment[2] = r.gs_base;
    struct iovec area = {thread->xstate, sizeof thread->xstate};
    assert_int_equal(ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &area), 0);
}

static void compare_registers(const struct as_machine_state *state, pid_t pid)
{
    struct user_regs_struct r = registers_of(pid);
    const uint64_t values[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                 r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    assert_int_equal(state->ip, r.rip);
    for (int i = 0; i < 16; i++)
        assert_int_equal(state->value[i], values[i]);
    assert_int_equal(state->flags & 0x8c5, r.eflags & 0x8c5);
}

static void step_child(pid_t pid)
{
    int status;
    assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status));
}

/* Steps over the rest of raise(), up to the child's own code. */
static void step_to(pid_t pid, void (*work)(void))
{
    for (int i = 0; i < 2000 && registers_of(pid).rip != (uintptr_t)work; i++)
        step_child(pid);
    assert_int_equal(registers_of(pid).rip, (uintptr_t)work);
}

/* The whole way is recorded first: the process must stand still meanwhile. */
static void goes_where_the_thread_goes(void **state)
{
    struct as_lookahead *ahead = as_lookahead_new();
    struct as_lookahead_thread *thread = aligned_alloc(64, sizeof *thread);
    struct as_machine_state *way = calloc(STEPS, sizeof *way);
    assert_non_null(ahead);
    pid_t pid = traced_start(call_once, child_work);
    step_to(pid, child_work);
    fill(thread, pid);
    as_lookahead_begin(ahead, pid);
    struct as_lookahead_step step;
    size_t n = 0, accesses = 0;
    for (; n < STEPS && as_lookahead_step(ahead, thread, &step) == AS_LOOKAHEAD_GOES_ON; n++) {
        way[n] = thread->state;
        accesses += step.n;
    }
    as_lookahead_end(ahead);
    for (size_t i = 0; i < n; i++) {
        step_child(pid);
        compare_registers(&way[i], pid);
    }
    assert_in_range(n, 1500, STEPS);
    assert_in_range(accesses, n / (UNIT_SANITIZED ? 16 : 8), n); /* sanitizers add checks that compute */
    traced_end(pid);
    free(way);
    free(thread);
    as_lookahead_free(ahead);
}

static void calls_the_kernel(void)
{
    table[1] = 5;
    getppid();
}

__attribute__((no_sanitize("address", "undefined"))) static void reads_nothing(void)
{
    table[1] = *(volatile uint64_t *)table[500]; /* which is 0 */
}

static void is_not_code(void)
{
    __asm__ volatile("ud2");
}

static enum as_lookahead_end end_of(void (*work)(void))
{
    struct as_lookahead *ahead = as_lookahead_new();
    struct as_lookahead_thread *thread = aligned_alloc(64, sizeof *thread);
    struct as_lookahead_step step;
    pid_t pid = traced_start(call_once, work);
    step_to(pid, work);
    fill(thread, pid);
    as_lookahead_begin(ahead, pid);
    for (int i = 0; i < 2000 && as_lookahead_step(ahead, thread, &step) == AS_LOOKAHEAD_GOES_ON; i++)
        ;
    enum as_lookahead_end end = as_lookahead_step(ahead, thread, &step); /* it stays there */
    as_lookahead_end(ahead);
    traced_end(pid);
    free(thread);
    as_lookahead_free(ahead);
    return end;
}

static void says_where_it_ends(void **state)
{
    assert_int_equal(end_of(calls_the_kernel), AS_LOOKAHEAD_SYSTEM);
    assert_int_equal(end_of(reads_nothing), AS_LOOKAHEAD_MEMORY);
    assert_int_not_equal(end_of(is_not_code), AS_LOOKAHEAD_GOES_ON);
}

/* A store of the copy is not one of the process. */
static void leaves_the_process_alone(void **state)
{
    struct as_lookahead *ahead = as_lookahead_new();
    struct as_lookahead_thread *thread = aligned_alloc(64, sizeof *thread);
    struct as_lookahead_step step;
    pid_t pid = traced_start(call_once, calls_the_kernel);
    step_to(pid, calls_the_kernel);
    fill(thread, pid);
    as_lookahead_begin(ahead, pid);
    bool stored = false;
    while (as_lookahead_step(ahead, thread, &step) == AS_LOOKAHEAD_GOES_ON)
        for (unsigned i = 0; i < step.n; i++)
            stored |= step.accesses[i].address == (uintptr_t)&table[1] && step.accesses[i].kind == AS_ACCESS_STORE;
    as_lookahead_end(ahead);
    assert_true(stored);
    assert_int_equal(ptrace(PTRACE_PEEKDATA, pid, &table[1], 0), 0);
    traced_end(pid);
    free(thread);
    as_lookahead_free(ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_where_the_thread_goes),
        cmocka_unit_test(says_where_it_ends),
        cmocka_unit_test(leaves_the_process_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void is_for_x86(void **state)
{
    unit_skip("it runs x86-64 code alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_for_x86)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
