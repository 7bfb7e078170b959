/* A child that is traced, for what looks at stopped threads. */
#ifndef AS_TESTS_TRACED_H
#define AS_TESTS_TRACED_H

#include "unit.h"

#include <signal.h>
#include <sys/ptrace.h>

/* Stops in raise(), before it calls `work`; `before` is called earlier, untraced, and may be NULL. */
static inline pid_t traced_start(void (*before)(void), void (*work)(void))
{
    void (*volatile called)(void) = work; /* never inlined */
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (before)
            before();
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        called();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return pid;
}

static inline void traced_end(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

#endif
