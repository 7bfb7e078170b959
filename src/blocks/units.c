/* See units.h. Each guest thread has counters of its own. An address in the samples is the number of a static instruction
 * + 1, which stays right whatever the program maps. */
#include "blocks/units.h"

#include "base/random.h"
#include "base/vec.h"

#include <stdlib.h>

#define NEVER UINT64_MAX
enum { MOST_LBR = 64, INSNS_A_BRANCH = 6 };

const struct as_way as_ways[] = {
    {"classic", "imprecise event, round period", AS_UNIT_IMPRECISE, AS_PERIOD_ROUND, AS_METHOD_IP},
    {"precise", "precise event, round period", AS_UNIT_PRECISE, AS_PERIOD_ROUND, AS_METHOD_IP},
    {"prime", "precise event, prime period", AS_UNIT_PRECISE, AS_PERIOD_PRIME, AS_METHOD_IP},
    {"prime+fix", "the same, IP+1 put right by the branch stack", AS_UNIT_PRECISE, AS_PERIOD_PRIME, AS_METHOD_FIXED,
     .same_samples = true},
    {"random", "precise event, random period", AS_UNIT_PRECISE, AS_PERIOD_RANDOM, AS_METHOD_IP},
    {"pdir", "precise distribution, prime period", AS_UNIT_EXACT, AS_PERIOD_PRIME, AS_METHOD_IP},
    {"pdir+fix", "the same, IP+1 put right by the branch stack", AS_UNIT_EXACT, AS_PERIOD_PRIME, AS_METHOD_FIXED,
     .same_samples = true},
    {"uops", "tagged micro-operations, prime period, over instructions", AS_UNIT_OPS, AS_PERIOD_PRIME, AS_METHOD_IP},
    {"uops/uop", "the same, over micro-operations", AS_UNIT_OPS, AS_PERIOD_PRIME, AS_METHOD_UOPS, .same_samples = true},
    {"uops-random", "tagged micro-operations, low bits of the period random in hardware", AS_UNIT_OPS, AS_PERIOD_PRIME,
     AS_METHOD_IP, .hardware_random = true},
    {"lbr", "taken branches, all runs of each branch stack", AS_UNIT_BRANCHES, AS_PERIOD_PRIME, AS_METHOD_LBR},
};
const size_t as_ways_count = sizeof as_ways / sizeof *as_ways;
enum { WAYS = sizeof as_ways / sizeof *as_ways };

struct branch {
    uint32_t from, to; /* instruction + 1; to 0: not known yet */
    bool mispredicted;
};

/* One way on one thread. */
struct counter {
    uint64_t left;    /* until it overflows */
    uint64_t period;  /* that it counts now */
    uint64_t pending; /* what the sample under way stands for: overflows until it is taken are added to it */
    uint64_t due;     /* imprecise, branches: when the interrupt comes; precise: when it is armed */
    bool wants_next;  /* an instruction was taken: the next one's address is the sample's */
};

struct thread {
    struct counter counters[WAYS];
    struct branch ring[MOST_LBR];
    uint32_t n, newest;
    uint64_t seed;
};

struct as_units {
    const struct as_run_info *run;
    struct as_units_options options;
    uint32_t lbr, random_bits;
    struct as_samples *samples[WAYS]; /* NULL: not possible, or as the way before */
    uint64_t periods[WAYS];
    AS_VEC(struct thread *) threads;
    AS_VEC(uint8_t) uops; /* by instruction; 0: not known yet */
};

uint64_t as_units_prime(uint64_t least)
{
    for (uint64_t n = least < 2 ? 2 : least;; n++) {
        uint64_t d = 2;
        while (d * d <= n && n % d)
            d++;
        if (d * d > n)
            return n;
    }
}

static bool is_possible(const struct as_pmu *pmu, const struct as_way *way)
{
    if (way->trigger == AS_UNIT_EXACT && !pmu->pdir)
        return false;
    if (way->trigger == AS_UNIT_PRECISE && pmu->kind != AS_PMU_PEBS)
        return false;
    if (way->trigger == AS_UNIT_OPS && pmu->kind != AS_PMU_IBS)
        return false;
    return pmu->lbr > 1 || (way->method != AS_METHOD_LBR && way->method != AS_METHOD_FIXED);
}

static uint64_t period_of(const struct as_way *way, uint64_t wanted)
{
    uint64_t period = way->trigger == AS_UNIT_BRANCHES ? wanted / INSNS_A_BRANCH : wanted;
    period = period < 16 ? 16 : period;
    return way->period == AS_PERIOD_ROUND ? period : as_units_prime(period);
}

struct as_units *as_units_new(const struct as_run_info *run, const struct as_units_options *options)
{
    struct as_units *units = as_alloc(sizeof *units);
    units->run = run;
    units->options = *options;
    units->lbr = options->pmu->lbr < MOST_LBR ? options->pmu->lbr : MOST_LBR;
    units->random_bits = options->pmu->random_bits < 16 ? options->pmu->random_bits : 16;
    for (size_t i = 0; i < WAYS; i++) {
        if (!is_possible(options->pmu, &as_ways[i]))
            continue;
        units->periods[i] = period_of(&as_ways[i], options->period);
        if (!as_ways[i].same_samples)
            units->samples[i] = as_samples_new(&(struct as_samples_options){.unordered = true});
    }
    return units;
}

void as_units_free(struct as_units *units)
{
    if (!units)
        return;
    for (size_t i = 0; i < WAYS; i++)
        as_samples_free(units->samples[i]);
    for (size_t i = 0; i < units->threads.len; i++)
        free(units->threads.data[i]);
    as_vec_free(&units->threads);
    as_vec_free(&units->uops);
    free(units);
}

/* ---- periods ---- */

static void load(struct as_units *units, struct thread *thread, size_t way)
{
    struct counter *counter = &thread->counters[way];
    uint64_t period = units->periods[way];
    if (as_ways[way].period == AS_PERIOD_RANDOM) /* from half of it to one and a half */
        period = period / 2 + as_random_below(&thread->seed, period + 1);
    if (as_ways[way].hardware_random && units->random_bits)
        period = (period & ~((UINT64_C(1) << units->random_bits) - 1)) +
                 (as_random(&thread->seed) & ((UINT64_C(1) << units->random_bits) - 1));
    counter->period = counter->left = period ? period : 1;
}

static struct thread *thread_of(struct as_units *units, uint32_t number)
{
    while (units->threads.len <= number)
        *as_vec_push(&units->threads) = NULL;
    struct thread **thread = &units->threads.data[number];
    if (*thread)
        return *thread;
    *thread = as_alloc(sizeof **thread);
    (*thread)->seed = as_random_hash(units->options.seed + number);
    for (size_t i = 0; i < WAYS; i++) {
        (*thread)->counters[i].due = NEVER;
        if (units->samples[i])
            load(units, *thread, i);
    }
    return *thread;
}

/* ---- samples ---- */

static void take(struct as_units *units, struct thread *thread, size_t way, uint32_t insn)
{
    struct as_samples_branch branches[MOST_LBR];
    struct as_samples_one one = {.ip = insn + 1, .weight = (double)thread->counters[way].pending, .branches = branches};
    thread->counters[way].pending = 0;
    for (uint32_t i = 0; i < thread->n; i++) {
        const struct branch *branch = &thread->ring[(thread->newest + units->lbr - i) % units->lbr];
        if (branch->to)
            branches[one.n_branches++] = (struct as_samples_branch){branch->from, branch->to, branch->mispredicted};
    }
    as_samples_add(units->samples[way], &one);
}

static void note_branch(struct as_units *units, struct thread *thread, const struct as_pipe *pipe)
{
    if (thread->n && !thread->ring[thread->newest].to)
        thread->ring[thread->newest].to = pipe->insn + 1;
    if (!(pipe->flags & AS_PIPE_TAKEN) || !units->lbr)
        return;
    thread->newest = (thread->newest + 1) % units->lbr;
    thread->n += thread->n < units->lbr;
    thread->ring[thread->newest] =
        (struct branch){.from = pipe->insn + 1, .mispredicted = pipe->flags & AS_PIPE_MISPREDICTED};
}

/* An overflow, by the instruction that retires now. The counter goes on at once. */
static void overflow(struct as_units *units, struct thread *thread, size_t way, const struct as_pipe *pipe)
{
    struct counter *counter = &thread->counters[way];
    bool waits = counter->due != NEVER || counter->wants_next;
    counter->pending += counter->period;
    load(units, thread, way);
    switch (as_ways[way].trigger) {
    case AS_UNIT_IMPRECISE:
    case AS_UNIT_BRANCHES:
        counter->due = waits ? counter->due : pipe->commit + units->options.skid;
        break;
    case AS_UNIT_PRECISE:
        counter->due = waits ? counter->due : pipe->commit + units->options.pmu->shadow[AS_SHADOW_INSTRUCTIONS];
        break;
    case AS_UNIT_EXACT:
        counter->wants_next = true;
        break;
    case AS_UNIT_OPS:
        take(units, thread, way, pipe->insn);
        break;
    }
}

/* A sample that waits for its interrupt, to be armed, or for the next address. */
static void settle(struct as_units *units, struct thread *thread, size_t way, const struct as_pipe *pipe)
{
    struct counter *counter = &thread->counters[way];
    if (counter->wants_next) {
        counter->wants_next = false;
        take(units, thread, way, pipe->insn);
    } else if (pipe->commit > counter->due) {
        counter->due = NEVER;
        if (as_ways[way].trigger == AS_UNIT_PRECISE)
            counter->wants_next = true;
        else
            take(units, thread, way, pipe->insn);
    }
}

static void step(struct as_units *units, struct thread *thread, size_t way, const struct as_pipe *pipe, uint32_t uops)
{
    struct counter *counter = &thread->counters[way];
    enum as_unit_trigger trigger = as_ways[way].trigger;
    if (__builtin_expect(counter->due != NEVER || counter->wants_next, 0))
        settle(units, thread, way, pipe);
    bool taken = pipe->flags & AS_PIPE_TAKEN;
    uint64_t counted = trigger == AS_UNIT_OPS ? uops : trigger == AS_UNIT_BRANCHES ? taken : 1;
    if (counter->left > counted) {
        counter->left -= counted;
    } else if (counted) {
        uint64_t beyond = counted - counter->left; /* operations of this instruction behind the one that overflows */
        overflow(units, thread, way, pipe);
        counter->left -= counter->left > beyond ? beyond : 0;
    }
}

static uint32_t uops_of(struct as_units *units, uint32_t insn)
{
    while (units->uops.len <= insn)
        *as_vec_push(&units->uops) = 0;
    if (!units->uops.data[insn]) {
        const struct as_insn *code = units->run->insn(units->run->context, insn);
        units->uops.data[insn] = code && code->n_uops ? code->n_uops : 1;
    }
    return units->uops.data[insn];
}

static void on_batch(void *self, const struct as_pipe_batch *batch)
{
    struct as_units *units = self;
    struct thread *thread = thread_of(units, batch->thread);
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_pipe *pipe = &batch->pipes[i];
        if (pipe->flags & AS_PIPE_CONTINUES)
            continue;
        note_branch(units, thread, pipe);
        uint32_t uops = uops_of(units, pipe->insn);
        for (size_t way = 0; way < WAYS; way++)
            if (units->samples[way])
                step(units, thread, way, pipe, uops);
    }
}

static void free_units(void *self)
{
    as_units_free(self);
}

const struct as_observer as_units_observer = {.version = AS_OBSERVER_VERSION,
                                              .record_size = sizeof(struct as_pipe),
                                              .name = "block-units",
                                              .batch = on_batch,
                                              .free = free_units};

struct as_samples *as_units_samples(const struct as_units *units, size_t way)
{
    if (!units->periods[way])
        return NULL;
    while (as_ways[way].same_samples)
        way--;
    return units->samples[way];
}

uint64_t as_units_period(const struct as_units *units, size_t way)
{
    return units->periods[way];
}
