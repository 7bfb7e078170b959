/* How long to warm before a region: determined in the run itself.
 *
 * At the end of the head, in its second half, some parts are pilots: beside the real model, others without observers measure
 * them, too, as regions are measured later. All of these see what a sieve lets through (model_sieve.c) and so many
 * instructions before a pilot; the last one, the reference, is warmed all the time. Twice the shortest warming whose pilots
 * take the same time as in the reference, but for TOLERABLE (and for twice that with a standard deviation), is used for all
 * regions, since later parts of the program may need more. Where the shortest one is CERTAIN to suffice, fewer pilots do. If none
 * suffices, or if the head has no room for pilots, everything is warmed. Trials begin shortly before the first pilot, with the contents of the real model's caches as far as
 * one core has them. They warm their predictors up to that pilot, which does not count. Pilots are no further apart than predictors
 * are trained before a region (AS_NEAR), so lengths differ in what the first data cache and TLB have.
 *
 * The real model is not the reference: it says what functional warming leaves out (the order of accesses in time), which
 * is the same however long a region is warmed, with so much chance in each pilot that lengths could
 * not be told apart. Pilots begin and end with the blocks in which their places lie.
 */
#include "base/log.h"
#include "engine/sink_tee.h"
#include "record/sampled_internal.h"
#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>

enum {
    TRIALS = 4,
    PILOTS = 61,
    FEWEST = 11,      /* pilots, or there are no trials … */
    EARLY = 21,       /* … and so many before their end is thought of */
    LEAST_APART = 5,  /* … with so many times their length from one to the next */
    LONGEST = 100000, /* instructions of warming in the longest trial … */
    SPARE = 50000,    /* … and how many more of them pilots need to be apart */
    RUN_IN = 2000000, /* instructions that all trials see before the first pilot */
    SAFETY = 2,       /* so many times the length that is found to suffice is used */
    CLIPPED = 10,     /* one in so many pilots is clipped at each end of their differences */
};
enum { REFERENCE = TRIALS - 1 };
static const uint64_t part_of_longest[REFERENCE] = {4, 2, 1};
static const double tolerable = 0.005;
static const double certain = 0.0005;

struct trial {
    struct as_warming *warming;
    struct as_model *model;
    struct as_fanout *fanout;
    uint64_t warm;      /* instructions */
    enum as_mode mode;  /* of what it is told now */
    bool within;        /* a pilot has begun */
    uint32_t pilots;    /* measured so far */
    uint64_t passed;    /* instructions since the program's start */
    uint64_t before;    /* cycles when the pilot began */
    double cpi[PILOTS]; /* of the pilots */
};

struct as_warming {
    struct as_sampled *sampled;
    struct trial trials[TRIALS];
    uint32_t pilots;   /* in the head */
    uint64_t distance; /* from one to the next */
    uint64_t unit, settle;
    uint64_t begin;             /* where trials begin, in instructions */
    uint64_t passed;            /* before that: instructions since the program's start */
    struct as_sink_tee *tee;    /* the trials' sinks as one … */
    const struct as_sink *crew; /* … which it is */
    void *crew_context;
    bool begun, decided;
};

/* ---- where pilots are ---- */

/* As many as there is room for in the second half of the head, no further apart than trials need; 0: too few. */
static void place_pilots(struct as_warming *warming, const struct as_sampled_options *options)
{
    uint64_t room = options->head / 2, least = LEAST_APART * options->unit;
    uint64_t most = LONGEST + SPARE > least ? LONGEST + SPARE : least;
    uint64_t pilots = room / least < PILOTS ? room / least : PILOTS;
    warming->pilots = pilots < FEWEST ? 0 : (uint32_t)pilots;
    warming->unit = options->unit;
    warming->settle = as_sampled_settle(options->unit);
    warming->distance = warming->pilots ? room / warming->pilots : 0;
    warming->distance = warming->distance < most ? warming->distance : most;
}

/* Where the pilot begins that is measured now, or comes next. */
static uint64_t next_pilot(const struct trial *trial)
{
    const struct as_warming *warming = trial->warming;
    return warming->sampled->options.head - (warming->pilots - trial->pilots) * warming->distance +
           (warming->distance - warming->unit) / 2;
}

static enum as_mode mode_now(const struct trial *trial)
{
    uint64_t start = next_pilot(trial), settle = trial->warming->settle;
    uint64_t warm = trial->pilots ? trial->warm : RUN_IN;
    if (trial->passed + settle >= start)
        return AS_MODE_SETTLE;
    return trial->passed + settle + warm >= start ? AS_MODE_WARM : AS_MODE_COUNT;
}

/* ---- models that see a part of the warming ---- */

static void set_mode(struct trial *trial, enum as_mode mode)
{
    if (mode != trial->mode)
        as_model_sink.stretch(trial->model, &(struct as_stretch){.mode = mode, .region = AS_REGION_NONE});
    trial->mode = mode;
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

static bool is_certain(const struct as_warming *warming);
static void decide(struct as_warming *warming);

/* The pilot has begun with the block that was executed last, or has ended with it. */
static void measure(struct trial *trial)
{
    struct as_warming *warming = trial->warming;
    uint64_t cycles = as_model_time(trial->model);
    trial->within = !trial->within;
    if (trial->within) {
        trial->before = cycles;
        return;
    }
    trial->cpi[trial->pilots] = (double)(int64_t)(cycles - trial->before) / (double)warming->unit;
    trial->pilots++;
    if (trial == &warming->trials[REFERENCE] && (trial->pilots == warming->pilots || is_certain(warming)))
        decide(warming);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct trial *trial = context;
    if (trial->pilots == trial->warming->pilots)
        return;
    set_mode(trial, mode_now(trial));
    if (trial->mode == AS_MODE_COUNT) {
        struct as_block_exec passed = *exec;
        passed.near = next_pilot(trial) - trial->passed <= AS_NEAR + trial->warming->settle + trial->warm;
        as_model_sink.skipped(trial->model, thread, exec->block, exec->first, exec->end, 1);
        if (exec->n_words || exec->block->outcome == AS_OUTCOME_LEAVES || passed.near)
            as_model_sink.passed(trial->model, thread, &passed);
    } else {
        as_model_sink.block(trial->model, thread, exec);
    }
    trial->passed += as_block_exec_count(exec);
    if (trial->passed >= next_pilot(trial) + (trial->within ? trial->warming->unit : 0))
        measure(trial);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct trial *trial = context;
    if (trial->mode != AS_MODE_COUNT)
        as_model_sink.syscall(trial->model, thread, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct trial *trial = context;
    if (trial->mode != AS_MODE_COUNT)
        as_model_sink.syscall_return(trial->model, thread, number, result);
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    as_model_sink.mapping(((struct trial *)context)->model, thread, mapping);
}

static const struct as_sink trial_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .mapping = on_mapping,
    .unmeasured = true,
};

/* ---- all of them ---- */

static bool follows(const struct as_warming *warming)
{
    return warming->begun && !warming->decided;
}

static void begin(struct as_warming *warming)
{
    struct as_model *leader = warming->sampled->modelled->model;
    for (int i = 0; i < TRIALS; i++) {
        as_model_copy_contents(warming->trials[i].model, leader);
        warming->trials[i].passed = warming->passed;
    }
    warming->begun = true;
}

static void on_start(void *context, struct as_thread *thread)
{
    const struct as_warming *warming = context;
    warming->crew->thread_start(warming->crew_context, thread);
}

static void on_end(void *context, struct as_thread *thread)
{
    const struct as_warming *warming = context;
    warming->crew->thread_end(warming->crew_context, thread);
}

static void on_any_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_warming *warming = context;
    if (warming->decided)
        return;
    if (!warming->begun && warming->passed >= warming->begin)
        begin(warming);
    if (warming->begun)
        warming->crew->block(warming->crew_context, thread, exec);
    else
        warming->passed += as_block_exec_count(exec);
}

static void on_any_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    const struct as_warming *warming = context;
    if (follows(warming))
        warming->crew->syscall(warming->crew_context, thread, number, args);
}

static void on_any_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    const struct as_warming *warming = context;
    if (follows(warming))
        warming->crew->syscall_return(warming->crew_context, thread, number, result);
}

static void on_any_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    const struct as_warming *warming = context;
    warming->crew->mapping(warming->crew_context, thread, mapping);
}

static const struct as_sink crew_sink = {
    .thread_start = on_start,
    .thread_end = on_end,
    .block = on_any_block,
    .syscall = on_any_syscall,
    .syscall_return = on_any_syscall_return,
    .mapping = on_any_mapping,
    .unmeasured = true,
};

/* ---- the decision ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Replaces the largest and the smallest values by those that are next to them. A pilot in which a burst of page faults or of
 * misses to DRAM goes another way can differ by more than all others together, and says nothing about warming. */
void as_sampled_clip(double *values, size_t n)
{
    size_t outer = n / CLIPPED;
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < outer; i++) {
        values[i] = values[outer];
        values[n - 1 - i] = values[n - 1 - outer];
    }
}

/* How far a trial's pilots are from those of the reference, as a part of their time: the mean, and its standard
 * deviation. */
static struct as_spread deviation(const struct trial *trial)
{
    const struct trial *reference = &trial->warming->trials[REFERENCE];
    uint32_t n = reference->pilots - 1;
    double apart[PILOTS], mean = as_spread_of(reference->cpi + 1, n).mean;
    for (uint32_t i = 0; i < n; i++)
        apart[i] = trial->cpi[i + 1] - reference->cpi[i + 1];
    as_sampled_clip(apart, n);
    struct as_spread spread = as_spread_of(apart, n);
    spread.mean = fabs(spread.mean) / mean;
    spread.deviation /= sqrt(n) * mean;
    return spread;
}

static bool suffices(const struct trial *trial)
{
    struct as_spread apart = deviation(trial);
    as_log_debug("warming with %" PRIu64 " instructions: %.4f from all, standard deviation %.4f, %" PRIu32 " pilots",
                 trial->warm, apart.mean, apart.deviation, trial->pilots);
    return apart.mean <= tolerable && apart.mean + apart.deviation <= 2 * tolerable;
}

/* Whether the pilots so far leave no doubt about the shortest warming. The reference measures each pilot last. */
static bool is_certain(const struct as_warming *warming)
{
    if (warming->trials[REFERENCE].pilots < EARLY)
        return false;
    struct as_spread apart = deviation(&warming->trials[0]);
    return apart.mean + 2 * apart.deviation <= certain;
}

static void set_warming(struct as_sampled *sampled, uint64_t warm)
{
    sampled->summary.warm = warm;
    for (size_t i = 1; i < sampled->regions.list.len; i++)
        sampled->regions.list.data[i].warm = warm;
    sampled->regions.undecided = false;
}

static void decide(struct as_warming *warming)
{
    struct as_sampled_summary *summary = &warming->sampled->summary;
    int chosen = 0;
    while (chosen < REFERENCE && !suffices(&warming->trials[chosen]))
        chosen++;
    const struct trial *shown = &warming->trials[chosen < REFERENCE ? chosen : REFERENCE - 1];
    set_warming(warming->sampled, chosen < REFERENCE ? SAFETY * shown->warm : AS_REGION_ALL);
    summary->warm_short = shown->warm;
    summary->warm_error = deviation(shown).mean;
    warming->decided = true;
}

/* ---- the run ---- */

/* As far as pilots are apart. */
static uint64_t longest_warm(const struct as_warming *warming)
{
    uint64_t room = warming->distance - warming->unit - warming->settle;
    return room < LONGEST ? room : LONGEST;
}

static void add_trial(struct as_warming *warming, struct trial *trial, uint64_t warm)
{
    struct as_sampled *sampled = warming->sampled;
    struct as_fanout_options options = AS_FANOUT_DEFAULTS;
    options.inline_ = true;
    options.batch = AS_MODEL_BATCH;
    *trial = (struct trial){.warming = warming,
                            .model = as_model_new(&sampled->modelled->machine),
                            .fanout = as_fanout_new(&options),
                            .mode = AS_MODE_DETAIL, /* as models begin */
                            .warm = warm};
    as_model_set_sieve(trial->model);
    warming->decided |= !as_fanout_start(trial->fanout, NULL); /* in line: it cannot fail */
    as_sink_tee_add(warming->tee, &trial_sink, trial);
}

static void add_trials(struct as_warming *warming)
{
    const struct as_sampled *sampled = warming->sampled;
    warming->tee = as_sink_tee_new();
    for (int i = 0; i < TRIALS; i++)
        add_trial(warming, &warming->trials[i],
                  i < REFERENCE ? longest_warm(warming) / part_of_longest[i] : sampled->options.head);
    uint64_t first = next_pilot(&warming->trials[0]), before = warming->settle + RUN_IN;
    warming->begin = first > before ? first - before : 0;
    warming->crew = as_sink_tee_sink(warming->tee, &warming->crew_context);
    as_model_add_also(sampled->modelled->model, &crew_sink, warming);
}

struct as_warming *as_warming_new(struct as_sampled *sampled)
{
    struct as_warming *warming = as_alloc(sizeof *warming);
    warming->sampled = sampled;
    place_pilots(warming, &sampled->options);
    if (warming->pilots)
        add_trials(warming);
    else
        set_warming(sampled, AS_REGION_ALL);
    return warming;
}

void as_warming_free(struct as_warming *warming)
{
    for (int i = 0; warming && i < TRIALS && warming->trials[i].model; i++) {
        as_model_join(warming->trials[i].model, NULL, NULL);
        as_model_free(warming->trials[i].model);
        as_fanout_free(warming->trials[i].fanout);
    }
    if (warming)
        as_sink_tee_free(warming->tee);
    free(warming);
}
