/* Rules by which stream.c, block_end.c and ways.c decide whether a block completed. */
#ifndef AS_ENGINE_STREAM_RULES_H
#define AS_ENGINE_STREAM_RULES_H

#include "engine/stream.h"
#include "engine/wire.h"

static inline uint32_t as_word_index(uint64_t word)
{
    return (uint32_t)(word >> AS_WIRE_INDEX_SHIFT & AS_WIRE_INDEX_MASK);
}

static inline bool as_is_sigreturn(enum as_arch arch, uint32_t call)
{
    enum { X86_64 = 15, RISCV64 = 139 };
    return call == (arch == AS_ARCH_RISCV64 ? RISCV64 : X86_64);
}

/* Quick and nearly always true: the last instruction that must access memory did. */
static inline __attribute__((always_inline)) bool as_looks_complete(const struct as_block *block, const uint64_t *words,
                                                                    size_t n)
{
    if (block->last_sure < 0)
        return true;
    if (n == 0)
        return false;
    uint32_t last = as_word_index(words[n - 1]);
    if (last != (uint32_t)block->last_sure)
        return last > (uint32_t)block->last_sure;
    return !block->sure_stores || words[n - 1] & AS_WIRE_STORE;
}

/* Whether what is executed now is reported to the sink. */
static inline bool as_stream_is_told(const struct as_stream *stream)
{
    enum as_mode mode = stream->regions->stretch.mode;
    return mode == AS_MODE_DETAIL || (mode != AS_MODE_COUNT && stream->sink->unmeasured);
}

#endif
