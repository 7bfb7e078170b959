/* See access_words.h. Nearly every word is one access as it stands. What may have to be joined or corrected goes through
 * as_accesses (engine.h), with the same result. */
#include "engine/access_words.h"

#include "base/alloc.h"
#include "engine/wire.h"

#include <string.h>

#define CLOSER_LOOK (UINT32_C(1) << 31)

struct as_access_codes *as_access_codes_new(const struct as_block *block)
{
    struct as_access_codes *codes = as_alloc(sizeof *codes + block->n * sizeof *codes->codes);
    codes->block = block;
    for (uint32_t i = 0; i < block->n; i++) {
        bool special = block->insns[i]->flags & (AS_INSN_ATOMIC | AS_INSN_BULK_MEM);
        codes->codes[i] = block->insns[i]->id | (special ? CLOSER_LOOK : 0);
    }
    return codes;
}

struct as_data_access as_access_convert(const struct as_block *block, const struct as_access *access)
{
    return (struct as_data_access){.address = access->address,
                                   .insn = block->insns[access->index]->id,
                                   .size = access->size < 1u << 24 ? access->size : (1u << 24) - 1,
                                   .kind = access->kind};
}

/* Whether two words that follow each other may be pieces of one operand: of one instruction and kind, and adjacent. */
static inline bool may_join(uint64_t word, uint64_t next, uint64_t size)
{
    const uint64_t same = AS_WIRE_ACCESS_MASK | AS_WIRE_INDEX_MASK << AS_WIRE_INDEX_SHIFT;
    const unsigned unused = 64 - AS_WIRE_ADDRESS_BITS;
    return ((word ^ next) & same) == 0 && (next - word) << unused == size << unused;
}

/* As two words: compilers write bit-fields one by one. */
static inline void put(struct as_data_access *to, uint64_t address, uint32_t insn, uint32_t size, uint64_t kind)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t halves[2] = {address, insn | (uint64_t)size << 32 | kind << 56};
    _Static_assert(sizeof halves == sizeof *to, "address, instruction, size and kind");
    memcpy(to, halves, sizeof halves);
#else
    *to = (struct as_data_access){.address = address, .insn = insn, .size = size & 0xffffff, .kind = (uint8_t)kind};
#endif
}

/* One access from the words at `at` of an execution; how many words it took, 0 where nothing comes any more. */
static __attribute__((noinline)) size_t take_closer_look(const struct as_block *block, const uint64_t *words, size_t n,
                                                         size_t at, struct as_data_access *to)
{
    struct as_block_exec exec = {.block = block, .end = block->n, .words = words, .n_words = n};
    struct as_accesses rest = {.exec = &exec, .next = at};
    struct as_access access;
    if (!as_accesses_next(&rest, &access))
        return 0;
    *to = as_access_convert(block, &access);
    return rest.next - at;
}

size_t as_access_words_make(const struct as_access_codes *codes, const uint64_t *words, size_t n,
                            struct as_data_access *to)
{
    const struct as_data_access *first = to;
    uint32_t end = codes->block->n;
    for (size_t w = 0; w < n;) {
        uint64_t word = words[w], next = w + 1 < n ? words[w + 1] : 0; /* 0: not an access */
        uint64_t index = word >> AS_WIRE_INDEX_SHIFT & AS_WIRE_INDEX_MASK;
        if (__builtin_expect(index >= end, 0))
            break; /* as as_accesses does */
        uint32_t code = codes->codes[index], size = 1u << (word >> AS_WIRE_SIZE_SHIFT & 7);
        if (__builtin_expect(code & CLOSER_LOOK || may_join(word, next, size), 0)) {
            size_t taken = take_closer_look(codes->block, words, n, w, to);
            if (taken == 0)
                break;
            to++;
            w += taken;
            continue;
        }
        int64_t address = (int64_t)(word << (64 - AS_WIRE_ADDRESS_BITS)) >> (64 - AS_WIRE_ADDRESS_BITS);
        put(to++, (uint64_t)address, code, size, word >> 62);
        w++;
    }
    return (size_t)(to - first);
}
