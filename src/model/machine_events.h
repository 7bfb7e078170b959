/* Which events a machine can raise. */
#ifndef AS_MODEL_MACHINE_EVENTS_H
#define AS_MODEL_MACHINE_EVENTS_H

#include "core/machine.h"

/* Returns the AS_EVENT_* that the machine's records can have; the others are never set. */
uint32_t as_machine_events(const struct as_machine *machine);

#endif
