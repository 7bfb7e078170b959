/* See guard.h. The handler jumps back to the guarded call. Each thread that guards has its own signal stack, so that a
 * stack overflow is caught, too. */
#include "observe/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIGNAL_STACK = 64 * 1024 };

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static const char *const signal_names[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[SIGNALS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* held while handlers are installed */

struct guard {
    sigjmp_buf back;
    const char *volatile crash; /* the signal's name */
};
static _Thread_local struct guard *volatile active;

static void on_crash(int signal, siginfo_t *info, void *context)
{
    int which = 0;
    while (which < SIGNALS - 1 && signals[which] != signal)
        which++;
    struct guard *guard = active;
    if (!guard) {
        /* Not a guarded call: after the return the instruction faults again (abort raises again) and reaches the old
         * handler. */
        sigaction(signal, &before[which], NULL);
        if (info->si_code <= 0 && signal != SIGABRT)
            raise(signal);
        return;
    }
    active = NULL;
    guard->crash = signal_names[which];
    siglongjmp(guard->back, 1);
}

/* Again and again, because other code sets handlers, too. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, now;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_sigaction != on_crash) {
            before[i] = now;
            sigaction(signals[i], &action, NULL);
        }
    pthread_mutex_unlock(&mutex);
}

static void call_guarded(struct guard *guard, void (*call)(void *), void *argument)
{
    if (sigsetjmp(guard->back, 0) != 0)
        return;
    active = guard;
    call(argument);
    active = NULL;
}

/* The thread's signal stack. Never from malloc: the guarded code may crash inside it. Kept for the next call. */
static _Thread_local void *signal_stack;

static bool enter_stack(stack_t *old)
{
    if (!signal_stack) {
        void *memory = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        signal_stack = memory;
    }
    stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK};
    return sigaltstack(&stack, old) == 0;
}

/* A thread that does nothing but guarded calls keeps its stack between them and looks at the handlers now and then, which spares each
 * call seven system calls. */
static _Thread_local bool keeps_stack;
static _Thread_local stack_t kept; /* what the thread had before */
static _Thread_local unsigned calls_until_look;

bool as_guard_begin_thread(void)
{
    keeps_stack = keeps_stack || enter_stack(&kept);
    calls_until_look = 0;
    return keeps_stack;
}

static void look_at_handlers(void)
{
    if (keeps_stack && calls_until_look > 0) {
        calls_until_look--;
        return;
    }
    install();
    calls_until_look = AS_GUARD_LOOKS - 1;
}

const char *as_guard_call(void (*call)(void *argument), void *argument)
{
    struct guard guard = {.crash = NULL};
    stack_t old;
    look_at_handlers();
    bool replaced = !keeps_stack && enter_stack(&old);
    call_guarded(&guard, call, argument);
    if (replaced)
        sigaltstack(&old, NULL);
    return guard.crash;
}

void as_guard_end_thread(void)
{
    if (keeps_stack)
        sigaltstack(&kept, NULL);
    keeps_stack = false;
    if (signal_stack)
        munmap(signal_stack, SIGNAL_STACK);
    signal_stack = NULL;
}
