/* What a sweep has found: which choices are good. See sweep.h. */
#include "predict/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_trials(const void *a, const void *b)
{
    const struct as_sweep_trial *x = *(struct as_sweep_trial *const *)a, *y = *(struct as_sweep_trial *const *)b;
    if (x->simulated != y->simulated)
        return x->simulated < y->simulated ? -1 : 1;
    return (x->error > y->error) - (x->error < y->error);
}

void as_sweep_find_front(struct as_sweep *sweep)
{
    struct as_sweep_trial **order = as_alloc_array(sweep->trials.len, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < sweep->trials.len; i++)
        if (as_sweep_is_own(sweep, &sweep->trials.data[i]) && sweep->trials.data[i].coverage == 1)
            order[n++] = &sweep->trials.data[i];
    qsort(order, n, sizeof *order, compare_trials);
    double cheaper = INFINITY; /* the least error of those that cost less … */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (order[i]->simulated != order[first]->simulated) {
            cheaper = fmin(cheaper, order[first]->error); /* … which the first of a cost has */
            first = i;
        }
        order[i]->front = order[i]->error < cheaper && order[i]->error == order[first]->error;
    }
    free(order);
}

/* The cheapest trial whose error is at most this; of several the best. NULL: there is none. */
const struct as_sweep_trial *as_sweep_cheapest(const struct as_sweep *sweep, double error)
{
    const struct as_sweep_trial *best = NULL;
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct as_sweep_trial *trial = &sweep->trials.data[i];
        if (trial->error <= error && trial->coverage == 1 && as_sweep_is_own(sweep, trial) &&
            (!best || trial->simulated < best->simulated ||
             (trial->simulated == best->simulated && trial->error < best->error)))
            best = trial;
    }
    return best;
}

static int by_cost(const void *a, const void *b)
{
    const struct as_sweep_trial *x = *(const struct as_sweep_trial *const *)a;
    const struct as_sweep_trial *y = *(const struct as_sweep_trial *const *)b;
    if (x->simulated != y->simulated)
        return x->simulated < y->simulated ? -1 : 1;
    return (x > y) - (x < y); /* those that were tried first */
}

/* The choices that none is both cheaper and better than, the cheapest first; one of those that are equal. */
void as_sweep_front(const struct as_sweep *sweep, as_sweep_trials *front)
{
    for (size_t i = 0; i < sweep->trials.len; i++)
        if (sweep->trials.data[i].front)
            *as_vec_push(front) = &sweep->trials.data[i];
    qsort(front->data, front->len, sizeof *front->data, by_cost);
    size_t kept = 0;
    for (size_t i = 0; i < front->len; i++)
        if (kept == 0 || front->data[i]->simulated != front->data[kept - 1]->simulated)
            front->data[kept++] = front->data[i];
    front->len = kept;
}

struct as_saturation as_sweep_saturation(const struct as_sweep *sweep, uint32_t max_k)
{
    struct as_saturation sum = {0};
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct as_sweep_trial *trial = &sweep->trials.data[i];
        if (trial->max_k != max_k || trial->coverage < 1 || trial->joined > 1 || !as_sweep_is_own(sweep, trial))
            continue;
        sum.average += trial->error;
        sum.most = trial->error > sum.most ? trial->error : sum.most;
        sum.simulated += (double)trial->simulated;
        sum.trials++;
    }
    sum.average /= sum.trials ? sum.trials : 1;
    sum.simulated /= sum.trials ? sum.trials : 1;
    return sum;
}

/* The rule of "TraceDoctor": of the numbers of phases that no cheaper one beats in average and in largest error, the lowest
 * whose average error is within a percentage point of the least one. */
static bool is_beaten(const struct as_sweep *sweep, uint32_t k)
{
    struct as_saturation own = as_sweep_saturation(sweep, k);
    for (uint32_t cheaper = 1; cheaper < k; cheaper++) {
        struct as_saturation at = as_sweep_saturation(sweep, cheaper);
        if (at.average <= own.average && at.most <= own.most)
            return true;
    }
    return false;
}

/* The number of phases where errors saturate; 0: there is none. `least`: the least average error of all numbers. */
uint32_t as_sweep_saturates_at(const struct as_sweep *sweep, double *least)
{
    static const double within = 0.01;
    uint32_t max_k = (uint32_t)sweep->predict->request->choose.max_k;
    *least = INFINITY;
    for (uint32_t k = 1; k <= max_k; k++)
        *least = fmin(*least, as_sweep_saturation(sweep, k).average);
    for (uint32_t k = 1; k <= max_k; k++)
        if (as_sweep_saturation(sweep, k).average <= *least + within && !is_beaten(sweep, k))
            return k;
    return 0;
}

struct as_steadiness as_sweep_steadiness(const struct as_sweep *sweep, uint32_t joined, uint32_t max_k)
{
    struct as_steadiness sum = {.joined = joined, .max_k = max_k};
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct as_sweep_trial *trial = &sweep->trials.data[i];
        if (trial->joined != joined || trial->max_k != max_k ||
            (strcmp(trial->sweep, "seed") != 0 && strcmp(trial->sweep, "interval") != 0))
            continue;
        sum.average += trial->error;
        sum.most = fmax(sum.most, trial->error);
        sum.simulated += (double)trial->simulated;
        sum.seeds++;
    }
    sum.average /= sum.seeds ? sum.seeds : 1;
    sum.simulated /= sum.seeds ? sum.seeds : 1;
    return sum;
}

/* The cheapest that is within 1 % on average over the seeds; if there is none, the best. */
struct as_steadiness as_sweep_recommend(const struct as_sweep *sweep)
{
    static const double within = 0.01;
    struct as_steadiness best = {.average = INFINITY};
    for (uint32_t joined = 1; as_sweep_steadiness(sweep, joined, 1).seeds; joined *= 2)
        for (uint32_t k = 1; k <= sweep->predict->request->choose.max_k; k++) {
            struct as_steadiness at = as_sweep_steadiness(sweep, joined, k);
            if (fmax(at.average, within) < fmax(best.average, within) ||
                (at.average <= within && at.simulated < best.simulated))
                best = at;
        }
    return best;
}

struct as_swept_phase as_sweep_phase(const struct as_sweep *sweep, uint32_t group)
{
    const struct as_choice *choice = &sweep->predict->choice;
    const struct as_chosen_point *point = &choice->points.data[group];
    struct as_swept_phase phase = {
        .weight = point->weight, .point = sweep->cpi.data[point->interval], .least = INFINITY};
    double sum = 0, instructions = 0;
    for (size_t i = 0; i < choice->groups.len; i++) {
        double cpi = sweep->cpi.data[i], n = (double)sweep->predict->vectors->list.data[i].instructions;
        if (choice->groups.data[i] != group)
            continue;
        sum += cpi * n;
        instructions += n;
        phase.least = fmin(phase.least, cpi);
        phase.most = fmax(phase.most, cpi);
    }
    struct as_blamed blamed = as_point_blame_find(sweep->blame, choice, group, sweep->predict->vectors);
    phase.mean = sum / instructions;
    phase.adds = phase.weight * (phase.point - phase.mean) / sweep->truth;
    phase.blamed = phase.weight * blamed.cpi / sweep->truth;
    phase.function = blamed.function;
    return phase;
}
