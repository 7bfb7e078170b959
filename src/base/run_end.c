/* See run_end.h. */
#include "base/run_end.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

void as_run_end_take(struct as_run_end *end, int wait_status)
{
    end->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    end->exit_status = end->signal ? 128 + end->signal : WEXITSTATUS(wait_status);
}

bool as_run_end_complete(const struct as_run_end *end)
{
    return !end->stopped && !end->interrupted && !end->asked && !end->signal;
}

bool as_run_end_is_cut(const struct as_run_end *end)
{
    return end->interrupted || end->asked || end->signal == SIGINT || end->signal == SIGTERM;
}

int as_run_end_cut_by(const struct as_run_end *end)
{
    if (!as_run_end_is_cut(end))
        return 0;
    if (end->asked_by)
        return end->asked_by;
    return end->signal == SIGTERM ? SIGTERM : SIGINT;
}

const char *as_run_end_until(const struct as_run_end *end)
{
    if (end->stopped)
        return NULL;
    if (end->interrupted)
        return "until it was interrupted";
    if (end->signal)
        return "until it was killed";
    return end->asked ? "until it ended after an interrupt" : NULL;
}
