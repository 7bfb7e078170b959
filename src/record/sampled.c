/* See sampled.h. The plan is a list of regions. At the end of each region, once the Oracle has seen all of it, the time
 * charged since the last one is added. A stratum ends with its last region. It waits until the next stratum has enough
 * regions to stand on its own; if the program ends before that, the two are joined. */
#include "base/random.h"
#include "record/points_run.h"
#include "record/sampled_internal.h"

#include <inttypes.h>

enum {
    STRATA = 40,     /* periods double so often: longer than any program */
    ENOUGH = 20,     /* regions that a stratum needs to stand on its own */
    SETTLE = 2000,   /* instructions that fill the pipeline before a region … */
    SETTLE_PART = 5, /* … but no more than such a part of it */
};

/* ---- the plan ---- */

uint64_t as_sampled_settle(uint64_t length)
{
    return length / SETTLE_PART < SETTLE ? length / SETTLE_PART : SETTLE;
}

static void add_region(struct as_sampled *sampled, uint64_t start, uint64_t length, uint64_t warm)
{
    struct as_region *region = as_regions_add(&sampled->regions);
    region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = start};
    region->max = length;
    region->warm = warm;
    region->settle = start == 0 ? 0 : as_sampled_settle(length);
    region->heads = start != 0;
    region->text = as_format("%" PRIu64 "..+%" PRIu64, start, length);
}

static void plan(struct as_sampled *sampled)
{
    const struct as_sampled_options *options = &sampled->options;
    uint64_t at = options->head, period = options->period, random = options->seed;
    uint64_t warm = options->warm == AS_SAMPLED_AUTO ? 0 : options->warm; /* as_warming_new: until it is found out */
    add_region(sampled, 0, options->head, 0);
    for (int stratum = 0; stratum < STRATA && at < UINT64_MAX / 4; stratum++, period *= 2)
        for (int i = 0; i < AS_STRATUM_REGIONS; i++, at += period)
            add_region(sampled, at + as_random_below(&random, period - options->unit + 1), options->unit, warm);
}

struct as_sampled *as_sampled_new(const struct as_sampled_options *options)
{
    struct as_sampled *sampled = as_alloc(sizeof *sampled);
    sampled->options = *options;
    sampled->last_region = AS_REGION_NONE;
    sampled->open.full = true;
    plan(sampled);
    return sampled;
}

struct as_sampled *as_sampled_new_points(const struct as_points_plan *plan)
{
    struct as_sampled *sampled = as_alloc(sizeof *sampled);
    sampled->last_region = AS_REGION_NONE;
    sampled->points = as_points_run_new(sampled, plan);
    return sampled;
}

/* ---- exact counts ---- */

void as_sampled_numbers_add(as_sampled_numbers *numbers, size_t id, double more)
{
    while (numbers->len <= id)
        *as_vec_push(numbers) = 0;
    numbers->data[id] += more;
}

static void count(struct as_sampled *sampled, const struct as_thread *thread, const struct as_block *block,
                  uint32_t first, uint32_t end, uint64_t times)
{
    as_sampled_counts_add(&sampled->thread_counts, thread->number, block, first, end, times);
    sampled->executed += times * (end - first);
    if (first > 0 || end < block->n) {
        for (uint32_t i = first; i < end; i++)
            as_sampled_numbers_add(&sampled->cut, block->insns[i]->id, (double)times);
        return;
    }
    while (sampled->runs.len <= block->index) {
        *as_vec_push(&sampled->runs) = 0;
        *as_vec_push(&sampled->blocks) = NULL;
    }
    sampled->runs.data[block->index] += times;
    sampled->blocks.data[block->index] = block;
}

static void count_again(struct as_sampled *sampled, const struct as_thread *thread, uint32_t id)
{
    as_sampled_numbers_add(&sampled->again, id, 1);
    as_sampled_counts_again(&sampled->thread_counts, thread->number, id);
}

static void note_timed(struct as_sampled *sampled, const struct as_block *block)
{
    while (sampled->timed.len <= block->index)
        *as_vec_push(&sampled->timed) = false;
    if (!sampled->timed.data[block->index])
        *as_vec_push(&sampled->timed_blocks) = block;
    sampled->timed.data[block->index] = true;
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    ((struct as_sampled *)context)->mode = stretch->mode;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_sampled *sampled = context;
    if (sampled->mode == AS_MODE_SETTLE || sampled->mode == AS_MODE_DETAIL)
        note_timed(sampled, exec->block);
    if (exec->continues)
        count_again(sampled, thread, exec->block->insns[exec->first]->id);
    if (exec->continues && sampled->mode == AS_MODE_DETAIL)
        as_sampled_numbers_add(&sampled->timed_again, exec->block->insns[exec->first]->id, 1);
    count(context, thread, exec->block, exec->first + exec->continues, exec->end, 1);
}

static void on_iterated(void *context, struct as_thread *thread, const struct as_insn *insn)
{
    count_again(context, thread, insn->id);
}

static void on_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                       uint32_t end, uint64_t times)
{
    count(context, thread, block, first, end, times);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_sampled *sampled = context;
    as_sampled_counts_end(&sampled->thread_counts, as_model_engine(sampled->modelled->model), thread->number);
}

static const struct as_sink sampled_sink = {.thread_end = on_thread_end,
                                            .block = on_block,
                                            .skipped = on_skipped,
                                            .iterated = on_iterated,
                                            .stretch = on_stretch,
                                            .unmeasured = true};

/* Moves the counts since the last stratum to the open one. */
static void take_counts(struct as_sampled *sampled)
{
    struct as_stratum *open = &sampled->open;
    for (size_t at = 0; at < sampled->runs.len; at++) {
        const struct as_block *block = sampled->blocks.data[at];
        for (uint32_t i = 0; sampled->runs.data[at] && i < block->n; i++)
            as_sampled_numbers_add(&open->counts, block->insns[i]->id, (double)sampled->runs.data[at]);
        sampled->runs.data[at] = 0;
    }
    for (size_t id = 0; id < sampled->cut.len; id++)
        if (sampled->cut.data[id] > 0)
            as_sampled_numbers_add(&open->counts, id, sampled->cut.data[id]);
    as_vec_clear(&sampled->cut);
    for (size_t id = 0; id < sampled->again.len; id++) {
        as_sampled_numbers_add(&open->counts, id, sampled->again.data[id]);
        as_sampled_numbers_add(&open->again, id, sampled->again.data[id]);
        open->iterations += (uint64_t)sampled->again.data[id];
    }
    as_vec_clear(&sampled->again);
    open->instructions += sampled->executed;
    sampled->summary.instructions += sampled->executed;
    sampled->executed = 0;
}

/* ---- what the Oracle has charged ---- */

/* The time charged to an instruction so far, over all threads. */
static struct as_sampled_cost charged(const struct as_sampled *sampled, uint32_t id, uint32_t threads)
{
    struct as_sampled_cost sum = {0};
    for (uint32_t number = 0; number <= threads; number++) {
        uint32_t thread = number ? number : AS_NO_THREAD;
        const struct as_oracle_row *row = as_oracle_thread_row(sampled->modelled->oracle, thread, id);
        for (int state = 0; row && state < AS_STATE_COUNT; state++)
            sum.units[state] += (double)row->units[state];
        sum.executions += row ? (double)row->executions : 0;
    }
    return sum;
}

static uint32_t count_threads(const struct as_sampled *sampled)
{
    uint32_t n = 0;
    while (as_model_process(sampled->modelled->model, n + 1))
        n++;
    return n;
}

static void take_cost(struct as_sampled *sampled, uint32_t group, uint32_t id, uint32_t threads)
{
    struct as_stratum *open = &sampled->open;
    struct as_sampled_cost now = charged(sampled, id, threads), *seen = &sampled->seen.data[id];
    double again = as_sampled_at(&sampled->timed_again, id);
    double units = as_sampled_units(&now) - as_sampled_units(seen);
    double executions = now.executions - seen->executions + again;
    if (units == 0 && executions == 0)
        return;
    open->timed += (uint64_t)again;
    if (again > 0)
        sampled->timed_again.data[id] = 0; /* the instruction is of several blocks */
    for (int state = 0; state < AS_STATE_COUNT; state++) {
        double more = now.units[state] - seen->units[state];
        open->costs.data[id].units[state] += more;
        if (!open->full && more > 0)
            as_group_parts_at(&open->parts.states, id, (uint32_t)state)[group] += more;
    }
    open->costs.data[id].executions += executions;
    if (!open->full) {
        as_sampled_numbers_add(&open->groups[group].units, id, units);
        as_sampled_numbers_add(&open->groups[group].executions, id, executions);
    }
    *seen = now;
}

static void take_costs(struct as_sampled *sampled, uint32_t group)
{
    struct as_stratum *open = &sampled->open;
    size_t n = as_engine_count_insns(as_model_engine(sampled->modelled->model));
    uint32_t threads = count_threads(sampled);
    while (sampled->seen.len < n)
        *as_vec_push(&sampled->seen) = (struct as_sampled_cost){0};
    while (open->costs.len < n)
        *as_vec_push(&open->costs) = (struct as_sampled_cost){0};
    for (size_t i = 0; i < sampled->timed_blocks.len; i++) {
        const struct as_block *block = sampled->timed_blocks.data[i];
        for (uint32_t at = 0; at < block->n; at++)
            take_cost(sampled, group, block->insns[at]->id, threads);
        sampled->timed.data[block->index] = false;
    }
    as_vec_clear(&sampled->timed_blocks);
}

static void take_path(struct as_sampled *sampled, uint32_t group, uint32_t path)
{
    const struct as_oracle_row *row = as_oracle_path_row(sampled->modelled->oracle, path);
    double now = row ? (double)as_oracle_row_units(row) : 0;
    double more = now - as_sampled_at(&sampled->seen_path_units, path);
    if (more == 0)
        return;
    as_sampled_numbers_add(&sampled->seen_path_units, path, more);
    if (!sampled->open.full)
        as_sampled_numbers_add(&sampled->open.groups[group].paths, path, more);
}

/* The time of call paths in a region. Behind the head, which has most of them, the model notes those that regions come to. */
static void take_paths(struct as_sampled *sampled, uint32_t group)
{
    struct as_model *model = sampled->modelled->model;
    size_t n, all;
    const uint32_t *noted = as_model_noted_paths(model, &n);
    as_model_paths(model, &all);
    for (uint32_t path = 0; sampled->open.full && path <= all; path++)
        take_path(sampled, group, path);
    for (size_t i = 0; !sampled->open.full && i < n; i++)
        take_path(sampled, group, noted[i]);
    as_model_note_paths(model);
}

/* Adds to `to` what `now` has more than `before`. Both are sorted, and nothing ever decreases. */
static void take_parts(struct as_pics *to, struct as_pics *before, struct as_pics now)
{
    size_t at = 0;
    for (size_t i = 0; i < now.len; i++) {
        struct as_pics_entry more = now.data[i];
        while (at < before->len && as_pics_key(&before->data[at]) < as_pics_key(&more))
            at++;
        if (at < before->len && as_pics_key(&before->data[at]) == as_pics_key(&more)) {
            more.units -= before->data[at].units;
            more.count -= before->data[at].count;
        }
        if (more.units || more.count)
            as_pics_push(to, &more);
    }
    as_pics_free(before);
    *before = now;
}

/* ---- strata ---- */

void as_stratum_free(struct as_stratum *stratum)
{
    as_vec_free(&stratum->costs);
    as_vec_free(&stratum->counts);
    as_vec_free(&stratum->again);
    as_vec_free(&stratum->points);
    as_stratum_parts_free(&stratum->parts);
    as_pics_free(&stratum->pics);
    as_pics_free(&stratum->paths);
    for (int i = 0; i < AS_SAMPLED_GROUPS; i++) {
        as_vec_free(&stratum->groups[i].units);
        as_vec_free(&stratum->groups[i].executions);
        as_vec_free(&stratum->groups[i].paths);
    }
    *stratum = (struct as_stratum){0};
}

static void fold_waiting(struct as_sampled *sampled)
{
    if (sampled->waits)
        as_stratum_fold(sampled, &sampled->waiting);
    as_stratum_free(&sampled->waiting);
    sampled->waits = false;
}

static void add_numbers(as_sampled_numbers *to, const as_sampled_numbers *from)
{
    for (size_t id = from->len; id-- > 0;)
        as_sampled_numbers_add(to, id, from->data[id]);
}

static void add_pics(struct as_pics *to, const struct as_pics *from)
{
    for (size_t i = 0; i < from->len; i++)
        as_pics_push(to, &from->data[i]);
}

/* Joins the waiting stratum to the open one. */
static void join_waiting(struct as_sampled *sampled)
{
    struct as_stratum *open = &sampled->open, *waiting = &sampled->waiting;
    while (open->costs.len < waiting->costs.len)
        *as_vec_push(&open->costs) = (struct as_sampled_cost){0};
    for (size_t id = 0; id < waiting->costs.len; id++) {
        for (int state = 0; state < AS_STATE_COUNT; state++)
            open->costs.data[id].units[state] += waiting->costs.data[id].units[state];
        open->costs.data[id].executions += waiting->costs.data[id].executions;
    }
    add_numbers(&open->counts, &waiting->counts);
    add_numbers(&open->again, &waiting->again);
    add_pics(&open->pics, &waiting->pics);
    add_pics(&open->paths, &waiting->paths);
    for (int i = 0; i < AS_SAMPLED_GROUPS; i++) {
        add_numbers(&open->groups[i].units, &waiting->groups[i].units);
        add_numbers(&open->groups[i].executions, &waiting->groups[i].executions);
        add_numbers(&open->groups[i].paths, &waiting->groups[i].paths);
        open->groups[i].reads += waiting->groups[i].reads;
    }
    as_stratum_parts_join(&open->parts, &waiting->parts);
    as_counters_append(&open->counters, &waiting->counters);
    open->instructions += waiting->instructions;
    open->iterations += waiting->iterations;
    open->timed += waiting->timed;
    open->regions += waiting->regions;
    open->reads += waiting->reads;
    as_stratum_free(waiting);
    sampled->waits = false;
}

/* Completes the open stratum. */
static void close_stratum(struct as_sampled *sampled)
{
    struct as_stratum *open = &sampled->open;
    const struct as_oracle *oracle = sampled->modelled->oracle;
    take_counts(sampled);
    open->reads += as_model_reads(sampled->modelled->model) - sampled->seen_reads;
    sampled->seen_reads += open->reads;
    take_parts(&open->pics, &sampled->seen_pics, as_oracle_pics(oracle));
    take_parts(&open->paths, &sampled->seen_paths, as_oracle_path_pics(oracle));
    if (sampled->waits && !sampled->waiting.full && open->regions < ENOUGH)
        join_waiting(sampled);
    fold_waiting(sampled);
    sampled->waiting = *open;
    sampled->waits = true;
    *open = (struct as_stratum){0};
}

/* ---- the run ---- */

static void take_region(struct as_sampled *sampled, uint32_t region)
{
    take_costs(sampled, region % AS_SAMPLED_GROUPS);
    take_paths(sampled, region % AS_SAMPLED_GROUPS);
    as_sampled_take_parts(sampled, region % AS_SAMPLED_GROUPS);
    const struct as_counters *counters = as_model_region(sampled->modelled->model, region);
    as_counters_append(&sampled->open.counters, counters);
    if (!sampled->open.full)
        as_stratum_parts_count(&sampled->open.parts, region % AS_SAMPLED_GROUPS, counters, 1);
    sampled->open.groups[region % AS_SAMPLED_GROUPS].reads += (double)counters->dram_reads;
    sampled->open.regions++;
    sampled->last_region = region;
}

static void on_measured(void *context, uint32_t region)
{
    struct as_sampled *sampled = context;
    take_region(sampled, region);
    as_sampled_adapt_training(sampled);
    if (region % AS_STRATUM_REGIONS == 0) /* the head is number 0, and each stratum's last region a multiple */
        close_stratum(sampled);
}

void as_sampled_attach(struct as_sampled *sampled, struct as_modelled *modelled, struct as_engine_options *engine)
{
    sampled->regions.open_ended = true;
    engine->regions = &sampled->regions;
    engine->observed = true; /* the core has a host thread of its own */
    sampled->modelled = modelled;
    if (sampled->points) {
        as_points_run_attach(sampled->points, modelled);
        as_model_add_also(modelled->model, &sampled_sink, sampled);
        engine->border = as_points_run_border;
        engine->border_context = sampled->points;
        return;
    }
    as_model_set_sieve(modelled->model);
    as_model_add_also(modelled->model, &sampled_sink, sampled);
    sampled->regions.undecided = sampled->options.warm == AS_SAMPLED_AUTO;
    if (sampled->regions.undecided)
        sampled->warming = as_warming_new(sampled);
    as_sampled_begin_training(sampled);
    as_model_set_measured(modelled->model, on_measured, sampled);
}

bool as_sampled_prepare(struct as_sampled *sampled, const struct as_engine_options *engine, struct as_error *err)
{
    return !sampled->points || as_points_run_again(sampled->points, engine, err);
}

bool as_sampled_is_whole(const struct as_sampled *sampled)
{
    return sampled->last_region == AS_REGION_NONE && !sampled->points;
}

/* The points count in all of the run. */
static bool finish_points(struct as_sampled *sampled, bool interrupted, struct as_error *err)
{
    struct as_stratum *all = &sampled->open;
    take_counts(sampled);
    all->reads = as_model_reads(sampled->modelled->model);
    if (!as_points_run_finish(sampled->points, interrupted, all, err))
        return false;
    as_stratum_fold_points(sampled, all);
    if (!as_points_run_time(sampled->points, err))
        return false;
    as_sampled_make_rows(sampled);
    return true;
}

bool as_sampled_finish(struct as_sampled *sampled, bool interrupted, struct as_error *err)
{
    if (sampled->points)
        return finish_points(sampled, interrupted, err);
    const struct as_engine *engine = as_model_engine(sampled->modelled->model);
    uint32_t next = sampled->last_region + 1;
    if (as_sampled_is_whole(sampled))
        return true;
    if (as_engine_region(engine, next).instructions > 0) /* the program ended in a region */
        take_region(sampled, next);
    if (sampled->executed > 0 || sampled->open.regions > 0)
        close_stratum(sampled);
    fold_waiting(sampled);
    as_sampled_make_rows(sampled);
    return true;
}

void as_sampled_free(struct as_sampled *sampled)
{
    if (!sampled)
        return;
    as_warming_free(sampled->warming);
    as_vec_free(&sampled->training);
    as_points_run_free(sampled->points);
    as_regions_free(&sampled->regions);
    as_vec_free(&sampled->runs);
    as_vec_free(&sampled->blocks);
    as_vec_free(&sampled->cut);
    as_vec_free(&sampled->again);
    as_vec_free(&sampled->timed_again);
    as_vec_free(&sampled->timed);
    as_vec_free(&sampled->timed_blocks);
    as_vec_free(&sampled->seen);
    as_pics_free(&sampled->seen_pics);
    as_pics_free(&sampled->seen_paths);
    as_stratum_free(&sampled->open);
    as_stratum_free(&sampled->waiting);
    as_vec_free(&sampled->costs);
    as_vec_free(&sampled->parts);
    as_vec_free(&sampled->path_parts);
    as_vec_free(&sampled->counts);
    as_vec_free(&sampled->counts_again);
    as_vec_free(&sampled->seen_path_units);
    as_vec_free(&sampled->head);
    as_vec_free(&sampled->path_head);
    as_vec_free(&sampled->path_regions);
    for (int i = 0; i < AS_SAMPLED_GROUPS; i++) {
        as_vec_free(&sampled->replicates[i]);
        as_vec_free(&sampled->path_replicates[i]);
    }
    as_vec_free(&sampled->extended);
    as_vec_free(&sampled->guessed);
    for (size_t i = 0; i < sampled->threads.len; i++) {
        as_vec_free(&sampled->threads.data[i].rows);
        as_pics_free(&sampled->threads.data[i].pics);
    }
    as_vec_free(&sampled->threads);
    as_sampled_counts_free(&sampled->thread_counts);
    as_pics_free(&sampled->paths);
    as_map_free(&sampled->seen_parts);
    as_map_free(&sampled->seen_path_parts);
    as_replicate_parts_free(&sampled->replicate_parts);
    free(sampled);
}
