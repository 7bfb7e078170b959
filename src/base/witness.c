/* See witness.h. */
#include "base/witness.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic pid_t witness; /* 0: none */
static pid_t owner;           /* a forked copy of Assay has none of its own */

/* The text of /proc/PID/status, as far as it fits. In a signal handler only system calls are allowed. */
static void read_status(pid_t pid, char *text, size_t size)
{
    char path[40] = "/proc/", digits[12];
    size_t at = strlen(path), n = 0;
    for (; pid > 0; pid /= 10)
        digits[n++] = (char)('0' + pid % 10);
    while (n > 0)
        path[at++] = digits[--n];
    memcpy(path + at, "/status", sizeof "/status");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

bool as_signal_field_has(pid_t pid, const char *field, int signal, bool unknown)
{
    enum { DIGITS = 16, BITS = 4 }; /* of a mask of 64 signals, the first one last */
    char status[4096];
    read_status(pid, status, sizeof status);
    const char *mask = strstr(status, field);
    size_t before = strlen(field) + sizeof ":\t" - 1;
    if (!mask || strlen(mask) < before + DIGITS)
        return unknown;
    char letter = mask[before + DIGITS - 1 - (size_t)(signal - 1) / BITS];
    int digit = letter <= '9' ? letter - '0' : letter - 'a' + 10;
    return digit >> (signal - 1) % BITS & 1;
}

/* Forgets what it has seen whenever it is asked to, by a signal that no terminal and no shell sends. */
_Noreturn static void stand_by(pid_t parent)
{
    sigset_t seen, asked;
    sigfillset(&seen);
    sigemptyset(&asked);
    sigaddset(&asked, SIGRTMIN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "assay-witness");
    close_range(0, UINT_MAX, 0); /* others wait for the ends of pipes */
    while (getppid() == parent) {
        sigwaitinfo(&asked, NULL);
        while (sigtimedwait(&seen, NULL, &(struct timespec){0}) > 0) {
        }
    }
    _exit(0);
}

void as_witness_start(void)
{
    sigset_t all, old;
    as_witness_end();
    owner = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    if (pid == 0)
        stand_by(owner);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    atomic_store(&witness, pid > 0 ? pid : 0);
}

void as_witness_end(void)
{
    pid_t pid = atomic_exchange(&witness, 0);
    if (pid <= 0 || owner != getpid())
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

bool as_witness_saw(int signal)
{
    enum { LOOKS = 10, NAP = 1000000 }; /* the kernel reaches the members of a group one after the other */
    pid_t pid = atomic_load(&witness);
    bool saw = false;
    for (int i = 0; pid > 0 && !saw && i < LOOKS; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
        saw = as_signal_field_has(pid, "\nShdPnd", signal, false);
    }
    if (saw)
        kill(pid, SIGRTMIN);
    return saw;
}
