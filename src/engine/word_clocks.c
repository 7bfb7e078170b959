/* See word_clocks.h. Every store of the program comes here: a bit tells whether its word may be one that is kept. */
#include "engine/word_clocks.h"

#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"

enum { FILTER_BITS = 16, RECENT_BITS = 14, MOST_KEPT = 1 << 20 };

struct recent {
    uint64_t word, clock;
    uint32_t thread;             /* that wrote it, or saw it if nobody did; 0: nothing here */
    bool written, seen, awaited; /* awaited: another thread than its writer saw it */
};

struct as_word_clocks {
    uint64_t filter[(1 << FILTER_BITS) / 64];
    struct recent recent[1 << RECENT_BITS];
    struct as_map places; /* of words that are kept: index + 1 */
    AS_VEC(struct recent) kept;
};

struct as_word_clocks *as_word_clocks_new(void)
{
    return as_alloc(sizeof(struct as_word_clocks));
}

void as_word_clocks_free(struct as_word_clocks *clocks)
{
    if (!clocks)
        return;
    as_map_free(&clocks->places);
    as_vec_free(&clocks->kept);
    free(clocks);
}

static inline uint64_t hash_of(uint64_t word)
{
    return word * AS_RANDOM_STEP;
}

static inline bool may_be_kept(const struct as_word_clocks *clocks, uint64_t hash)
{
    uint64_t bit = hash >> (64 - FILTER_BITS);
    return clocks->filter[bit / 64] >> bit % 64 & 1;
}

static struct recent *find_kept(struct as_word_clocks *clocks, uint64_t word)
{
    const uint64_t *place = as_map_get(&clocks->places, word);
    return place ? &clocks->kept.data[*place - 1] : NULL;
}

static struct recent *keep(struct as_word_clocks *clocks, uint64_t word, uint64_t hash)
{
    uint64_t bit = hash >> (64 - FILTER_BITS);
    clocks->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    struct recent *entry = as_vec_push(&clocks->kept);
    *as_map_put(&clocks->places, word) = clocks->kept.len;
    return entry;
}

bool as_word_clocks_write(struct as_word_clocks *clocks, uint64_t word, uint32_t thread, uint64_t clock)
{
    uint64_t hash = hash_of(word);
    struct recent *entry = may_be_kept(clocks, hash) ? find_kept(clocks, word) : NULL;
    if (!entry) {
        entry = &clocks->recent[hash >> (64 - RECENT_BITS)];
        if (entry->word == word && entry->seen && clocks->kept.len < MOST_KEPT) {
            const struct recent *before = entry;
            entry = keep(clocks, word, hash);
            *entry = *before;
        }
    }
    *entry = (struct recent){.word = word,
                             .clock = clock,
                             .thread = thread,
                             .written = true,
                             .awaited = entry->word == word && entry->awaited};
    return entry->awaited;
}

bool as_word_clocks_see(struct as_word_clocks *clocks, uint64_t word, uint32_t thread, struct as_word_writer *writer)
{
    uint64_t hash = hash_of(word);
    struct recent *kept = may_be_kept(clocks, hash) ? find_kept(clocks, word) : NULL;
    struct recent *entry = kept ? kept : &clocks->recent[hash >> (64 - RECENT_BITS)];
    if (entry->word != word || !entry->thread)
        *entry = (struct recent){.word = word, .thread = thread};
    entry->seen = true;
    if (!entry->written || entry->thread == thread)
        return false;
    *writer = (struct as_word_writer){.thread = entry->thread, .was_awaited = entry->awaited, .clock = entry->clock};
    entry->awaited = true;
    if (!kept)
        *keep(clocks, word, hash) = *entry;
    return true;
}
