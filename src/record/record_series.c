/* See record_series.h. */
#include "record/record_series.h"

#include "base/path.h"
#include "observe/stacks.h"
#include "record/record_paths.h"
#include "record/record_sampled.h"
#include "score/errors.h"
#include "score/sampling_error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- threads ---- */

static uint32_t image_of(const struct as_record_series *all, uint32_t id)
{
    return as_engine_insn_image(as_model_engine(all->modelled->model), id);
}

/* Keeps what a thread did in the image. */
static struct as_pics of_image(const struct as_record_series *all, struct as_pics pics, uint32_t image)
{
    size_t kept = 0;
    for (size_t i = 0; image && i < pics.len; i++)
        if (image_of(all, pics.data[i].id) == image)
            pics.data[kept++] = pics.data[i];
    pics.len = image ? kept : pics.len;
    return pics;
}

/* What the Oracle charged, or the estimate for the whole program. */
static struct as_pics golden_pics(const struct as_record_series *all, const struct as_record_thread *thread)
{
    return of_image(all,
                    all->sampled ? as_sampled_thread_pics(all->sampled, thread->number)
                                 : as_oracle_thread_pics(all->modelled->oracle, thread->number),
                    thread->image);
}

static const struct as_oracle_row *golden_row(const struct as_record_series *all, const struct as_record_thread *thread,
                                              uint32_t id)
{
    if (thread->image && image_of(all, id) != thread->image)
        return NULL;
    return all->sampled ? as_sampled_row(all->sampled, thread->number, id)
                        : as_oracle_thread_row(all->modelled->oracle, thread->number, id);
}

static struct as_pics sampled_pics(const struct as_record_series *all, const struct as_sampling *sampling, size_t index,
                                   const struct as_record_thread *thread)
{
    return of_image(all, as_sampling_thread_pics(sampling, index, thread->number), thread->image);
}

/* Adds a thread once for each image that it has rows of. Returns whether
 * it has any rows. */
static bool find_thread(struct as_record_series *all, uint32_t number)
{
    const struct as_modelled *modelled = all->modelled;
    const struct as_record_thread whole = {.number = number};
    struct as_pics pics = all->sampled || modelled->oracle ? golden_pics(all, &whole)
                                                           : sampled_pics(all, modelled->samplings.data[0], 0, &whole);
    size_t before = all->threads.list.len;
    for (size_t i = 0; i < pics.len; i++) {
        uint32_t image = number == AS_NO_THREAD ? 0 : image_of(all, pics.data[i].id);
        size_t at = before;
        while (at < all->threads.list.len && all->threads.list.data[at].image != image)
            at++;
        if (at == all->threads.list.len)
            *as_vec_push(&all->threads.list) = (struct as_record_thread){.number = number, .image = image};
    }
    as_pics_free(&pics);
    return all->threads.list.len > before;
}

static void find_threads(struct as_record_series *all)
{
    for (uint32_t number = 1; number <= all->modelled->result.engine.threads; number++)
        find_thread(all, number);
    if (!find_thread(all, AS_NO_THREAD) &&
        (all->threads.list.len == 0 || all->modelled->result.engine.threads > AS_PATHS_THREADS))
        *as_vec_push(&all->threads.list) = (struct as_record_thread){.number = AS_NO_THREAD};
    as_record_threads_sort(&all->threads);
}

/* Says how many threads the last row stands for, if that is one of several. */
static void note_other_threads(const struct as_record_series *all)
{
    uint32_t threads = all->modelled->result.engine.threads, own = 0;
    size_t n = all->threads.list.len;
    if (n < 2 || all->threads.list.data[n - 1].number != AS_NO_THREAD)
        return;
    for (size_t i = 0; i + 1 < n; i++)
        own += i == 0 || all->threads.list.data[i].number != all->threads.list.data[i - 1].number;
    if (own < threads)
        as_store_add_quality(all->code->writer, "other_threads", threads - own,
                             "threads share one row, 'other threads': those that ran longest have rows of their own");
}

static uint64_t golden_units(const struct as_record_series *all)
{
    return all->sampled ? as_sampled_summary(all->sampled)->units : all->modelled->result.cycles * AS_CYCLE_UNITS;
}

/* Adds the thread's own rows, so that the threads add up to the profile even if some were merged. */
static void sum_rows(const struct as_record_series *all, const struct as_record_thread *own,
                     struct as_store_thread *thread)
{
    const struct as_oracle *oracle = all->modelled->oracle;
    uint64_t units = 0;
    for (uint32_t id = 0; oracle && id < all->code->n; id++) {
        const struct as_oracle_row *row = golden_row(all, own, id);
        thread->instructions += row ? row->executions : 0;
        units += row ? as_oracle_row_units(row) : 0;
    }
    if (all->modelled->samplings.len && !all->sampled) {
        struct as_pics pics = sampled_pics(all, all->modelled->samplings.data[0], 0, own);
        for (size_t i = 0; i < pics.len; i++)
            thread->samples += pics.data[i].count;
        units = oracle ? units : as_pics_total(&pics);
        as_pics_free(&pics);
    }
    thread->cycles += (units + AS_CYCLE_UNITS / 2) / AS_CYCLE_UNITS;
}

/* The name that the thread gave itself in the image, or the program. */
static const char *name_of(const struct as_record_series *all, const struct as_record_thread *thread)
{
    const struct as_image *image = as_engine_image(as_model_engine(all->modelled->model), thread->image);
    const char *own = as_model_thread_name(all->modelled->model, thread->number, thread->image);
    if (thread->number == AS_NO_THREAD)
        return "other threads";
    return own ? own : image && image->program ? as_path_base(image->program) : NULL;
}

/* Whether the image's program has the name of the one before it in the list, of the same thread. */
static bool has_name_of_last(const struct as_record_series *all, size_t i)
{
    const struct as_record_thread *thread = &all->threads.list.data[i];
    if (i == 0 || thread[-1].number != thread->number)
        return false;
    const char *name = name_of(all, thread), *last = name_of(all, thread - 1);
    return name && last && strcmp(name, last) == 0;
}

static void add_threads(const struct as_record_series *all)
{
    struct as_store_thread thread = {0};
    uint32_t row = 0;
    for (size_t i = 0; i < all->threads.list.len; i++) {
        struct as_record_thread *own = &all->threads.list.data[i];
        if (!has_name_of_last(all, i)) {
            if (i > 0)
                as_store_add_thread(all->code->writer, &thread);
            row += i > 0;
            thread = (struct as_store_thread){.number = own->number == AS_NO_THREAD ? 0 : own->number,
                                              .process = as_model_process(all->modelled->model, own->number),
                                              .name = name_of(all, own)};
        }
        own->row = row;
        sum_rows(all, own, &thread);
    }
    as_store_add_thread(all->code->writer, &thread);
}

/* ---- times and components ---- */

/* The stacks of all threads, read in parallel, instruction by instruction. */
struct cursors {
    struct as_pics *pics; /* by thread */
    size_t *next;
    size_t n;
};

static struct cursors open_cursors(size_t n)
{
    return (struct cursors){
        .pics = as_alloc_array(n, sizeof(struct as_pics)), .next = as_alloc_array(n, sizeof(size_t)), .n = n};
}

static void free_cursors(struct cursors *cursors)
{
    for (size_t i = 0; i < cursors->n; i++)
        as_pics_free(&cursors->pics[i]);
    free(cursors->pics);
    free(cursors->next);
}

struct sums {
    uint64_t units, parts, executions;
};

/* Adds the components of one instruction in one thread. Returns their time, and samples in *samples. */
static uint64_t add_components(const struct as_record_series *all, struct cursors *cursors, uint32_t thread,
                               uint32_t id, bool keep, uint64_t *samples)
{
    const struct as_pics *pics = &cursors->pics[thread];
    size_t *next = &cursors->next[thread];
    uint64_t units = 0;
    for (*samples = 0; *next < pics->len && pics->data[*next].id == id; (*next)++) {
        const struct as_pics_entry *entry = &pics->data[*next];
        struct as_store_component component = {.series = all->series,
                                               .thread = all->threads.list.data[thread].row,
                                               .instruction = all->code->number_of[id],
                                               .events = entry->events,
                                               .units = entry->units,
                                               .samples = entry->count};
        units += entry->units;
        *samples += entry->count;
        if (keep && (entry->units || entry->count))
            as_store_add_component(all->code->writer, &component);
    }
    return units;
}

static void add_states(const struct as_record_series *all, uint32_t thread, uint32_t id,
                       const struct as_oracle_row *row)
{
    for (uint32_t state = 0; state < AS_STATE_COUNT; state++)
        if (row->units[state])
            as_store_add_state_time(all->code->writer,
                                    &(struct as_store_state_time){.series = all->series,
                                                                  .thread = all->threads.list.data[thread].row,
                                                                  .instruction = all->code->number_of[id],
                                                                  .state = state,
                                                                  .units = row->units[state]});
}

/* Returns false if an instruction has time but was not executed. */
static bool add_golden_row(const struct as_record_series *all, struct cursors *cursors, uint32_t thread, uint32_t id,
                           struct sums *sums)
{
    const struct as_oracle_row *row = golden_row(all, &all->threads.list.data[thread], id);
    uint64_t met;
    if (!row)
        return true;
    if (all->code->number_of[id] == AS_STORE_NONE)
        return false;
    struct as_store_time time = {.series = all->series,
                                 .thread = all->threads.list.data[thread].row,
                                 .instruction = all->code->number_of[id],
                                 .units = as_oracle_row_units(row),
                                 .executions = row->executions};
    sums->units += time.units;
    sums->executions += row->executions;
    as_store_add_time(all->code->writer, &time);
    sums->parts += add_components(all, cursors, thread, id, true, &met);
    add_states(all, thread, id, row);
    return true;
}

static bool check_sums(const struct sums *sums, const char *name, uint64_t units, struct as_error *err)
{
    if (sums->units != units)
        return as_error_set(err, "%s: %.6f cycles were to be written, %.6f were", name,
                            (double)units / (double)AS_CYCLE_UNITS, (double)sums->units / (double)AS_CYCLE_UNITS);
    return sums->parts == sums->units ||
           as_error_set(err, "%s: the components do not add up to the time: %.6f of %.6f cycles", name,
                        (double)sums->parts / (double)AS_CYCLE_UNITS, (double)sums->units / (double)AS_CYCLE_UNITS);
}

static bool add_golden_times(const struct as_record_series *all, struct as_error *err)
{
    uint64_t instructions =
        all->sampled ? as_sampled_summary(all->sampled)->instructions : all->modelled->result.instructions;
    struct cursors cursors = open_cursors(all->threads.list.len);
    struct sums sums = {0};
    bool ok = true;
    for (uint32_t thread = 0; thread < cursors.n; thread++)
        cursors.pics[thread] = golden_pics(all, &all->threads.list.data[thread]);
    for (uint32_t id = 0; id < all->code->n && ok; id++)
        for (uint32_t thread = 0; thread < cursors.n && ok; thread++)
            ok = add_golden_row(all, &cursors, thread, id, &sums);
    free_cursors(&cursors);
    if (!ok)
        return as_error_set(err, "golden: an instruction that was never executed has time");
    if (sums.executions != instructions)
        return as_error_set(err, "golden: %" PRIu64 " instructions were executed, %" PRIu64 " were written",
                            instructions, sums.executions);
    return check_sums(&sums, "golden", golden_units(all), err);
}

static void add_stack(const struct as_record_series *all, const char *stack, const char *name, uint64_t units)
{
    struct as_store_stack part = {.series = all->series, .stack = stack, .name = name, .units = units};
    as_store_add_stack(all->code->writer, &part);
}

/* The stack of the whole program, and its time by state, from the rows that were written. */
static struct as_stack sum_stack(const struct as_record_series *all, struct as_oracle_thread *total)
{
    struct as_stack stack = {0};
    const struct as_engine *engine = as_model_engine(all->modelled->model);
    for (size_t thread = 0; thread < all->threads.list.len; thread++)
        for (uint32_t id = 0; id < all->code->n; id++) {
            const struct as_oracle_row *row = golden_row(all, &all->threads.list.data[thread], id);
            if (row)
                as_stack_add(&stack, row, as_engine_insn(engine, id));
            for (int state = 0; row && state < AS_STATE_COUNT; state++)
                total->units[state] += row->units[state];
        }
    return stack;
}

static void add_stacks(const struct as_record_series *all)
{
    struct as_oracle_thread total = {0};
    struct as_stack stack = sum_stack(all, &total);
    add_stack(all, "states", "computing", total.units[AS_STATE_COMPUTING]);
    add_stack(all, "states", "stalled", total.units[AS_STATE_STALLED]);
    add_stack(all, "states", "drained", total.units[AS_STATE_DRAINED]);
    add_stack(all, "states", "flushed",
              total.units[AS_STATE_MISPREDICT] + total.units[AS_STATE_FLUSH] + total.units[AS_STATE_EXCEPTION]);
    for (enum as_stack_part part = 0; part < AS_STACK_COUNT; part++)
        add_stack(all, "stack", as_stack_part_name(part), stack.units[part]);
    as_store_add_meta(all->code->writer, "class", as_intensity_name(as_stack_intensity(&stack)));
}

static bool add_golden(struct as_record_series *all, struct as_error *err)
{
    struct as_store_series series = {.name = "golden",
                                     .description = "every cycle, as exposed by the modelled commit stage",
                                     .exact = true,
                                     .unit = "cycles",
                                     .scale = AS_CYCLE_UNITS,
                                     .precise = -1,
                                     .events = as_oracle_events(all->modelled->oracle)};
    if (all->sampled)
        as_record_sampled_describe(all, &series);
    as_store_add_series(all->code->writer, &series);
    struct as_pics paths = all->sampled ? as_record_sampled_paths(all) : as_oracle_path_pics(all->modelled->oracle);
    bool ok = add_golden_times(all, err) &&
              as_record_paths_times(all->paths, &paths, false, series.events, golden_units(all), "golden", err);
    as_pics_free(&paths);
    if (!ok)
        return false;
    add_stacks(all);
    all->series++;
    return true;
}

/* ---- samplers ---- */

static bool add_sample_times(const struct as_record_series *all, const struct as_sampling *sampling, size_t index,
                             struct as_error *err)
{
    size_t count;
    const struct as_sampling_result *result = &as_sampling_results(sampling, &count)[index];
    struct cursors cursors = open_cursors(all->threads.list.len);
    struct sums sums = {0};
    for (uint32_t thread = 0; thread < cursors.n; thread++)
        cursors.pics[thread] = sampled_pics(all, sampling, index, &all->threads.list.data[thread]);
    for (uint32_t id = 0; id < all->code->n; id++)
        for (uint32_t thread = 0; thread < cursors.n; thread++) {
            struct as_store_time time = {.series = all->series,
                                         .thread = all->threads.list.data[thread].row,
                                         .instruction = all->code->number_of[id]};
            time.units = add_components(all, &cursors, thread, id, result->events != 0, &time.samples);
            sums.units += time.units;
            if (time.units || time.samples)
                as_store_add_time(all->code->writer, &time);
        }
    sums.parts = sums.units;
    free_cursors(&cursors);
    return check_sums(&sums, result->sampler->name, result->profile.total, err);
}

static void add_estimate(const struct as_record_series *all, const char *measure, const char *granularity, double value)
{
    struct as_store_estimate estimate = {
        .series = all->series, .measure = measure, .granularity = granularity, .value = value};
    if (!isnan(value))
        as_store_add_estimate(all->code->writer, &estimate);
}

/* The golden reference and the levels at which samplers are compared with it; without a profile it is empty. */
struct truth {
    struct as_profile profile;
    struct as_pics golden;
    struct as_levels levels;
};

static double estimate_of(const struct as_sampling_result *result, const struct as_grouping *grouping)
{
    if (!grouping)
        return as_sampling_error(as_weights_of(result->profile.units, result->profile.n), NULL,
                                 (double)result->samples);
    uint64_t *sums = as_profile_group(&result->profile, grouping);
    double error = as_sampling_error(as_weights_of(sums, (size_t)grouping->count + 1), NULL, (double)result->samples);
    free(sums);
    return error;
}

/* Adds the errors of a sampler: compared with the golden reference, if there is one, and as expected from its number of
 * samples. */
static void add_errors(const struct as_record_series *all, const struct truth *truth,
                       const struct as_sampling *sampling, size_t index)
{
    size_t count;
    const struct as_sampling_result *result = &as_sampling_results(sampling, &count)[index];
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++) {
        const struct as_grouping *grouping = truth->levels.grouping[level];
        add_estimate(all, "estimate", as_level_names[level], estimate_of(result, grouping));
        add_estimate(all, "systematic", as_level_names[level], as_systematic_error(&result->confusion, grouping));
        if (all->modelled->oracle)
            add_estimate(all, "error", as_level_names[level],
                         as_profile_error(&result->profile, &truth->profile, grouping));
    }
    if (!all->modelled->oracle || !result->events)
        return;
    double errors[AS_LEVELS];
    struct as_pics said = as_sampling_pics(sampling, index);
    as_pics_errors(&said, &truth->golden, result->events, &truth->levels, errors);
    as_pics_free(&said);
    for (int level = 0; level < AS_LEVELS; level++)
        add_estimate(all, "pics", as_level_names[level], errors[level]);
}

static bool add_sampler(struct as_record_series *all, const struct truth *truth, const struct as_sampling *sampling,
                        size_t index, struct as_error *err)
{
    size_t count;
    const struct as_sampling_result *result = &as_sampling_results(sampling, &count)[index];
    struct as_store_series series = {.name = result->sampler->name,
                                     .description = result->sampler->stands_for,
                                     .unit = "cycles",
                                     .scale = AS_CYCLE_UNITS,
                                     .event = "cycles",
                                     .precise = -1,
                                     .period = as_sampling_schedule(sampling)->period,
                                     .rate = all->rate,
                                     .samples = result->samples,
                                     .dropped = result->dropped,
                                     .events = result->events};
    as_store_add_series(all->code->writer, &series);
    struct as_pics paths = as_sampling_path_pics(sampling, index);
    bool ok = add_sample_times(all, sampling, index, err) &&
              as_record_paths_times(all->paths, &paths, true, result->events, result->profile.total, series.name, err);
    as_pics_free(&paths);
    if (!ok)
        return false;
    add_errors(all, truth, sampling, index);
    all->series++;
    return true;
}

static bool add_samplers(struct as_record_series *all, struct as_error *err)
{
    const struct as_modelled *modelled = all->modelled;
    struct truth truth = {.levels = as_groups_levels(all->groups)};
    bool ok = true;
    if (modelled->oracle) {
        truth.golden = as_oracle_pics(modelled->oracle);
        as_oracle_profile(modelled->oracle, &truth.profile);
    }
    for (size_t i = 0; i < modelled->samplings.len && ok; i++) {
        size_t n;
        as_sampling_results(modelled->samplings.data[i], &n);
        for (size_t k = 0; k < n && ok; k++)
            ok = add_sampler(all, &truth, modelled->samplings.data[i], k, err);
    }
    as_pics_free(&truth.golden);
    as_profile_free(&truth.profile);
    return ok;
}

/* ---- events and states ---- */

static void add_events(const struct as_record_series *all)
{
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        const struct as_event_info *info = &as_events[i];
        struct as_store_event event = {.bit = (uint32_t)i,
                                       .name = info->name,
                                       .description = info->description,
                                       .parent = info->roots ? (uint32_t)__builtin_ctz(info->roots) : AS_STORE_NONE,
                                       .state = as_explains_name(info->explains)};
        as_store_add_event(all->code->writer, &event);
    }
}

static void add_state_names(const struct as_record_series *all)
{
    static const char *const meanings[AS_STATE_COUNT] = {
        [AS_STATE_COMPUTING] = "instructions commit",
        [AS_STATE_STALLED] = "the oldest instruction is not finished",
        [AS_STATE_DRAINED] = "the front end is late",
        [AS_STATE_MISPREDICT] = "flushed: after a mispredicted branch",
        [AS_STATE_FLUSH] = "flushed: after an instruction that flushes when it commits",
        [AS_STATE_EXCEPTION] = "flushed: after an exception or a memory-order violation",
    };
    for (enum as_state state = 0; state < AS_STATE_COUNT; state++)
        as_store_add_state(all->code->writer, &(struct as_store_state){as_state_name(state), meanings[state]});
}

bool as_record_series_add(struct as_record_series *all, struct as_error *err)
{
    add_events(all);
    add_state_names(all);
    find_threads(all);
    note_other_threads(all);
    add_threads(all);
    all->paths = as_record_paths_add(all);
    uint32_t golden = all->series;
    bool ok = (!all->modelled->oracle || add_golden(all, err));
    if (all->sampled)
        as_record_sampled_add(all);
    else
        ok = ok && add_samplers(all, err);
    if (ok && all->waits && all->modelled->oracle && !all->sampled)
        as_record_waits_add(all->waits, all->code, &all->threads, golden, AS_CYCLE_UNITS);
    as_record_paths_free(all->paths);
    as_vec_free(&all->threads.list);
    return ok;
}
