/* Loads and stores of a thread, counted by the PMU. */
#ifndef AS_REUSE_NATIVE_COUNTERS_H
#define AS_REUSE_NATIVE_COUNTERS_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct as_native_counters {
    int loads, stores; /* descriptors; 0: none */
};

/* Whether this machine counts accesses. */
bool as_native_counters_exist(struct as_error *err) AS_MUST_CHECK;
void as_native_counters_open(struct as_native_counters *counters, pid_t tid);
uint64_t as_native_counters_read(const struct as_native_counters *counters); /* in user mode, since it was opened */
void as_native_counters_close(struct as_native_counters *counters);

#endif
