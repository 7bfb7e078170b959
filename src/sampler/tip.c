/* TIP: time-proportional instruction profiling. As the paper proposes for hardware, the sample contains the head of the
 * ROB and enough flags to charge it like the Oracle. See tip.h for the two halves. */
#include "sampler/tip.h"

/* ---- hardware ---- */

/* The offending instruction register: the last one committed, or the one whose exception emptied the ROB. */
struct oir {
    uint32_t address, events, path;
    bool exception, flush, mispredicted;
};

static struct oir oir_at(const struct as_query *query, uint64_t head)
{
    const struct as_pipe *next = as_window_at(query->window, head);
    if (query->cycle >= as_tries_of(next).fault)
        return (struct oir){
            .address = next->insn, .events = as_first_events(next), .path = next->path, .exception = true};
    if (head == as_window_start(query->window))
        return (struct oir){0}; /* as after a reset */
    const struct as_pipe *last = as_window_at(query->window, head - 1);
    return (struct oir){
        .address = last->insn,
        .events = last->events,
        .path = last->path,
        .flush = last->flags & AS_PIPE_FLUSHES,
        .mispredicted = last->flags & AS_PIPE_MISPREDICTED,
    };
}

static bool in_rob(const struct as_pipe *pipe, uint64_t cycle)
{
    struct as_tries tries = as_tries_of(pipe);
    return cycle >= pipe->dispatch || (cycle >= tries.first && cycle < tries.fault);
}

static void set_entry(struct as_tip_sample *sample, uint64_t position, uint32_t address, uint32_t events, uint32_t path)
{
    uint32_t bank = (uint32_t)(position % sample->banks);
    sample->address[bank] = address;
    sample->events[bank] = events;
    sample->path[bank] = path;
    sample->valid |= 1u << bank;
}

/* Copies the entry at position `head`, and the following ones that are in the ROB at `cycle`, at most one per bank;
 * with `committing`, only those that commit then. Returns false if the window ends before they do. */
static bool copy_entries(const struct as_window *window, uint64_t head, uint64_t cycle, bool committing,
                         struct as_tip_sample *sample)
{
    const struct as_pipe *before = as_window_at(window, head);
    sample->oldest = (uint32_t)(head % sample->banks);
    bool first = before->dispatch > cycle; /* its first try: what followed it is not in the records */
    set_entry(sample, head, before->insn, first ? as_first_events(before) : before->events, before->path);
    if (first)
        return true;
    for (uint64_t position = head + 1; position < head + sample->banks; position++) {
        if (position == window->end)
            return window->ended;
        const struct as_pipe *pipe = as_window_at(window, position);
        if (committing ? pipe->commit != cycle : pipe->dispatch > cycle)
            return true;
        /* Of a rep instruction that commits several iterations in the cycle, one counts. */
        if (!(committing && pipe->flags & AS_PIPE_CONTINUES && pipe->insn == before->insn))
            set_entry(sample, position, pipe->insn, pipe->events, pipe->path);
        before = pipe;
    }
    return true;
}

enum as_verdict as_tip_hardware(const struct as_query *query, struct as_tip_sample *sample)
{
    const struct as_window *window = query->window;
    uint64_t head, cycle = query->cycle;
    if (!as_query_head(query, &head))
        return as_query_waits(query);
    const struct as_pipe *pipe = as_window_at(window, head);
    bool committing = pipe->commit == cycle;
    *sample = (struct as_tip_sample){.banks = query->run->commit_group, .stalled = !committing};
    if (committing || in_rob(pipe, cycle))
        return copy_entries(window, head, cycle, committing, sample) ? AS_SAMPLE_TAKEN : AS_SAMPLE_WAITS;

    struct oir oir = oir_at(query, head);
    sample->exception = oir.exception;
    sample->flush = oir.flush;
    sample->mispredicted = oir.mispredicted;
    if (oir.exception || oir.flush || oir.mispredicted) {
        set_entry(sample, 0, oir.address, oir.events, oir.path);
        return AS_SAMPLE_TAKEN;
    }
    /* Drained: the flags stay as they are now, the addresses are those of the cycle in which the ROB is filled again.
     */
    sample->front_end = true;
    uint64_t filled = as_tries_of(pipe).first;
    return copy_entries(window, head, filled, false, sample) ? AS_SAMPLE_TAKEN : AS_SAMPLE_WAITS;
}

/* ---- software ---- */

static enum as_state state_of(const struct as_tip_sample *sample)
{
    if (sample->exception)
        return AS_STATE_EXCEPTION;
    if (sample->mispredicted)
        return AS_STATE_MISPREDICT;
    if (sample->flush)
        return AS_STATE_FLUSH;
    if (sample->front_end)
        return AS_STATE_DRAINED;
    return sample->stalled ? AS_STATE_STALLED : AS_STATE_COMPUTING;
}

void as_tip_software(const struct as_tip_sample *sample, bool ilp, struct as_attribution *attribution)
{
    if (sample->stalled || !ilp) {
        attribution->state = state_of(sample);
        attribution->n = 1;
        attribution->ids[0] = sample->address[sample->oldest];
        attribution->paths[0] = sample->path[sample->oldest];
        attribution->events[0] = sample->events[sample->oldest];
        return;
    }
    attribution->state = AS_STATE_COMPUTING;
    attribution->n = 0;
    for (uint32_t i = 0; i < sample->banks; i++) {
        uint32_t bank = (sample->oldest + i) % sample->banks;
        if (!(sample->valid >> bank & 1))
            continue;
        attribution->ids[attribution->n] = sample->address[bank];
        attribution->paths[attribution->n] = sample->path[bank];
        attribution->events[attribution->n++] = sample->events[bank];
    }
}

enum as_verdict as_tip_take(const struct as_query *query, struct as_attribution *attribution)
{
    struct as_tip_sample sample;
    enum as_verdict verdict = as_tip_hardware(query, &sample);
    if (verdict == AS_SAMPLE_TAKEN)
        as_tip_software(&sample, true, attribution);
    return verdict;
}

const struct as_sampler as_sampler_tip = {
    .name = "tip",
    .stands_for = "time-proportional instruction profiling, as proposed by Gottschall et al.",
    .take = as_tip_take,
};
