/* See access_sample.h. */
#include "model/access_sample.h"

#include "base/random.h"
#include "engine/access_words.h"

/* Whether two words are of one access: pieces of a vector, or both halves of an atomic. */
static inline bool are_one(const struct as_block_exec *exec, uint64_t word, uint64_t next)
{
    return as_access_may_join(word, next) ||
           (as_access_index(word) == as_access_index(next) && as_access_address(word) == as_access_address(next) &&
            as_access_kind(word) != as_access_kind(next) &&
            exec->block->insns[as_access_index(word)]->flags & AS_INSN_ATOMIC);
}

bool as_access_sample_meets(struct as_access_sample *sample, const struct as_shared_ranges *shared,
                            const struct as_block_exec *exec)
{
    uint64_t threshold = atomic_load_explicit(sample->threshold, memory_order_relaxed), reach = 63, before = 0;
    bool found = false;
    for (size_t i = 0; i < exec->n_words; i++) {
        uint64_t word = exec->words[i];
        uint64_t address = as_shared_physical(shared, word & ((UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1));
        uint64_t first = address >> sample->shift;
        uint64_t last = (address + as_access_size(word) - 1) >> sample->shift, far = (address + reach) >> sample->shift;
        bool goes_on = i > 0 && are_one(exec, exec->words[i - 1], word);
        sample->seen.accesses += !goes_on;
        sample->seen.touches += last - (goes_on ? before : first - 1);
        before = last;
        found |= first * AS_RANDOM_STEP <= threshold || (first != far && far * AS_RANDOM_STEP <= threshold);
    }
    return found;
}
