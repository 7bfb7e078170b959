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

/* What is done by hand and not by the processor: each way to jump, call and return, each condition with either outcome, the
 * stack's instructions, strings in both directions. Every wrong turn leaves another value in a register. */
char by_hand_buffer[256];
void by_hand(void);
#define CONDITIONS                                                                                                     \
    ".irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g\n"                                                \
    "j\\cc 9f\n lea 3(%rbx, %rbx), %rbx\n 9: {disp32} j\\cc 9f\n lea 5(%rbx, %rbx, 2), %rbx\n 9:\n .endr\n"
__asm__(
    ".text\n .type by_hand, @function\n by_hand:\n"
    "push %rbp\n mov %rsp, %rbp\n push %rbx\n sub $72, %rsp\n mov $1, %ebx\n"
    /* the stack */
    "push $-5\n pop %rax\n push $0x12345678\n pop %rcx\n push %rcx\n pushq (%rsp)\n pop %rdx\n pop %rsi\n"
    /* jumps and calls */
    "lea 1f(%rip), %rax\n jmp *%rax\n ud2\n 1: lea 2f(%rip), %rax\n mov %rax, -32(%rbp)\n jmp *-32(%rbp)\n ud2\n"
    "2: call 7f\n lea 7f(%rip), %rax\n call *%rax\n mov %rax, -40(%rbp)\n call *-40(%rbp)\n"
    "push $1\n push $2\n call 8f\n jmp 3f\n 7: inc %rbx\n ret\n 8: inc %rbx\n ret $16\n 3:\n"
    /* conditions */
    "mov $1, %eax\n cmp $2, %eax\n" CONDITIONS "cmp $1, %eax\n" CONDITIONS "cmp $-2, %eax\n" CONDITIONS
    "mov $0x80000000, %eax\n cmp $1, %eax\n" CONDITIONS "mov $0x7fffffff, %eax\n cmp $-1, %eax\n" CONDITIONS
    /* loops */
    "mov $3, %ecx\n 1: loop 1b\n mov $3, %ecx\n cmp %eax, %eax\n 1: loope 1b\n mov $3, %ecx\n 1: loopne 1b\n"
    "cmp $5, %eax\n mov $3, %ecx\n 1: loopne 1b\n mov $3, %ecx\n 1: loope 1b\n"
    "jrcxz 1f\n inc %rbx\n 1: xor %ecx, %ecx\n jrcxz 1f\n ud2\n 1: mov $1, %ecx\n shl $32, %rcx\n jrcxz 1f\n"
    "inc %rbx\n 1: jecxz 1f\n ud2\n 1:\n"
    /* strings */
    "lea by_hand_buffer(%rip), %rdi\n mov $0x44332211, %eax\n mov $5, %ecx\n rep stosb\n mov $3, %ecx\n rep stosl\n"
    "stosw\n stosq\n lea by_hand_buffer(%rip), %rsi\n mov $6, %ecx\n rep movsb\n movsl\n movsq\n std\n"
    "lea by_hand_buffer+200(%rip), %rdi\n mov $4, %ecx\n rep stosw\n lea by_hand_buffer+20(%rip), %rsi\n mov $3, %ecx\n"
    "rep movsw\n cld\n xor %ecx, %ecx\n rep movsb\n rep stosb\n"
    "mov -8(%rbp), %rbx\n leave\n ret\n .size by_hand, . - by_hand\n");

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

struct way {
    size_t n, accesses;
    uint64_t last;                      /* the instruction that was executed last */
    char buffer[sizeof by_hand_buffer]; /* as the copy left it */
};

/* The whole way is recorded first: the process must stand still meanwhile. Ends behind the instruction at `until`. */
static struct way compare_ways(void (*work)(void), uint64_t until)
{
    struct as_lookahead *ahead = as_lookahead_new();
    struct as_lookahead_thread *thread = aligned_alloc(64, sizeof *thread);
    struct as_machine_state *states = calloc(STEPS, sizeof *states);
    struct as_lookahead_step step = {0};
    struct way way = {0};
    assert_non_null(ahead);
    pid_t pid = traced_start(call_once, work);
    step_to(pid, work);
    fill(thread, pid);
    as_lookahead_begin(ahead, pid);
    for (; way.n < STEPS && way.last != until; way.n++) {
        if (as_lookahead_step(ahead, thread, &step) != AS_LOOKAHEAD_GOES_ON)
            break;
        states[way.n] = thread->state;
        way.accesses += step.n;
        way.last = step.ip;
    }
    assert_true(as_lookahead_read(ahead, (uintptr_t)by_hand_buffer, way.buffer, sizeof way.buffer));
    as_lookahead_end(ahead);
    for (size_t i = 0; i < way.n; i++) {
        step_child(pid);
        compare_registers(&states[i], pid);
    }
    char buffer[sizeof way.buffer];
    struct iovec here = {buffer, sizeof buffer}, there = {by_hand_buffer, sizeof buffer};
    assert_int_equal(process_vm_readv(pid, &here, 1, &there, 1, 0), sizeof buffer);
    assert_memory_equal(buffer, way.buffer, sizeof buffer);
    traced_end(pid);
    free(states);
    free(thread);
    as_lookahead_free(ahead);
    return way;
}

static void goes_where_the_thread_goes(void **state)
{
    struct way way = compare_ways(child_work, 1);
    assert_in_range(way.n, 1500, STEPS);
    assert_in_range(way.accesses, way.n / (UNIT_SANITIZED ? 16 : 8), way.n); /* sanitizers add checks that compute */
}

/* … to the return to its caller. */
static void does_by_hand_what_the_thread_does(void **state)
{
    uint64_t until = (uintptr_t)by_hand;
    while (memcmp((const void *)until, "\xc9\xc3", 2) != 0) /* leave, ret */
        until++;
    struct way way = compare_ways(by_hand, until + 1);
    assert_int_equal(way.last, until + 1);
    /* The stack: 8 pushes, one of them from memory, and 4 pops. Stores of addresses 2, jumps and calls through memory 2, calls 4,
     * returns 4. Strings: 10 and 4 stores, 8 and 3 copies. The end 3. */
    assert_int_equal(way.accesses, 8 + 1 + 4 + 2 + 2 + 4 + 4 + 10 + 4 + 2 * (8 + 3) + 3);
    assert_int_equal(way.buffer[0], 0x11);
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

enum { WIDE_PAGES = 4000 };
static char wide[WIDE_PAGES][4096];

__attribute__((no_sanitize("address", "undefined"))) static void reads_widely(void)
{
    for (size_t i = 0; i < WIDE_PAGES; i++)
        table[1] += (uint64_t) * (volatile char *)wide[i];
    getppid();
}

/* A program that goes to another page with each access is copied in part, and then no thread goes on. */
static void copies_so_many_pages(void **state)
{
    struct as_lookahead *ahead = as_lookahead_new();
    struct as_lookahead_thread *thread = aligned_alloc(64, sizeof *thread), *other = aligned_alloc(64, sizeof *other);
    struct as_lookahead_step step;
    uint64_t pages = 0;
    pid_t pid = traced_start(call_once, reads_widely);
    step_to(pid, reads_widely);
    fill(thread, pid);
    memcpy(other, thread, sizeof *other);
    as_lookahead_begin(ahead, pid);
    assert_int_equal(as_lookahead_step(ahead, other, &step), AS_LOOKAHEAD_GOES_ON);
    while (as_lookahead_step(ahead, thread, &step) == AS_LOOKAHEAD_GOES_ON)
        for (unsigned i = 0; i < step.n; i++)
            pages += step.accesses[i].address >= (uintptr_t)wide &&
                     step.accesses[i].address < (uintptr_t)(wide + WIDE_PAGES);
    assert_int_equal(thread->end, AS_LOOKAHEAD_MEMORY);
    assert_in_range(pages, 2000, 2048);
    assert_int_equal(as_lookahead_step(ahead, other, &step), AS_LOOKAHEAD_MEMORY);
    as_lookahead_end(ahead);
    as_lookahead_begin(ahead, pid); /* the next copy is a new one */
    fill(thread, pid);
    assert_int_equal(as_lookahead_step(ahead, thread, &step), AS_LOOKAHEAD_GOES_ON);
    as_lookahead_end(ahead);
    traced_end(pid);
    free(thread);
    free(other);
    as_lookahead_free(ahead);
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
        cmocka_unit_test(goes_where_the_thread_goes), cmocka_unit_test(does_by_hand_what_the_thread_does),
        cmocka_unit_test(says_where_it_ends),         cmocka_unit_test(copies_so_many_pages),
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
