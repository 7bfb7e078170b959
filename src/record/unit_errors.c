/* How wrong the samples of a modelled unit are: held against what happened in the same run. See record_unit.h.
 *
 * The truth of an event is how often it happened at each instruction (pmu_truth.h), that of cycles the Oracle's. What the
 * unit says of the kernel's stub is left out on both sides. */
#include "model/groups.h"
#include "record/record_unit.h"
#include "score/errors.h"
#include "score/sampling_error.h"

#include <math.h>

static bool counts_cycles(const struct as_pmu_counter *counter)
{
    return counter->event->counts == AS_COUNTS_CYCLES;
}

bool as_unit_watch(struct as_unit_run *run, struct as_modelled *modelled, struct as_error *err)
{
    bool cycles = false, others = false;
    for (size_t i = 0; i < run->request.n; i++) {
        cycles |= counts_cycles(&run->request.counters[i]);
        others |= !counts_cycles(&run->request.counters[i]);
    }
    if (others) {
        run->truth = as_pmu_truth_new(as_model_run_info(modelled->model), &run->request);
        as_fanout_add(modelled->fanout, &as_pmu_truth_observer, run->truth, false);
    }
    return !cycles || as_modelled_watch(modelled, err);
}

/* ---- what was said, by instruction ---- */

/* Instructions by address, for units that give the address of another one than they tagged. */
static struct as_map addresses_of(const struct as_engine *engine)
{
    struct as_map ids = {0};
    const struct as_insn *insn;
    for (uint32_t id = 0; (insn = as_engine_insn(engine, id)); id++)
        *as_map_put(&ids, insn->address) = id;
    return ids;
}

static uint32_t said_of(const struct as_engine *engine, const struct as_map *ids, const struct as_pmu_sample *sample)
{
    if (sample->insn != AS_PMU_NO_INSN && as_engine_insn(engine, sample->insn)->address == sample->ip)
        return sample->insn;
    const uint64_t *id = as_map_get(ids, sample->ip);
    return id ? (uint32_t)*id : AS_PMU_NO_INSN;
}

struct said {
    struct as_profile profile;
    uint64_t samples;
};

static struct said *collect(const struct as_unit_run *run, const struct as_engine *engine)
{
    struct said *said = as_alloc_array(AS_PMU_COUNTERS_MAX, sizeof *said);
    struct as_map ids = addresses_of(engine);
    for (size_t i = 0; i < run->samples.len; i++) {
        const struct as_pmu_sample *sample = &run->samples.data[i].sample;
        uint32_t id = sample->was_kernel ? AS_PMU_NO_INSN : said_of(engine, &ids, sample);
        if (id == AS_PMU_NO_INSN)
            continue;
        as_profile_add(&said[sample->counter].profile, id, sample->weight);
        said[sample->counter].samples++;
    }
    as_map_free(&ids);
    return said;
}

/* ---- against what happened ---- */

static void find_truth(const struct as_unit_run *run, const struct as_modelled *modelled, size_t counter,
                       struct as_profile *profile)
{
    size_t n = 0;
    const uint64_t *counts = run->truth ? as_pmu_truth_of(run->truth, counter, &n) : NULL;
    if (counts_cycles(&run->request.counters[counter]))
        as_oracle_profile(modelled->oracle, profile);
    for (size_t id = 0; counts && id < n; id++)
        if (counts[id])
            as_profile_add(profile, (uint32_t)id, counts[id]);
}

static double chance_of(const struct said *said, const struct as_grouping *grouping)
{
    uint64_t *sums = grouping ? as_profile_group(&said->profile, grouping) : NULL;
    struct as_weights weights =
        sums ? as_weights_of(sums, (size_t)grouping->count + 1) : as_weights_of(said->profile.units, said->profile.n);
    double error = as_sampling_error(weights, NULL, (double)said->samples);
    free(sums);
    return error;
}

static void add_estimate(struct as_store_writer *writer, size_t series, const char *measure, int level, double value)
{
    if (!isnan(value))
        as_store_add_estimate(writer,
                              &(struct as_store_estimate){(uint32_t)series, measure, as_level_names[level], value});
}

void as_unit_add_errors(const struct as_unit_run *run, const struct as_modelled *modelled,
                        struct as_store_writer *writer)
{
    struct said *said = collect(run, as_model_engine(modelled->model));
    struct as_groups groups = {0};
    as_groups_make(&groups, modelled->model);
    struct as_levels levels = as_groups_levels(&groups);
    for (size_t i = 0; i < run->request.n; i++) {
        struct as_profile truth = {0};
        find_truth(run, modelled, i, &truth);
        for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
            add_estimate(writer, i, "error", level, as_profile_error(&said[i].profile, &truth, levels.grouping[level]));
        add_estimate(writer, i, "estimate", AS_LEVEL_BLOCK, chance_of(&said[i], levels.grouping[AS_LEVEL_BLOCK]));
        as_profile_free(&truth);
        as_profile_free(&said[i].profile);
    }
    as_groups_free(&groups);
    free(said);
}
