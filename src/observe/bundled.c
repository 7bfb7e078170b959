/* See bundled.h. */
#include "observe/bundled.h"

#include <string.h>

static const struct {
    const struct as_observer *ops;
    const char *argument;
} observers[] = {
    {&as_konata_observer, "FILE"},
    {&as_o3pipeview_observer, "FILE"},
    {&as_cycle_trace_observer, "FILE"},
    {&as_cycle_trace_all_observer, "FILE"},
    {&as_commit_csv_observer, "FILE"},
    {&as_commit_trace_observer, "FILE"},
    {&as_counters_observer, "FILE[,CYCLES] (1 to 67108864)"},
    {&as_timeline_observer, "[COLUMNS]"},
    {&as_calls_observer, "FILE"},
    {&as_flame_observer, "FILE"},
};
enum { OBSERVERS = sizeof observers / sizeof *observers };

const struct as_observer *as_bundled_at(size_t index)
{
    return index < OBSERVERS ? observers[index].ops : NULL;
}

const struct as_observer *as_bundled_find(const char *name)
{
    for (size_t i = 0; i < OBSERVERS; i++)
        if (strcmp(observers[i].ops->name, name) == 0)
            return observers[i].ops;
    return NULL;
}

const char *as_bundled_argument(const struct as_observer *observer)
{
    for (size_t i = 0; i < OBSERVERS; i++)
        if (observers[i].ops == observer)
            return observers[i].argument;
    return "";
}
