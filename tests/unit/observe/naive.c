/* See naive.h. */
#include "naive.h"

#include <string.h>

uint64_t naive_cycles(const struct naive_run *run)
{
    return run->pipes[run->n - 1].commit;
}

static struct naive_answer one(enum as_state state, size_t at)
{
    return (struct naive_answer){.state = state, .n = 1, .at = {at}};
}

/* All that commit in a cycle; iterations of one rep instruction are one. */
static struct naive_answer committing(const struct naive_run *run, uint64_t cycle)
{
    struct naive_answer answer = {.state = AS_STATE_COMPUTING};
    for (size_t i = 0; i < run->n; i++) {
        const struct as_pipe *pipe = &run->pipes[i];
        if (pipe->commit != cycle)
            continue;
        bool again = pipe->flags & AS_PIPE_CONTINUES && answer.n > 0 && run->pipes[i - 1].commit == cycle;
        if (!again)
            answer.at[answer.n++] = i;
    }
    return answer;
}

static bool twice(const struct as_pipe *pipe)
{
    return pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED);
}

static uint64_t fault_cycle(const struct as_pipe *pipe)
{
    return pipe->dispatch - pipe->exception;
}

static uint64_t first_cycle(const struct as_pipe *pipe)
{
    if (!twice(pipe))
        return pipe->dispatch;
    /* A mispredicted one has no room to say it: it stood there as long as that makes sense. */
    uint64_t stood = pipe->flags & AS_PIPE_MISPREDICTED ? 65535 : pipe->first_try;
    return stood < fault_cycle(pipe) ? fault_cycle(pipe) - stood : 0;
}

uint32_t naive_events(const struct as_pipe *pipe, uint64_t cycle)
{
    bool first = twice(pipe) && pipe->flags & AS_PIPE_OWN_VECTORS && cycle < pipe->dispatch &&
                 first_cycle(pipe) < pipe->dispatch;
    return !first ? pipe->events : pipe->flags & AS_PIPE_EXCEPTION ? AS_EVENT_FL_EX : AS_EVENT_FL_MO;
}

static bool in_rob(const struct as_pipe *pipe, uint64_t cycle)
{
    if (twice(pipe) && first_cycle(pipe) <= cycle && cycle < fault_cycle(pipe))
        return true;
    return pipe->dispatch <= cycle && cycle <= pipe->commit;
}

static struct naive_answer empty_rob(const struct naive_run *run, uint64_t cycle)
{
    size_t next = 0; /* the first that has not committed */
    while (run->pipes[next].commit < cycle)
        next++;
    const struct as_pipe *pipe = &run->pipes[next];
    if (twice(pipe) && fault_cycle(pipe) <= cycle && cycle < pipe->dispatch)
        return one(AS_STATE_EXCEPTION, next);
    if (next > 0 && run->pipes[next - 1].flags & AS_PIPE_MISPREDICTED)
        return one(AS_STATE_MISPREDICT, next - 1);
    if (next > 0 && run->pipes[next - 1].flags & AS_PIPE_FLUSHES)
        return one(AS_STATE_FLUSH, next - 1);
    return one(AS_STATE_DRAINED, next);
}

struct naive_answer naive_oracle(const struct naive_run *run, uint64_t cycle)
{
    struct naive_answer group = committing(run, cycle);
    if (group.n > 0)
        return group;
    size_t oldest = 0; /* in program order: if it is not in the ROB nobody is */
    while (run->pipes[oldest].commit < cycle)
        oldest++;
    if (in_rob(&run->pipes[oldest], cycle))
        return one(AS_STATE_STALLED, oldest);
    return empty_rob(run, cycle);
}

static struct naive_answer nobody(void)
{
    return (struct naive_answer){.state = AS_STATE_UNKNOWN};
}

static struct naive_answer lci(const struct naive_run *run, uint64_t cycle)
{
    for (size_t i = run->n; i-- > 0;)
        if (run->pipes[i].commit <= cycle)
            return one(AS_STATE_UNKNOWN, i);
    return nobody();
}

static struct naive_answer next_group(const struct naive_run *run, uint64_t cycle)
{
    for (;; cycle++) {
        struct naive_answer group = committing(run, cycle);
        group.state = AS_STATE_UNKNOWN;
        if (group.n > 0)
            return group;
    }
}

static struct naive_answer software(const struct naive_run *run, uint64_t cycle)
{
    for (size_t i = 0; i < run->n; i++)
        if (run->pipes[i].fetch > cycle)
            return one(AS_STATE_UNKNOWN, i);
    return nobody();
}

/* When what followed `pipe` was squashed; 0: it was not. */
static uint64_t squash_cycle(const struct as_pipe *pipe)
{
    if (pipe->flags & AS_PIPE_MISPREDICTED)
        return pipe->done;
    return pipe->flags & AS_PIPE_FLUSHES && !twice(pipe) ? pipe->commit : 0;
}

/* Whether wrong-path instructions behind `pipe` are dispatched in the cycle: at full width, one cycle after another. */
static bool wrong_dispatch_in(const struct naive_run *run, const struct as_pipe *pipe, uint64_t cycle)
{
    uint64_t at = pipe->dispatch + pipe->wrong_delay, end = squash_cycle(pipe);
    if (end == 0)
        return false;
    for (uint32_t left = pipe->wrong_path; left > 0 && at < end; at++) {
        if (at == cycle)
            return true;
        left -= left < run->dispatch_width ? left : run->dispatch_width;
    }
    return false;
}

/* … are fetched: from the cycle after it until the last of them that came so far was dispatched. Where none was, they
 * are fetched until they are squashed. */
static bool wrong_fetch_in(const struct naive_run *run, const struct as_pipe *pipe, uint64_t cycle)
{
    if (squash_cycle(pipe) == 0 || cycle <= pipe->fetch || cycle >= squash_cycle(pipe))
        return false;
    bool any = false;
    for (uint64_t at = pipe->dispatch; at < squash_cycle(pipe); at++) {
        any |= wrong_dispatch_in(run, pipe, at);
        if (at >= cycle && wrong_dispatch_in(run, pipe, at))
            return true;
    }
    return !any;
}

/* The first that passes a stage after the cycle. */
static struct naive_answer tagged(const struct naive_run *run, uint64_t cycle, bool at_fetch)
{
    for (cycle++; cycle <= naive_cycles(run); cycle++) {
        for (size_t i = 0; i < run->n; i++)
            if ((at_fetch ? run->pipes[i].fetch : run->pipes[i].dispatch) == cycle) {
                struct naive_answer answer = one(AS_STATE_UNKNOWN, i);
                answer.busy = run->pipes[i].commit;
                return answer;
            }
        for (size_t i = 0; i < run->n; i++)
            if ((at_fetch ? wrong_fetch_in : wrong_dispatch_in)(run, &run->pipes[i], cycle))
                return (struct naive_answer){.state = AS_STATE_UNKNOWN, .busy = squash_cycle(&run->pipes[i])};
    }
    return (struct naive_answer){.state = AS_STATE_UNKNOWN, .busy = UINT64_MAX};
}

static struct naive_answer oldest(struct naive_answer answer)
{
    answer.n = 1;
    return answer;
}

bool naive_has_one_tag(const char *name)
{
    return strcmp(name, "ibs") == 0 || strcmp(name, "spe") == 0 || strcmp(name, "ris") == 0;
}

struct naive_answer naive_sampler(const char *name, const struct naive_run *run, uint64_t cycle)
{
    if (strcmp(name, "software") == 0)
        return software(run, cycle);
    if (strcmp(name, "dispatch") == 0 || strcmp(name, "ibs") == 0 || strcmp(name, "spe") == 0)
        return tagged(run, cycle, false);
    if (strcmp(name, "ris") == 0)
        return tagged(run, cycle, true);
    if (strcmp(name, "lci") == 0)
        return lci(run, cycle);
    if (strcmp(name, "nci") == 0 || strcmp(name, "nci-tea") == 0)
        return oldest(next_group(run, cycle));
    if (strcmp(name, "nci+ilp") == 0)
        return next_group(run, cycle);
    struct naive_answer truth = naive_oracle(run, cycle);
    return strcmp(name, "tip-ilp") == 0 ? oldest(truth) : truth;
}
