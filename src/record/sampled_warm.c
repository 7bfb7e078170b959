/* How long to warm before a region: determined in the run itself.
 *
 * The first strata are warmed all the time. In one of them every second region is a pilot: beside the real model, which has
 * seen everything, others without observers measure it too. Before a pilot they see so many instructions; further away only
 * what a sieve lets through (model_sieve.c). Twice the shortest warming whose pilots take the same time as in the real
 * model, but for TOLERABLE (and for twice that with a standard deviation), is used where periods are long, since other parts
 * of the program may need more; if none does, everything is warmed to the end. Trials begin with the real model's caches and
 * warm their predictors for a while before the first pilot, which does not count.
 */
#include "base/log.h"
#include "record/sampled_internal.h"
#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>

enum {
    TRIALS = 3,
    PILOTS = 91,
    PILOT_REGIONS = 2, /* from one pilot to the next */
    PILOT_STRATUM = AS_WARM_STRATA - 1,
    RUN_IN = 3000000, /* instructions that all trials see before the first pilot */
    SAFETY = 2,       /* so many times the length that is found to suffice is used */
};
static const uint64_t part_of_longest[TRIALS] = {16, 4, 1};
static const double tolerable = 0.005;

struct trial {
    struct as_warming *warming;
    struct as_model *model;
    struct as_fanout *fanout;
    uint64_t warm;        /* instructions */
    bool follows;         /* the first pilot is near enough */
    bool hears;           /* instructions are warmed or measured, not sieved */
    uint64_t passed;      /* instructions since the program's start */
    double apart[PILOTS]; /* how much larger a pilot's CPI was than in the real model */
};

struct as_warming {
    struct as_sampled *sampled;
    struct trial trials[TRIALS];
    double cpi[PILOTS]; /* of the pilots in the real model */
    uint32_t pilots;    /* measured so far */
    bool decided;
};

/* ---- models that see a part of the warming ---- */

/* The pilot that is measured now, or comes next; NULL: there are no more. */
static const struct as_region *next_pilot(const struct as_warming *warming)
{
    size_t at = (size_t)PILOT_STRATUM * AS_STRATUM_REGIONS + (size_t)(warming->pilots + 1) * PILOT_REGIONS;
    return warming->decided ? NULL : &warming->sampled->regions.list.data[at];
}

static bool is_heard(const struct trial *trial)
{
    const struct as_region *pilot = next_pilot(trial->warming);
    uint64_t warm = trial->warming->pilots ? trial->warm : RUN_IN;
    return pilot && trial->passed + warm + pilot->settle >= pilot->start.number;
}

/* Whether the trial sees anything yet, and still. */
static bool follows(struct trial *trial)
{
    const struct as_region *pilot = next_pilot(trial->warming);
    if (!trial->follows && pilot && trial->passed + RUN_IN >= pilot->start.number) {
        trial->follows = true;
        as_model_copy_caches(trial->model, trial->warming->sampled->modelled->model);
    }
    return trial->follows && pilot;
}

static void hear(struct trial *trial, bool heard)
{
    if (heard != trial->hears)
        as_model_sink.stretch(
            trial->model, &(struct as_stretch){.mode = heard ? AS_MODE_WARM : AS_MODE_COUNT, .region = AS_REGION_NONE});
    trial->hears = heard;
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct trial *trial = context;
    const struct as_model *leader = trial->warming->sampled->modelled->model;
    as_model_join(trial->model, as_model_engine(leader), trial->fanout);
    as_model_sink.thread_start(trial->model, thread);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    as_model_sink.thread_end(((struct trial *)context)->model, thread);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct trial *trial = context;
    if (follows(trial)) {
        hear(trial, is_heard(trial));
        if (trial->hears) {
            as_model_sink.block(trial->model, thread, exec);
        } else {
            as_model_sink.skipped(trial->model, thread, exec->block, exec->first, exec->end, 1);
            as_model_sink.passed(trial->model, thread, exec);
        }
    }
    trial->passed += as_block_exec_count(exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct trial *trial = context;
    if (trial->hears)
        as_model_sink.syscall(trial->model, thread, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct trial *trial = context;
    if (trial->hears)
        as_model_sink.syscall_return(trial->model, thread, number, result);
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    as_model_sink.mapping(((struct trial *)context)->model, thread, mapping);
}

/* Only pilots take time. */
static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_stretch other = {.mode = AS_MODE_WARM, .region = AS_REGION_NONE};
    struct trial *trial = context;
    const struct as_region *pilot = next_pilot(trial->warming);
    if (!pilot || !trial->follows)
        return;
    other.mode = trial->hears ? AS_MODE_WARM : AS_MODE_COUNT;
    bool settles = stretch->mode == AS_MODE_SETTLE && trial->passed + pilot->settle >= pilot->start.number;
    bool measures = stretch->mode == AS_MODE_DETAIL && trial->passed >= pilot->start.number;
    as_model_sink.stretch(trial->model, settles || measures ? stretch : &other);
}

static const struct as_sink trial_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .mapping = on_mapping,
    .stretch = on_stretch,
    .unmeasured = true,
};

/* ---- the decision ---- */

/* How far a trial's pilots are from the real ones, as a part of their time: the mean, and its standard deviation. */
static struct as_spread deviation(const struct trial *trial)
{
    struct as_spread spread = as_spread_of(trial->apart + 1, PILOTS - 1);
    double real = as_spread_of(trial->warming->cpi + 1, PILOTS - 1).mean;
    spread.mean = fabs(spread.mean) / real;
    spread.deviation /= sqrt(PILOTS - 1) * real;
    return spread;
}

static bool suffices(const struct trial *trial)
{
    struct as_spread apart = deviation(trial);
    as_log_debug("warming with %" PRIu64 " instructions: %.4f from all, standard deviation %.4f", trial->warm,
                 apart.mean, apart.deviation);
    return apart.mean <= tolerable && apart.mean + apart.deviation <= 2 * tolerable;
}

static void decide(struct as_warming *warming)
{
    struct as_sampled *sampled = warming->sampled;
    struct as_sampled_summary *summary = &sampled->summary;
    int chosen = 0;
    while (chosen < TRIALS && !suffices(&warming->trials[chosen]))
        chosen++;
    const struct trial *shown = &warming->trials[chosen < TRIALS ? chosen : TRIALS - 1];
    summary->warm = chosen < TRIALS ? SAFETY * shown->warm : AS_REGION_ALL;
    summary->warm_short = shown->warm;
    summary->warm_error = deviation(shown).mean;
    for (size_t i = 0; i < sampled->regions.list.len; i++)
        if (sampled->regions.list.data[i].warm != AS_REGION_ALL)
            sampled->regions.list.data[i].warm = summary->warm;
    warming->decided = true;
}

static double cpi_of(const struct as_model *model, uint32_t region)
{
    const struct as_counters *counters = as_model_region(model, region);
    return (double)counters->cycles / (double)(counters->instructions ? counters->instructions : 1);
}

/* Called when a trial's region has ended; the real model's has ended before. */
static void on_measured(void *context, uint32_t region)
{
    struct trial *trial = context;
    struct as_warming *warming = trial->warming;
    warming->cpi[warming->pilots] = cpi_of(warming->sampled->modelled->model, region);
    trial->apart[warming->pilots] = cpi_of(trial->model, region) - warming->cpi[warming->pilots];
    if (trial == &warming->trials[TRIALS - 1] && ++warming->pilots == PILOTS)
        decide(warming);
}

/* ---- the run ---- */

/* As far as pilots are apart. */
static uint64_t longest_warm(const struct as_sampled_options *options)
{
    enum { LONGEST = 400000 };
    uint64_t room = (PILOT_REGIONS - 1) * (options->period << PILOT_STRATUM);
    return room < LONGEST ? room : LONGEST;
}

struct as_warming *as_warming_new(struct as_sampled *sampled)
{
    uint64_t longest = longest_warm(&sampled->options);
    struct as_warming *warming = as_alloc(sizeof *warming);
    struct as_fanout_options options = AS_FANOUT_DEFAULTS;
    options.inline_ = true;
    options.batch = AS_MODEL_BATCH;
    warming->sampled = sampled;
    for (int i = 0; i < TRIALS; i++) {
        struct trial *trial = &warming->trials[i];
        *trial = (struct trial){.warming = warming,
                                .model = as_model_new(&sampled->modelled->machine),
                                .fanout = as_fanout_new(&options),
                                .warm = longest / part_of_longest[i]};
        as_model_set_sieve(trial->model);
        warming->decided |= !as_fanout_start(trial->fanout, NULL); /* in line: it cannot fail */
        as_model_set_measured(trial->model, on_measured, trial);
        as_model_add_also(sampled->modelled->model, &trial_sink, trial);
    }
    return warming;
}

void as_warming_free(struct as_warming *warming)
{
    for (int i = 0; warming && i < TRIALS; i++) {
        as_model_join(warming->trials[i].model, NULL, NULL);
        as_model_free(warming->trials[i].model);
        as_fanout_free(warming->trials[i].fanout);
    }
    free(warming);
}
