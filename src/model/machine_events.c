/* See machine_events.h. */
#include "model/machine_events.h"

#include "observe/events.h"

static bool has_banks(const struct as_machine *machine)
{
    return machine->memory.l1d.banks > 0;
}

static bool has_slow_units(const struct as_machine *machine)
{
    for (int i = 0; i < AS_UNIT_COUNT; i++)
        if (machine->units[i].interval > 1)
            return true;
    return machine->fp_sqrt_interval > 1;
}

uint32_t as_machine_events(const struct as_machine *machine)
{
    uint32_t never = machine->coherence.protocol == AS_PROTOCOL_OFF ? AS_EVENT_COHERENCE : 0;
    never |= machine->memory.l2.size == 0 ? AS_EVENT_L2_HIT : 0;
    never |= !machine->back.memory_speculation ? AS_EVENT_FL_MO : 0;
    never |= !has_banks(machine) ? AS_EVENT_BANK : 0;
    never |= !has_slow_units(machine) ? AS_EVENT_DIVIDE : 0;
    return AS_EVENTS_ALL & ~never;
}
