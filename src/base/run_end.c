/* See run_end.h. */
#include "base/run_end.h"

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
