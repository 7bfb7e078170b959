/* Regions of a native run: which ones are possible, and where their functions and addresses are in a process. See
 * record_native.h. */
#include "native/process_maps.h"
#include "record/record_native.h"
#include "symbol/space.h"

#include <string.h>

static bool is_possible(const struct as_point *point)
{
    return point->kind != AS_POINT_INSTRUCTION && point->kind != AS_POINT_CYCLE;
}

static bool check_region(const struct as_region *region, struct as_error *err)
{
    const char *text = region->text ? region->text : "a region";
    if (!is_possible(&region->start) || !is_possible(&region->stop) || region->offset || region->max != AS_REGION_ALL)
        return as_error_set_status(
            err, AS_EXIT_USAGE,
            "%s: a native region starts and stops at functions, addresses, markers, signals and delays; "
            "counts of instructions or cycles need --source=model",
            text);
    if (region->weight != 1 || region->warm || region->settle || region->mode != AS_MODE_DETAIL)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: weight, warm, settle and mode need --source=model", text);
    return true;
}

bool as_native_regions_check(const struct as_record_options *options, struct as_error *err)
{
    const struct as_regions *regions = options->engine.regions;
    if (!as_native_regions_wanted(options))
        return true;
    if (options->processors && options->pid && regions->landmarks.len)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "regions at landmarks cannot be used with --processors and --pid together");
    for (size_t i = 0; i < regions->list.len; i++)
        if (!check_region(&regions->list.data[i], err))
            return false;
    return true;
}

bool as_native_regions_wanted(const struct as_record_options *options)
{
    return options->engine.regions && options->engine.regions->list.len && !(options->delay > 0) && !options->switches;
}

struct search {
    struct as_space *space;
    const char *module; /* as the user named it; NULL: any */
    uint64_t address;   /* in the file; then in the process */
    bool found;
};

static void add_map(void *context, struct as_perf_process *map)
{
    struct search *search = context;
    as_space_map(search->space, map->start, map->start + map->length, map->offset, map->name);
}

static void look_in_map(void *context, struct as_perf_process *map)
{
    struct search *search = context;
    struct as_location location;
    as_space_find(search->space, map->start, &location);
    if (search->found ||
        (strcmp(location.module_name, search->module) != 0 && strcmp(location.module, search->module) != 0))
        return;
    search->address += map->start - location.module_offset;
    search->found = true;
}

/* Converts an address of a module's file to the process; 0: the module is not mapped. */
static uint64_t find_in_module(struct search *search, pid_t pid, const struct as_landmark *landmark)
{
    search->module = landmark->symbol;
    search->address = landmark->address;
    as_process_maps(pid, false, look_in_map, search);
    return search->found ? search->address : 0;
}

uint64_t as_native_resolve(void *context, pid_t pid, const struct as_landmark *landmark)
{
    (void)context;
    if (landmark->kind == AS_LANDMARK_ADDRESS && !landmark->symbol)
        return landmark->address;
    struct search search = {.space = as_space_new(NULL)};
    as_process_maps(pid, false, add_map, &search);
    uint64_t address = landmark->kind == AS_LANDMARK_ADDRESS ? find_in_module(&search, pid, landmark)
                                                             : as_space_resolve(search.space, landmark->symbol);
    if (!address && landmark->kind == AS_LANDMARK_SYMBOL &&
        as_space_resolve_short(search.space, NULL, landmark->symbol, &address, 1) == 0)
        address = 0;
    as_space_free(search.space);
    return address;
}
