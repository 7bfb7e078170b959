/* The current mappings of a running process, in the form of a recording's records. */
#ifndef AS_NATIVE_PROCESS_MAPS_H
#define AS_NATIVE_PROCESS_MAPS_H

#include "perfdata/perfdata.h"

#include <sys/types.h>

typedef void as_process_maps_take(void *context, struct as_perf_process *map); /* valid during the call */
/* In the order of addresses; only code unless `data`. Does nothing if there is no such process. */
void as_process_maps(pid_t pid, bool data, as_process_maps_take *take, void *context);

#endif
