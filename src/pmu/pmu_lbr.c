/* The branch record: the last branches that were taken, or, as a call stack, the calls that have not returned. See
 * pmu_unit.h. A branch's target is the address of what was retired behind it. */
#include "pmu/pmu_unit.h"

static void push(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_lbr *lbr = &core->lbr;
    uint64_t commit = as_pmu_commit(core, op), cycles = lbr->n ? commit - lbr->last : 0;
    bool tells = core->stream->pmu.lbr_mispredicts;
    lbr->ring[lbr->next] = (struct as_pmu_branch){
        .from = op->code->address,
        .cycles = core->stream->pmu.lbr_cycles ? (uint32_t)(cycles > UINT16_MAX ? UINT16_MAX : cycles) : 0,
        .mispredicted = tells && op->pipe->flags & AS_PIPE_MISPREDICTED};
    lbr->next = lbr->next + 1 == core->stream->pmu.lbr ? 0 : lbr->next + 1;
    lbr->n += lbr->n < core->stream->pmu.lbr;
    lbr->last = commit;
    lbr->open = true;
}

static void pop(struct as_pmu_core *core)
{
    struct as_pmu_lbr *lbr = &core->lbr;
    if (!lbr->n)
        return;
    lbr->n--;
    lbr->next = (lbr->next + core->stream->pmu.lbr - 1) % core->stream->pmu.lbr;
}

void as_pmu_lbr_arrive(struct as_pmu_core *core, uint64_t address)
{
    struct as_pmu_lbr *lbr = &core->lbr;
    if (lbr->open)
        lbr->ring[(lbr->next ? lbr->next : core->stream->pmu.lbr) - 1].to = address;
    lbr->open = false;
}

void as_pmu_lbr_note(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    uint8_t class_ = op->code->class_;
    as_pmu_lbr_arrive(core, op->code->address);
    if (!(op->pipe->flags & AS_PIPE_TAKEN))
        return;
    if (!core->stream->request.call_stack || class_ == AS_CLASS_CALL || class_ == AS_CLASS_CALL_INDIRECT)
        push(core, op);
    else if (class_ == AS_CLASS_RETURN)
        pop(core);
}

uint32_t as_pmu_lbr_read(const struct as_pmu_core *core, struct as_pmu_branch *branches)
{
    const struct as_pmu_lbr *lbr = &core->lbr;
    uint32_t size = core->stream->pmu.lbr, n = 0;
    for (uint32_t i = lbr->open; i < lbr->n; i++) /* one whose target is not known yet is not complete */
        branches[n++] = lbr->ring[(lbr->next + 2 * size - 1 - i) % size];
    return n;
}
