/* Checks a list of regions as a whole: their order, starts that can never come, and contradictions. */
#include "region/regions.h"

#include <inttypes.h>

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

static bool starts_by_count(const struct as_region *region)
{
    return region->start.kind == AS_POINT_INSTRUCTION || region->start.kind == AS_POINT_NONE;
}

static uint64_t begin_of(const struct as_region *region)
{
    return region->start.number + region->offset;
}

/* The count at which a region ends that starts by count; AS_REGION_ALL: not known. */
static uint64_t end_of(const struct as_region *region)
{
    uint64_t length = as_region_length(region), begin = begin_of(region);
    return length > AS_REGION_ALL - begin ? AS_REGION_ALL : begin + length;
}

static int compare_starts(const void *a, const void *b)
{
    uint64_t x = begin_of(a), y = begin_of(b);
    return (x > y) - (x < y);
}

/* Sorts the regions if all of them start by count; otherwise their order stays. */
static void sort(struct as_regions *regions)
{
    for (size_t i = 0; i < regions->list.len; i++)
        if (!starts_by_count(&regions->list.data[i]))
            return;
    if (regions->list.len > 0)
        qsort(regions->list.data, regions->list.len, sizeof *regions->list.data, compare_starts);
}

static bool check_warm(const struct as_region *region, struct as_error *err)
{
    uint64_t before = region->warm == AS_REGION_ALL ? region->settle : region->warm + region->settle;
    if (starts_by_count(region) || region->start.kind == AS_POINT_CYCLE || before <= region->offset)
        return true;
    return WRONG("region '%s': its start is not known in advance, so nothing can begin %" PRIu64
                 " instructions before it; warm=all warms everything before it",
                 region->text, before);
}

static bool check_stop(const struct as_region *region, struct as_error *err)
{
    if (!starts_by_count(region) || region->stop.kind != AS_POINT_INSTRUCTION || region->stop.number > begin_of(region))
        return true;
    return WRONG("region '%s' holds no instructions: it must stop after %" PRIu64, region->text, begin_of(region));
}

static bool recurs(const struct as_point *point)
{
    return point->kind == AS_POINT_SIGNAL || (point->kind == AS_POINT_LANDMARK && point->number == 0);
}

static bool check_repeat(const struct as_region *region, bool last, struct as_error *err)
{
    if (!region->repeat)
        return true;
    bool in_pieces = starts_by_count(region) && region->stop.kind == AS_POINT_NONE && region->max != AS_REGION_ALL;
    if (!recurs(&region->start) && !in_pieces)
        return WRONG(
            "region '%s': its start happens only once, so it cannot repeat; a function, an address, a marker or "
            "a signal can start it again, and with max=N and no stop it repeats piece after piece",
            region->text);
    return last || WRONG("region '%s': it repeats to the end of the program, so no region can follow it", region->text);
}

static bool has_end(const struct as_region *region)
{
    return region->max != AS_REGION_ALL || region->stop.kind != AS_POINT_NONE;
}

static bool check_pair(const struct as_region *region, const struct as_region *next, struct as_error *err)
{
    if (!has_end(region))
        return WRONG("region '%s' has no end, so '%s' never starts: give it a stop", region->text, next->text);
    if (!starts_by_count(region) || !starts_by_count(next))
        return true;
    if (begin_of(next) < begin_of(region))
        return WRONG("region '%s' comes before '%s': put them in the order of the run", next->text, region->text);
    uint64_t end = end_of(region);
    return end == AS_REGION_ALL || end <= begin_of(next) ||
           WRONG("regions '%s' and '%s' overlap", region->text, next->text);
}

bool as_regions_check(struct as_regions *regions, struct as_error *err)
{
    sort(regions);
    for (size_t i = 0; i < regions->list.len; i++) {
        const struct as_region *region = &regions->list.data[i];
        bool last = i + 1 == regions->list.len;
        if (!check_stop(region, err) || !check_warm(region, err) || !check_repeat(region, last, err) ||
            (!last && !check_pair(region, region + 1, err)))
            return false;
    }
    return true;
}
