/* What assay points sweep shows of the choices that it tried: as text, CSV and JSON. See points_sweep.c. */
#include "base/json.h"
#include "base/show.h"
#include "cmd/output.h"
#include "cmd/points_sweep_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t length_of(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    return trial->joined * sweep->session->options->interval;
}

void as_sweep_csv(const struct as_sweep *sweep, FILE *out)
{
    fprintf(out, "sweep,max_k,dims,threshold,coverage,interval,phases,simulated,cpi,true_cpi,error,front,seed\n");
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct as_sweep_trial *trial = &sweep->trials.data[i];
        fprintf(out,
                "%s,%" PRIu32 ",%" PRIu32 ",%.2f,%.2f,%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%.9g,%.9g,%.9g,%d,%" PRIu64
                "\n",
                trial->sweep, trial->max_k, trial->dims, trial->threshold, trial->coverage, length_of(sweep, trial),
                trial->phases, trial->simulated, trial->cpi, sweep->truth, trial->error, trial->front, trial->seed);
    }
}

/* The cheapest trial whose error is at most this; of several the best. NULL: there is none. */
static const struct as_sweep_trial *cheapest(const struct as_sweep *sweep, double error)
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

static void put_trial(const struct as_sweep *sweep, const struct as_sweep_trial *trial, const char *name, FILE *out)
{
    double whole = (double)as_vectors_instructions(sweep->session->vectors);
    fprintf(out, "  %-24s %6.2f %% %14s %6.2f %% %14s %7" PRIu32 " %6" PRIu32 " %5" PRIu32 " %9.2f\n", name,
            100 * trial->error, AS_COUNT(trial->simulated), 100 * (double)trial->simulated / whole,
            AS_COUNT(length_of(sweep, trial)), trial->phases, trial->max_k, trial->dims, trial->threshold);
}

static const double targets[] = {0.1, 0.05, 0.02, 0.01, 0.005};
enum { TARGETS = sizeof targets / sizeof *targets };

static const struct as_sweep_trial *asked_for(const struct as_sweep *sweep)
{
    return &sweep->trials.data[sweep->trials.len - 2];
}

static const struct as_sweep_trial *long_point(const struct as_sweep *sweep)
{
    return &sweep->trials.data[sweep->trials.len - 1];
}

static void put_choices(const struct as_sweep *sweep, FILE *out)
{
    fprintf(out, "\n  %-24s %8s %14s %8s %14s %7s %6s %5s %9s\n", "", "error", "simulated", "of all", "interval",
            "phases", "max-k", "dims", "threshold");
    put_trial(sweep, asked_for(sweep), "as asked for", out);
    put_trial(sweep, long_point(sweep), "one long point", out);
    for (size_t i = 0; i < TARGETS; i++) {
        char name[32];
        const struct as_sweep_trial *best = cheapest(sweep, targets[i]);
        snprintf(name, sizeof name, "cheapest for %g %%", 100 * targets[i]);
        if (best)
            put_trial(sweep, best, name, out);
        else
            fprintf(out, "  %-24s none\n", name);
    }
}

/* ---- the Pareto front ---- */

typedef AS_VEC(const struct as_sweep_trial *) front_trials;

static int by_cost(const void *a, const void *b)
{
    const struct as_sweep_trial *x = *(const struct as_sweep_trial *const *)a;
    const struct as_sweep_trial *y = *(const struct as_sweep_trial *const *)b;
    if (x->simulated != y->simulated)
        return x->simulated < y->simulated ? -1 : 1;
    return (x > y) - (x < y); /* those that were tried first */
}

/* The choices that none is both cheaper and better than, the cheapest first; one of those that are equal. */
static void list_front(const struct as_sweep *sweep, front_trials *front)
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

static void put_front(const struct as_sweep *sweep, FILE *out)
{
    front_trials front = {0};
    list_front(sweep, &front);
    fprintf(out, "\n  Pareto front: what no choice with this seed is both cheaper and better than\n");
    for (size_t i = 0; i < front.len; i++) {
        char name[64];
        snprintf(name, sizeof name, "  of the first %.0f %%", 100 * front.data[i]->coverage);
        put_trial(sweep, front.data[i], front.data[i]->coverage < 1 ? name : "", out);
    }
    as_vec_free(&front);
}

/* ---- over all ways to choose ---- */

/* What a number of phases leads to, over all other ways to choose. */
struct saturation {
    double average, most, simulated;
    uint32_t trials;
};

static struct saturation saturation_of(const struct as_sweep *sweep, uint32_t max_k)
{
    struct saturation sum = {0};
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
    struct saturation own = saturation_of(sweep, k);
    for (uint32_t cheaper = 1; cheaper < k; cheaper++) {
        struct saturation at = saturation_of(sweep, cheaper);
        if (at.average <= own.average && at.most <= own.most)
            return true;
    }
    return false;
}

/* The number of phases where errors saturate; 0: there is none. `least`: the least average error of all numbers. */
static uint32_t find_saturation(const struct as_sweep *sweep, double *least)
{
    static const double within = 0.01;
    uint32_t max_k = (uint32_t)sweep->session->options->max_k;
    *least = INFINITY;
    for (uint32_t k = 1; k <= max_k; k++)
        *least = fmin(*least, saturation_of(sweep, k).average);
    for (uint32_t k = 1; k <= max_k; k++)
        if (saturation_of(sweep, k).average <= *least + within && !is_beaten(sweep, k))
            return k;
    return 0;
}

static void put_saturation(const struct as_sweep *sweep, FILE *out)
{
    double least;
    uint32_t k = find_saturation(sweep, &least);
    struct saturation at = saturation_of(sweep, k);
    if (k)
        fprintf(out,
                "\n  Saturation at max-k %" PRIu32
                ": error %.2f %% on average over dimensions and thresholds, %.2f %% at "
                "most (least average %.2f %%)\n",
                k, 100 * at.average, 100 * at.most, 100 * least);
}

/* A length and a number of phases over all seeds, with the dimensions and the threshold that were asked for. */
struct steadiness {
    uint32_t joined, max_k, seeds;
    double average, most, simulated;
};

static struct steadiness steadiness_of(const struct as_sweep *sweep, uint32_t joined, uint32_t max_k)
{
    struct steadiness sum = {.joined = joined, .max_k = max_k};
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
static struct steadiness recommend(const struct as_sweep *sweep)
{
    static const double within = 0.01;
    struct steadiness best = {.average = INFINITY};
    for (uint32_t joined = 1; steadiness_of(sweep, joined, 1).seeds; joined *= 2)
        for (uint32_t k = 1; k <= sweep->session->options->max_k; k++) {
            struct steadiness at = steadiness_of(sweep, joined, k);
            if (fmax(at.average, within) < fmax(best.average, within) ||
                (at.average <= within && at.simulated < best.simulated))
                best = at;
        }
    return best;
}

static void put_recommendation(const struct as_sweep *sweep, FILE *out)
{
    const struct as_points_options *options = sweep->session->options;
    struct steadiness asked = steadiness_of(sweep, 1, (uint32_t)options->max_k), best = recommend(sweep);
    fprintf(out, "\nOver %" PRIu32 " seeds of projection and k-means what was asked for is %.2f %% off on average",
            asked.seeds, 100 * asked.average);
    fprintf(out, ", %.2f %% at most.\nFor this program: --interval %" PRIu64 " --max-k %" PRIu32 " --dims %" PRIu64,
            100 * asked.most, best.joined * options->interval, best.max_k, options->dims);
    fprintf(out, " --threshold %.2f\n(over the same seeds %.2f %% off on average, %.2f %% at most", options->threshold,
            100 * best.average, 100 * best.most);
    fprintf(out, ", with %s instructions to simulate)\n", AS_COUNT((uint64_t)best.simulated));
}

/* A phase, and what its point makes of it. Shares are parts of the true CPI. */
struct phase {
    double weight, point, mean, least, most; /* CPI of the point and of the phase's intervals */
    double adds, blamed;                     /* to the error, by the point and by the function that has most of it */
    const char *function;                    /* NULL: not known */
};

static struct phase phase_of(const struct as_sweep *sweep, uint32_t group)
{
    const struct as_choice *choice = &sweep->session->choice;
    const struct as_chosen_point *point = &choice->points.data[group];
    struct phase phase = {.weight = point->weight, .point = sweep->cpi.data[point->interval], .least = INFINITY};
    double sum = 0, instructions = 0;
    for (size_t i = 0; i < choice->groups.len; i++) {
        double cpi = sweep->cpi.data[i], n = (double)sweep->session->vectors->list.data[i].instructions;
        if (choice->groups.data[i] != group)
            continue;
        sum += cpi * n;
        instructions += n;
        phase.least = fmin(phase.least, cpi);
        phase.most = fmax(phase.most, cpi);
    }
    struct as_blamed blamed = as_points_blame_find(sweep->blame, choice, group, sweep->session->vectors);
    phase.mean = sum / instructions;
    phase.adds = phase.weight * (phase.point - phase.mean) / sweep->truth;
    phase.blamed = phase.weight * blamed.cpi / sweep->truth;
    phase.function = blamed.function;
    return phase;
}

/* Phases whose point does not take their mean time, as they were chosen by the options, and the code that makes most of the
 * difference. */
static void put_phases(const struct as_sweep *sweep, FILE *out)
{
    fprintf(out, "\n  phase   weight     CPI: point     mean     least     most   adds to the error   most of it in\n");
    for (uint32_t group = 0; group < sweep->session->choice.k; group++) {
        struct phase phase = phase_of(sweep, group);
        fprintf(out, "  %5" PRIu32 "  %6.2f %%  %13.3f %8.3f  %8.3f %8.3f  %+8.2f %%  %+8.2f %% %s\n", group + 1,
                100 * phase.weight, phase.point, phase.mean, phase.least, phase.most, 100 * phase.adds,
                100 * phase.blamed, phase.function ? AS_SHOW(phase.function) : "");
    }
}

/* A row for each interval: its phase, its CPI, and whether it stands for its phase (Figure C.6). */
static void put_intervals(const struct as_sweep *sweep, FILE *out)
{
    const struct as_choice *choice = &sweep->session->choice;
    fprintf(out, "phase,weight,interval,instructions,cpi,point\n");
    for (size_t i = 0; i < choice->groups.len; i++) {
        const struct as_chosen_point *point = &choice->points.data[choice->groups.data[i]];
        fprintf(out, "%" PRIu32 ",%.6f,%zu,%" PRIu64 ",%.9g,%d\n", choice->groups.data[i] + 1, point->weight, i,
                sweep->session->vectors->list.data[i].instructions, sweep->cpi.data[i], point->interval == i);
    }
}

bool as_sweep_write_intervals(const struct as_sweep *sweep, struct as_error *err)
{
    struct as_output output = {0};
    if (!sweep->session->options->phases)
        return true;
    if (!as_output_open(&output, sweep->session->options->phases, err))
        return false;
    put_intervals(sweep, output.file);
    return as_output_finish(&output, err);
}

void as_sweep_text(const struct as_sweep *sweep, FILE *out)
{
    const struct as_points_session *session = sweep->session;
    fprintf(out, "\n%s: %s instructions, %s intervals of %s, true CPI %.4f; %s ways to choose points\n",
            session->argv[0], AS_COUNT(as_vectors_instructions(session->vectors)), AS_COUNT(session->vectors->list.len),
            AS_COUNT(session->options->interval), sweep->truth, AS_COUNT(sweep->trials.len));
    put_choices(sweep, out);
    put_front(sweep, out);
    put_saturation(sweep, out);
    put_phases(sweep, out);
    put_recommendation(sweep, out);
}

/* ---- JSON ---- */

static void json_trial(const struct as_sweep *sweep, const struct as_sweep_trial *trial, const char *name,
                       struct as_json *json)
{
    as_json_object(json, name);
    as_json_u64(json, "interval", length_of(sweep, trial));
    as_json_u64(json, "max_k", trial->max_k);
    as_json_u64(json, "dims", trial->dims);
    as_json_double(json, "threshold", trial->threshold);
    as_json_double(json, "coverage", trial->coverage);
    as_json_u64(json, "phases", trial->phases);
    as_json_u64(json, "simulated", trial->simulated);
    as_json_double(json, "cpi", trial->cpi);
    as_json_double(json, "error", trial->error);
    as_json_end(json);
}

static void json_cheapest(const struct as_sweep *sweep, struct as_json *json)
{
    as_json_array(json, "cheapest");
    for (size_t i = 0; i < TARGETS; i++) {
        const struct as_sweep_trial *best = cheapest(sweep, targets[i]);
        as_json_object(json, NULL);
        as_json_double(json, "error_at_most", targets[i]);
        if (best)
            json_trial(sweep, best, "choice", json);
        else
            as_json_null(json, "choice");
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_front(const struct as_sweep *sweep, struct as_json *json)
{
    front_trials front = {0};
    list_front(sweep, &front);
    as_json_array(json, "front");
    for (size_t i = 0; i < front.len; i++)
        json_trial(sweep, front.data[i], NULL, json);
    as_json_end(json);
    as_vec_free(&front);
}

static void json_saturation(const struct as_sweep *sweep, struct as_json *json)
{
    double least;
    uint32_t k = find_saturation(sweep, &least);
    struct saturation at = saturation_of(sweep, k);
    if (!k) {
        as_json_null(json, "saturation");
        return;
    }
    as_json_object(json, "saturation");
    as_json_u64(json, "max_k", k);
    as_json_double(json, "average_error", at.average);
    as_json_double(json, "largest_error", at.most);
    as_json_double(json, "least_average", least);
    as_json_end(json);
}

static void json_phases(const struct as_sweep *sweep, struct as_json *json)
{
    as_json_array(json, "phases");
    for (uint32_t group = 0; group < sweep->session->choice.k; group++) {
        struct phase phase = phase_of(sweep, group);
        as_json_object(json, NULL);
        as_json_double(json, "weight", phase.weight);
        as_json_double(json, "point_cpi", phase.point);
        as_json_double(json, "mean_cpi", phase.mean);
        as_json_double(json, "least_cpi", phase.least);
        as_json_double(json, "largest_cpi", phase.most);
        as_json_double(json, "adds", phase.adds);
        as_json_string(json, "function", phase.function);
        as_json_double(json, "function_adds", phase.blamed);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_steadiness(const struct as_sweep *sweep, const struct steadiness *what, const char *name,
                            struct as_json *json)
{
    as_json_object(json, name);
    as_json_u64(json, "interval", what->joined * sweep->session->options->interval);
    as_json_u64(json, "max_k", what->max_k);
    as_json_u64(json, "dims", sweep->session->options->dims);
    as_json_double(json, "threshold", sweep->session->options->threshold);
    as_json_u64(json, "seeds", what->seeds);
    as_json_double(json, "average_error", what->average);
    as_json_double(json, "largest_error", what->most);
    as_json_double(json, "simulated", what->simulated);
    as_json_end(json);
}

bool as_sweep_json(const struct as_sweep *sweep, FILE *out)
{
    const struct as_points_session *session = sweep->session;
    struct steadiness asked = steadiness_of(sweep, 1, (uint32_t)session->options->max_k), best = recommend(sweep);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = session->argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_u64(json, "instructions", as_vectors_instructions(session->vectors));
    as_json_u64(json, "intervals", session->vectors->list.len);
    as_json_u64(json, "interval", session->options->interval);
    as_json_double(json, "true_cpi", sweep->truth);
    as_json_double(json, "runs_differ", sweep->differs);
    as_json_u64(json, "choices", sweep->trials.len);
    json_trial(sweep, asked_for(sweep), "asked_for", json);
    json_trial(sweep, long_point(sweep), "long_point", json);
    json_cheapest(sweep, json);
    json_front(sweep, json);
    json_saturation(sweep, json);
    json_phases(sweep, json);
    json_steadiness(sweep, &asked, "over_seeds", json);
    json_steadiness(sweep, &best, "recommended", json);
    as_json_end(json);
    return as_json_finish(json);
}
