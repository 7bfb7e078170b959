/* See tage.h. Entries are as in hardware: a tag, a 3-bit counter, a 2-bit useful counter, a valid bit. All tables lie
 * in one array, the bimodal one first; its 2-bit counters are the middle four values of three bits, so that every table
 * is read in the same way. What depends on the program is computed rather than branched on: the host's own predictor
 * would fail where the modelled one has work to do.
 *
 * An entry becomes more useful when it was right where the alternative was wrong, less when the other way round. New
 * entries go only where usefulness is 0. It ages in two ways: a search for room that finds none takes one off
 * everywhere it looked, and when as many searches were made as there are entries all of it is halved.
 *
 * Not modelled: banks that bar two branches of one packet from the same row, and the delay between prediction and
 * training.
 */
#include "core/tage.h"

#include "base/alloc.h"
#include "core/branch_history.h"

#include <stdlib.h>

enum { WEAKLY_NOT_TAKEN = 3, WEAKLY_TAKEN = 4, COUNTER_MAX = 7, USEFUL_MAX = 3 };
enum { VALID = 1 << 15, BASE = AS_TAGE_TABLES_MAX };
enum { TRUST_MAX = 15, TRUST_HALF = 8 }; /* in the alternative over a young entry */

struct entry {
    uint16_t tag; /* with VALID; 0: empty */
    uint8_t counter, useful;
};

/* What a prediction is made of. Table 0 has the longest history; the bimodal table comes last. */
struct lookup {
    uint32_t entry[BASE + 1] __attribute__((aligned(16))); /* place in each table … */
    uint16_t tag[BASE] __attribute__((aligned(16)));       /* … and tag there */
    uint32_t provider, alternative;                        /* tables */
    bool provider_taken, alternative_taken;
    bool young; /* the provider's entry has proved nothing yet */
    bool taken; /* the prediction */
};

typedef uint32_t places __attribute__((vector_size(4 * sizeof(uint32_t)), may_alias));

struct as_tage {
    struct as_branch_history history;
    as_lanes mask[AS_HISTORY_GROUPS], tag_mask[AS_HISTORY_GROUPS]; /* of each table … */
    places first[2 * AS_HISTORY_GROUPS];                           /* … and its first entry */
    struct entry *entries;
    size_t entries_count;
    uint32_t tables; /* tagged ones */
    uint32_t base_mask;
    uint32_t trust;
    uint32_t random;
    size_t searches;  /* for room, since the last aging */
    uint64_t changes; /* of entries */
    uint64_t bits;    /* storage of the tagged tables */
};

/* Machines name the shortest history first. */
static void add_table(struct as_tage *tage, const struct as_machine *machine, uint32_t i)
{
    uint32_t from = tage->tables - 1 - i;
    uint32_t log_entries = machine->predictor.tage_entries[from], tag_bits = machine->predictor.tage_tag_bits[from];
    uint32_t length =
        as_history_length(from, tage->tables, machine->predictor.tage_shortest, machine->predictor.tage_longest);
    uint32_t group = i / AS_HISTORY_LANES, lane = i % AS_HISTORY_LANES;
    tage->mask[group][lane] = (uint16_t)((1u << log_entries) - 1);
    tage->tag_mask[group][lane] = (uint16_t)((1u << tag_bits) - 1);
    tage->first[i / 4][i % 4] = (uint32_t)tage->entries_count;
    tage->entries_count += (size_t)1 << log_entries;
    tage->bits += (uint64_t)(tag_bits + 3 + 2 + 1) << log_entries;
    as_history_add(&tage->history, i, length, log_entries, tag_bits);
}

struct as_tage *as_tage_new(const struct as_machine *machine)
{
    struct as_tage *tage = as_alloc_apart(1, sizeof *tage);
    tage->tables = machine->predictor.tage_tables;
    tage->entries_count = (size_t)1 << machine->predictor.base_entries;
    tage->base_mask = (uint32_t)tage->entries_count - 1;
    for (uint32_t i = 0; i < tage->tables; i++)
        add_table(tage, machine, i);
    tage->entries = as_alloc_apart(tage->entries_count, sizeof *tage->entries);
    for (uint32_t i = 0; i <= tage->base_mask; i++)
        tage->entries[i].counter = WEAKLY_NOT_TAKEN;
    tage->trust = TRUST_HALF;
    tage->random = 0x2545f491;
    return tage;
}

void as_tage_free(struct as_tage *tage)
{
    if (!tage)
        return;
    free(tage->entries);
    free(tage);
}

/* Where the tables of a group have the branch. */
static inline void find_places(const struct as_tage *tage, uint32_t group, as_lanes index, uint32_t *entry)
{
    const as_lanes none = {0};
    as_lanes low = __builtin_shufflevector(index, none, 0, 8, 1, 9, 2, 10, 3, 11);
    as_lanes high = __builtin_shufflevector(index, none, 4, 12, 5, 13, 6, 14, 7, 15);
    ((places *)entry)[0] = (places)low + tage->first[2 * group];
    ((places *)entry)[1] = (places)high + tage->first[2 * group + 1];
}

/* Bit i: table i has the branch. The bimodal table has them all. Lanes without a table find the first bimodal entry,
 * which has no tag. */
static inline __attribute__((always_inline)) uint32_t find_hits(const struct as_tage *tage, uint64_t address,
                                                                struct lookup *lookup)
{
    uint32_t key = as_history_key(address), hits = 1u << BASE;
    uint32_t groups = tage->history.groups;
    const struct entry *entries = tage->entries;
    lookup->entry[BASE] = (uint32_t)(address >> 1) & tage->base_mask;
    for (uint32_t group = 0; group < groups; group++) {
        uint32_t *at = &lookup->entry[group * AS_HISTORY_LANES];
        as_lanes tag = (as_history_tag(&tage->history, group, key) & tage->tag_mask[group]) | VALID;
        find_places(tage, group, as_history_index(&tage->history, group, key) & tage->mask[group], at);
        *(as_lanes *)&lookup->tag[group * AS_HISTORY_LANES] = tag;
        as_lanes found = {entries[at[0]].tag, entries[at[1]].tag, entries[at[2]].tag, entries[at[3]].tag,
                          entries[at[4]].tag, entries[at[5]].tag, entries[at[6]].tag, entries[at[7]].tag};
        hits |= as_lanes_equal(found, tag) << (group * AS_HISTORY_LANES);
    }
    return hits;
}

static inline __attribute__((always_inline)) void look(const struct as_tage *tage, uint64_t address,
                                                       struct lookup *lookup)
{
    uint32_t hits = find_hits(tage, address, lookup);
    uint32_t provider = (uint32_t)__builtin_ctz(hits);
    uint32_t alternative = (uint32_t)__builtin_ctz((hits & (hits - 1)) | 1u << BASE);
    struct entry entry = tage->entries[lookup->entry[provider]];
    bool provider_taken = entry.counter >= WEAKLY_TAKEN;
    bool alternative_taken = tage->entries[lookup->entry[alternative]].counter >= WEAKLY_TAKEN;
    bool weak = (entry.counter == WEAKLY_TAKEN) | (entry.counter == WEAKLY_NOT_TAKEN);
    bool young = weak & (entry.useful == 0) & (provider != BASE);
    bool doubted = young & (tage->trust >= TRUST_HALF);
    lookup->provider = provider;
    lookup->alternative = alternative;
    lookup->provider_taken = provider_taken;
    lookup->alternative_taken = alternative_taken;
    lookup->young = young;
    lookup->taken = provider_taken ^ (doubted & (provider_taken ^ alternative_taken));
}

bool as_tage_look(const struct as_tage *tage, uint64_t address)
{
    struct lookup lookup;
    look(tage, address, &lookup);
    return lookup.taken;
}

static inline uint32_t counted(uint32_t counter, bool up, uint32_t least, uint32_t most)
{
    return counter + (up & (counter < most)) - (!up & (counter > least));
}

/* The bimodal counters have two bits: 2 to 5. */
static inline uint32_t counter_limit(uint32_t table, bool taken)
{
    uint32_t less = 2 * (table == BASE);
    return taken ? COUNTER_MAX - less : less;
}

static inline void count_branch(struct as_tage *tage, const struct lookup *lookup, uint32_t table, bool taken)
{
    struct entry *entry = &tage->entries[lookup->entry[table]];
    uint32_t limit = counter_limit(table, taken);
    entry->counter =
        (uint8_t)(taken ? entry->counter + (entry->counter < limit) : entry->counter - (entry->counter > limit));
}

static uint32_t next_random(struct as_tage *tage)
{
    uint32_t x = tage->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return tage->random = x;
}

static void age(struct as_tage *tage)
{
    tage->searches = 0;
    for (size_t i = 0; i < tage->entries_count; i++)
        tage->entries[i].useful >>= 1;
}

/* One entry with a longer history than the provider's. Starting now and then a table further up keeps branches that are
 * allocated together from pushing each other out. */
static __attribute__((noinline)) void allocate(struct as_tage *tage, const struct lookup *lookup, bool taken)
{
    tage->changes++;
    if (++tage->searches > tage->entries_count)
        age(tage);
    uint32_t longer = lookup->provider == BASE ? tage->tables : lookup->provider, dice = next_random(tage);
    uint32_t skip = (longer > 1 && (dice & 1)) + (longer > 2 && (dice & 3) == 3);
    for (uint32_t i = longer - skip; i-- > 0;) {
        struct entry *entry = &tage->entries[lookup->entry[i]];
        if (entry->useful == 0) {
            *entry = (struct entry){.tag = lookup->tag[i], .counter = taken ? WEAKLY_TAKEN : WEAKLY_NOT_TAKEN};
            return;
        }
    }
    for (uint32_t i = 0; i < longer; i++) {
        struct entry *entry = &tage->entries[lookup->entry[i]];
        entry->useful = (uint8_t)counted(entry->useful, false, 0, USEFUL_MAX);
    }
}

static __attribute__((noinline)) void learn(struct as_tage *tage, const struct lookup *lookup, bool taken)
{
    struct entry *entry = &tage->entries[lookup->entry[lookup->provider]];
    struct entry *other = &tage->entries[lookup->entry[lookup->alternative]], before[] = {*entry, *other};
    bool differ = lookup->provider_taken != lookup->alternative_taken, right = lookup->provider_taken == taken;
    if (lookup->young & differ)
        tage->trust = counted(tage->trust, !right, 0, TRUST_MAX);
    /* While the entry has proved nothing, what it stands before keeps learning. */
    if (entry->useful == 0 && lookup->provider != BASE)
        count_branch(tage, lookup, lookup->alternative, taken);
    count_branch(tage, lookup, lookup->provider, taken);
    if (differ && lookup->provider != BASE)
        entry->useful = (uint8_t)counted(entry->useful, right, 0, USEFUL_MAX);
    tage->changes +=
        entry->counter != before[0].counter || entry->useful != before[0].useful || other->counter != before[1].counter;
}

static inline void update(struct as_tage *tage, const struct lookup *lookup, bool taken)
{
    /* A young provider that was right needs no longer history, even where the alternative was believed instead. */
    bool search = (lookup->taken != taken) & !(lookup->young & (lookup->provider_taken == taken));
    if (search && lookup->provider > 0 && tage->tables > 0)
        allocate(tage, lookup, taken);
    /* Most branches have nothing to teach: all that know them agree and are sure. */
    struct entry provider = tage->entries[lookup->entry[lookup->provider]];
    struct entry alternative = tage->entries[lookup->entry[lookup->alternative]];
    bool sure = provider.counter == counter_limit(lookup->provider, taken) &&
                alternative.counter == counter_limit(lookup->alternative, taken);
    if (!sure)
        learn(tage, lookup, taken);
}

bool as_tage_predict(struct as_tage *tage, uint64_t address, bool taken)
{
    struct lookup lookup;
    look(tage, address, &lookup);
    update(tage, &lookup, taken);
    as_history_push(&tage->history, taken);
    return lookup.taken;
}

void as_tage_push(struct as_tage *tage, bool bit)
{
    as_history_push(&tage->history, bit);
}

uint64_t as_tage_changes(const struct as_tage *tage)
{
    return tage->changes;
}

bool as_tage_context(struct as_tage *tage, uint32_t n, struct as_history_context *context)
{
    return as_history_begin(&tage->history, n, context);
}

void as_tage_show(const struct as_tage *tage, struct as_history_context *context)
{
    as_history_show(&tage->history, context);
}

void as_tage_pass(struct as_tage *tage, uint32_t outcomes, uint32_t n, const struct as_history_context *behind)
{
    as_history_repeat(&tage->history, outcomes, n, behind);
}

uint64_t as_tage_table_bits(const struct as_tage *tage)
{
    return tage->bits;
}

uint64_t as_tage_base_bits(const struct as_tage *tage)
{
    return 2 * ((uint64_t)tage->base_mask + 1);
}
