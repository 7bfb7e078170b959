/* See code_sets.h. */
#include "plugin/code_sets.h"

#include "plugin/qemu_plugin_api.h"

#define CLUSTER_BIT (UINT32_C(1) << 24)
enum { STATE_BYTES = 1024 }; /* of a CPU's state: QEMU 7 has the flags at 424, with much more behind them */

static bool is_place(void *cpu, uint32_t *word, uint32_t flags)
{
    if (*word != flags)
        return false;
    *(volatile uint32_t *)word ^= CLUSTER_BIT;
    bool found = curr_cflags(cpu) == (flags ^ CLUSTER_BIT);
    *(volatile uint32_t *)word ^= CLUSTER_BIT;
    return found;
}

static size_t place; /* of the flags in a CPU's state, in bytes; 0: not known */

bool as_code_sets_find(unsigned vcpu)
{
    static bool tried;
    void *cpu = qemu_get_cpu && curr_cflags && cpu_exit && !tried ? qemu_get_cpu((int)vcpu) : NULL;
    uint32_t flags = cpu ? curr_cflags(cpu) : 0;
    for (size_t at = sizeof flags; cpu && !place && !(flags & CLUSTER_BIT) && at < STATE_BYTES; at += sizeof flags)
        if (is_place(cpu, (uint32_t *)((char *)cpu + at), flags))
            place = at;
    tried = true;
    return place != 0;
}

void as_code_sets_switch(unsigned vcpu, uint32_t set)
{
    void *cpu = qemu_get_cpu((int)vcpu);
    volatile uint32_t *flags = (uint32_t *)((char *)cpu + place);
    *flags = (*flags & ~((AS_CODE_SETS - 1) * CLUSTER_BIT)) | set * CLUSTER_BIT;
    cpu_exit(cpu); /* blocks that follow each other directly stay in their set: the next one has to be looked up */
}
