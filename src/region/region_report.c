/* Explains in one line why a region was not measured as requested: what happened, to which region, and what to do. */
#include "region/region_run.h"

#include <inttypes.h>
#include <stdio.h>

/* Explains why a landmark was not reached. `known`: the program contains it. */
static void explain_landmark(const struct as_region_run *run, const struct as_point *point, bool known, char *text,
                             size_t size)
{
    const struct as_landmark *landmark = &run->regions->landmarks.data[point->landmark];
    char *name = as_landmark_name(landmark);
    uint64_t times = run->passed[point->landmark];
    if (times && point->number)
        snprintf(text, size, "the program executed '%s' %" PRIu64 " times, not %" PRIu64, name, times, point->number);
    else if (known || landmark->kind == AS_LANDMARK_ADDRESS)
        snprintf(text, size, "the program never reached '%s'%s", name, times ? " after that" : "");
    else if (landmark->kind == AS_LANDMARK_MARKER)
        snprintf(text, size, "the program never executed '%s' (assay/marker.h puts markers into programs)", name);
    else
        snprintf(text, size,
                 "the program never reached '%s', and no function of that name was seen in it (nm lists them)", name);
    free(name);
}

static void explain_start(const struct as_region_run *run, const struct as_region *region, bool known, char *text,
                          size_t size)
{
    switch (region->start.kind) {
    case AS_POINT_LANDMARK:
        explain_landmark(run, &region->start, known, text, size);
        break;
    case AS_POINT_SIGNAL:
        snprintf(text, size, "no signal came before the program ended");
        break;
    case AS_POINT_DELAY:
        snprintf(text, size, "the program ended within the delay of %g seconds", (double)region->start.number / 1e9);
        break;
    case AS_POINT_CYCLE:
        snprintf(text, size, "the program ended before cycle %" PRIu64, region->start.number);
        break;
    default:
        snprintf(text, size, "the program ended after %" PRIu64 " instructions, before the region began", run->count);
        break;
    }
}

/* Whether the region ended only because the program did. */
static bool lacks_stop(const struct as_region *region, const struct as_region_outcome *outcome)
{
    return outcome->times && !outcome->stopped && region->stop.kind != AS_POINT_NONE &&
           region->stop.kind != AS_POINT_INSTRUCTION && !region->repeat;
}

bool as_region_run_explain(const struct as_region_run *run, uint32_t index, bool known, char *text, size_t size)
{
    const struct as_region *region = &run->regions->list.data[index];
    struct as_region_outcome outcome = as_region_run_outcome(run, index);
    char why[384];
    if (outcome.instructions && !lacks_stop(region, &outcome))
        return false;
    if (outcome.missed) {
        snprintf(text, size, "region '%s' was left out: its start came before the region before it ended",
                 region->text);
        return true;
    }
    if (outcome.instructions) {
        if (region->stop.kind == AS_POINT_LANDMARK)
            explain_landmark(run, &region->stop, true, why, sizeof why);
        else
            snprintf(why, sizeof why, "the program ended before region '%s' stopped", region->text);
        snprintf(text, size, "%s: measured to the program's end", why);
        return true;
    }
    bool begun = outcome.times || run->at != index || run->begin != UINT64_MAX;
    if (region->offset && region->start.kind == AS_POINT_LANDMARK && begun && run->passed[region->start.landmark])
        snprintf(why, sizeof why, "the program ended before region '%s' began", region->text);
    else
        explain_start(run, region, known, why, sizeof why);
    bool several = run->regions->list.len > 1;
    snprintf(text, size, "nothing was measured%s%s%s: %s", several ? " of region '" : "", several ? region->text : "",
             several ? "'" : "", why);
    return true;
}
