/* What assay points sweep shows of the choices that it tried: as text, CSV and JSON. See predict/sweep.h. */
#include "base/json.h"
#include "base/show.h"
#include "cmd/points_shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t length_of(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    return trial->joined * sweep->predict->request->interval;
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

static void put_trial(const struct as_sweep *sweep, const struct as_sweep_trial *trial, const char *name, FILE *out)
{
    double whole = (double)as_vectors_instructions(sweep->predict->vectors);
    fprintf(out, "  %-24s %6.2f %% %14s %6.2f %% %14s %7" PRIu32 " %6" PRIu32 " %5" PRIu32 " %9.2f\n", name,
            100 * trial->error, AS_COUNT(trial->simulated), 100 * (double)trial->simulated / whole,
            AS_COUNT(length_of(sweep, trial)), trial->phases, trial->max_k, trial->dims, trial->threshold);
}

static const double targets[] = {0.1, 0.05, 0.02, 0.01, 0.005};
enum { TARGETS = sizeof targets / sizeof *targets };

static void put_choices(const struct as_sweep *sweep, FILE *out)
{
    fprintf(out, "\n  %-24s %8s %14s %8s %14s %7s %6s %5s %9s\n", "", "error", "simulated", "of all", "interval",
            "phases", "max-k", "dims", "threshold");
    put_trial(sweep, as_sweep_asked(sweep), "as asked for", out);
    put_trial(sweep, as_sweep_long(sweep), "one long point", out);
    for (size_t i = 0; i < TARGETS; i++) {
        char name[32];
        const struct as_sweep_trial *best = as_sweep_cheapest(sweep, targets[i]);
        snprintf(name, sizeof name, "cheapest for %g %%", 100 * targets[i]);
        if (best)
            put_trial(sweep, best, name, out);
        else
            fprintf(out, "  %-24s none\n", name);
    }
}

/* ---- the Pareto front ---- */

static void put_front(const struct as_sweep *sweep, FILE *out)
{
    as_sweep_trials front = {0};
    as_sweep_front(sweep, &front);
    fprintf(out, "\n  Pareto front: what no choice with this seed is both cheaper and better than\n");
    for (size_t i = 0; i < front.len; i++)
        put_trial(sweep, front.data[i], "", out);
    as_vec_free(&front);
}

/* ---- over all ways to choose ---- */

static void put_saturation(const struct as_sweep *sweep, FILE *out)
{
    double least;
    uint32_t k = as_sweep_saturates_at(sweep, &least);
    struct as_saturation at = as_sweep_saturation(sweep, k);
    if (k)
        fprintf(out,
                "\n  Saturation at max-k %" PRIu32
                ": error %.2f %% on average over dimensions and thresholds, %.2f %% at "
                "most (least average %.2f %%)\n",
                k, 100 * at.average, 100 * at.most, 100 * least);
}

static void put_recommendation(const struct as_sweep *sweep, FILE *out)
{
    const struct as_predict_request *request = sweep->predict->request;
    struct as_steadiness asked = as_sweep_steadiness(sweep, 1, request->choose.max_k), best = as_sweep_recommend(sweep);
    fprintf(out, "\nOver %" PRIu32 " seeds of projection and k-means what was asked for is %.2f %% off on average",
            asked.seeds, 100 * asked.average);
    fprintf(out, ", %.2f %% at most.\nFor this program: --interval %" PRIu64 " --max-k %" PRIu32 " --dims %" PRIu32,
            100 * asked.most, best.joined * request->interval, best.max_k, request->choose.dims);
    fprintf(out, " --threshold %.2f\n(over the same seeds %.2f %% off on average, %.2f %% at most",
            request->choose.threshold, 100 * best.average, 100 * best.most);
    fprintf(out, ", with %s instructions to simulate)\n", AS_COUNT((uint64_t)best.simulated));
}

/* Phases whose point does not take their mean time, as they were chosen by the options, and the code that makes most of the
 * difference. */
static void put_phases(const struct as_sweep *sweep, FILE *out)
{
    fprintf(out, "\n  phase   weight     CPI: point     mean     least     most   adds to the error   most of it in\n");
    for (uint32_t group = 0; group < sweep->predict->choice.k; group++) {
        struct as_swept_phase phase = as_sweep_phase(sweep, group);
        fprintf(out, "  %5" PRIu32 "  %6.2f %%  %13.3f %8.3f  %8.3f %8.3f  %+8.2f %%  %+8.2f %% %s\n", group + 1,
                100 * phase.weight, phase.point, phase.mean, phase.least, phase.most, 100 * phase.adds,
                100 * phase.blamed, phase.function ? AS_SHOW(phase.function) : "");
    }
}

/* A row for each interval: its phase, its CPI, and whether it stands for its phase (Figure C.6). */
void as_sweep_intervals(const struct as_sweep *sweep, FILE *out)
{
    const struct as_choice *choice = &sweep->predict->choice;
    fprintf(out, "phase,weight,interval,instructions,cpi,point\n");
    for (size_t i = 0; i < choice->groups.len; i++) {
        const struct as_chosen_point *point = &choice->points.data[choice->groups.data[i]];
        fprintf(out, "%" PRIu32 ",%.6f,%zu,%" PRIu64 ",%.9g,%d\n", choice->groups.data[i] + 1, point->weight, i,
                sweep->predict->vectors->list.data[i].instructions, sweep->cpi.data[i], point->interval == i);
    }
}

void as_sweep_text(const struct as_sweep *sweep, FILE *out)
{
    const struct as_predict *predict = sweep->predict;
    fprintf(out, "\n%s: %s instructions, %s intervals of %s, true CPI %.4f; %s ways to choose points\n",
            predict->request->engine.argv[0], AS_COUNT(as_vectors_instructions(predict->vectors)),
            AS_COUNT(predict->vectors->list.len), AS_COUNT(predict->request->interval), sweep->truth,
            AS_COUNT(sweep->trials.len));
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
        const struct as_sweep_trial *best = as_sweep_cheapest(sweep, targets[i]);
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
    as_sweep_trials front = {0};
    as_sweep_front(sweep, &front);
    as_json_array(json, "front");
    for (size_t i = 0; i < front.len; i++)
        json_trial(sweep, front.data[i], NULL, json);
    as_json_end(json);
    as_vec_free(&front);
}

static void json_saturation(const struct as_sweep *sweep, struct as_json *json)
{
    double least;
    uint32_t k = as_sweep_saturates_at(sweep, &least);
    struct as_saturation at = as_sweep_saturation(sweep, k);
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
    for (uint32_t group = 0; group < sweep->predict->choice.k; group++) {
        struct as_swept_phase phase = as_sweep_phase(sweep, group);
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

static void json_steadiness(const struct as_sweep *sweep, const struct as_steadiness *what, const char *name,
                            struct as_json *json)
{
    as_json_object(json, name);
    as_json_u64(json, "interval", what->joined * sweep->predict->request->interval);
    as_json_u64(json, "max_k", what->max_k);
    as_json_u64(json, "dims", sweep->predict->request->choose.dims);
    as_json_double(json, "threshold", sweep->predict->request->choose.threshold);
    as_json_u64(json, "seeds", what->seeds);
    as_json_double(json, "average_error", what->average);
    as_json_double(json, "largest_error", what->most);
    as_json_double(json, "simulated", what->simulated);
    as_json_end(json);
}

bool as_sweep_json(const struct as_sweep *sweep, FILE *out)
{
    const struct as_predict *predict = sweep->predict;
    struct as_steadiness asked = as_sweep_steadiness(sweep, 1, predict->request->choose.max_k),
                         best = as_sweep_recommend(sweep);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char *const *word = predict->request->engine.argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_u64(json, "instructions", as_vectors_instructions(predict->vectors));
    as_json_u64(json, "intervals", predict->vectors->list.len);
    as_json_u64(json, "interval", predict->request->interval);
    as_json_double(json, "true_cpi", sweep->truth);
    as_json_double(json, "runs_differ", sweep->differs);
    as_json_u64(json, "choices", sweep->trials.len);
    json_trial(sweep, as_sweep_asked(sweep), "asked_for", json);
    json_trial(sweep, as_sweep_long(sweep), "long_point", json);
    json_cheapest(sweep, json);
    json_front(sweep, json);
    json_saturation(sweep, json);
    json_phases(sweep, json);
    json_steadiness(sweep, &asked, "over_seeds", json);
    json_steadiness(sweep, &best, "recommended", json);
    as_json_end(json);
    return as_json_finish(json);
}
