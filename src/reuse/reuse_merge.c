/* Views as one: see reuse_view.h. */
#include "reuse/reuse_view.h"

void as_reuse_view_branch(struct as_reuse_view *to, struct as_reuse_view *from)
{
    as_lru_stack_free(&to->stack);
    as_lru_stack_copy(&to->stack, &from->stack);
    to->now = from->now;
    to->counts = from->counts;
    to->counts.other += from->counts.reuses; /* those of one core are no reuse here */
    to->counts.reuses = to->counts.temporal = 0;
    to->all = from->distances;
    if (to->parts)
        *to->parts = *from->parts;
    to->caches[AS_REUSE_LLC] = from->caches[AS_REUSE_LLC];
    from->caches[AS_REUSE_LLC] = (struct as_lru_cache){0};
    to->beyond[AS_REUSE_LLC] = from->beyond[AS_REUSE_LLC];
    for (size_t i = 0; i < from->working_set.len; i++)
        *as_vec_push(&to->working_set) = from->working_set.data[i];
    to->interval_start = from->interval_start;
    to->interval_granules = from->interval_granules;
}

void as_reuse_code_add(struct as_reuse_code *sum, const struct as_reuse_code *code)
{
    sum->touches += code->touches;
    sum->fetched += code->fetched;
    sum->fetched_bytes += code->fetched_bytes;
    sum->again += code->again;
    sum->moved += code->moved;
    sum->alike += code->alike;
    sum->steady += code->steady;
    sum->folded += code->folded;
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sum->misses[level][cause] += code->misses[level][cause];
}

void as_reuse_pair_add(struct as_reuse_pair *sum, const struct as_reuse_pair *pair)
{
    sum->count += pair->count;
    sum->spatial += pair->spatial;
    sum->false_sharing += pair->false_sharing;
    sum->conflicts += pair->conflicts;
    sum->spatial_beyond += pair->spatial_beyond;
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        sum->beyond[level] += pair->beyond[level];
    for (int octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
        sum->octaves[octave] += pair->octaves[octave];
}

static void merge_misses(void *context, uint64_t first, void *records, size_t n)
{
    struct as_reuse_view *into = context;
    const struct as_reuse_misses *misses = records;
    for (uint64_t i = 0; i < n; i++) {
        struct as_reuse_misses *sum = as_granules_put(&into->misses, first + i);
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sum->misses[cause] += misses[i].misses[cause];
        sum->llc += misses[i].llc;
        sum->fetched_bytes += misses[i].fetched_bytes;
        sum->far_octaves += misses[i].far_octaves;
        sum->used |= misses[i].used;
        sum->last |= misses[i].last;
    }
}

static void take_misses(struct as_reuse_view *into, struct as_reuse_view *from)
{
    if (into->misses.len) {
        as_granules_each(&from->misses, merge_misses, into);
        as_granules_free(&from->misses);
    } else {
        as_granules_free(&into->misses);
        into->misses = from->misses;
    }
    as_granules_init(&from->misses, sizeof(struct as_reuse_misses));
}

static void take_codes(struct as_reuse_view *into, struct as_reuse_view *from)
{
    static const struct as_reuse_code unused;
    if (!into->codes.data)
        as_reuse_codes_move(into, from);
    for (size_t i = 0; i < from->codes.len; i++)
        if (memcmp(&from->codes.data[i], &unused, sizeof unused) != 0) /* what is unused takes no memory */
            as_reuse_code_add(as_reuse_code_of(into, (uint32_t)i), &from->codes.data[i]);
    as_reuse_codes_free(from);
}

static void take_pairs(struct as_reuse_view *into, struct as_reuse_view *from)
{
    if (!into->pairs.data)
        as_reuse_pairs_move(into, from);
    for (size_t i = 0; i < from->pairs.len; i++) {
        const struct as_reuse_pair *pair = &from->pairs.data[i];
        as_reuse_pair_add(as_reuse_pair_of(into, pair->use, pair->reuse), pair);
    }
    as_reuse_pairs_free(from);
}

static void add_counts(struct as_reuse_counts *sum, const struct as_reuse_counts *counts)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void as_reuse_view_merge(struct as_reuse_view *into, struct as_reuse_view *from)
{
    add_counts(&into->counts, &from->counts);
    as_distances_merge(&into->distances, &from->distances);
    as_distances_merge(&into->times, &from->times);
    as_distances_merge(&into->all, &from->all);
    if (into->parts)
        as_sample_parts_merge(into->parts, from->parts);
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        into->looked_up[level] += from->looked_up[level];
        into->beyond[level] += from->beyond[level];
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            into->missed[level][cause] += from->missed[level][cause];
    }
    into->fetched += from->fetched;
    into->fetched_bytes += from->fetched_bytes;
    into->now += from->now;
    take_codes(into, from);
    take_pairs(into, from);
    take_misses(into, from);
}
