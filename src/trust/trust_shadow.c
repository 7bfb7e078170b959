/* The shadow of an event: nops are put behind each event until every one of them gets its fair share of samples. See
 * trust.h. */
#include "trust/trust.h"

#include <math.h>

static const struct {
    const char *event, *kernel;
    enum as_kernel_event counts;
    bool fence;
    uint64_t period;
    uint32_t most;  /* nops that are tried */
    uint32_t ratio; /* of the kernel; 0: the usual one */
} subjects[AS_TRUST_SHADOWS] = {
    {"loads", "snippet1", AS_KERNEL_LOADS, true, 31, 400},
    {"loads", "snippet1", AS_KERNEL_LOADS, false, 31, 400},
    {"branches", "snippet2", AS_KERNEL_BRANCHES, false, 31, 400},
    {"l3-miss", "snippet3", AS_KERNEL_L3_MISS, false, 7, 2000},
    {"stores", "stores", AS_KERNEL_STORES, false, 31, 400},
    {"l1-miss", "misses", AS_KERNEL_L1_MISS, false, 31, 400, 64},
    {"l2-miss", "misses", AS_KERNEL_L2_MISS, false, 31, 400, 1024},
};

const char *as_trust_shadow_event(size_t which)
{
    return subjects[which].event;
}

struct trial {
    double largest, fair;
    double cycles, all_cycles; /* of an iteration; of the run */
    uint64_t samples;
    bool enough, even;
};

/* Even: no share is off by more than five standard deviations of so many samples, and a twentieth of itself. There must be so
 * many that an instruction with half of its share, or once and a half, would not pass for even. */
static void judge(const struct as_trust_result *result, enum as_kernel_event event, struct trial *trial)
{
    double n = 0, places = 0;
    for (size_t i = 0; i < result->code.n_labels; i++)
        places += result->code.labels[i].events >> event & 1;
    trial->samples = result->counts[0].samples;
    n = (double)trial->samples;
    trial->fair = 1 / places;
    trial->largest = 0;
    double chance = n > 0 ? 5 * sqrt(trial->fair * (1 - trial->fair) / n) : INFINITY;
    double allowed = fmax(chance, trial->fair / 20);
    trial->even = trial->enough = chance < trial->fair / 2;
    for (size_t i = 0; i < result->code.n_labels && n > 0; i++) {
        double share = (double)result->counts[0].at[i] / n;
        if (!(result->code.labels[i].events >> event & 1))
            continue;
        trial->largest = fmax(trial->largest, share);
        trial->even = trial->even && fabs(share - trial->fair) <= allowed;
    }
}

bool as_trust_has_shadow(const struct as_trust_subject *subject, size_t which)
{
    return as_trust_has_kernel(subject, subjects[which].kernel) && as_trust_has_event(subject, subjects[which].event);
}

/* A part of the kernel's usual iterations; and runs that only time nops. */
enum { PART = 10, TIMED = 500, TIMED_NATIVE = 500000, TIMED_NOPS = 400 };

static bool try_nops(struct as_trust_subject *subject, size_t which, uint32_t nops, uint64_t iterations,
                     struct trial *trial, struct as_error *err)
{
    struct as_trust_probe probe =
        as_trust_probe(subject, subjects[which].kernel, subjects[which].event, subjects[which].period);
    struct as_trust_result result;
    probe.options.nops = nops;
    probe.options.fence = subjects[which].fence;
    if (subjects[which].ratio)
        probe.options.ratio = subjects[which].ratio;
    probe.options.iterations = iterations ? iterations : probe.options.iterations / PART + 1;
    probe.timed = true;
    if (!as_trust_run(subject, &probe, &result, err))
        return false;
    judge(&result, subjects[which].counts, trial);
    trial->cycles = (double)result.cycles / (double)probe.options.iterations;
    trial->all_cycles = (double)result.cycles;
    return true;
}

/* Now and then an overflow meets each event equally often because the loop and the shadow happen to fit together. A few
 * nops more would show that. */
static bool try_surely(struct as_trust_subject *subject, size_t which, uint32_t nops, struct trial *trial,
                       struct as_error *err)
{
    static const uint32_t more[] = {3, 7};
    if (!try_nops(subject, which, nops, 0, trial, err))
        return false;
    for (size_t i = 0; i < sizeof more / sizeof *more && trial->even; i++) {
        struct trial other;
        if (!try_nops(subject, which, nops + more[i], 0, &other, err))
            return false;
        trial->even = other.even;
    }
    return true;
}

/* Doubles the number until samples are even, then halves the gap. */
static bool search(struct as_trust_subject *subject, size_t which, uint32_t *nops, struct trial *found,
                   struct as_error *err)
{
    uint32_t low = 0, high = 8;
    for (found->even = false;; high *= 2) {
        if (!try_surely(subject, which, high, found, err))
            return false;
        if (found->even || high >= subjects[which].most)
            break;
        low = high;
    }
    while (found->even && high - low > 1) {
        struct trial trial;
        uint32_t middle = low + (high - low) / 2;
        if (!try_surely(subject, which, middle, &trial, err))
            return false;
        *(trial.even ? &high : &low) = middle;
        if (trial.even)
            *found = trial;
    }
    *nops = high;
    return true;
}

/* Cycles of an iteration, without those in which the run begins. */
static bool time_iteration(struct as_trust_subject *subject, size_t which, uint32_t nops, struct trial *trial,
                           struct as_error *err)
{
    struct trial once;
    uint64_t n = subject->machine ? TIMED_NATIVE : TIMED;
    if (!try_nops(subject, which, nops, n, &once, err) || !try_nops(subject, which, nops, 2 * n, trial, err))
        return false;
    trial->cycles = (trial->all_cycles - once.all_cycles) / (double)n;
    return true;
}

/* Cycles from one event to the next with so many nops between them, if nothing else takes time: what one nop takes follows
 * from runs with so many that no wait for memory hides them. What the nops add to the program is less where one does. */
static bool time_nops(struct as_trust_subject *subject, size_t which, uint32_t nops, double *cycles,
                      struct as_error *err)
{
    struct trial few, many;
    if (!time_iteration(subject, which, TIMED_NOPS, &few, err) ||
        !time_iteration(subject, which, 2 * TIMED_NOPS, &many, err))
        return false;
    *cycles = (nops + 1) * (many.cycles - few.cycles) * few.fair / TIMED_NOPS;
    return true;
}

bool as_trust_find_shadow(struct as_trust_subject *subject, size_t which, struct as_trust_shadow *shadow,
                          struct as_error *err)
{
    struct trial before, after;
    *shadow = (struct as_trust_shadow){
        .event = subjects[which].event, .kernel = subjects[which].kernel, .fence = subjects[which].fence};
    if (!try_nops(subject, which, 0, 0, &before, err))
        return false;
    after = before;
    if (before.enough && !before.even && !search(subject, which, &shadow->nops, &after, err))
        return false;
    shadow->even = after.even;
    shadow->few = !after.enough;
    shadow->samples = after.samples;
    shadow->before = before.largest;
    shadow->after = after.largest;
    shadow->fair = after.fair;
    shadow->cost = after.cycles / before.cycles - 1;
    return !after.even || shadow->nops == 0 || time_nops(subject, which, shadow->nops, &shadow->cycles, err);
}
