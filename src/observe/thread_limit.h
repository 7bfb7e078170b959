/* Limits how many ended threads keep tables of their own to those that ran longest. The tables of the others are added
 * to a common one, so that a program that keeps starting threads does not exhaust memory.
 *
 * The Oracle and the samplers of a run see the same ends in the same order, and so keep the same threads.
 */
#ifndef AS_OBSERVE_THREAD_LIMIT_H
#define AS_OBSERVE_THREAD_LIMIT_H

#include <stddef.h>
#include <stdint.h>

enum { AS_THREADS_KEPT = 64 };
#define AS_NO_THREAD UINT32_MAX

struct as_thread_limit {
    struct as_ended_thread {
        uint32_t number;
        uint64_t cycles;
    } kept[AS_THREADS_KEPT];
    size_t n;
};

/* Called when a thread ends, with its cycle count; a reused thread number is reported again. Returns the thread whose
 * tables must be merged, or AS_NO_THREAD. */
uint32_t as_thread_limit_end(struct as_thread_limit *limit, uint32_t number, uint64_t cycles);

#endif
