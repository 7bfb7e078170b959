/* See tage.h. Entries are as in hardware: a tag, a 3-bit counter, a 2-bit useful counter, a valid bit.
 *
 * An entry becomes more useful when it was right where the alternative was wrong, less when the other way round. New
 * entries go only where usefulness is 0. It ages in two ways: a search for room that finds none takes one off
 * everywhere it looked, and now and then all of it is halved.
 *
 * Not modelled: banks that bar two branches of one packet from the same row, and the delay between prediction and
 * training.
 */
#include "core/tage.h"

#include "base/alloc.h"
#include "core/branch_history.h"

#include <stdlib.h>

enum { COUNTER_MAX = 7, WEAKLY_TAKEN = 4, USEFUL_MAX = 3, AGING_PERIOD = 1 << 18 };
enum { TRUST_MAX = 15, TRUST_HALF = 8 }; /* of the alternative over a young entry */

struct entry {
    uint16_t tag;
    uint8_t counter; /* 0 to 7, taken from 4 on */
    uint8_t useful : 2, valid : 1;
};

struct table {
    struct entry *entries;
    uint32_t mask, tag_mask, length;
    uint32_t log_entries, tag_bits;
    struct as_history_fold index, tag, tag_again; /* two folds of different width: periodic histories do not cancel */
};

struct as_tage {
    struct as_branch_history history;
    uint32_t count;
    struct table tables[AS_TAGE_TABLES_MAX];
    uint8_t *base; /* 2-bit counters, taken from 2 on */
    uint32_t base_log, base_mask;
    uint32_t trust; /* of the alternative where the provider is young */
    uint32_t random;
    uint32_t updates;
};

static void table_init(struct table *table, const struct as_machine *machine, uint32_t i)
{
    table->log_entries = machine->predictor.tage_entries[i];
    table->tag_bits = machine->predictor.tage_tag_bits[i];
    table->length = as_history_length(i, machine->predictor.tage_tables, machine->predictor.tage_shortest,
                                      machine->predictor.tage_longest);
    table->mask = (1u << table->log_entries) - 1;
    table->tag_mask = (1u << table->tag_bits) - 1;
    table->entries = as_alloc_array((size_t)table->mask + 1, sizeof *table->entries);
    as_history_fold_init(&table->index, table->length, table->log_entries);
    as_history_fold_init(&table->tag, table->length, table->tag_bits);
    as_history_fold_init(&table->tag_again, table->length, table->tag_bits - 1);
}

struct as_tage *as_tage_new(const struct as_machine *machine)
{
    struct as_tage *tage = as_alloc(sizeof *tage);
    tage->count = machine->predictor.tage_tables;
    tage->base_log = machine->predictor.base_entries;
    tage->base_mask = (1u << tage->base_log) - 1;
    tage->base = as_alloc_array((size_t)tage->base_mask + 1, 1);
    for (uint32_t i = 0; i <= tage->base_mask; i++)
        tage->base[i] = 1; /* weakly not taken */
    for (uint32_t i = 0; i < tage->count; i++)
        table_init(&tage->tables[i], machine, i);
    tage->trust = TRUST_HALF;
    tage->random = 0x2545f491;
    return tage;
}

void as_tage_free(struct as_tage *tage)
{
    if (!tage)
        return;
    for (uint32_t i = 0; i < tage->count; i++)
        free(tage->tables[i].entries);
    free(tage->base);
    free(tage);
}

/* From the longest history down; stops at the second hit, below which nothing is needed. */
static void find_hits(const struct as_tage *tage, uint32_t key, struct as_tage_lookup *lookup)
{
    lookup->provider = lookup->alternative = -1;
    for (int i = (int)tage->count - 1; i >= 0; i--) {
        const struct table *table = &tage->tables[i];
        uint32_t index = (key ^ table->index.value) & table->mask;
        uint32_t tag = (key >> 16 ^ table->tag.value ^ table->tag_again.value << 1) & table->tag_mask;
        const struct entry *entry = &table->entries[index];
        lookup->index[i] = index;
        lookup->tag[i] = (uint16_t)tag;
        if (entry->tag != tag || !entry->valid)
            continue;
        if (lookup->provider >= 0) {
            lookup->alternative = i;
            return;
        }
        lookup->provider = i;
    }
}

static inline struct entry *entry_of(const struct as_tage *tage, const struct as_tage_lookup *lookup, int table)
{
    return &tage->tables[table].entries[lookup->index[table]];
}

void as_tage_predict(const struct as_tage *tage, uint64_t address, struct as_tage_lookup *lookup)
{
    lookup->base = (uint32_t)(address >> 1) & tage->base_mask;
    find_hits(tage, as_history_key(address), lookup);
    lookup->alternative_taken = lookup->alternative >= 0
                                    ? entry_of(tage, lookup, lookup->alternative)->counter >= WEAKLY_TAKEN
                                    : tage->base[lookup->base] >= 2;
    lookup->taken = lookup->provider_taken = lookup->alternative_taken;
    lookup->young = false;
    if (lookup->provider < 0)
        return;
    const struct entry *entry = entry_of(tage, lookup, lookup->provider);
    lookup->provider_taken = entry->counter >= WEAKLY_TAKEN;
    lookup->young = entry->useful == 0 && (entry->counter == WEAKLY_TAKEN || entry->counter == WEAKLY_TAKEN - 1);
    lookup->taken = lookup->young && tage->trust >= TRUST_HALF ? lookup->alternative_taken : lookup->provider_taken;
}

static inline void count_to(uint8_t *counter, bool up, uint8_t most)
{
    if (up)
        *counter = (uint8_t)(*counter + (*counter < most));
    else
        *counter = (uint8_t)(*counter - (*counter > 0));
}

static inline uint32_t next_random(struct as_tage *tage)
{
    uint32_t x = tage->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return tage->random = x;
}

/* One entry with a longer history than the provider's. Starting now and then a table further up keeps branches that are
 * allocated together from pushing each other out. */
static void allocate(struct as_tage *tage, const struct as_tage_lookup *lookup, bool taken)
{
    int first = lookup->provider + 1, count = (int)tage->count;
    uint32_t dice = next_random(tage);
    int start = first + (first + 1 < count && (dice & 1)) + (first + 2 < count && (dice & 3) == 3);
    for (int i = start; i < count; i++) {
        struct entry *entry = entry_of(tage, lookup, i);
        if (entry->useful == 0) {
            *entry = (struct entry){
                .tag = lookup->tag[i], .counter = taken ? WEAKLY_TAKEN : WEAKLY_TAKEN - 1, .useful = 0, .valid = 1};
            return;
        }
    }
    for (int i = first; i < count; i++) {
        struct entry *entry = entry_of(tage, lookup, i);
        entry->useful -= entry->useful > 0;
    }
}

static void age(struct as_tage *tage)
{
    for (uint32_t i = 0; i < tage->count; i++)
        for (uint32_t j = 0; j <= tage->tables[i].mask; j++)
            tage->tables[i].entries[j].useful >>= 1;
}

static void update_provider(struct as_tage *tage, const struct as_tage_lookup *lookup, bool taken)
{
    struct entry *entry = entry_of(tage, lookup, lookup->provider);
    bool differ = lookup->provider_taken != lookup->alternative_taken, right = lookup->provider_taken == taken;
    if (lookup->young && differ)
        tage->trust = right ? tage->trust - (tage->trust > 0) : tage->trust + (tage->trust < TRUST_MAX);
    /* While the entry has proved nothing, what it stands before keeps learning. */
    if (entry->useful == 0) {
        if (lookup->alternative >= 0)
            count_to(&entry_of(tage, lookup, lookup->alternative)->counter, taken, COUNTER_MAX);
        else
            count_to(&tage->base[lookup->base], taken, 3);
    }
    count_to(&entry->counter, taken, COUNTER_MAX);
    if (differ && right)
        entry->useful += entry->useful < USEFUL_MAX;
    else if (differ)
        entry->useful -= entry->useful > 0;
}

void as_tage_update(struct as_tage *tage, const struct as_tage_lookup *lookup, bool taken)
{
    /* A young provider that was right needs no longer history, even where the alternative was believed instead. */
    bool search = lookup->taken != taken && !(lookup->young && lookup->provider_taken == taken);
    if (search && lookup->provider < (int)tage->count - 1)
        allocate(tage, lookup, taken);
    if (lookup->provider >= 0)
        update_provider(tage, lookup, taken);
    else
        count_to(&tage->base[lookup->base], taken, 3);
    if (++tage->updates == AGING_PERIOD) {
        tage->updates = 0;
        age(tage);
    }
}

void as_tage_push(struct as_tage *tage, bool bit)
{
    for (uint32_t i = 0; i < tage->count; i++) {
        struct table *table = &tage->tables[i];
        uint32_t leaves = as_history_leaving(&tage->history, table->length);
        as_history_fold_push(&table->index, bit, leaves);
        as_history_fold_push(&table->tag, bit, leaves);
        as_history_fold_push(&table->tag_again, bit, leaves);
    }
    as_history_push(&tage->history, bit);
}

uint64_t as_tage_table_bits(const struct as_tage *tage)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < tage->count; i++)
        bits += (uint64_t)(tage->tables[i].tag_bits + 3 + 2 + 1) << tage->tables[i].log_entries;
    return bits;
}

uint64_t as_tage_base_bits(const struct as_tage *tage)
{
    return UINT64_C(2) << tage->base_log;
}
