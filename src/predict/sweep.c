/* How good simulation points are for a program, by how they are chosen.
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
#include "predict/sweep.h"

#include "base/show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { OTHER_SEEDS = 10, THRESHOLDS = 21, COVERAGES = 10, FEWEST = 4 /* of the longest intervals */ };

/* Intervals that points are chosen from. */
struct choices {
    struct as_vectors vectors;
    AS_VEC(double) cpi; /* by interval */
};

/* ---- the truth ---- */

static void cut(const struct as_predict *predict, struct as_regions *regions)
{
    for (size_t i = 0; i < predict->vectors->list.len; i++) {
        struct as_region *region = as_regions_add(regions);
        region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = i * predict->request->interval};
        region->max = predict->request->interval;
        region->text = as_format("interval %zu", i);
    }
    struct as_region *never = as_regions_add(regions); /* so that the program runs to its end */
    never->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = UINT64_MAX / 4};
    never->max = predict->request->interval;
    never->text = as_strdup("behind the program's end");
    regions->open_ended = true;
}

/* A run that the user broke off has intervals that are missing, or shorter than they would be. */
static bool check_end(const struct as_run_end *end, struct as_error *err)
{
    if (!as_run_end_is_cut(end))
        return true;
    return as_error_set_status(err, end->exit_status ? end->exit_status : AS_EXIT_FAILURE,
                               "interrupted: a sweep needs two whole runs of the program");
}

static bool take_cpi(struct as_sweep *sweep, const struct as_modelled *modelled, struct as_error *err)
{
    uint64_t cycles = 0, instructions = 0;
    for (uint32_t i = 0; i < sweep->predict->vectors->list.len; i++) {
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

/* Whether the second run is another one: longer, shorter, or of other code in one of its intervals. */
static void compare_runs(struct as_sweep *sweep, const struct as_modelled *modelled)
{
    static const double tolerable = 0.001, cut_off = 0.01; /* of an interval: blocks at its ends */
    uint64_t first = as_vectors_instructions(sweep->predict->vectors), second = modelled->result.engine.executed;
    uint64_t longer = second > first ? second : first;
    struct as_interval_apart apart = as_point_blame_apart(sweep->blame);
    sweep->differs = (double)(longer - (second > first ? first : second)) / (double)longer;
    if (sweep->differs > tolerable)
        as_notice(&sweep->predict->request->notices, AS_LOG_WARN,
                  "the program does not do the same in every run: it executed %s instructions for its vectors and %s "
                  "in the model, so the true CPI and all errors are those of other intervals",
                  AS_COUNT(first), AS_COUNT(second));
    else if (apart.part > cut_off)
        as_notice(
            &sweep->predict->request->notices, AS_LOG_WARN,
            "the program does not do the same in every run: in the model interval %" PRIu32
            " executed other code than for its vector, %.1f %% of its instructions, so the true CPI and all errors "
            "are those of other intervals",
            apart.interval, 100 * apart.part);
    if (apart.part > cut_off && apart.part > sweep->differs)
        sweep->differs = apart.part;
}

static bool measure(struct as_sweep *sweep, struct as_error *err)
{
    const struct as_predict_request *request = sweep->predict->request;
    struct as_engine_options engine = request->engine;
    struct as_regions regions = {0};
    struct as_modelled modelled = {.meter = request->meter, .meter_context = request->meter_context};
    cut(sweep->predict, &regions);
    as_input_rewind(&sweep->predict->input);
    engine.regions = &regions;
    engine.discard_stdout = true;
    bool ok = as_modelled_open(&modelled, request->core, &request->set, err) && as_modelled_watch(&modelled, err);
    if (ok) {
        as_model_set_memo(modelled.model, &request->memo);
        sweep->blame = as_point_blame_new(&modelled, sweep->predict->collect, sweep->predict->vectors);
    }
    ok = ok && as_modelled_run(&modelled, engine, err) && check_end(&modelled.result.engine.end, err) &&
         take_cpi(sweep, &modelled, err);
    if (ok) {
        as_point_blame_end(sweep->blame, sweep->cpi.len);
        compare_runs(sweep, &modelled);
    }
    as_modelled_free(&modelled);
    as_regions_free(&regions);
    return ok;
}

/* ---- trials ---- */

/* The run in intervals that are so many of its own; the last is perhaps shorter. */
static void join(const struct as_sweep *sweep, uint32_t joined, struct choices *choices)
{
    const struct as_vectors *from = sweep->predict->vectors;
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

static void predict(const struct as_sweep *sweep, const struct choices *from, const struct as_choice *choice,
                    struct as_sweep_trial *trial)
{
    trial->phases = choice->k;
    for (size_t i = 0; i < choice->points.len; i++) {
        uint32_t interval = choice->points.data[i].interval;
        trial->cpi += choice->points.data[i].weight * from->cpi.data[interval];
        trial->simulated += from->vectors.list.data[interval].instructions;
    }
    trial->error = fabs(trial->cpi / sweep->truth - 1);
}

static struct as_choose_options how_to(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    struct as_choose_options how = sweep->predict->request->choose;
    how.dims = trial->dims;
    how.max_k = trial->max_k;
    how.seed = trial->seed;
    how.threshold = trial->threshold;
    return how;
}

/* What points of the part of the run are chosen with that the trial covers. */
static struct as_chooser *chooser_for(const struct as_sweep *sweep, const struct choices *from,
                                      const struct as_sweep_trial *trial)
{
    struct as_vectors part = from->vectors;
    struct as_choose_options how = how_to(sweep, trial);
    size_t n = (size_t)ceil(trial->coverage * (double)part.list.len);
    part.list.len = n ? n : 1;
    return as_chooser_new(&part, &how);
}

/* Whether intervals are joined by so many: as long as there are a few of them then. */
static bool is_length(const struct as_sweep *sweep, uint32_t joined)
{
    return joined == 1 || joined * FEWEST <= sweep->cpi.len;
}

/* Choosing for thousands of intervals takes minutes. */
static void tell(const struct as_sweep *sweep)
{
    const struct as_predict_request *request = sweep->predict->request;
    size_t lengths = 0;
    while (is_length(sweep, UINT32_C(1) << lengths))
        lengths++;
    size_t each = AS_POINTS_DIMS_MOST + 1 + THRESHOLDS + COVERAGES + OTHER_SEEDS, last = 2;
    if (request->meter)
        request->meter->tried(request->meter_context, sweep->trials.len, lengths * each * request->choose.max_k + last);
}

static void try_with(struct as_sweep *sweep, const struct choices *from, struct as_chooser *chooser,
                     struct as_sweep_trial trial)
{
    struct as_choose_options how = how_to(sweep, &trial);
    struct as_choice choice;
    as_chooser_choose(chooser, &how, &choice);
    predict(sweep, from, &choice, &trial);
    *as_vec_push(&sweep->trials) = trial;
    tell(sweep);
    as_choice_free(&choice);
}

static void try_one(struct as_sweep *sweep, const struct choices *from, struct as_sweep_trial trial)
{
    struct as_chooser *chooser = chooser_for(sweep, from, &trial);
    try_with(sweep, from, chooser, trial);
    as_chooser_free(chooser);
}

/* Each number of phases up to the one that was asked for, with all that is the same for them done once. */
static void try_phases(struct as_sweep *sweep, const struct choices *from, struct as_chooser *chooser,
                       struct as_sweep_trial trial)
{
    for (trial.max_k = 1; trial.max_k <= sweep->predict->request->choose.max_k; trial.max_k++)
        try_with(sweep, from, chooser, trial);
}

static void try_dims(struct as_sweep *sweep, const struct choices *from, struct as_sweep_trial trial)
{
    trial.sweep = "dims";
    for (trial.dims = 1; trial.dims <= AS_POINTS_DIMS_MOST; trial.dims++) {
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

static void try_thresholds(struct as_sweep *sweep, const struct choices *from, struct as_sweep_trial trial)
{
    struct as_chooser *chooser = chooser_for(sweep, from, &trial);
    trial.sweep = "interval";
    try_phases(sweep, from, chooser, trial);
    trial.sweep = "threshold";
    for (int i = 0; i < THRESHOLDS; i++) {
        trial.threshold = i * 0.05;
        try_phases(sweep, from, chooser, trial);
    }
    as_chooser_free(chooser);
}

static void try_coverages(struct as_sweep *sweep, const struct choices *from, struct as_sweep_trial trial)
{
    trial.sweep = "coverage";
    for (int i = 1; i <= COVERAGES; i++) {
        trial.coverage = i * 0.1;
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

/* Runs of k-means take the seeds behind one, so that the next choice begins behind those. */
static void try_seeds(struct as_sweep *sweep, const struct choices *from, struct as_sweep_trial trial)
{
    trial.sweep = "seed";
    for (int i = 0; i < OTHER_SEEDS; i++) {
        trial.seed += sweep->predict->request->choose.tries;
        struct as_chooser *chooser = chooser_for(sweep, from, &trial);
        try_phases(sweep, from, chooser, trial);
        as_chooser_free(chooser);
    }
}

/* The sweeps for each length, with longer intervals as long as there are a few of them. */
static void try_lengths(struct as_sweep *sweep, struct as_sweep_trial usual)
{
    for (usual.joined = 1; is_length(sweep, usual.joined); usual.joined *= 2) {
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
static void try_long_point(struct as_sweep *sweep, struct as_sweep_trial usual)
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
void as_sweep_try(struct as_sweep *sweep)
{
    const struct as_choose_options *how = &sweep->predict->request->choose;
    struct choices own;
    struct as_sweep_trial usual = {.dims = how->dims,
                                   .threshold = how->threshold,
                                   .coverage = 1,
                                   .joined = 1,
                                   .seed = how->seed,
                                   .max_k = how->max_k};
    try_lengths(sweep, usual);
    join(sweep, 1, &own);
    usual.sweep = "default";
    try_one(sweep, &own, usual);
    try_long_point(sweep, usual);
    free_choices(&own);
    if (sweep->predict->request->meter)
        sweep->predict->request->meter->end(sweep->predict->request->meter_context);
}

bool as_sweep_run(struct as_sweep *sweep, struct as_error *err)
{
    if (!check_end(&sweep->predict->run.end, err) || !measure(sweep, err))
        return false;
    as_sweep_try(sweep);
    as_sweep_find_front(sweep);
    return true;
}

void as_sweep_free(struct as_sweep *sweep)
{
    as_point_blame_free(sweep->blame);
    as_vec_free(&sweep->cpi);
    as_vec_free(&sweep->trials);
}
