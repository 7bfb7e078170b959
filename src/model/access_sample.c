/* See access_sample.h. */
#include "model/access_sample.h"

#include "base/random.h"
#include "engine/access_words.h"

#include <string.h>

static uint64_t address_of(uint64_t word)
{
    return word & ((UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1);
}

bool as_access_sample_meets(const struct as_access_sample *sample, const struct as_shared_ranges *shared,
                            const uint64_t *words, size_t n)
{
    uint64_t threshold = atomic_load_explicit(sample->threshold, memory_order_relaxed), reach = 63;
    for (size_t i = 0; i < n; i++) {
        uint64_t address = as_shared_physical(shared, address_of(words[i]));
        uint64_t first = address >> sample->shift, far = (address + reach) >> sample->shift;
        if (first * AS_RANDOM_STEP <= threshold || (first != far && far * AS_RANDOM_STEP <= threshold))
            return true;
    }
    return false;
}

/* As as_accesses gives them: an atomic is one access. */
static uint32_t count_of(const struct as_insn *insn)
{
    if (insn->flags & AS_INSN_VARIES)
        return 0;
    if (insn->flags & AS_INSN_ATOMIC)
        return 1;
    return as_insn_count_accesses(insn, AS_ACCESS_LOAD) + as_insn_count_accesses(insn, AS_ACCESS_STORE);
}

static uint32_t count_block(struct as_access_sample *sample, const struct as_block *block)
{
    while (sample->counts.len <= block->index)
        *as_vec_push(&sample->counts) = 0;
    uint32_t *count = &sample->counts.data[block->index];
    if (!*count) {
        *count = 1;
        for (uint32_t i = 0; i < block->n; i++)
            *count += count_of(block->insns[i]);
    }
    return *count - 1;
}

/* Counts the accesses that the words alone tell of, and the second granules of all. */
static void count_words(const struct as_access_sample *sample, struct as_access_sum *seen,
                        const struct as_block_exec *exec)
{
    struct as_access access;
    for (struct as_accesses all = as_accesses_of(exec); as_accesses_next(&all, &access);) {
        uint64_t last = access.address + (access.size ? access.size - 1 : 0);
        uint64_t more = (last >> sample->shift) - (access.address >> sample->shift);
        bool tells = exec->block->insns[access.index]->flags & AS_INSN_VARIES ||
                     access.kind > (AS_ACCESS_LOAD | AS_ACCESS_STORE);
        seen->accesses += tells;
        seen->touches += tells + more;
    }
}

void as_access_sample_count_runs(struct as_access_sample *sample, struct as_access_sum *seen,
                                 const struct as_block *block, uint64_t runs)
{
    uint64_t accesses = runs * count_block(sample, block);
    seen->accesses += accesses;
    seen->touches += accesses;
}

void as_access_sample_count(struct as_access_sample *sample, struct as_access_sum *seen,
                            const struct as_block_exec *exec)
{
    uint64_t accesses = 0;
    if (exec->end - exec->first == exec->block->n)
        accesses = count_block(sample, exec->block);
    else
        for (uint32_t i = exec->first; i < exec->end; i++)
            accesses += count_of(exec->block->insns[i]);
    seen->accesses += accesses;
    seen->touches += accesses;
    if (exec->n_words || exec->registers)
        count_words(sample, seen, exec);
}

/* Whether an access may lie in two granules: one of them, or with the piece before it. */
static bool may_cross(const struct as_access_sample *sample, const uint64_t *words, size_t n)
{
    bool crosses = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t address = address_of(words[i]), granule = address >> sample->shift;
        crosses |= (address + as_access_size(words[i]) - 1) >> sample->shift != granule;
        crosses |= i > 0 && granule << sample->shift == address && as_access_may_join(words[i - 1], words[i]);
    }
    return crosses;
}

void as_access_sample_count_borders(struct as_access_sample *sample, struct as_access_sum *seen,
                                    const struct as_exec_words *words)
{
    for (size_t at = 0; at < words->n;) {
        struct as_block_exec exec = {.block = as_block_pages_get(words->blocks, (uint32_t)words->words[at]),
                                     .words = words->words + at + 1};
        exec.end = exec.block->n;
        exec.n_words = as_access_words_count(words->words + at, words->n - at);
        if (may_cross(sample, exec.words, exec.n_words))
            count_words(sample, seen, &exec);
        at += 1 + exec.n_words;
    }
}

size_t as_access_sample_sift_iterations(struct as_access_sample *sample, struct as_access_sum *seen,
                                        const struct as_shared_ranges *shared, const struct as_exec_words *words,
                                        uint64_t *kept)
{
    size_t n = 0, each = as_access_words_count(words->words, words->n);
    for (size_t at = 0; at < words->n; at += 1 + each) {
        const uint64_t *accesses = words->words + at + 1;
        for (size_t i = 0; i < each; i++) {
            uint64_t address = address_of(accesses[i]), last = address + as_access_size(accesses[i]) - 1;
            seen->touches += 1 + (last >> sample->shift) - (address >> sample->shift);
        }
        if (!as_access_sample_meets(sample, shared, accesses, each))
            continue;
        memcpy(kept + n, words->words + at, (1 + each) * sizeof *kept);
        n += 1 + each;
    }
    seen->accesses += words->accesses;
    return n;
}
