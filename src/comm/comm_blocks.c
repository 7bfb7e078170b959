/* See comm_blocks.h. */
#include "comm/comm_blocks.h"

#include "agent/agent_host.h"
#include "base/show.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- before the run ---- */

bool as_comm_blocks_open(struct as_comm_blocks *blocks, struct as_error *err)
{
    blocks->agent = as_agent_open(NULL, AS_GUEST_FRAMES, err);
    return blocks->agent && as_agent_want_blocks(blocks->agent, err);
}

char *const *as_comm_blocks_environment(const struct as_comm_blocks *blocks)
{
    return blocks->agent ? as_agent_environment(blocks->agent) : NULL;
}

/* ---- after it ---- */

struct seen {
    AS_VEC(struct as_agent_seen_block) list;
};

static void keep(void *context, const struct as_agent_seen_block *block)
{
    *as_vec_push(&((struct seen *)context)->list) = *block;
}

static int by_sequence(const void *a, const void *b)
{
    const struct as_agent_seen_block *x = a, *y = b;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void add_blocks(struct as_comm_native *native, const struct as_agent_image *image, const struct seen *seen)
{
    for (size_t i = 0; i < seen->list.len; i++) {
        const struct as_agent_seen_block *block = &seen->list.data[i];
        struct as_agent_seen_site from;
        struct as_guest_site site = {0};
        if (!as_agent_read_site(image, block->site, &from))
            continue;
        site.call = from.call;
        for (uint32_t k = 0; k < from.frames && k < AS_GUEST_FRAMES; k++)
            site.frames[k] = from.stack[k];
        as_comm_native_block(native, image->pid, &site, block->start, block->bytes);
    }
}

/* A process that executed another program has what that one allocated. */
static bool is_over(const struct as_agent *agent, uint32_t number)
{
    const struct as_agent_image *image = as_agent_image(agent, number), *other;
    for (uint32_t i = number + 1; i < AS_AGENT_IMAGES; i++)
        if ((other = as_agent_image(agent, i)) && other->pid == image->pid)
            return true;
    return false;
}

struct totals {
    uint64_t taken, unplaced;
    bool other; /* a program has another malloc */
};

static void read_image(struct as_comm_blocks *blocks, uint32_t number, struct as_comm_native *native,
                       struct totals *totals)
{
    struct seen seen = {0};
    const struct as_agent_image *image = as_agent_image(blocks->agent, number);
    if (!image || !image->remembers || is_over(blocks->agent, number))
        return;
    totals->taken += image->taken;
    totals->unplaced += image->unplaced;
    totals->other |= image->other;
    as_agent_each_block(blocks->agent, number, keep, &seen);
    if (seen.list.len)
        qsort(seen.list.data, seen.list.len, sizeof *seen.list.data, by_sequence);
    add_blocks(native, image, &seen);
    as_vec_free(&seen.list);
}

void as_comm_blocks_read(struct as_comm_blocks *blocks, struct as_comm_native *native, const struct as_notices *notices)
{
    struct totals totals = {0};
    if (!blocks->agent)
        return;
    as_agent_stop(blocks->agent);
    for (uint32_t i = 0; i < AS_AGENT_IMAGES; i++)
        read_image(blocks, i, native, &totals);
    if (!totals.taken)
        blocks->note = as_strdup(totals.other ? "the program has its own malloc, which the agent does not see"
                                              : "the agent saw no allocation: the program makes none, or was started "
                                                "without the agent's environment");
    if (totals.unplaced)
        as_notice(notices, AS_LOG_WARN,
                  "%s of %s blocks found no room in the agent's table: not all heap objects are known",
                  AS_COUNT(totals.unplaced), AS_COUNT(totals.taken));
}

void as_comm_blocks_close(struct as_comm_blocks *blocks)
{
    as_agent_close(blocks->agent);
    free(blocks->note);
}
