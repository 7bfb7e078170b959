/* A time that all processors share and that costs little to read: for the order of what threads did.
 *
 * A stamp that a thread takes before a store is below one that another thread takes after a load that saw the store's
 * value. Hence the time must not be read before earlier loads are done: rdtscp waits for them, rdtsc does not. Linux keeps
 * the counters of all processors in step, or a hypervisor does.
 */
#ifndef AS_ENGINE_STAMP_H
#define AS_ENGINE_STAMP_H

#include <stdint.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

static inline uint64_t as_stamp_now(void)
{
#if defined(__x86_64__)
    enum { SHIFT = 4 }; /* so that 24 bits last for a tenth of a second */
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor) >> SHIFT;
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now)::"memory");
    return now;
#else
    enum { SHIFT = 3 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) >> SHIFT;
#endif
}

/* The time before anything that the caller loads behind this call: a processor may otherwise load it earlier. */
static inline uint64_t as_stamp_before_loads(void)
{
    uint64_t now = as_stamp_now();
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
    return now;
}

#endif
