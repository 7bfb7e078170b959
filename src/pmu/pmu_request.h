/* What a unit is asked to sample: events with their periods, and who listens. */
#ifndef AS_PMU_REQUEST_H
#define AS_PMU_REQUEST_H

#include "pmu/pmu_events.h"

/* What the program that samples does when a sample is there. */
enum as_pmu_handler {
    AS_HANDLER_NONE,   /* nothing: the kernel keeps the samples */
    AS_HANDLER_SIGNAL, /* gets a signal and returns */
    AS_HANDLER_IOCTL,  /* … stops and restarts the event meanwhile */
    AS_HANDLER_COUNT
};
extern const char *const as_pmu_handler_names[]; /* "none" …, NULL behind the last */

struct as_pmu_counter {
    const struct as_pmu_event *event;
    uint64_t period;
    uint32_t
        threshold; /* cycles at least: of load-latency from issue to the result, of SPE from dispatch to retirement */
    bool precise_dist; /* PDIR */
    bool user, kernel; /* the modes that are counted */
    uint32_t filter;   /* SPE: AS_INSN_LOAD, AS_INSN_STORE or AS_PMU_BRANCHES; 0: all */
};
enum { AS_PMU_BRANCHES = 1u << 31, AS_PMU_COUNTERS_MAX = 16 };

struct as_pmu_request {
    const struct as_pmu *pmu;
    struct as_pmu_counter counters[AS_PMU_COUNTERS_MAX];
    size_t n;
    enum as_pmu_handler handler;
    bool branches;   /* with each sample the branches before it */
    bool call_stack; /* … as a stack of calls */
    uint64_t seed;
};

/* Adds NAME[=THRESHOLD][:MODIFIERS]: u and k for user and kernel mode, ppp for a precise distribution; of SPE l, s and b
 * for loads, stores and branches only. The threshold is that of load-latency, or of SPE. The period counts what the event counts. */
bool as_pmu_request_add(struct as_pmu_request *request, const char *event, uint64_t period,
                        struct as_error *err) AS_MUST_CHECK;
/* The event of a unit that is not told which; and the period. */
const char *as_pmu_default_event(const struct as_pmu *pmu);
enum { AS_PMU_PERIOD = 10007 };
/* Whether the unit can do all of it together. */
bool as_pmu_request_check(const struct as_pmu_request *request, struct as_error *err) AS_MUST_CHECK;
/* "loads:pp": as perf calls it. */
const char *as_pmu_counter_name(const struct as_pmu_request *request, size_t i, char *text, size_t size);

#endif
