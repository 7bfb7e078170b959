/* A monotonic clock, in seconds. */
#ifndef AS_BASE_CLOCK_H
#define AS_BASE_CLOCK_H

#include <time.h>

static inline double as_clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
