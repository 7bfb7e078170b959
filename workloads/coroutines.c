/* Coroutines whose call paths are known: `alpha` calls alpha_work, `beta` calls beta_work, each on a stack of its own, and
 * neither ever calls the other, main or the scheduler. They pass control to each other and to main ROUNDS times.
 *
 *   coroutines ucontext     makecontext and swapcontext
 *   coroutines assembly     a switch written by hand that ends in a return
 *   coroutines jump         … that ends in a jump; new coroutines are entered by a jump to the entry of a function
 *   coroutines longjmp      setjmp and longjmp between stacks that were set up by hand
 *   coroutines scheduler    alpha and beta change places on two threads, as goroutines do: what waits is left by a call of
 *                           the scheduler on the thread's own stack, and resumed by a jump, by the other thread (x86-64)
 *
 * Stacks of all but the first are small and lie side by side, as those of goroutines do.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { ROUNDS = 50, STACK = 64 << 10, SMALL = 16 << 10, ALPHA = 0, BETA = 1, MAIN = 2 };

#if defined(__clang__) /* which makes no clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;
static char stacks[2][STACK] __attribute__((aligned(4096)));
static void (*switch_from_to)(int from, int to);

static NOINLINE void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += (uint64_t)i;
}

static NOINLINE void alpha_work(void)
{
    work(300);
    sink++;
}

static NOINLINE void beta_work(void)
{
    work(200);
    sink++;
}

static NOINLINE void main_work(void)
{
    work(100);
    sink++;
}

static NOINLINE void pass_on(int from, int to)
{
    switch_from_to(from, to);
    sink++;
}

static NOINLINE void alpha(void)
{
    for (;;) {
        alpha_work();
        pass_on(ALPHA, BETA);
    }
}

static NOINLINE void beta(void)
{
    for (;;) {
        beta_work();
        pass_on(BETA, MAIN);
    }
}

/* ---- ucontext ---- */

static ucontext_t contexts[3];

static void switch_contexts(int from, int to)
{
    swapcontext(&contexts[from], &contexts[to]);
}

static void set_up_contexts(void)
{
    void (*const bodies[])(void) = {alpha, beta};
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = STACK;
        makecontext(&contexts[i], bodies[i], 0);
    }
}

/* ---- by hand ---- */

static void *saved[3]; /* stack pointers */
void switch_by_return(void **from, void *to);
void switch_by_jump(void **from, void *to);

#if defined(__x86_64__)
#define SAVE "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp, (%rdi); mov %rsi, %rsp;"
#define RESTORE "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp;"
__asm__(".pushsection .text\n"
        ".type switch_by_return, @function\nswitch_by_return:" SAVE RESTORE "ret\n"
        ".size switch_by_return, .-switch_by_return\n"
        ".type switch_by_jump, @function\nswitch_by_jump:" SAVE RESTORE "pop %rcx; jmp *%rcx\n"
        ".size switch_by_jump, .-switch_by_jump\n"
        ".popsection");
enum { SAVED = 6, LINK = 6 };
#elif defined(__riscv)
#define SAVE "addi sp, sp, -32; sd ra, 24(sp); sd s0, 16(sp); sd s1, 8(sp); sd sp, 0(a0); mv sp, a1;"
#define RESTORE "ld s1, 8(sp); ld s0, 16(sp);"
__asm__(".pushsection .text\n"
        ".type switch_by_return, @function\nswitch_by_return:" SAVE RESTORE "ld ra, 24(sp); addi sp, sp, 32; ret\n"
        ".size switch_by_return, .-switch_by_return\n"
        ".type switch_by_jump, @function\nswitch_by_jump:" SAVE RESTORE "ld t1, 24(sp); addi sp, sp, 32; jr t1\n"
        ".size switch_by_jump, .-switch_by_jump\n"
        ".popsection");
enum { SAVED = 4, LINK = 3 };
#endif

static void switch_returning(int from, int to)
{
    switch_by_return(&saved[from], saved[to]);
}

static void switch_jumping(int from, int to)
{
    switch_by_jump(&saved[from], saved[to]);
}

static void set_up_stack(int i, void (*body)(void))
{
    uintptr_t *top = (uintptr_t *)(stacks[0] + (size_t)(i + 1) * SMALL) - 16; /* side by side; 16-byte aligned */
    uintptr_t *frame = top - SAVED - 1;
    memset(frame, 0, (SAVED + 1) * sizeof *frame);
    frame[LINK] = (uintptr_t)body;
    saved[i] = frame;
}

static void set_up_stacks(void)
{
    set_up_stack(ALPHA, alpha);
    set_up_stack(BETA, beta);
}

/* ---- longjmp ---- */

static jmp_buf places[3];
static int started[3];

static void switch_places(int from, int to)
{
    if (_setjmp(places[from]))
        return;
    if (to != MAIN && !started[to]) {
        started[to] = 1;
        switch_by_return(&saved[from], saved[to]);
    }
    _longjmp(places[to], 1);
}

/* ---- a scheduler ---- */

#if defined(__x86_64__)
struct context {
    void *stack, *next, *kept[6];
};
struct thread { /* its own stack, and what it is given to run */
    void *stack;
    struct context *_Atomic given;
};
static struct context waits[2];
static struct thread scheduler_threads[2];
static __thread int this_thread;
void park(struct context *own, void *stack);
void schedule(struct context *parked);
void resume(const struct context *context) __attribute__((noreturn));

/* park: keeps where its caller goes on, and calls the scheduler on another stack. resume: goes on there. */
__asm__(".pushsection .text\n"
        ".type park, @function\npark: mov (%rsp), %rax; mov %rax, 8(%rdi); lea 8(%rsp), %rax; mov %rax, (%rdi);"
        "mov %rbx, 16(%rdi); mov %rbp, 24(%rdi); mov %r12, 32(%rdi); mov %r13, 40(%rdi); mov %r14, 48(%rdi);"
        "mov %r15, 56(%rdi); mov %rsi, %rsp; call schedule; ud2\n"
        ".size park, .-park\n"
        ".type resume, @function\nresume: mov (%rdi), %rsp; mov 16(%rdi), %rbx; mov 24(%rdi), %rbp;"
        "mov 32(%rdi), %r12; mov 40(%rdi), %r13; mov 48(%rdi), %r14; mov 56(%rdi), %r15; mov 8(%rdi), %rdi; jmp *%rdi\n"
        ".size resume, .-resume\n"
        ".popsection");

static NOINLINE struct context *wait_for_work(struct thread *own)
{
    struct context *context;
    while (!(context = atomic_exchange(&own->given, NULL)))
        sched_yield();
    return context;
}

__attribute__((used)) void schedule(struct context *parked)
{
    int thread = this_thread;
    atomic_store(&scheduler_threads[!thread].given, parked);
    resume(wait_for_work(&scheduler_threads[thread]));
}

/* Not inlined: a coroutine comes back on another thread. */
static NOINLINE void change_places(int from, int to)
{
    park(&waits[from], scheduler_threads[this_thread].stack);
    sink++;
}

static _Atomic int passed;

static NOINLINE void finish(int from, int to)
{
    if (atomic_fetch_add(&passed, 1) == 2 * ROUNDS)
        exit(0);
    change_places(from, to);
}

static void *run_thread(void *argument)
{
    static void (*const bodies[])(void) = {alpha, beta};
    this_thread = argument != NULL;
    scheduler_threads[this_thread].stack = stacks[1] + (size_t)(this_thread + 1) * SMALL;
    waits[this_thread].next = (void *)bodies[this_thread];
    waits[this_thread].stack = stacks[0] + (size_t)(this_thread + 1) * SMALL - 128 - 8;
    resume(&waits[this_thread]);
}

static int run_scheduler(void)
{
    pthread_t thread;
    switch_from_to = finish;
    if (pthread_create(&thread, NULL, run_thread, waits) != 0)
        return 1;
    run_thread(NULL);
    return 0;
}
#else
static int run_scheduler(void)
{
    fprintf(stderr, "coroutines: scheduler is for x86-64\n");
    return 2;
}
#endif

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*set_up)(void);
        void (*switch_from_to)(int from, int to);
    } ways[] = {{"ucontext", set_up_contexts, switch_contexts},
                {"assembly", set_up_stacks, switch_returning},
                {"jump", set_up_stacks, switch_jumping},
                {"longjmp", set_up_stacks, switch_places}};
    if (argc > 1 && strcmp(argv[1], "scheduler") == 0)
        return run_scheduler();
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        ways[i].set_up();
        switch_from_to = ways[i].switch_from_to;
        for (int round = 0; round < ROUNDS; round++) {
            main_work();
            pass_on(MAIN, ALPHA);
        }
        printf("%d rounds\n", ROUNDS);
        return 0;
    }
    fprintf(stderr, "usage: coroutines ucontext|assembly|jump|longjmp|scheduler\n");
    return 2;
}
