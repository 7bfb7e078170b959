/* See local_stack.h. */
#include "reuse/local_stack.h"

#include "base/alloc.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_USES = 48, MOST_PARTS = 512 }; /* fewer uses of a part would say little of its distances */

struct part {
    double end; /* in accesses from the start */
    double granules
        [AS_DISTANCE_BINS]; /* of an interval as long as the bin's shortest distance, if all of it were in this part */
};

struct as_local_stack {
    struct part *parts;
    size_t n;
    double *at; /* of each outcome: accesses from the start to its use */
    const struct as_watch_outcome *outcomes;
};

/* ---- parts ---- */

struct placed {
    uint64_t time;
    size_t outcome;
};

static int by_time(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->outcome < right->outcome ? -1 : left->outcome > right->outcome;
}

static struct placed *sorted(const struct as_watch_outcome *outcomes, size_t n)
{
    struct placed *placed = as_alloc_array(n + 1, sizeof *placed);
    for (size_t i = 0; i < n; i++)
        placed[i] = (struct placed){.time = outcomes[i].time, .outcome = i};
    qsort(placed, n, sizeof *placed, by_time);
    return placed;
}

static void learn(struct part *part, const struct as_watched_use *uses, size_t n)
{
    const uint64_t all = UINT64_C(1) << 40; /* shares are rounded to whole uses */
    struct as_distances *times = as_alloc(sizeof *times);
    as_survival_estimate(uses, n, all, times);
    double longer = 1, granules = 0;
    for (uint32_t bin = 0; bin < AS_DISTANCE_BINS - 1; bin++) {
        double width = (double)(as_distance_low(bin + 1) - as_distance_low(bin));
        double in_bin = (double)times->bins[bin] / (double)all;
        part->granules[bin] = granules;
        longer -= in_bin;
        granules += width * (longer + (width == 1 ? 0 : in_bin / 2));
    }
    part->granules[AS_DISTANCE_BINS - 1] = granules;
    free(times);
}

static struct as_watched_use use_of(const struct as_watch_outcome *outcome)
{
    struct as_watched_use use = outcome->use;
    if (use.end == AS_USE_OWN)
        use.end = AS_USE_REUSED;
    else if (use.end == AS_USE_INVALIDATED)
        use.end = AS_USE_GIVEN_UP;
    return use;
}

/* Whether parts differ by more than chance makes them: the variance between them by that within them, of the octaves of ended uses. Alike,
 * it is 1, with a spread of the root of 2 / parts. If they do not, one part knows more than many. */
static bool differ(const struct as_watch_outcome *outcomes, const struct placed *placed, size_t n, size_t parts)
{
    enum { SPREADS = 5 };
    double sum = 0, squares = 0, between = 0, all = 0;
    for (size_t i = 0, at = 0; i < parts; i++) {
        double own = 0, count = 0;
        for (; at < n * (i + 1) / parts; at++) {
            const struct as_watched_use *use = &outcomes[placed[at].outcome].use;
            double octave = as_distance_octave(use->distance);
            if (use->end != AS_USE_REUSED && use->end != AS_USE_OWN)
                continue;
            own += octave;
            squares += octave * octave;
            count++;
        }
        between += count > 0 ? own * own / count : 0;
        sum += own;
        all += count;
    }
    if (parts < 2 || all <= (double)parts)
        return false;
    double within = (squares - between) / (all - (double)parts);
    between = (between - sum * sum / all) / (double)(parts - 1);
    return between > within * (1 + SPREADS * sqrt(2 / (double)(parts - 1)));
}

static double weigh(const struct as_watch_outcome *outcomes, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += outcomes[i].use.weight;
    return sum > 0 ? sum : 1;
}

struct as_local_stack *as_local_stack_new(const struct as_watch_outcome *outcomes, size_t n, uint64_t accesses)
{
    struct as_local_stack *stack = as_alloc(sizeof *stack);
    size_t most = n / LEAST_USES < MOST_PARTS ? n / LEAST_USES : MOST_PARTS, taken = 0;
    struct placed *placed = sorted(outcomes, n);
    struct as_watched_use *uses = as_alloc_array(n + 1, sizeof *uses);
    double each = (double)accesses / weigh(outcomes, n), at = 0;
    stack->n = differ(outcomes, placed, n, most) ? most : 1;
    stack->parts = as_alloc_array(stack->n, sizeof *stack->parts);
    stack->at = as_alloc_array(n + 1, sizeof *stack->at);
    stack->outcomes = outcomes;
    for (size_t i = 0; i < stack->n; i++) {
        size_t first = taken, end = n * (i + 1) / stack->n;
        for (; taken < end; taken++) {
            stack->at[placed[taken].outcome] = at;
            at += each * outcomes[placed[taken].outcome].use.weight;
            uses[taken] = use_of(&outcomes[placed[taken].outcome]);
        }
        stack->parts[i].end = at;
        learn(&stack->parts[i], uses + first, end - first);
    }
    free(uses);
    free(placed);
    return stack;
}

void as_local_stack_free(struct as_local_stack *stack)
{
    free(stack->parts);
    free(stack->at);
    free(stack);
}

/* ---- questions ---- */

static double granules_of(const struct part *part, double distance)
{
    uint32_t bin = as_distance_bin((uint64_t)distance);
    if (bin >= AS_DISTANCE_BINS - 1)
        return part->granules[AS_DISTANCE_BINS - 1];
    double low = (double)as_distance_low(bin), width = (double)as_distance_low(bin + 1) - low;
    return part->granules[bin] + (part->granules[bin + 1] - part->granules[bin]) * (distance - low) / width;
}

/* The part that an access is in; behind the last one it is the last. */
static size_t part_at(const struct as_local_stack *stack, double at)
{
    return as_search((size_t)0, stack->n - 1, i, stack->parts[i].end <= at);
}

double as_local_stack_granules(const struct as_local_stack *stack, size_t outcome)
{
    double start = stack->at[outcome], length = (double)stack->outcomes[outcome].use.distance, end = start + length;
    double granules = 0, from = start;
    for (size_t i = part_at(stack, start); from < end; i++) {
        double to = i + 1 < stack->n ? fmin(end, stack->parts[i].end) : end;
        granules += granules_of(&stack->parts[i], end - from) - granules_of(&stack->parts[i], end - to);
        from = to;
    }
    return granules;
}
