/* See string_run.h. */
#include "model/string_run.h"

bool as_string_run_has(struct as_string_run *run, uint32_t bytes, uint32_t line, const struct as_block_exec *exec)
{
    struct as_string_run now = {.insn = exec->block->insns[exec->first]};
    struct as_accesses all = as_accesses_of(exec);
    uint64_t written = 0;
    for (struct as_access access; as_accesses_next(&all, &access);) {
        if (access.kind == AS_ACCESS_STORE) {
            written = access.address;
            now.next = access.address + access.size;
        } else
            now.line = access.address / line + 1;
    }
    now.piece = written / bytes;
    bool goes_on =
        now.next && run->insn == now.insn && run->next == written && run->piece == now.piece && run->line == now.line;
    *run = now;
    return goes_on;
}
