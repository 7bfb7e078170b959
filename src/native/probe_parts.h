/* The parts of as_probe_machine. */
#ifndef AS_NATIVE_PROBE_PARTS_H
#define AS_NATIVE_PROBE_PARTS_H

#include "native/probe.h"

void as_probe_processor(const char *root, struct as_probe *probe);
/* The identification that perf writes into recordings: "AuthenticAMD,25,1,1" on x86, the main id register on Arm.
 * Returns false if unknown. */
bool as_probe_cpu_id(const char *root, char *text, size_t size);
void as_probe_perf(const char *root, struct as_probe *probe);

/* Reads a small text file below `root`, without its last newline. Returns false if it is missing or empty. */
bool as_probe_read(const char *root, const char *path, char *text, size_t size);

#endif
