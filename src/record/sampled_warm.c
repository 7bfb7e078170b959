/* How long to warm before a region: determined in the run itself.
 *
 * The first strata are warmed all the time. In one of them every sixth region is a pilot: beside the real model, which has
 * seen everything, others without observers measure it too. They see the same instructions, but only so many of those
 * before a pilot. Four times the shortest warming whose pilots take the same time as in the real model, but for TOLERABLE,
 * is used where periods are long, since other parts of the program may need more; if none does, everything is warmed to
 * the end. The first pilot comes behind a long warming for all, so that caches are full; it does not count.
 */
#include "record/sampled_internal.h"
#include "score/confidence.h"

#include <math.h>

enum {
    TRIALS = 3,
    PILOTS = 31,
    PILOT_REGIONS = 6, /* from one pilot to the next */
    PILOT_STRATUM = AS_WARM_STRATA - 2,
    RUN_IN = 20000000, /* instructions before the first pilot */
};
static const uint64_t part_of_longest[TRIALS] = {16, 4, 1};
static const double tolerable = 0.005;

struct trial {
    struct as_warming *warming;
    struct as_model *model;
    struct as_fanout *fanout;
    uint64_t warm;        /* instructions */
    uint64_t passed;      /* instructions since the program's start */
    double apart[PILOTS]; /* how much longer than in the real model a pilot took, as a part */
};

struct as_warming {
    struct as_sampled *sampled;
    struct trial trials[TRIALS];
    uint32_t pilots; /* measured so far */
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
    if (is_heard(trial))
        as_model_sink.block(trial->model, thread, exec);
    trial->passed += as_block_exec_count(exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct trial *trial = context;
    if (is_heard(trial))
        as_model_sink.syscall(trial->model, thread, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct trial *trial = context;
    if (is_heard(trial))
        as_model_sink.syscall_return(trial->model, thread, number, result);
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    as_model_sink.mapping(((struct trial *)context)->model, thread, mapping);
}

/* Only pilots take time. */
static void on_stretch(void *context, const struct as_stretch *stretch)
{
    static const struct as_stretch warm = {.mode = AS_MODE_WARM, .region = AS_REGION_NONE};
    struct trial *trial = context;
    const struct as_region *pilot = next_pilot(trial->warming);
    if (!pilot)
        return;
    bool settles = stretch->mode == AS_MODE_SETTLE && trial->passed + pilot->settle >= pilot->start.number;
    bool measures = stretch->mode == AS_MODE_DETAIL && trial->passed >= pilot->start.number;
    as_model_sink.stretch(trial->model, settles || measures ? stretch : &warm);
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

/* How far a trial's pilots are from the real ones: the mean, and its standard deviation added. */
static double deviation(const struct trial *trial)
{
    struct as_spread spread = as_spread_of(trial->apart + 1, PILOTS - 1);
    return fabs(spread.mean) + spread.deviation / sqrt(PILOTS - 1);
}

static void decide(struct as_warming *warming)
{
    struct as_sampled *sampled = warming->sampled;
    struct as_sampled_summary *summary = &sampled->summary;
    int chosen = 0;
    while (chosen < TRIALS && deviation(&warming->trials[chosen]) > tolerable)
        chosen++;
    const struct trial *shown = &warming->trials[chosen < TRIALS ? chosen : TRIALS - 1];
    summary->warm = chosen < TRIALS ? 4 * shown->warm : AS_REGION_ALL;
    summary->warm_short = shown->warm;
    summary->warm_error = deviation(shown);
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
    trial->apart[warming->pilots] =
        cpi_of(trial->model, region) / cpi_of(warming->sampled->modelled->model, region) - 1;
    if (trial == &warming->trials[TRIALS - 1] && ++warming->pilots == PILOTS)
        decide(warming);
}

/* ---- the run ---- */

/* More than any cache of the bundled machines takes to fill, as far as pilots are apart. */
static uint64_t longest_warm(const struct as_sampled_options *options)
{
    enum { LONGEST = 8000000 };
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
