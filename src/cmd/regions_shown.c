/* See regions_shown.h. */
#include "cmd/regions_shown.h"

#include "base/ratio.h"
#include "base/show.h"

#include <inttypes.h>

struct sums {
    double instructions, cycles;
};

/* Whether the region's instructions are among those that are measured: without a model all are counted. */
static bool is_measured(const struct as_regions_shown *shown, uint32_t index)
{
    return !shown->model || as_engine_regions(shown->engine)->list.data[index].mode == AS_MODE_DETAIL;
}

/* Sums over all regions that are measured, each multiplied by its weight. */
static struct sums weigh(const struct as_regions_shown *shown)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < as_engine_regions(shown->engine)->list.len; i++) {
        if (!is_measured(shown, i))
            continue;
        double weight = as_engine_regions(shown->engine)->list.data[i].weight;
        sums.instructions += weight * (double)as_engine_region(shown->engine, i).instructions;
        if (shown->model)
            sums.cycles += weight * (double)as_model_region(shown->model, i)->cycles;
    }
    return sums;
}

static void json_region(struct as_json *json, const struct as_regions_shown *shown, uint32_t index)
{
    const struct as_region *region = &as_engine_regions(shown->engine)->list.data[index];
    struct as_region_outcome outcome = as_engine_region(shown->engine, index);
    as_json_object(json, NULL);
    as_json_string(json, "region", region->text);
    as_json_double(json, "weight", region->weight);
    as_json_string(json, "mode", as_mode_name(region->mode));
    as_json_u64(json, "times", outcome.times);
    as_json_bool(json, "stopped", outcome.stopped);
    as_json_u64(json, "instructions", outcome.instructions);
    if (shown->model && is_measured(shown, index)) {
        const struct as_counters *counters = as_model_region(shown->model, index);
        as_json_u64(json, "cycles", counters->cycles);
        as_json_u64(json, "elapsed_cycles", counters->elapsed_cycles);
        as_json_double(json, "cpi", as_part((double)counters->cycles, (double)counters->instructions));
    }
    as_json_end(json);
}

void as_regions_json(struct as_json *json, const struct as_regions_shown *shown)
{
    if (as_engine_regions(shown->engine)->list.len == 0)
        return;
    as_json_array(json, "regions");
    for (uint32_t i = 0; i < as_engine_regions(shown->engine)->list.len; i++)
        json_region(json, shown, i);
    as_json_end(json);
    if (!shown->model || !as_regions_weighted(as_engine_regions(shown->engine)))
        return;
    struct sums sums = weigh(shown);
    as_json_object(json, "weighted");
    as_json_double(json, "instructions", sums.instructions);
    as_json_double(json, "cycles", sums.cycles);
    as_json_double(json, "cpi", as_part(sums.cycles, sums.instructions));
    as_json_end(json);
}

static void print_region(FILE *out, const struct as_regions_shown *shown, uint32_t index)
{
    const struct as_region *region = &as_engine_regions(shown->engine)->list.data[index];
    uint64_t instructions = as_engine_region(shown->engine, index).instructions;
    fprintf(out, "  %16s  %8g", AS_COUNT(instructions), region->weight);
    uint64_t cycles = shown->model ? as_model_region(shown->model, index)->cycles : 0;
    if (shown->model && is_measured(shown, index))
        fprintf(out, "  %16s  %7.3f", AS_COUNT(cycles), as_part((double)cycles, (double)instructions));
    else if (shown->model)
        fprintf(out, "  %16s  %7s", "-", "-");
    fprintf(out, "  %s\n", region->text);
}

void as_regions_print(FILE *out, const struct as_regions_shown *shown)
{
    bool weighted = as_regions_weighted(as_engine_regions(shown->engine));
    if (as_engine_regions(shown->engine)->list.len < 2 && !weighted)
        return;
    fprintf(out, "\nRegions:\n  %16s  %8s", "instructions", "weight");
    if (shown->model)
        fprintf(out, "  %16s  %7s", "cycles", "CPI");
    fprintf(out, "  region\n");
    for (uint32_t i = 0; i < as_engine_regions(shown->engine)->list.len; i++)
        print_region(out, shown, i);
    if (!weighted)
        return;
    struct sums sums = weigh(shown);
    fprintf(out, "  %16.1f  %8s", sums.instructions, "");
    if (shown->model)
        fprintf(out, "  %16.1f  %7.3f", sums.cycles, as_part(sums.cycles, sums.instructions));
    fprintf(out, "  weighted sum\n");
    if (shown->model)
        fprintf(out, "note: only this sum is weighted; in stacks, counters and errors of samplers, a cycle counts the "
                     "same in each region\n");
}
