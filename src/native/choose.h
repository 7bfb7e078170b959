/* Chooses the source and events that `auto` uses on this machine, and gives the reason, from the probe's findings.
 *
 * Time: cycles at the highest precise level that opens (PEBS on Intel; on AMD the kernel substitutes IBS, with its
 * registers), else IBS op by itself, else cycles with skid, plus SPE if there is one, else the task clock. Data
 * accesses: the PMU's loads and stores with address, source and latency (Intel), IBS op (AMD), SPE (Arm), else the task
 * clock with registers, from which addresses are reconstructed (reconstruct.h).
 *
 * The choices for hardware have not been run on hardware: the machines used for development have no PMU.
 */
#ifndef AS_NATIVE_CHOOSE_H
#define AS_NATIVE_CHOOSE_H

#include "native/event.h"
#include "native/probe.h"

enum as_native_source { AS_NATIVE_AUTO, AS_NATIVE_PMU, AS_NATIVE_TIMER };
enum as_native_want { AS_NATIVE_TIME, AS_NATIVE_ACCESSES };

struct as_native_choice {
    enum as_native_source source; /* PMU or TIMER */
    char how[64];                 /* "PEBS", "IBS op", "SPE", "cycles with skid", "task clock" */
    char reason[256];             /* the reason, in one line */
    struct as_native_event events[2];
    size_t n_events;
    uint64_t fields; /* for as_native_options.fields */
};

/* Returns false and one line in `err` if the requested source is not available. `root` as for as_probe_machine. */
bool as_native_choose(const char *root, const struct as_probe *probe, enum as_native_source source,
                      enum as_native_want want, struct as_native_choice *choice, struct as_error *err) AS_MUST_CHECK;

#endif
