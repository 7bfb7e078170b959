/* See regions.h. */
#include "region/regions.h"

#include "base/str.h"

#include <inttypes.h>

void as_regions_free(struct as_regions *regions)
{
    for (size_t i = 0; i < regions->landmarks.len; i++)
        free(regions->landmarks.data[i].symbol);
    for (size_t i = 0; i < regions->list.len; i++)
        free(regions->list.data[i].text);
    as_vec_free(&regions->landmarks);
    as_vec_free(&regions->list);
}

struct as_region *as_regions_add(struct as_regions *regions)
{
    struct as_region *region = as_vec_push(&regions->list);
    *region = (struct as_region)AS_REGION_DEFAULT;
    return region;
}

uint64_t as_region_length(const struct as_region *region)
{
    uint64_t length = region->max;
    bool counted = region->start.kind == AS_POINT_INSTRUCTION || region->start.kind == AS_POINT_NONE;
    if (counted && region->stop.kind == AS_POINT_INSTRUCTION) {
        uint64_t start = region->start.number + region->offset, stop = region->stop.number;
        uint64_t between = stop > start ? stop - start : 0;
        length = between < length ? between : length;
    }
    return length;
}

bool as_regions_weighted(const struct as_regions *regions)
{
    for (size_t i = 0; regions && i < regions->list.len; i++)
        if (regions->list.data[i].weight != 1)
            return true;
    return false;
}

uint64_t as_regions_length(const struct as_regions *regions)
{
    uint64_t sum = 0;
    for (size_t i = 0; regions && !regions->open_ended && i < regions->list.len; i++) {
        uint64_t length = as_region_length(&regions->list.data[i]);
        if (length == AS_REGION_ALL || regions->list.data[i].repeat)
            return 0;
        sum += length;
    }
    return sum;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

uint32_t as_regions_landmark(struct as_regions *regions, const struct as_landmark *wanted)
{
    for (size_t i = 0; i < regions->landmarks.len; i++) {
        const struct as_landmark *known = &regions->landmarks.data[i];
        if (known->kind == wanted->kind && known->address == wanted->address && known->marker == wanted->marker &&
            same_text(known->symbol, wanted->symbol))
            return (uint32_t)i;
    }
    struct as_landmark *landmark = as_vec_push(&regions->landmarks);
    *landmark = *wanted;
    landmark->symbol = wanted->symbol ? as_strdup(wanted->symbol) : NULL;
    return (uint32_t)regions->landmarks.len - 1;
}

struct as_point as_regions_symbol(struct as_regions *regions, const char *name)
{
    struct as_landmark landmark = {.kind = AS_LANDMARK_SYMBOL, .symbol = (char *)name};
    return (struct as_point){.kind = AS_POINT_LANDMARK, .landmark = as_regions_landmark(regions, &landmark)};
}

char *as_landmark_name(const struct as_landmark *landmark)
{
    switch (landmark->kind) {
    case AS_LANDMARK_ADDRESS:
        return landmark->symbol ? as_format("%s:0x%" PRIx64, landmark->symbol, landmark->address)
                                : as_format("0x%" PRIx64, landmark->address);
    case AS_LANDMARK_MARKER:
        return landmark->marker == AS_MARKER_ANY ? as_strdup("marker") : as_format("marker:%d", landmark->marker);
    default:
        return as_strdup(landmark->symbol);
    }
}
