/* Which events a machine can raise. */
#ifndef AS_MODEL_MACHINE_EVENTS_H
#define AS_MODEL_MACHINE_EVENTS_H

#include "core/machine.h"

/* AS_EVENT_* that its records can have; the others are never set. */
uint32_t as_machine_events(const struct as_machine *machine);

#endif
