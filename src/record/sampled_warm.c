/* How long to warm before a region: determined in the run itself.
 *
 * In the first regions after the head, models without observers run beside the real one. All see the same instructions;
 * they differ only in how many instructions before the region they use for warming. From the shortest warming whose
 * regions take the same time as with the longest, up to TOLERABLE, four times as much is used for all further regions,
 * because other parts of the program may need more than the first ones.
 *
 * The extra models have seen the end of the head, as warming, so that their caches are as full as the real one's. They
 * do not charge the first touch of pages, because pages that the program touched earlier would be new to them.
 */
#include "record/sampled_internal.h"
#include "score/confidence.h"

#include <math.h>

enum { TRIALS = 3, PILOTS = 6, HEAD_SEEN = 20000000 };
static const uint64_t part_of_longest[TRIALS] = {16, 4, 1};
static const double tolerable = 0.005;

struct trial {
    struct as_warming *warming;
    struct as_model *model;
    struct as_fanout *fanout;
    uint64_t warm;   /* instructions */
    uint64_t passed; /* instructions of the stretch */
    struct as_stretch stretch;
    double cpi[PILOTS];
};

struct as_warming {
    struct as_sampled *sampled;
    struct as_machine machine;
    struct trial trials[TRIALS];
    uint64_t longest;
    bool decided;
};

/* ---- models that see a part of the warming ---- */

static bool is_heard(const struct trial *trial)
{
    const struct as_warming *warming = trial->warming;
    if (warming->decided)
        return false;
    if (trial->stretch.region == 0)
        return trial->passed + HEAD_SEEN >= warming->sampled->options.head;
    return trial->stretch.mode != AS_MODE_WARM || trial->passed >= warming->longest - trial->warm;
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

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    static const struct as_stretch head = {.mode = AS_MODE_WARM, .region = AS_REGION_NONE};
    struct trial *trial = context;
    if (trial->warming->decided)
        return;
    trial->stretch = *stretch;
    trial->passed = 0;
    as_model_sink.stretch(trial->model, stretch->region == 0 ? &head : stretch);
}

static const struct as_sink trial_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .stretch = on_stretch,
    .unmeasured = true,
};

/* ---- the decision ---- */

/* How far a trial's regions are from those with the longest warming: the mean plus its standard deviation. */
static double deviation(const struct as_warming *warming, const struct trial *trial)
{
    double apart[PILOTS];
    for (int i = 0; i < PILOTS; i++)
        apart[i] = trial->cpi[i] / warming->trials[TRIALS - 1].cpi[i] - 1;
    struct as_spread spread = as_spread_of(apart, PILOTS);
    return fabs(spread.mean) + spread.deviation / sqrt(PILOTS);
}

static void decide(struct as_warming *warming)
{
    struct as_sampled *sampled = warming->sampled;
    int chosen = 0;
    while (chosen < TRIALS - 1 && deviation(warming, &warming->trials[chosen]) > tolerable)
        chosen++;
    int shorter = chosen < TRIALS - 1 ? chosen : TRIALS - 2;
    sampled->summary.warm = warming->trials[shorter + 1].warm; /* later parts of the program may need more */
    sampled->summary.warm_tried = warming->longest;
    sampled->summary.warm_short = warming->trials[shorter].warm;
    sampled->summary.warm_error = deviation(warming, &warming->trials[shorter]);
    for (size_t i = PILOTS + 1; i < sampled->regions.list.len; i++)
        sampled->regions.list.data[i].warm = sampled->summary.warm;
    warming->decided = true;
}

static void on_measured(void *context, uint32_t region)
{
    struct trial *trial = context;
    const struct as_counters *counters = as_model_region(trial->model, region);
    if (trial->warming->decided || region == 0 || region > PILOTS)
        return;
    trial->cpi[region - 1] = (double)counters->cycles / (double)(counters->instructions ? counters->instructions : 1);
    if (region == PILOTS && trial == &trial->warming->trials[TRIALS - 1])
        decide(trial->warming);
}

/* ---- the run ---- */

struct as_warming *as_warming_new(struct as_sampled *sampled, uint64_t longest)
{
    struct as_warming *warming = as_alloc(sizeof *warming);
    struct as_fanout_options options = AS_FANOUT_DEFAULTS;
    options.inline_ = true;
    options.batch = AS_MODEL_BATCH;
    warming->sampled = sampled;
    warming->longest = longest;
    warming->machine = sampled->modelled->machine;
    warming->machine.memory.fault_cycles = 0;
    for (int i = 0; i < TRIALS; i++) {
        struct trial *trial = &warming->trials[i];
        *trial = (struct trial){.warming = warming,
                                .model = as_model_new(&warming->machine),
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
