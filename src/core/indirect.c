/* See indirect.h. An entry is a tag, a target, a 2-bit confidence and a useful bit. A wrong target loses confidence
 * first and is replaced when there is none left.
 *
 * An entry is useful once it was right where shorter histories would have been wrong; only then it keeps its place. If every
 * right target counted, jumps that a short history knows would fill the long tables with entries that nobody needs, and
 * those that need one would find no room. */
#include "core/indirect.h"

#include "base/alloc.h"
#include "core/branch_history.h"

#include <stdlib.h>

enum { CONFIDENCE_MAX = 3, TARGET_BITS = 48 };

struct entry {
    uint64_t target; /* 0: empty */
    uint16_t tag;
    uint8_t confidence, useful;
};

struct as_indirect {
    struct as_branch_history history;
    uint32_t waiting, n_waiting; /* outcomes that the history is to get: it is needed seldom */
    uint32_t count, log_entries, tag_bits, mask, tag_mask;
    struct entry *tables[AS_TAGE_TABLES_MAX];
    uint32_t failed; /* searches for room in vain: usefulness is forgotten after some */
};

struct as_indirect *as_indirect_new(const struct as_machine *machine)
{
    if (machine->predictor.indirect_tables == 0)
        return NULL;
    struct as_indirect *indirect = as_alloc_apart(1, sizeof *indirect);
    indirect->count = machine->predictor.indirect_tables;
    indirect->log_entries = machine->predictor.indirect_entries;
    indirect->tag_bits = machine->predictor.indirect_tag_bits;
    indirect->mask = (1u << indirect->log_entries) - 1;
    indirect->tag_mask = (1u << indirect->tag_bits) - 1;
    for (uint32_t i = 0; i < indirect->count; i++) {
        uint32_t length =
            as_history_length(i, indirect->count, machine->predictor.tage_shortest, machine->predictor.tage_longest);
        indirect->tables[i] = as_alloc_apart((size_t)indirect->mask + 1, sizeof **indirect->tables);
        as_history_add(&indirect->history, i, length, indirect->log_entries, indirect->tag_bits);
    }
    return indirect;
}

void as_indirect_free(struct as_indirect *indirect)
{
    if (!indirect)
        return;
    for (uint32_t i = 0; i < indirect->count; i++)
        free(indirect->tables[i]);
    free(indirect);
}

static void push_waiting(struct as_indirect *indirect)
{
    as_history_push_many(&indirect->history, indirect->waiting, indirect->n_waiting);
    indirect->n_waiting = 0;
}

/* The table below `end` with the longest history that knows this jump; -1: none. */
static int longest(const struct as_indirect *indirect, const struct as_indirect_lookup *lookup, int end)
{
    int i = end - 1;
    for (; i >= 0; i--) {
        const struct entry *entry = &indirect->tables[i][lookup->index[i]];
        if (entry->target && entry->tag == lookup->tag[i])
            break;
    }
    return i;
}

static uint64_t target_of(const struct as_indirect *indirect, const struct as_indirect_lookup *lookup, int table)
{
    return table < 0 ? lookup->base : indirect->tables[table][lookup->index[table]].target;
}

void as_indirect_predict(struct as_indirect *indirect, uint64_t address, uint64_t base,
                         struct as_indirect_lookup *lookup)
{
    uint32_t key = as_history_key(address);
    if (indirect->n_waiting)
        push_waiting(indirect);
    lookup->base = base;
    for (uint32_t group = 0; group < indirect->history.groups; group++) {
        as_lanes index = as_history_index(&indirect->history, group, key) & (uint16_t)indirect->mask;
        as_lanes tag = as_history_tag(&indirect->history, group, key) & (uint16_t)indirect->tag_mask;
        memcpy(&lookup->index[group * AS_HISTORY_LANES], &index, sizeof index);
        memcpy(&lookup->tag[group * AS_HISTORY_LANES], &tag, sizeof tag);
    }
    lookup->provider = longest(indirect, lookup, (int)indirect->count);
    lookup->target = target_of(indirect, lookup, lookup->provider);
}

static void allocate(struct as_indirect *indirect, const struct as_indirect_lookup *lookup, uint64_t target)
{
    for (uint32_t i = (uint32_t)(lookup->provider + 1); i < indirect->count; i++) {
        struct entry *entry = &indirect->tables[i][lookup->index[i]];
        if (!entry->useful) {
            *entry = (struct entry){.target = target, .tag = lookup->tag[i]};
            return;
        }
    }
    if (++indirect->failed <= indirect->mask)
        return;
    indirect->failed = 0;
    for (uint32_t i = 0; i < indirect->count; i++)
        for (uint32_t j = 0; j <= indirect->mask; j++)
            indirect->tables[i][j].useful = 0;
}

static bool needed(const struct as_indirect *indirect, const struct as_indirect_lookup *lookup)
{
    return target_of(indirect, lookup, longest(indirect, lookup, lookup->provider)) != lookup->target;
}

static void update_provider(struct as_indirect *indirect, const struct as_indirect_lookup *lookup, uint64_t target)
{
    struct entry *entry = &indirect->tables[lookup->provider][lookup->index[lookup->provider]];
    if (entry->target == target) {
        entry->confidence = (uint8_t)(entry->confidence + (entry->confidence < CONFIDENCE_MAX));
        entry->useful = entry->useful || needed(indirect, lookup);
    } else if (entry->confidence > 0) {
        entry->confidence--;
    } else {
        entry->target = target;
        entry->useful = 0;
    }
}

void as_indirect_update(struct as_indirect *indirect, const struct as_indirect_lookup *lookup, uint64_t target)
{
    if (lookup->target != target && lookup->provider < (int)indirect->count - 1)
        allocate(indirect, lookup, target);
    if (lookup->provider >= 0)
        update_provider(indirect, lookup, target);
}

void as_indirect_push(struct as_indirect *indirect, bool bit)
{
    indirect->waiting = indirect->waiting << 1 | bit;
    if (++indirect->n_waiting + 1 == indirect->history.narrowest)
        push_waiting(indirect);
}

void as_indirect_push_many(struct as_indirect *indirect, uint32_t bits, uint32_t n)
{
    if (indirect->n_waiting + n + 1 < indirect->history.narrowest) {
        indirect->waiting = indirect->waiting << n | bits;
        indirect->n_waiting += n;
        return;
    }
    while (n-- > 0)
        as_indirect_push(indirect, bits >> n & 1);
}

uint64_t as_indirect_bits(const struct as_indirect *indirect)
{
    uint64_t entry = indirect->tag_bits + TARGET_BITS + 2 + 1;
    return entry * indirect->count << indirect->log_entries;
}
