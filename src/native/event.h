/* Events to sample: from a name to the attributes for perf_event_open. A name is looked up in this order:
 *
 *   task-clock, page-faults …        the kernel's software events
 *   cycles, instructions …           its generic hardware events
 *   r1a2b                            a raw code of the processor's PMU
 *   pmu/name/, pmu/term=value,…/     as /sys/bus/event_source/devices/pmu describes: events/name, format/term
 *   mem:0x1234[/length][:rw]         a watchpoint
 *   loads, stores                    this machine's event for them (the PMU's mem-loads, mem-stores, or libpfm4's)
 *   anything else                    a name of libpfm4 ("MEM_INST_RETIRED:ALL_LOADS", "snb::INST_RETIRED")
 *
 * each optionally followed by a colon and modifiers: u user mode, k kernel mode, p … ppp least precise level.
 *
 * Hardware events have not been run on hardware: the machines used for development have no PMU. Tests compare the
 * attributes with tables, using a made-up /sys.
 */
#ifndef AS_NATIVE_EVENT_H
#define AS_NATIVE_EVENT_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

enum as_native_unit {
    AS_NATIVE_UNIT_COUNTER, /* a counter that overflows: PEBS if precise_ip is above 0 */
    AS_NATIVE_UNIT_CLOCK,   /* task-clock, cpu-clock: the period is in nanoseconds */
    AS_NATIVE_UNIT_IBS_OP,
    AS_NATIVE_UNIT_IBS_FETCH,
    AS_NATIVE_UNIT_SPE, /* samples come in an AUX buffer */
    AS_NATIVE_UNIT_WATCHPOINT
};

struct as_native_event {
    char name[128];              /* as asked for */
    char pmu[32];                /* "cpu", "ibs_op", "software", "breakpoint" … */
    uint8_t unit;                /* enum as_native_unit */
    bool user_only, kernel_only; /* from its modifiers */
    struct perf_event_attr attr; /* type, config*, bp_*, precise_ip (the highest wanted), exclude_* */
};

/* `root` is put before /sys: "" for this machine. Returns false and one line in `err` if there is no such event. */
bool as_native_event_parse(const char *root, const char *text, struct as_native_event *event,
                           struct as_error *err) AS_MUST_CHECK;

/* ---- the parts ---- */

/* Only pmu/…/, with the text between the slashes. */
bool as_native_event_from_sysfs(const char *root, const char *pmu, const char *terms, struct as_native_event *event,
                                struct as_error *err) AS_MUST_CHECK;
/* Returns false if there is no such device. */
bool as_native_event_pmu_type(const char *root, const char *pmu, uint32_t *type);
bool as_native_event_pmu_has(const char *root, const char *pmu,
                             const char *file); /* "events/mem-loads", "format/ldlat" */
/* Returns false if the PMU exists only on other processors (`cpus`, `cpumask`: hybrid cores, SPE). */
bool as_native_event_pmu_covers(const char *root, const char *pmu, int cpu);
bool as_native_event_from_pfm(const char *text, struct as_native_event *event, struct as_error *err) AS_MUST_CHECK;

/* ---- how often ---- */

/* The prime nearest to n (n up to 2^62; 2 for smaller n). */
uint64_t as_prime_near(uint64_t n);

/* Sets `count` different primes near count * 1e9 / rate nanoseconds, about 1/61 of that apart, so that `count` clocks
 * with these periods together give `rate` samples a second, and never fall into step with each other or with a
 * program's own rhythm. */
void as_clock_periods(double rate, unsigned count, uint64_t *periods);

#endif
