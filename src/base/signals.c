/* See signals.h. */
#include "base/signals.h"

#include "base/witness.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };
static struct sigaction old_actions[CAUGHT];
static bool catching, shielding;
static bool in_background;        /* SIGINT was ignored */
static struct as_signals current; /* changes only while no signal is caught */
static _Atomic pid_t program;     /* 0: not started yet */
static _Atomic int early;         /* a signal that came before the program had started; 0: none */
static _Atomic unsigned interrupts;
static unsigned interrupts_of_run; /* those that came before as_signals_shield */
static _Atomic int last;           /* of them; 0: none */
static _Atomic bool insisted;

/* The program gets the first interrupt and may end by itself. If the run has not ended LAST interrupts behind that which was to end it, or what was measured is
 * not saved by then, something hangs (an observer of the user's, say), and Assay ends where it is. */
enum { PATIENCE = 2, LAST = 3 };

static bool is_interrupt(int signal)
{
    return signal == SIGINT || signal == SIGTERM;
}

static void pass_on(int signal)
{
    pid_t pid = atomic_load(&program);
    if (current.attached)
        return;
    if (pid > 0)
        kill(pid, signal);
    else
        atomic_store(&early, signal);
}

/* Whether the program ignores SIGINT. One that has not started will, if Assay does. */
static bool program_ignores(void)
{
    pid_t pid = atomic_load(&program);
    if (pid <= 0)
        return true;
    return current.ignores ? current.ignores(current.context) : as_signal_field_has(pid, "\nSigIgn", SIGINT, true);
}

/* Whether the program has got the signal of a process by itself, as a member of Assay's group. The witness is asked in any case: what it
 * has seen is for this signal. */
static bool program_has_it(int signal)
{
    bool to_group = as_witness_saw(signal);
    pid_t pid = atomic_load(&program);
    return to_group && pid > 0 && getpgid(pid) == getpgrp();
}

static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number); /* comes when the handler returns */
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    bool by_process = info->si_code <= 0; /* sent by a process, not by the terminal */
    if (signal == SIGINT && in_background && !by_process)
        return;
    bool ignored = signal == SIGINT && in_background && program_ignores(); /* asked before it may end */
    if (by_process && signal != SIGALRM && !program_has_it(signal))
        pass_on(signal);
    bool ends = signal == SIGALRM;
    if (is_interrupt(signal)) {
        atomic_store(&last, signal);
        unsigned patience = current.patience ? current.patience : PATIENCE;
        unsigned n = atomic_fetch_add(&interrupts, 1) + 1;
        ends = n >= (ignored ? 1 : patience);
        if (ends)
            atomic_store(&insisted, true);
        if (n >= patience + LAST)
            die_of(signal);
    }
    if (ends && current.stop)
        current.stop(current.context);
    errno = saved;
}

static void put_back(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &old_actions[i], NULL);
    as_witness_end();
    catching = shielding = false;
}

void as_signals_catch(const struct as_signals *how)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (catching || shielding)
        put_back();
    current = *how;
    atomic_store(&program, 0);
    atomic_store(&early, 0);
    atomic_store(&interrupts, 0);
    atomic_store(&last, 0);
    atomic_store(&insisted, false);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &old_actions[i]);
        bool ignored = old_actions[i].sa_handler == SIG_IGN;
        if (caught[i] == SIGINT)
            in_background = ignored;
        if (caught[i] == SIGALRM ? how->stop != NULL : !ignored || caught[i] == SIGINT)
            sigaction(caught[i], &action, NULL);
    }
    if (!how->attached && !how->waits_for_all)
        as_witness_start();
    catching = true;
}

void as_signals_pass_to(pid_t pid)
{
    atomic_store(&program, pid);
    int signal = atomic_exchange(&early, 0);
    if (signal && !current.attached)
        kill(pid, signal);
}

void as_signals_alarm(double seconds)
{
    time_t whole = (time_t)seconds;
    struct itimerval timer = {.it_value = {.tv_sec = whole, .tv_usec = (suseconds_t)((seconds - (double)whole) * 1e6)}};
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1; /* 0 would disable the timer */
    setitimer(ITIMER_REAL, &timer, NULL);
}

unsigned as_signals_interrupts(void)
{
    return atomic_load(&interrupts);
}

int as_signals_last(void)
{
    return atomic_load(&last);
}

bool as_signals_insisted(void)
{
    return atomic_load(&insisted);
}

void as_signals_restore(void)
{
    if (catching)
        put_back();
}

int as_signals_between(void)
{
    as_signals_restore();
    return as_signals_last();
}

/* There may be runs to come, which the user does not want any more. */
static void on_late_interrupt(int signal)
{
    static const char text[] =
        "assay: the program has ended, and what was measured is being saved: once more to give it up\n";
    int saved = errno;
    atomic_fetch_add(&interrupts, 1);
    atomic_store(&last, signal);
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    errno = saved;
}

/* The run was interrupted: the user knows that it is being saved. */
static void on_later_interrupt(int number)
{
    if (atomic_fetch_add(&interrupts, 1) - interrupts_of_run >= LAST)
        die_of(number);
}

void as_signals_shield(void)
{
    static const int interrupting[] = {SIGINT, SIGTERM};
    struct sigaction once = {.sa_handler = on_late_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART}, before;
    struct sigaction later = {.sa_handler = on_later_interrupt, .sa_flags = SA_RESTART};
    as_signals_restore();
    interrupts_of_run = atomic_load(&interrupts);
    for (size_t i = 0; i < sizeof interrupting / sizeof *interrupting; i++)
        if (interrupts_of_run > 0)
            sigaction(interrupting[i], &later, NULL);
        else if (sigaction(interrupting[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(interrupting[i], &once, NULL);
    shielding = true;
}
