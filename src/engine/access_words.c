/* See access_words.h. Nearly every word is one access as it stands. What may have to be joined or corrected goes through
 * as_accesses (engine.h), with the same result. */
#include "engine/access_words.h"

#include "base/alloc.h"
#include "engine/wire.h"

#include <string.h>

#define CLOSER_LOOK (UINT32_C(1) << 31)
#define ADDRESS ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1)

/* The second half of an as_data_access: compilers write bit-fields one by one. */
static inline uint64_t rest_of(uint32_t insn, uint32_t size, uint64_t kind)
{
    return insn | (uint64_t)size << 32 | kind << 56;
}

struct as_data_access as_access_convert(const struct as_block *block, const struct as_access *access)
{
    return (struct as_data_access){.address = access->address,
                                   .insn = block->insns[access->index]->id,
                                   .size = access->size < 1u << 24 ? access->size : (1u << 24) - 1,
                                   .kind = access->kind};
}

static inline void put(struct as_data_access *to, uint64_t word, uint64_t rest)
{
    uint64_t address = as_access_address(word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t halves[2] = {address, rest};
    _Static_assert(sizeof halves == sizeof *to, "address, instruction, size and kind");
    memcpy(to, halves, sizeof halves);
#else
    *to = (struct as_data_access){
        .address = address, .insn = (uint32_t)rest, .size = rest >> 32 & 0xffffff, .kind = (uint8_t)(rest >> 56)};
#endif
}

/* Plain words and codes are one allocation. */
struct as_access_codes *as_access_codes_new(const struct as_block *block, const uint64_t *words, size_t n)
{
    struct as_block_exec exec = {.block = block, .end = block->n, .words = words, .n_words = n};
    bool plain = as_accesses_are_plain(&exec);
    struct as_access_codes *codes =
        as_alloc(sizeof *codes + n * sizeof *codes->plain + block->n * sizeof *codes->codes);
    codes->codes = (uint32_t *)&codes->plain[n];
    codes->block = block;
    codes->n_plain = plain ? (uint32_t)n : UINT32_MAX;
    for (uint32_t i = 0; i < block->n; i++) {
        bool special = block->insns[i]->flags & (AS_INSN_ATOMIC | AS_INSN_BULK_MEM);
        codes->codes[i] = block->insns[i]->id | (special ? CLOSER_LOOK : 0);
    }
    for (size_t i = 0; plain && i < n; i++)
        codes->plain[i] = (struct as_access_plain){
            .head = words[i] & ~ADDRESS,
            .rest = rest_of(block->insns[as_access_index(words[i])]->id, as_access_size(words[i]), words[i] >> 62)};
    return codes;
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
        uint64_t index = as_access_index(word);
        if (__builtin_expect(index >= end, 0))
            break; /* as as_accesses does */
        uint32_t code = codes->codes[index], size = as_access_size(word);
        if (__builtin_expect(code & CLOSER_LOOK || as_access_may_join(word, next), 0)) {
            size_t taken = take_closer_look(codes->block, words, n, w, to);
            if (taken == 0)
                break;
            to++;
            w += taken;
            continue;
        }
        put(to++, word, rest_of(code, size, word >> 62));
        w++;
    }
    return (size_t)(to - first);
}

size_t as_access_words_count(const uint64_t *words, size_t n)
{
    size_t count = 1;
    while (count < n && words[count] & AS_WIRE_ACCESS_MASK)
        count++;
    return count - 1;
}

/* Whether the execution's words are as when the codes were made; then its accesses are made, and are as many as *count. How many they are is
 * read off the words, one by one: a processor foretells that and looks at the next blocks meanwhile. If the number came from the codes, each
 * block would wait for those of the one before it, which took twice the time. */
static inline bool make_plain(const struct as_access_codes *codes, const uint64_t *words, size_t n,
                              struct as_data_access *to, size_t *count)
{
    const struct as_access_plain *plain = codes->plain;
    size_t i = 0;
    for (; i < n && words[i] & AS_WIRE_ACCESS_MASK; i++) {
        if (__builtin_expect(i >= codes->n_plain || (words[i] ^ plain[i].head) & ~ADDRESS, 0))
            return false;
        put(&to[i], words[i], plain[i].rest);
    }
    *count = i;
    return i == codes->n_plain;
}

size_t as_access_words_make_all(const struct as_block_pages *blocks, const uint64_t *words, size_t n,
                                struct as_data_access *to)
{
    const struct as_data_access *first = to;
    for (size_t at = 0, count; at < n; at += 1 + count) {
        const struct as_access_codes *codes = as_block_pages_get(blocks, (uint32_t)words[at])->codes;
        if (__builtin_expect(make_plain(codes, words + at + 1, n - at - 1, to, &count), 1)) {
            to += count;
            continue;
        }
        count = as_access_words_count(words + at, n - at);
        to += as_access_words_make(codes, words + at + 1, count, to);
    }
    return (size_t)(to - first);
}

size_t as_access_words_iteration(const struct as_exec_words *words, size_t at, struct as_block_exec *exec)
{
    if (at >= words->n)
        return 0;
    const struct as_block *block = as_block_pages_get(words->blocks, (uint32_t)words->words[at]);
    size_t n = as_access_words_count(words->words + at, words->n - at);
    *exec = (struct as_block_exec){.block = block,
                                   .end = 1,
                                   .continues = true,
                                   .taken = block->outcome != AS_OUTCOME_FALLS,
                                   .next = block->address,
                                   .words = words->words + at + 1,
                                   .n_words = n};
    return at + 1 + n;
}
