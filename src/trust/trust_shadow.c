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
    double largest, fair, cycles; /* cycles: of an iteration */
    bool even;
};

/* Even: no share is off by more than five standard deviations of so many samples, and a twentieth of itself. */
static void judge(const struct as_trust_result *result, enum as_kernel_event event, struct trial *trial)
{
    double n = (double)result->counts[0].samples, places = 0;
    for (size_t i = 0; i < result->code.n_labels; i++)
        places += result->code.labels[i].events >> event & 1;
    trial->fair = 1 / places;
    trial->largest = 0;
    trial->even = n > 0;
    double allowed = fmax(5 * sqrt(trial->fair * (1 - trial->fair) / n), trial->fair / 20);
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

static bool try_nops(struct as_trust_subject *subject, size_t which, uint32_t nops, struct trial *trial,
                     struct as_error *err)
{
    struct as_trust_probe probe =
        as_trust_probe(subject, subjects[which].kernel, subjects[which].event, subjects[which].period);
    struct as_trust_result result;
    probe.options.nops = nops;
    probe.options.fence = subjects[which].fence;
    if (subjects[which].ratio)
        probe.options.ratio = subjects[which].ratio;
    probe.options.iterations = probe.options.iterations / 10 + 1;
    probe.timed = true;
    if (!as_trust_run(subject, &probe, &result, err))
        return false;
    judge(&result, subjects[which].counts, trial);
    trial->cycles = (double)result.cycles / (double)probe.options.iterations;
    return true;
}

/* Now and then an overflow meets each event equally often because the loop and the shadow happen to fit together. A few
 * nops more would show that. */
static bool try_surely(struct as_trust_subject *subject, size_t which, uint32_t nops, struct trial *trial,
                       struct as_error *err)
{
    static const uint32_t more[] = {3, 7};
    if (!try_nops(subject, which, nops, trial, err))
        return false;
    for (size_t i = 0; i < sizeof more / sizeof *more && trial->even; i++) {
        struct trial other;
        if (!try_nops(subject, which, nops + more[i], &other, err))
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

bool as_trust_find_shadow(struct as_trust_subject *subject, size_t which, struct as_trust_shadow *shadow,
                          struct as_error *err)
{
    struct trial before, after;
    *shadow = (struct as_trust_shadow){.event = subjects[which].event, .kernel = subjects[which].kernel};
    if (!try_nops(subject, which, 0, &before, err))
        return false;
    after = before;
    if (!before.even && !search(subject, which, &shadow->nops, &after, err))
        return false;
    shadow->even = after.even;
    shadow->before = before.largest;
    shadow->after = after.largest;
    shadow->fair = after.fair;
    shadow->cycles = (after.cycles - before.cycles) * after.fair;
    shadow->cost = after.cycles / before.cycles - 1;
    return true;
}
