/* See block_end.h. */
#include "engine/block_end.h"

#include "base/log.h"
#include "engine/stream_rules.h"

/* The first instruction that had to access memory and did not, or block->n. */
static uint32_t first_missing(const struct as_block *block, const uint64_t *words, size_t n)
{
    size_t w = 0;
    for (uint32_t i = 0; i < block->n; i++) {
        uint32_t flags = block->insns[i]->flags;
        bool loaded = false, stored = false;
        for (; w < n && as_word_index(words[w]) == i; w++) {
            loaded |= (words[w] & AS_WIRE_LOAD) != 0;
            stored |= (words[w] & AS_WIRE_STORE) != 0;
        }
        if (flags & AS_INSN_VARIES || ((const struct as_code_insn *)block->insns[i])->silent)
            continue;
        if ((flags & AS_INSN_STORE && !stored) || (flags & AS_INSN_LOAD && !loaded && !stored))
            return i;
    }
    return block->n;
}

/* QEMU went on as if all was well, so it does not report this instruction's accesses: remember that. */
static void note_silent(struct as_stream *stream, struct as_block *block, uint32_t index)
{
    struct as_code_insn *code = (struct as_code_insn *)block->insns[index];
    char text[128];
    if (!code->silent) {
        as_log_debug("no accesses reported for %s", as_insn_text(&code->insn, text, sizeof text));
        ++*stream->disagreements;
    }
    code->silent = true;
    block->flags |= AS_BLOCK_DISAGREES;
    stream->code->doubts++;
}

/* The instruction of the block at an address, or block->n. */
static uint32_t index_of(const struct as_block *block, uint64_t address)
{
    for (uint32_t i = 0; i < block->n; i++)
        if (block->insns[i]->address == address)
            return i;
    return block->n;
}

bool as_block_is_second_try(const struct as_block *block, const struct as_block *next)
{
    return next && as_block_may_be_second_try(next) && index_of(block, next->address) < block->n;
}

uint32_t as_block_completed(struct as_stream *stream, const uint64_t *words, size_t n, const struct as_ending *ending)
{
    struct as_block *block = stream->block;
    bool leads = ending->next == 0 || as_block_leads_to(block, ending->next);
    if (ending->fault || !leads || as_block_is_second_try(block, ending->block)) {
        uint32_t cut = index_of(block, ending->next);
        if (cut < block->n)
            return cut;
    }
    if (stream->bare || as_looks_complete(block, words, n))
        return block->n;
    uint32_t missing;
    while ((missing = first_missing(block, words, n)) < block->n) {
        if (ending->next == 0 && !ending->syscall)
            return missing; /* the thread was killed there */
        note_silent(stream, block, missing);
    }
    return block->n;
}

void as_block_check_accesses(struct as_stream *stream, struct as_block *block, const struct as_block_exec *exec)
{
    uint32_t loads = 0, stores = 0;
    struct as_access access;
    for (struct as_accesses all = as_accesses_of(exec); as_accesses_next(&all, &access);) {
        bool sure = !(block->insns[access.index]->flags & AS_INSN_VARIES);
        loads += sure && access.kind & AS_ACCESS_LOAD;
        stores += sure && access.kind & AS_ACCESS_STORE;
    }
    block->flags |= AS_BLOCK_CHECKED;
    if (loads == block->load_accesses && stores == block->store_accesses)
        return;
    block->flags |= AS_BLOCK_DISAGREES;
    stream->code->doubts++;
    ++*stream->disagreements;
    as_log_debug("block at 0x%lx: %u loads and %u stores where the decoder expects %u and %u", block->address, loads,
                 stores, block->load_accesses, block->store_accesses);
}

/* QEMU 7 can leave a block's callbacks armed, and then reports what it does itself to deliver signals as accesses of
 * that block: it saves the FP state in the frame, which begins with three words of two bytes at a multiple of 64, and
 * reads segment descriptors. */
size_t as_block_without_frame(const struct as_block *block, const uint64_t *words, size_t n)
{
    static const struct {
        uint64_t offset, size_shift;
    } beginning[] = {{0, 1}, {2, 1}, {4, 1}, {8, 3}};
    enum { LENGTH = sizeof beginning / sizeof *beginning, ALIGNMENT = 64 };
    for (size_t i = 0; i + LENGTH <= n; i++) {
        uint32_t index = as_word_index(words[i]), alike = 0;
        if (words[i] % ALIGNMENT != 0 || (index < block->n && block->insns[index]->flags & AS_INSN_BULK_MEM))
            continue;
        uint64_t base = words[i] & ~(UINT64_C(7) << AS_WIRE_SIZE_SHIFT);
        while (alike < LENGTH &&
               words[i + alike] == (AS_WIRE_STORE | beginning[alike].size_shift << AS_WIRE_SIZE_SHIFT |
                                    (base + beginning[alike].offset)))
            alike++;
        if (alike == LENGTH)
            return i;
    }
    return n;
}
