/* The processors that the calling process may use, and how its threads share them. */
#ifndef AS_BASE_PROCESSORS_H
#define AS_BASE_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>

/* How many there are: what to divide work by. At least 1. */
size_t as_processors(void);

/* Whether other programs leave nearly all processors idle at this moment. */
bool as_processors_idle(void);
/* … by a line of /proc/loadavg, which counts the caller. */
bool as_processors_idle_by(const char *line, size_t processors);

/* Threads that wake each other: from here on none that the calling thread starts, nor itself, takes the processor from the thread that
 * wakes it (SCHED_BATCH). For a machine that is idle: they do not take it from other programs either. Processes inherit it,
 * so those that are not to have it start before or after. Returns whether it changed anything, for as_processors_end_batch: not
 * if the user has chosen a policy. */
bool as_processors_begin_batch(void);
void as_processors_end_batch(bool begun); /* on the same thread */

#endif
