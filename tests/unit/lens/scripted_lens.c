/* See scripted_lens.h. */
#include "scripted_lens.h"

#include <string.h>

static enum as_lens_result arm(void *context, uint32_t thread, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref)
{
    struct scripted_lens *script = context;
    if (thread >= SCRIPTED_THREADS || !script->live[thread])
        return AS_LENS_GONE;
    if (script->arm_result != AS_LENS_OK)
        return script->arm_result;
    for (uint32_t i = 0; i < script->registers; i++) {
        struct scripted_register *slot = &script->slots[thread][i];
        if (slot->armed)
            continue;
        *slot = (struct scripted_register){.armed = true, .generation = ++script->generations, .watch = *watch};
        *ref = (struct as_lens_ref){.thread = thread, .slot = i, .generation = slot->generation};
        script->armed++;
        return AS_LENS_OK;
    }
    return AS_LENS_FULL;
}

static struct scripted_register *find(struct scripted_lens *script, const struct as_lens_ref *ref)
{
    struct scripted_register *slot = &script->slots[ref->thread][ref->slot];
    return slot->armed && slot->generation == ref->generation ? slot : NULL;
}

static enum as_lens_result move(void *context, struct as_lens_ref *ref, const struct as_lens_watch *watch)
{
    struct scripted_lens *script = context;
    struct scripted_register *slot = find(script, ref);
    if (!slot)
        return AS_LENS_GONE;
    slot->watch = *watch;
    slot->generation = ref->generation = ++script->generations;
    script->moved++;
    return AS_LENS_OK;
}

static enum as_lens_result disarm(void *context, const struct as_lens_ref *ref)
{
    struct scripted_lens *script = context;
    struct scripted_register *slot = find(script, ref);
    if (!slot)
        return AS_LENS_GONE;
    slot->armed = false;
    script->disarmed++;
    return AS_LENS_OK;
}

static bool counts(void *context, uint32_t thread, struct as_lens_counts *made)
{
    const struct scripted_lens *script = context;
    if (thread >= SCRIPTED_THREADS || !script->live[thread])
        return false;
    *made = script->counts[thread];
    return true;
}

static uint64_t now(void *context)
{
    return ((const struct scripted_lens *)context)->time;
}

static uint32_t registers(void *context)
{
    return ((const struct scripted_lens *)context)->registers;
}

static const struct as_lens_ops ops = {.name = "script",
                                       .arm = arm,
                                       .move = move,
                                       .disarm = disarm,
                                       .counts = counts,
                                       .time = now,
                                       .registers = registers};

void scripted_lens_init(struct scripted_lens *script)
{
    memset(script, 0, sizeof *script);
    script->lens = (struct as_lens){.ops = &ops, .context = script};
    script->registers = AS_LENS_REGISTERS;
    script->time = 1;
}

void scripted_lens_start(struct scripted_lens *script, const struct as_lens_client *client, void *context, uint32_t n)
{
    script->client = client;
    script->client_context = context;
    for (uint32_t i = 0; i < n; i++) {
        script->live[i] = true;
        if (client->thread_start)
            client->thread_start(context, i, 1);
    }
}

void scripted_lens_end(struct scripted_lens *script, uint32_t thread)
{
    if (script->client->thread_end)
        script->client->thread_end(script->client_context, thread);
    script->live[thread] = false;
    memset(script->slots[thread], 0, sizeof script->slots[thread]);
}

static struct as_lens_access make_access(struct scripted_lens *script, uint32_t thread, uint64_t address, uint8_t kind)
{
    script->time++;
    script->counts[thread].accesses++;
    script->counts[thread].loads += (kind & AS_ACCESS_LOAD) != 0;
    script->counts[thread].stores += (kind & AS_ACCESS_STORE) != 0;
    return (struct as_lens_access){.thread = thread,
                                   .core = thread,
                                   .address = address,
                                   .size = 8,
                                   .kind = kind,
                                   .insn = address,
                                   .time = script->time};
}

static void trap_on(struct scripted_lens *script, const struct as_lens_access *access)
{
    uint64_t newest = script->generations;
    for (uint32_t i = 0; i < AS_LENS_REGISTERS; i++) {
        const struct scripted_register *slot = &script->slots[access->thread][i];
        bool touched = access->address < slot->watch.address + slot->watch.length &&
                       slot->watch.address < access->address + access->size && slot->watch.kind & access->kind;
        if (!slot->armed || slot->generation > newest || !touched)
            continue;
        struct as_lens_trap trap = {
            .access = *access,
            .ref = {.thread = access->thread, .slot = i, .generation = slot->generation},
            .watch = slot->watch,
        };
        script->traps++;
        if (script->client->trap)
            script->client->trap(script->client_context, &trap);
    }
}

uint64_t scripted_lens_access(struct scripted_lens *script, uint32_t thread, uint64_t address, uint8_t kind)
{
    uint64_t before = script->traps;
    struct as_lens_access access = make_access(script, thread, address, kind);
    trap_on(script, &access);
    return script->traps - before;
}

uint64_t scripted_lens_sample(struct scripted_lens *script, uint32_t thread, uint64_t address, uint8_t kind,
                              uint64_t period)
{
    uint64_t before = script->traps;
    struct as_lens_access access = make_access(script, thread, address, kind);
    trap_on(script, &access);
    struct as_lens_sample sample = {
        .access = access, .counter = kind & AS_ACCESS_STORE ? AS_ACCESS_STORE : AS_ACCESS_LOAD, .period = period};
    if (script->client->sample)
        script->client->sample(script->client_context, &sample);
    return script->traps - before;
}

uint32_t scripted_lens_armed(const struct scripted_lens *script, uint32_t thread)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < AS_LENS_REGISTERS; i++)
        n += script->slots[thread][i].armed;
    return n;
}
