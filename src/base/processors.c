/* See processors.h. */
#include "base/processors.h"

#include <sched.h>
#include <stdio.h>

size_t as_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? (size_t)n : 1;
}

bool as_processors_idle_by(const char *line, size_t processors)
{
    unsigned running;
    return sscanf(line, "%*s %*s %*s %u/", &running) == 1 && running > 0 && 2 * (size_t)(running - 1) < processors;
}

bool as_processors_idle(void)
{
    char line[128];
    FILE *file = fopen("/proc/loadavg", "re");
    bool idle = file && fgets(line, sizeof line, file) && as_processors_idle_by(line, as_processors());
    if (file)
        fclose(file);
    return idle;
}

/* The priority of both policies is 0; the nice value stays as it is. */
static bool change_policy(int from, int to)
{
    return sched_getscheduler(0) == from && sched_setscheduler(0, to, &(struct sched_param){0}) == 0;
}

bool as_processors_begin_batch(void)
{
    return change_policy(SCHED_OTHER, SCHED_BATCH);
}

void as_processors_end_batch(bool begun)
{
    if (begun)
        change_policy(SCHED_BATCH, SCHED_OTHER);
}
