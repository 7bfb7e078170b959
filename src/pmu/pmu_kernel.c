/* The stub that stands for the kernel: after a system call so many instructions of entry, body and exit, one a cycle;
 * the last ones of the body are locked adds, and the last one of the exit returns to the program. See pmu_stream.h.
 *
 * Not modelled: what a real system call does, its caches and branches, and interrupts that the kernel has disabled. */
#include "pmu/pmu_unit.h"

static struct as_pmu_code code_at(const struct as_pmu_stream *stream, uint32_t i)
{
    const struct as_pmu *pmu = &stream->pmu;
    uint32_t body = pmu->kernel_entry + pmu->kernel_body;
    bool locked = i < body && i >= body - pmu->kernel_locked, returns = i >= body && i + 1 == body + pmu->kernel_exit;
    struct as_insn insn = {.class_ = locked    ? AS_CLASS_ATOMIC
                                     : returns ? AS_CLASS_SYSTEM
                                               : AS_CLASS_INT,
                           .flags = locked ? AS_INSN_LOAD | AS_INSN_STORE | AS_INSN_ATOMIC | AS_INSN_LOCKED : 0};
    struct as_pmu_code code = {
        .address = AS_PMU_KERNEL_TEXT + 4 * i, .flags = insn.flags, .class_ = insn.class_, .known = true};
    for (size_t j = 0; j < stream->request.n; j++)
        code.counters |= (uint32_t)as_pmu_event_may(stream->request.counters[j].event, &insn) << j;
    return code;
}

void as_pmu_kernel_run(struct as_pmu_core *core, const struct as_pmu_op *call)
{
    struct as_pmu_stream *stream = core->stream;
    const struct as_pmu *pmu = &stream->pmu;
    uint32_t n = pmu->kernel_entry + pmu->kernel_body + pmu->kernel_exit;
    bool all = stream->unit->needs_all;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t cycle = call->pipe->commit + i + 1;
        struct as_pipe pipe = {.fetch = cycle,
                               .dispatch = cycle,
                               .issue = cycle,
                               .done = cycle,
                               .commit = cycle,
                               .path = call->pipe->path,
                               .thread = call->pipe->thread,
                               .uops = 1};
        struct as_pmu_code code = code_at(stream, i);
        if (all || code.counters)
            stream->unit->op(core, &(struct as_pmu_op){.pipe = &pipe, .code = &code, .kernel = true});
    }
    core->shift += n;
}
