/* See lane_idle.h. */
#include "engine/lane_idle.h"

#include "engine/pace.h"

/* Seconds for a thread that writes nothing: before the kernel is asked about it, and before a thread that sleeps is not waited for
 * although its block stores something. */
static const double patience = 0.002, long_patience = 0.5;

static bool is_idle_activity(uint32_t activity)
{
    return activity == AS_WIRE_IN_SYSCALL || activity == AS_WIRE_GATED || activity == AS_WIRE_THROTTLED;
}

/* Publishes what a thread has written and not published. If it does so meanwhile, that is as good. The order in which turn_chunk and
 * as_lane_append (lane.c) store is that in which x86 shows it; elsewhere the thread must be asleep. */
static void publish_for(struct as_wire_lane *lane)
{
    uint64_t published = atomic_load(&lane->published), position = *(volatile uint64_t *)&lane->chunk_position;
    uint64_t *chunk = *(uint64_t *volatile *)&lane->chunk;
    uint64_t in_chunk = (uint64_t)(*(uint64_t *volatile *)&lane->write - chunk);
    bool turned =
        position != *(volatile uint64_t *)&lane->chunk_position || chunk != *(uint64_t *volatile *)&lane->chunk;
    if (!turned && in_chunk <= AS_WIRE_CHUNK && position + in_chunk > published)
        atomic_compare_exchange_strong(&lane->published, &published, position + in_chunk);
}

static bool can_look_ahead(void)
{
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

/* The kernel does not run it: it waits inside QEMU, or is stopped. If its block stores something, that may have happened: it may wait for
 * its next block to be translated. */
static bool is_asleep(struct as_wire_lane *lane, const struct as_block *block, double stalled)
{
    char letter = stalled > patience ? as_pace_thread_state(lane) : 'R';
    if (letter == 'R' || letter == 'D')
        return false;
    publish_for(lane);
    return !block || !block->publishes || stalled > long_patience;
}

/* A thread that runs, or that the kernel lets wait, in a block that stores nothing: nobody can have seen anything of it. */
static bool is_silent(struct as_wire_lane *lane, const struct as_block *block)
{
    if (!can_look_ahead() || atomic_load(&lane->activity) != AS_WIRE_RUNNING)
        return false;
    publish_for(lane);
    return block && !block->publishes;
}

/* `activity` is loaded before `published`: a thread publishes before it says that it waits. */
bool as_lane_is_idle(struct as_wire_lane *lane, uint32_t state, const struct as_block *block, uint64_t read,
                     double stalled)
{
    bool idle = state == AS_WIRE_ENDED || is_idle_activity(atomic_load(&lane->activity)) ||
                (stalled > 0 && is_silent(lane, block)) || is_asleep(lane, block, stalled);
    return idle && atomic_load(&lane->published) == read;
}
