/* assay points sweep: how good simulation points are for a program, by how they are chosen.
 *
 * The program runs twice, whole: once for its vectors, once on the modelled core, interval by interval, so that the CPI of
 * every interval is known. Then each choice of points is only arithmetic: its prediction is the weighted mean of the CPI of
 * its points, its error is known, and what it would cost are the instructions of its points. Three parameters are varied
 * with the most phases (max-k): dimensions, threshold and coverage (the part of the run that is looked at); all that for
 * several lengths of an interval, multiples of the one that was asked for: neighbours are joined. Beside these stands one long point, the
 * usual practice: a single stretch that costs what the points cost together.
 *
 * How good a choice is depends on the seed of projection and k-means, too, and the best of thousands of choices is one that was lucky. So the
 * choices that differ in length and max-k alone are made with other seeds as well; which of them to recommend is decided over all seeds. */
#include "cmd/points_sweep.h"
#include "base/show.h"
#include "cmd/output.h"
#include "cmd/points.h"
#include "cmd/points_blame.h"
#include "cmd/progress.h"
#include "record/modelled.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { OTHER_SEEDS = 10 };

/* One choice of points, and what became of it. */
struct trial {
    const char *sweep;
    uint32_t max_k, dims, phases;
    uint32_t joined; /* intervals of the run that are one here */
    uint64_t seed;
    double threshold, coverage, cpi, error; /* the error is a fraction, never negative */
    uint64_t simulated;
    bool front; /* no other trial is both cheaper and better */
};

/* Intervals that points are chosen from. */
struct choices {
    struct as_vectors vectors;
    AS_VEC(double) cpi; /* by interval */
};

struct sweep {
    struct as_points_session *session;
    AS_VEC(double) cpi; /* by interval */
    double truth;
    struct as_points_blame *blame;
    AS_VEC(struct trial) trials;
};

/* ---- the truth ---- */

static void cut(const struct as_points_session *session, struct as_regions *regions)
{
    for (size_t i = 0; i < session->vectors->list.len; i++) {
        struct as_region *region = as_regions_add(regions);
        region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = i * session->options->interval};
        region->max = session->options->interval;
        region->text = as_format("interval %zu", i);
    }
}

/* A run that the user broke off has intervals that are missing, or shorter than they would be. */
static bool check_end(const struct as_run_end *end, struct as_error *err)
{
    if (!end->interrupted && !end->asked && end->signal != SIGINT && end->signal != SIGTERM)
        return true;
    return as_error_set_status(err, end->exit_status ? end->exit_status : AS_EXIT_FAILURE,
                               "interrupted: a sweep needs two whole runs of the program");
}

static bool take_cpi(struct sweep *sweep, const struct as_modelled *modelled, struct as_error *err)
{
    uint64_t cycles = 0, instructions = 0;
    for (uint32_t i = 0; i < sweep->session->vectors->list.len; i++) {
        const struct as_counters *counters = as_model_region(modelled->model, i);
        if (counters->instructions == 0)
            return as_error_set(
                err, "interval %" PRIu32 " was never reached: the program does not do the same in every run", i);
        *as_vec_push(&sweep->cpi) = (double)counters->cycles / (double)counters->instructions;
        cycles += counters->cycles;
        instructions += counters->instructions;
    }
    sweep->truth = (double)cycles / (double)instructions;
    return true;
}

static bool measure(struct sweep *sweep, struct as_error *err)
{
    const struct as_points_options *options = sweep->session->options;
    struct as_memo_options memo = as_run_memo_options(&options->run);
    struct as_engine_options engine = as_run_engine_options(&options->run, sweep->session->argv);
    struct as_regions regions = {0};
    struct as_modelled modelled = {0};
    cut(sweep->session, &regions);
    as_input_rewind(&sweep->session->input);
    engine.regions = &regions;
    engine.discard_stdout = true;
    bool ok = as_modelled_open(&modelled, options->core, &options->set, err) && as_modelled_watch(&modelled, err);
    if (ok) {
        as_model_set_memo(modelled.model, &memo);
        sweep->blame = as_points_blame_new(&modelled);
    }
    ok = ok && as_progress_run(&modelled, engine, err) && check_end(&modelled.result.engine.end, err) &&
         take_cpi(sweep, &modelled, err);
    if (ok)
        as_points_blame_end(sweep->blame, sweep->cpi.len);
    as_modelled_free(&modelled);
    as_regions_free(&regions);
    return ok;
}

/* ---- trials ---- */

/* The run in intervals that are so many of its own; the last is perhaps shorter. */
static void join(const struct sweep *sweep, uint32_t joined, struct choices *choices)
{
    const struct as_vectors *from = sweep->session->vectors;
    double cycles = 0, instructions = 0;
    *choices = (struct choices){0};
    for (size_t i = 0; i < from->list.len; i++) {
        const struct as_vector *vector = &from->list.data[i];
        for (size_t j = vector->first; j < vector->end; j++)
            as_vectors_add(&choices->vectors, from->entries.data[j].block, from->entries.data[j].count);
        cycles += sweep->cpi.data[i] * (double)vector->instructions;
        instructions += (double)vector->instructions;
        if ((i + 1) % joined && i + 1 < from->list.len)
            continue;
        as_vectors_end(&choices->vectors);
        *as_vec_push(&choices->cpi) = cycles / instructions;
        cycles = instructions = 0;
    }
}

static void free_choices(struct choices *choices)
{
    as_vectors_free(&choices->vectors);
    as_vec_free(&choices->cpi);
}

static void predict(const struct sweep *sweep, const struct choices *from, const struct as_choice *choice,
                    struct trial *trial)
{
    trial->phases = choice->k;
    for (size_t i = 0; i < choice->points.len; i++) {
        uint32_t interval = choice->points.data[i].interval;
        trial->cpi += choice->points.data[i].weight * from->cpi.data[interval];
        trial->simulated += from->vectors.list.data[interval].instructions;
    }
    trial->error = fabs(trial->cpi / sweep->truth - 1);
}

static struct as_choose_options how_to(const struct sweep *sweep, const struct trial *trial)
{
    const struct as_points_options *options = sweep->session->options;
    return (struct as_choose_options){.dims = trial->dims,
                                      .max_k = trial->max_k,
                                      .tries = (uint32_t)options->tries,
                                      .seed = trial->seed,
                                      .threshold = trial->threshold,
                                      .rule = (enum as_bic_rule)options->rule,
                                      .threads = (uint32_t)options->jobs};
}

/* What points of the part of the run are chosen with that the trial covers. */
static struct as_chooser *chooser_for(const struct sweep *sweep, const struct choices *from, const struct trial *trial)
{
    struct as_vectors part = from->vectors;
    struct as_choose_options how = how_to(sweep, trial);
    size_t n = (size_t)ceil(trial->coverage * (double)part.list.len);
    part.list.len = n ? n : 1;
    return as_chooser_new(&part, &how);
}

static void try_with(struct sweep *sweep, const struct choices *from, struct as_chooser *chooser, struct trial trial)
{
    struct as_choose_options how = how_to(sweep, &trial);
    struct as_choice choice;
    as_chooser_choose(chooser, &how, &choice);
    predict(sweep, from, &choice, &trial);
    *as_vec_push(&sweep->trials) = trial;
    as_choice_free(&choice);
}

static void try_one(struct sweep *sweep, const struct choices *from, struct trial trial)
{
    struct as_chooser *chooser = chooser_for(sweep, from, &trial);
    try_with(sweep, from, chooser, trial);
    as_chooser_free(chooser);
}

/* Each number of phases up to the one that was asked for, with all that is the same for them done once. */
static void try_phases(struct sweep *sweep, const struct choices *from, struct as_chooser *chooser, struct trial trial)
{
    for (trial.max_k = 1; trial.max_k <= sweep->session->options->max_k; trial.max_k++)
        try_with(sweep, from, chooser, trial);
}

static void try_dims(struct sweep *sweep, const struct choices *from, struct trial trial)
{
    trial.sweep = "dims";
    for (trial.dims = 1; trial.dims <= AS_POINTS_DIMS_MOST; trial.dims++) {
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

static void try_thresholds(struct sweep *sweep, const struct choices *from, struct trial trial)
{
    struct as_chooser *chooser = chooser_for(sweep, from, &trial);
    trial.sweep = "interval";
    try_phases(sweep, from, chooser, trial);
    trial.sweep = "threshold";
    for (int i = 0; i <= 20; i++) {
        trial.threshold = i * 0.05;
        try_phases(sweep, from, chooser, trial);
    }
    as_chooser_free(chooser);
}

static void try_coverages(struct sweep *sweep, const struct choices *from, struct trial trial)
{
    trial.sweep = "coverage";
    for (int i = 1; i <= 10; i++) {
        trial.coverage = i * 0.1;
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

/* Runs of k-means take the seeds behind one, so that the next choice begins behind those. */
static void try_seeds(struct sweep *sweep, const struct choices *from, struct trial trial)
{
    trial.sweep = "seed";
    for (int i = 0; i < OTHER_SEEDS; i++) {
        trial.seed += sweep->session->options->tries;
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

/* The sweeps for each length, with longer intervals as long as there are a few of them. */
static void try_lengths(struct sweep *sweep, struct trial usual)
{
    enum { FEWEST = 4 };
    for (usual.joined = 1; usual.joined == 1 || usual.joined * FEWEST <= sweep->cpi.len; usual.joined *= 2) {
        struct choices choices;
        join(sweep, usual.joined, &choices);
        try_dims(sweep, &choices, usual);
        try_thresholds(sweep, &choices, usual);
        try_coverages(sweep, &choices, usual);
        try_seeds(sweep, &choices, usual);
        free_choices(&choices);
    }
}

/* One stretch as long as these points together. A shorter one at the end of the run is not one to choose. */
static void try_long_point(struct sweep *sweep, struct trial usual)
{
    struct choices choices;
    usual.sweep = "long";
    usual.joined = sweep->trials.data[sweep->trials.len - 1].phases;
    usual.max_k = 1;
    join(sweep, usual.joined, &choices);
    if (choices.vectors.list.len > 1 && sweep->cpi.len % usual.joined)
        choices.vectors.list.len--;
    try_one(sweep, &choices, usual);
    free_choices(&choices);
}

/* The last two: as the options ask for it, and the long point. */
static void try_all(struct sweep *sweep)
{
    const struct as_points_options *options = sweep->session->options;
    struct choices own;
    struct trial usual = {.dims = (uint32_t)options->dims,
                          .threshold = options->threshold,
                          .coverage = 1,
                          .joined = 1,
                          .seed = options->seed,
                          .max_k = (uint32_t)options->max_k};
    try_lengths(sweep, usual);
    join(sweep, 1, &own);
    usual.sweep = "default";
    try_one(sweep, &own, usual);
    try_long_point(sweep, usual);
    free_choices(&own);
}

static int compare_trials(const void *a, const void *b)
{
    const struct trial *x = *(struct trial *const *)a, *y = *(struct trial *const *)b;
    if (x->simulated != y->simulated)
        return x->simulated < y->simulated ? -1 : 1;
    return (x->error > y->error) - (x->error < y->error);
}

/* Whether it was made with the seed that was asked for. */
static bool is_own(const struct sweep *sweep, const struct trial *trial)
{
    return trial->seed == sweep->session->options->seed;
}

/* By cost: a trial is on the front where it is better than all that cost less, and as good as any that cost the same. */
static void find_front(struct sweep *sweep)
{
    struct trial **order = as_alloc_array(sweep->trials.len, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < sweep->trials.len; i++)
        if (is_own(sweep, &sweep->trials.data[i]))
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

/* ---- what it shows ---- */

static uint64_t length_of(const struct sweep *sweep, const struct trial *trial)
{
    return trial->joined * sweep->session->options->interval;
}

static void put_csv(const struct sweep *sweep, FILE *out)
{
    fprintf(out, "sweep,max_k,dims,threshold,coverage,interval,phases,simulated,cpi,true_cpi,error,front,seed\n");
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct trial *trial = &sweep->trials.data[i];
        fprintf(out,
                "%s,%" PRIu32 ",%" PRIu32 ",%.2f,%.2f,%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%.9g,%.9g,%.9g,%d,%" PRIu64
                "\n",
                trial->sweep, trial->max_k, trial->dims, trial->threshold, trial->coverage, length_of(sweep, trial),
                trial->phases, trial->simulated, trial->cpi, sweep->truth, trial->error, trial->front, trial->seed);
    }
}

/* The cheapest trial whose error is at most this; of several the best. NULL: there is none. */
static const struct trial *cheapest(const struct sweep *sweep, double error)
{
    const struct trial *best = NULL;
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct trial *trial = &sweep->trials.data[i];
        if (trial->error <= error && trial->coverage == 1 && is_own(sweep, trial) &&
            (!best || trial->simulated < best->simulated ||
             (trial->simulated == best->simulated && trial->error < best->error)))
            best = trial;
    }
    return best;
}

static void put_trial(const struct sweep *sweep, const struct trial *trial, const char *name, FILE *out)
{
    double whole = (double)as_vectors_instructions(sweep->session->vectors);
    fprintf(out, "  %-24s %6.2f %% %14s %6.2f %% %14s %7" PRIu32 " %6" PRIu32 " %5" PRIu32 " %9.2f\n", name,
            100 * trial->error, AS_COUNT(trial->simulated), 100 * (double)trial->simulated / whole,
            AS_COUNT(length_of(sweep, trial)), trial->phases, trial->max_k, trial->dims, trial->threshold);
}

static void put_choices(const struct sweep *sweep, FILE *out)
{
    static const double targets[] = {0.1, 0.05, 0.02, 0.01, 0.005};
    fprintf(out, "\n  %-24s %8s %14s %8s %14s %7s %6s %5s %9s\n", "", "error", "simulated", "of all", "interval",
            "phases", "max-k", "dims", "threshold");
    put_trial(sweep, &sweep->trials.data[sweep->trials.len - 2], "as asked for", out);
    put_trial(sweep, &sweep->trials.data[sweep->trials.len - 1], "one long point", out);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char name[32];
        const struct trial *best = cheapest(sweep, targets[i]);
        snprintf(name, sizeof name, "cheapest for %g %%", 100 * targets[i]);
        if (best)
            put_trial(sweep, best, name, out);
        else
            fprintf(out, "  %-24s none\n", name);
    }
}

/* What a number of phases leads to, over all other ways to choose. */
struct saturation {
    double average, most, simulated;
    uint32_t trials;
};

static struct saturation saturation_of(const struct sweep *sweep, uint32_t max_k)
{
    struct saturation sum = {0};
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct trial *trial = &sweep->trials.data[i];
        if (trial->max_k != max_k || trial->coverage < 1 || trial->joined > 1 || !is_own(sweep, trial))
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
static bool is_beaten(const struct sweep *sweep, uint32_t k)
{
    struct saturation own = saturation_of(sweep, k);
    for (uint32_t cheaper = 1; cheaper < k; cheaper++) {
        struct saturation at = saturation_of(sweep, cheaper);
        if (at.average <= own.average && at.most <= own.most)
            return true;
    }
    return false;
}

static void put_saturation(const struct sweep *sweep, FILE *out)
{
    static const double within = 0.01;
    double least = INFINITY;
    uint32_t max_k = (uint32_t)sweep->session->options->max_k;
    for (uint32_t k = 1; k <= max_k; k++)
        least = fmin(least, saturation_of(sweep, k).average);
    for (uint32_t k = 1; k <= max_k; k++) {
        struct saturation at = saturation_of(sweep, k);
        if (at.average > least + within || is_beaten(sweep, k))
            continue;
        fprintf(out,
                "\n  Saturation at max-k %" PRIu32
                ": error %.2f %% on average over dimensions and thresholds, %.2f %% at "
                "most (least average %.2f %%)\n",
                k, 100 * at.average, 100 * at.most, 100 * least);
        return;
    }
}

/* A length and a number of phases over all seeds, with the dimensions and the threshold that were asked for. */
struct steadiness {
    uint32_t joined, max_k, seeds;
    double average, most, simulated;
};

static struct steadiness steadiness_of(const struct sweep *sweep, uint32_t joined, uint32_t max_k)
{
    struct steadiness sum = {.joined = joined, .max_k = max_k};
    for (size_t i = 0; i < sweep->trials.len; i++) {
        const struct trial *trial = &sweep->trials.data[i];
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
static struct steadiness recommend(const struct sweep *sweep)
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

static void put_recommendation(const struct sweep *sweep, FILE *out)
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

/* Phases whose point does not take their mean time, as they were chosen by the options, and the code that makes most of the
 * difference. */
static void put_phases(const struct sweep *sweep, FILE *out)
{
    const struct as_choice *choice = &sweep->session->choice;
    fprintf(out, "\n  phase   weight     CPI: point     mean     least     most   adds to the error   most of it in\n");
    for (uint32_t group = 0; group < choice->k; group++) {
        const struct as_chosen_point *point = &choice->points.data[group];
        double sum = 0, instructions = 0, least = INFINITY, most = 0, own = sweep->cpi.data[point->interval];
        for (size_t i = 0; i < choice->groups.len; i++) {
            double cpi = sweep->cpi.data[i], n = (double)sweep->session->vectors->list.data[i].instructions;
            if (choice->groups.data[i] != group)
                continue;
            sum += cpi * n;
            instructions += n;
            least = cpi < least ? cpi : least;
            most = cpi > most ? cpi : most;
        }
        struct as_blamed blamed = as_points_blame_find(sweep->blame, choice, group, sweep->session->vectors);
        fprintf(out, "  %5" PRIu32 "  %6.2f %%  %13.3f %8.3f  %8.3f %8.3f  %+8.2f %%  %+8.2f %% %s\n", group + 1,
                100 * point->weight, own, sum / instructions, least, most,
                100 * point->weight * (own - sum / instructions) / sweep->truth,
                100 * point->weight * blamed.cpi / sweep->truth, blamed.function ? AS_SHOW(blamed.function) : "");
    }
}

/* A row for each interval: its phase, its CPI, and whether it stands for its phase (Figure C.6). */
static void put_intervals(const struct sweep *sweep, FILE *out)
{
    const struct as_choice *choice = &sweep->session->choice;
    fprintf(out, "phase,weight,interval,instructions,cpi,point\n");
    for (size_t i = 0; i < choice->groups.len; i++) {
        const struct as_chosen_point *point = &choice->points.data[choice->groups.data[i]];
        fprintf(out, "%" PRIu32 ",%.6f,%zu,%" PRIu64 ",%.9g,%d\n", choice->groups.data[i] + 1, point->weight, i,
                sweep->session->vectors->list.data[i].instructions, sweep->cpi.data[i], point->interval == i);
    }
}

static bool write_intervals(const struct sweep *sweep, struct as_error *err)
{
    struct as_output output = {0};
    if (!sweep->session->options->phases)
        return true;
    if (!as_output_open(&output, sweep->session->options->phases, err))
        return false;
    put_intervals(sweep, output.file);
    return as_output_finish(&output, err);
}

static void put_text(const struct sweep *sweep, FILE *out)
{
    const struct as_points_session *session = sweep->session;
    fprintf(out, "\n%s: %s instructions, %s intervals of %s, true CPI %.4f; %s ways to choose points\n",
            session->argv[0], AS_COUNT(as_vectors_instructions(session->vectors)), AS_COUNT(session->vectors->list.len),
            AS_COUNT(session->options->interval), sweep->truth, AS_COUNT(sweep->trials.len));
    put_choices(sweep, out);
    put_saturation(sweep, out);
    put_phases(sweep, out);
    put_recommendation(sweep, out);
}

bool as_points_sweep(struct as_points_session *session, FILE *out, struct as_error *err)
{
    struct sweep sweep = {.session = session};
    bool ok = check_end(&session->run.end, err) && measure(&sweep, err);
    if (ok) {
        try_all(&sweep);
        find_front(&sweep);
        if (session->options->csv)
            put_csv(&sweep, out);
        else
            put_text(&sweep, out);
        ok = write_intervals(&sweep, err);
    }
    as_points_blame_free(sweep.blame);
    as_vec_free(&sweep.cpi);
    as_vec_free(&sweep.trials);
    return ok;
}
