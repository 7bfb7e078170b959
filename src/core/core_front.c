/* The front end: which packet an instruction is fetched with, and where predictions send fetch.
 *
 * A packet holds adjacent instructions of one aligned block, up to a taken branch; it waits for redirects, the
 * instruction cache and TLB, room in the fetch buffer and a fetch target queue entry.
 *
 * Not modelled: contention by wrong-path instructions (they are counted, not executed), micro-op caches. */
#include "core/core_internal.h"

enum { WRONG_PATH_MOST = 512 };

static struct as_memory_answer fetch_line(struct as_core *core, uint64_t cycle, uint64_t address)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_fetch(core->memory, cycle + core->offset, address));
}

void as_core_open_packet(struct as_core *core, const struct as_insn *insn, uint64_t not_before, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t cycle = later(core->fetch_next, not_before), last_byte = insn->address + insn->length - 1;
    cycle = later(cycle, gone_at(&core->targets, core->n_packets));
    for (uint64_t line = insn->address >> core->line_shift; line <= last_byte >> core->line_shift; line++) {
        if (line == core->packet_line)
            continue;
        struct as_memory_answer answer = fetch_line(core, cycle, line << core->line_shift);
        cycle = later(cycle, answer.done);
        pipe->events |= answer.events;
        core->packet_line = line;
    }
    core->packet_cycle = cycle;
    core->packet_block = insn->address >> core->block_shift;
    core->packet_slots = machine->front.fetch_width;
    core->fetch_next = cycle + 1;
    core->n_packets++;
}

/* How many instructions the front end would have brought into the ROB along the predicted path before the branch
 * resolved, from the program's own code. */
static void follow_wrong_path(struct as_core *core, const struct as_insn *branch, uint64_t address,
                              struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t first = later(pipe->fetch + 1 + machine->front.depth, pipe->dispatch);
    uint64_t delay = first - pipe->dispatch;
    if (first >= pipe->done || delay > UINT8_MAX)
        return;
    uint64_t most = (pipe->done - first) * machine->back.width;
    most = most < machine->back.rob ? most : machine->back.rob;
    most = most < WRONG_PATH_MOST ? most : WRONG_PATH_MOST;
    uint64_t n = 0;
    while (n < most && address) {
        const struct as_insn *insn = core->code_at ? core->code_at(core->code_context, address) : NULL;
        if (!insn)
            break;
        n++;
        address = as_insn_is_control(insn) ? as_predictor_peek(core->predictor, insn) : insn->address + insn->length;
    }
    pipe->wrong_path = (uint16_t)n;
    pipe->wrong_delay = (uint8_t)delay;
    core->counters.wrong_path_instructions += n;
}

void as_core_predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    if (!op->next)
        return;
    struct as_prediction prediction = as_predictor_predict(core->predictor, op->insn, op->taken, op->next);
    if (core->ideal & AS_EVENT_FL_MB)
        prediction.mispredicted = false;
    core->counters.branches++;
    pipe->flags |= op->taken ? AS_PIPE_TAKEN : 0;
    if (prediction.mispredicted) {
        core->counters.branch_mispredictions++;
        pipe->flags |= AS_PIPE_MISPREDICTED;
        pipe->events |= AS_EVENT_FL_MB;
        follow_wrong_path(core, op->insn, prediction.target, pipe);
        core->fetch_next = pipe->done + machine->front.redirect;
        core->packet_slots = 0;
        core->lane = 0;
    } else if (op->taken) {
        core->counters.btb_misses += prediction.btb_miss;
        core->fetch_next = pipe->fetch + 1 + (prediction.fast ? 0 : machine->front.taken_bubble) +
                           (prediction.btb_miss ? machine->front.btb_miss_bubble : 0);
        core->packet_slots = 0;
    }
}

void as_core_flush_after(struct as_core *core, uint64_t commit)
{
    core->fetch_next = commit + core->machine->front.flush;
    core->packet_slots = 0;
    core->lane = 0;
    core->counters.flushes++;
}
