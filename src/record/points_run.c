/* See points_run.h. */
#include "record/points_run.h"

#include "base/processors.h"
#include "base/signals.h"
#include "observe/events.h"
#include "record/points_again.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOMENT = 500, /* microseconds */
    /* Instructions that go through the pipeline before a point, unmeasured, which also teaches the core what only timed
     * execution does (which loads wait for which stores): so many, but no more than an interval. */
    SETTLE = 100000,
};

/* A point that is measured by a copy of this process, or by a run of its own, or has been. */
struct measured {
    pid_t pid; /* 0: not running */
    int status;
    int fd; /* of its result; 0: it was not begun */
    as_point_nodes known;
};

/* What a region of the run is for: a copy begins there, or measures there. */
struct use {
    uint32_t point;
    bool leads; /* it fills the pipeline for the next region */
};

struct as_points_run {
    struct as_sampled *sampled;
    struct as_points_plan plan;
    struct as_modelled *modelled;
    struct as_fanout *observed, *idle; /* the observers of the copies; nobody for the original */
    struct measured *points;           /* by number */
    AS_VEC(struct use) uses;           /* by region */
    uint32_t jobs;
    struct as_points_time time;
    double elapsed_each; /* the elapsed time over the cycles of all threads; 0: there is one thread */
    double apart;        /* the largest part by which a point executed something else than when it was chosen */
    struct as_error err; /* why a point could not be measured; no message: none */
    bool failed;
};

/* ---- the plan ---- */

static void add_region(struct as_regions *regions, uint64_t start, uint64_t length, uint64_t warm)
{
    struct as_region *region = as_regions_add(regions);
    region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = start};
    region->max = length;
    region->warm = warm;
    region->mode = AS_MODE_WARM; /* for the original */
    region->text = as_format("%" PRIu64 "..+%" PRIu64, start, length);
}

/* How long the pipeline settles before a point, in the instructions behind `before`. */
static uint64_t settle_before(const struct as_points_plan *plan, uint32_t number, uint64_t before)
{
    uint64_t start = plan->points[number].start, settle = plan->interval < SETTLE ? plan->interval : SETTLE;
    uint64_t room = start > before ? start - before : 0;
    return settle < room ? settle : room;
}

/* Where another point ends right before this one, there is no room to settle. */
static void plan_point(struct as_points_run *run, uint32_t number)
{
    struct as_regions *regions = &run->sampled->regions;
    const struct as_points_plan *plan = &run->plan;
    uint64_t start = plan->points[number].start;
    uint64_t before = number ? plan->points[number - 1].start + plan->interval : 1; /* where a copy can begin */
    uint64_t settle = settle_before(plan, number, before);
    if (settle) {
        add_region(regions, start - settle, settle, plan->warm);
        *as_vec_push(&run->uses) = (struct use){.point = number, .leads = true};
    }
    bool first = start == 0; /* a copy needs a thread, which is there when it has executed something */
    add_region(regions, start + first, plan->interval - first, settle ? 0 : plan->warm);
    *as_vec_push(&run->uses) = (struct use){.point = number};
}

struct as_points_run *as_points_run_new(struct as_sampled *sampled, const struct as_points_plan *plan)
{
    struct as_points_run *run = as_alloc(sizeof *run);
    run->sampled = sampled;
    run->plan = *plan;
    run->points = as_alloc_array(plan->n + 1, sizeof *run->points);
    run->jobs = plan->jobs ? plan->jobs : (uint32_t)as_processors();
    for (uint32_t i = 0; i < plan->n && !plan->again; i++)
        plan_point(run, i);
    /* So that the program runs to its end. Where points have runs of their own, this one warms all the time as they do, by which
     * its threads are interleaved as theirs are. */
    add_region(&sampled->regions, UINT64_MAX / 4, plan->interval, plan->again ? AS_REGION_ALL : 0);
    return run;
}

void as_points_run_free(struct as_points_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->plan.n; i++) {
        if (run->points[i].fd > 0)
            close(run->points[i].fd);
        as_vec_free(&run->points[i].known);
    }
    if (run->modelled && run->modelled->fanout == run->idle)
        run->modelled->fanout = run->observed;
    if (run->idle)
        as_fanout_free(run->idle);
    as_points_time_end(&run->time);
    as_vec_free(&run->uses);
    free(run->points);
    free(run);
}

void as_points_run_attach(struct as_points_run *run, struct as_modelled *modelled)
{
    struct as_fanout_options options = AS_FANOUT_DEFAULTS;
    options.inline_ = true;
    run->modelled = modelled;
    run->observed = modelled->fanout;
    run->idle = as_fanout_new(&options);
    if (run->plan.again)
        return; /* until the points are measured, their observers are those of the model */
    modelled->fanout = run->idle;
    as_model_set_sieve(modelled->model);
}

/* ---- copies ---- */

static void fail(struct as_points_run *run, const char *why, uint32_t point)
{
    if (!run->failed)
        as_error_set(&run->err, "interval %" PRIu64 ": %s",
                     run->plan.interval ? run->plan.points[point].start / run->plan.interval : 0, why);
    run->failed = true;
}

/* Takes note of copies that have ended. Returns how many still run. */
static uint32_t look_at_copies(struct as_points_run *run)
{
    uint32_t running = 0;
    for (size_t i = 0; i < run->plan.n; i++) {
        struct measured *point = &run->points[i];
        if (point->pid && waitpid(point->pid, &point->status, WNOHANG) != 0)
            point->pid = 0;
        running += point->pid != 0;
    }
    return running;
}

static void wait_for_copies(struct as_points_run *run, uint32_t most)
{
    while (look_at_copies(run) > most)
        usleep(MOMENT);
}

/* A place for the result of a point. */
static bool open_result(struct as_points_run *run, uint32_t number)
{
    struct measured *point = &run->points[number];
    point->fd = memfd_create("assay-point", MFD_CLOEXEC);
    if (point->fd >= 0)
        return true;
    point->fd = 0;
    fail(run, strerror(errno), number);
    return false;
}

/* In the copy, at the end of its point. */
static void deliver(void *context, uint32_t region)
{
    struct as_points_run *run = context;
    const struct measured *point = &run->points[run->uses.data[region].point];
    bool ok = as_point_result_write(run->modelled, &run->sampled->timed_again, &point->known, region, point->fd);
    _exit(ok ? AS_EXIT_OK : AS_EXIT_FAILURE);
}

static void note_nodes(const struct as_points_run *run, as_point_nodes *known)
{
    const struct as_call_tracker *calls = as_model_calls(run->modelled->model);
    for (size_t tree = 0; tree < as_call_tracker_count_images(calls); tree++)
        *as_vec_push(known) = as_call_tree_count(as_call_tracker_tree(calls, tree));
}

static void begin_point(struct as_points_run *run, uint32_t region)
{
    struct use use = run->uses.data[region];
    struct measured *point = &run->points[use.point];
    struct as_model *model = run->modelled->model;
    struct as_error err = AS_ERROR_INIT;
    if (!as_engine_is_single(as_model_engine(model))) {
        fail(run,
             "the program has several threads or processes there: threads need --deterministic, processes --sampled",
             use.point);
        return;
    }
    wait_for_copies(run, run->jobs - 1);
    if (!open_result(run, use.point))
        return;
    note_nodes(run, &point->known);
    struct as_region *measured = &run->sampled->regions.list.data[region + use.leads];
    measured->mode = AS_MODE_DETAIL; /* for the copy */
    point->pid = as_model_twin(model, use.leads ? AS_MODE_SETTLE : AS_MODE_DETAIL, run->observed, deliver, run, &err);
    if (point->pid != 0)
        measured->mode = AS_MODE_WARM;
    if (point->pid < 0) {
        point->pid = 0;
        fail(run, err.message, use.point);
    }
}

void as_points_run_border(void *context, const struct as_stretch *stretch)
{
    struct as_points_run *run = context;
    bool used = stretch->region < run->uses.len, follows = used && stretch->region > 0;
    if (follows && !run->uses.data[stretch->region].leads && run->uses.data[stretch->region - 1].leads)
        return; /* the copy was made where the pipeline began to settle */
    as_model_twin_end(run->modelled->model);
    if (used && !run->failed)
        begin_point(run, stretch->region);
}

/* ---- runs to the points ---- */

static void end_copies(struct as_points_run *run)
{
    for (size_t i = 0; i < run->plan.n; i++)
        if (run->points[i].pid)
            kill(run->points[i].pid, SIGKILL);
    wait_for_copies(run, 0);
}

static struct as_point_again again_of(const struct as_points_run *run, const struct as_engine_options *engine)
{
    return (struct as_point_again){
        .modelled = run->modelled, .engine = *engine, .input = &run->plan.input, .length = run->plan.interval};
}

static void measure_again(struct as_points_run *run, const struct as_engine_options *engine, uint32_t number)
{
    struct measured *point = &run->points[number];
    struct as_point_again again = again_of(run, engine);
    if (!open_result(run, number))
        return;
    again.start = run->plan.points[number].start;
    again.settle = settle_before(&run->plan, number, 0);
    again.iterations = &run->sampled->timed_again;
    again.fd = point->fd;
    point->pid = as_point_again(&again);
    if (point->pid < 0) {
        point->pid = 0;
        fail(run, strerror(errno), number);
    }
}

/* Waits until no more than `most` run, or the user interrupts. */
static void wait_for_runs(struct as_points_run *run, uint32_t most)
{
    while (look_at_copies(run) > most && !as_signals_interrupts())
        usleep(MOMENT);
}

bool as_points_run_again(struct as_points_run *run, const struct as_engine_options *engine, struct as_error *err)
{
    if (!run->plan.again)
        return true;
    as_signals_catch(&(struct as_signals){.waits_for_all = true});
    for (uint32_t i = 0; i < run->plan.n && !run->failed && !as_signals_interrupts(); i++) {
        measure_again(run, engine, i);
        wait_for_runs(run, run->jobs - 1);
    }
    wait_for_runs(run, 0);
    int signal = as_signals_last();
    bool interrupted = signal != 0;
    end_copies(run);
    as_signals_restore();
    run->modelled->fanout = run->idle;
    struct as_point_again again = again_of(run, engine);
    if (!run->failed && !interrupted)
        run->failed = !as_points_time_start(&run->time, &again, &run->err);
    if (run->failed)
        *err = run->err;
    else if (interrupted)
        as_error_set_status(err, 128 + signal, "interrupted: not all simulation points were measured");
    return !run->failed && !interrupted;
}

/* ---- the estimate ---- */

/* How much a point counts in the estimate without a group. The points of a phase are in different groups; without one of
 * them its phase's mean is moved towards that of the others, as far as makes the spread of the replicates that of the mean
 * of as many points out of as many intervals. */
static double replicate_weight(const struct as_plan_point *point, uint32_t group)
{
    double n = point->chosen, groups = AS_SAMPLED_GROUPS;
    uint32_t left_out = (group + AS_SAMPLED_GROUPS - point->phase % AS_SAMPLED_GROUPS) % AS_SAMPLED_GROUPS;
    if (point->chosen < 2 || point->of <= point->chosen || left_out >= point->chosen)
        return 1;
    double part = sqrt((n - 1) / n * groups / (groups - 1) * (1 - n / point->of));
    return left_out == point->number ? 1 - part : 1 + part / (n - 1);
}

/* In the stratum, a group is what a replicate lacks of the estimate, and can be less than nothing. */
static void add_rows(struct as_stratum *stratum, const struct as_plan_point *plan, const struct as_point_result *result,
                     double factor)
{
    bool all = plan->of == plan->chosen; /* of its phase: nothing else could have been measured */
    for (size_t i = 0; i < result->rows.len; i++) {
        const struct as_point_row *row = &result->rows.data[i];
        while (stratum->costs.len <= row->id)
            *as_vec_push(&stratum->costs) = (struct as_sampled_cost){0};
        struct as_sampled_cost *cost = &stratum->costs.data[row->id];
        for (int state = 0; state < AS_STATE_COUNT; state++)
            cost->units[state] += factor * row->cost.units[state];
        double executions = row->cost.executions + row->again;
        cost->executions += factor * executions;
        as_sampled_numbers_add(&stratum->points, row->id, all ? AS_STRATUM_POINTS : 1);
        for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
            double lacks = factor * (1 - replicate_weight(plan, group));
            as_sampled_numbers_add(&stratum->groups[group].units, row->id, lacks * as_sampled_units(&row->cost));
            as_sampled_numbers_add(&stratum->groups[group].executions, row->id, lacks * executions);
            for (uint32_t state = 0; lacks != 0 && state < AS_STATE_COUNT; state++)
                if (row->cost.units[state] > 0)
                    as_group_parts_at(&stratum->parts.states, row->id, state)[group] += lacks * row->cost.units[state];
        }
    }
}

static void add_components(struct as_pics *to, const struct as_pics *pics, double factor)
{
    for (size_t i = 0; i < pics->len; i++) {
        struct as_pics_entry entry = pics->data[i];
        entry.units = (uint64_t)llround(factor * (double)entry.units);
        entry.count = (uint64_t)llround(factor * (double)entry.count);
        as_pics_push(to, &entry);
    }
}

/* What groups lack of components with events. */
static void add_group_components(struct as_group_parts *to, const struct as_plan_point *plan,
                                 const struct as_pics *pics, double factor)
{
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        double lacks = factor * (1 - replicate_weight(plan, group));
        for (size_t i = 0; lacks != 0 && i < pics->len; i++)
            if (pics->data[i].events)
                as_group_parts_at(to, pics->data[i].id, pics->data[i].events)[group] +=
                    lacks * (double)pics->data[i].units;
    }
}

static void add_counters(struct as_stratum *stratum, const struct as_plan_point *plan,
                         const struct as_point_result *result, double factor)
{
    as_sampled_add_counters(&stratum->counters, &result->counters, factor);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        double lacks = factor * (1 - replicate_weight(plan, group));
        stratum->groups[group].reads += lacks * (double)result->counters.dram_reads;
        as_stratum_parts_count(&stratum->parts, group, &result->counters, lacks);
    }
    stratum->regions++;
}

static void add_paths(struct as_sampled *sampled, const struct as_plan_point *plan, const struct as_pics *paths,
                      double factor)
{
    for (size_t i = 0; i < paths->len; i++) {
        double units = factor * (double)paths->data[i].units;
        *as_vec_push(&sampled->path_parts) = (struct as_sampled_part){.id = paths->data[i].id,
                                                                      .events = paths->data[i].events,
                                                                      .units = units,
                                                                      .count = factor * (double)paths->data[i].count};
        as_sampled_numbers_add(&sampled->path_regions, paths->data[i].id, units);
        for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
            as_sampled_numbers_add(&sampled->path_replicates[group], paths->data[i].id,
                                   units * replicate_weight(plan, group));
        for (uint32_t group = 0; group < AS_SAMPLED_GROUPS && paths->data[i].events; group++)
            as_group_parts_at(&sampled->replicate_parts.paths, paths->data[i].id, paths->data[i].events)[group] +=
                units * replicate_weight(plan, group);
    }
}

/* Whether the program came to the point: if it ends while the pipeline settles, the copy delivers nothing. */
static bool was_reached(const struct measured *point)
{
    struct stat delivered;
    return point->fd && (point->status != 0 || (fstat(point->fd, &delivered) == 0 && delivered.st_size > 0));
}

static double apart_from(const struct as_plan_point *plan, const struct as_point_result *result)
{
    struct as_map lines = {0};
    for (size_t i = 0; i < result->rows.len && plan->lines.len; i++)
        *as_map_put(&lines, as_code_line(result->rows.data[i].image, result->rows.data[i].address)) +=
            (uint64_t)result->rows.data[i].cost.executions;
    double apart = as_map_apart(&plan->lines, &lines);
    as_map_free(&lines);
    return apart;
}

/* Why a point has no result. */
static bool explain(const struct as_points_run *run, uint32_t number, struct as_error *err)
{
    const struct measured *point = &run->points[number];
    uint64_t start = run->plan.points[number].start;
    int status = WIFEXITED(point->status) ? WEXITSTATUS(point->status) : -1;
    char why[256];
    ssize_t n = run->plan.again && status == AS_EXIT_FAILURE ? pread(point->fd, why, sizeof why, 0) : 0;
    if (n > 0)
        return as_error_set(err, "the interval at instruction %" PRIu64 " was not measured: %.*s", start, (int)n, why);
    if (status == AS_EXIT_USAGE)
        return as_error_set(err,
                            "the program starts a thread or a process in the interval at instruction %" PRIu64
                            ": threads need --deterministic, processes --sampled",
                            start);
    if (status == AS_EXIT_OK)
        return as_error_set(
            err,
            "the program does not do the same in every run: code of the interval at instruction %" PRIu64
            " is not in the run that counts",
            start);
    return as_error_set(err,
                        "the interval at instruction %" PRIu64 " was not measured: its process ended with status %d",
                        start, point->status);
}

static bool add_point(struct as_points_run *run, uint32_t number, struct as_stratum *stratum, struct as_error *err)
{
    struct as_sampled *sampled = run->sampled;
    const struct as_plan_point *plan = &run->plan.points[number];
    const struct measured *point = &run->points[number];
    struct as_point_result result = {0};
    bool ended = WIFEXITED(point->status) && WEXITSTATUS(point->status) == AS_EXIT_OK;
    if (!was_reached(point))
        return as_error_set(err,
                            "the program ends before the interval that begins at instruction %" PRIu64
                            ", or does not do the same in every run",
                            plan->start);
    bool ok = ended && as_point_result_read(&result, run->modelled, &point->known, point->fd) &&
              result.counters.instructions > 0;
    if (!ok)
        explain(run, number, err);
    if (ok) {
        uint64_t instructions = result.counters.instructions;
        double factor = plan->weight * (double)sampled->summary.instructions / (double)instructions;
        run->apart = fmax(run->apart, apart_from(plan, &result));
        add_rows(stratum, plan, &result, factor);
        add_components(&stratum->pics, &result.pics, factor);
        add_group_components(&stratum->parts.events, plan, &result.pics, factor);
        add_paths(sampled, plan, &result.paths, factor);
        add_counters(stratum, plan, &result, factor);
        sampled->summary.measured += instructions;
    }
    as_point_result_free(&result);
    return ok;
}

/* Threads that fight for a line do so in an order that they have found in the run before. Where a point begins they fall out of it: the
 * more they wait for each other, the further off are its cycles (doc/design/points.md). */
static bool check_waits(const struct as_stratum *stratum, struct as_error *err)
{
    static const double tolerable = 0.05;
    double waits = 0, all = 0;
    for (size_t i = 0; i < stratum->pics.len; i++) {
        double units = (double)stratum->pics.data[i].units;
        all += units;
        waits += stratum->pics.data[i].events & AS_EVENT_COHERENCE ? units : 0;
    }
    if (waits <= tolerable * all)
        return true;
    return as_error_set(
        err,
        "the program's threads wait for each other's cache lines for %.0f %% of the time, in an order that a "
        "simulation point does not have: --sampled measures them",
        100 * waits / all);
}

bool as_points_run_finish(struct as_points_run *run, bool interrupted, struct as_stratum *stratum, struct as_error *err)
{
    as_model_twin_end(run->modelled->model);
    wait_for_copies(run, 0);
    run->modelled->fanout = run->observed;
    if (run->failed) {
        *err = run->err;
        return false;
    }
    int status = run->modelled->result.engine.end.exit_status;
    if (interrupted || as_run_end_is_cut(&run->modelled->result.engine.end))
        return as_error_set_status(err, status ? status : AS_EXIT_FAILURE,
                                   "interrupted: not all simulation points were measured");
    if (run->plan.again && run->modelled->result.engine.processes > 1)
        return as_error_set(err,
                            "the program has several processes, whose order nothing fixes: --sampled measures them");
    for (uint32_t i = 0; i < run->plan.n; i++)
        if (!add_point(run, i, stratum, err))
            return false;
    return !run->plan.again || check_waits(stratum, err);
}

bool as_points_run_time(struct as_points_run *run, struct as_error *err)
{
    const struct as_sampled *sampled = run->sampled;
    const struct as_engine *engine = as_model_engine(run->modelled->model);
    struct as_code_costs costs = {.otherwise = 1};
    if (!run->time.pid)
        return true;
    for (uint32_t id = 0; id < sampled->costs.len; id++) {
        const struct as_insn *insn = as_engine_insn(engine, id);
        double executions = as_sampled_instructions(sampled, id), time = as_sampled_units(&sampled->costs.data[id]);
        if (insn && executions > 0)
            as_code_costs_add(&costs, as_engine_insn_image(engine, id), insn->address,
                              time / AS_CYCLE_UNITS / executions);
    }
    bool ok = as_points_time_finish(&run->time, &costs, &run->elapsed_each, err);
    as_code_costs_free(&costs);
    return ok;
}

double as_points_run_elapsed_each(const struct as_points_run *run)
{
    return run->elapsed_each;
}

bool as_points_run_has_error(const struct as_points_run *run)
{
    for (size_t i = 0; i < run->plan.n; i++)
        if (run->plan.points[i].of == 0)
            return false;
    return true;
}

/* The variance that a point adds to the estimate, if its intervals differ by 1: a part of that of its phase's mean. */
static double variance_of(const struct as_plan_point *point)
{
    double whole = point->weight * point->chosen, missed = point->of > point->chosen;
    return missed ? whole * whole / point->chosen * (1 - (double)point->chosen / point->of) / point->chosen : 0;
}

bool as_points_run_prior(const struct as_points_run *run, struct as_region_prior *prior)
{
    double variance = 0, squares = 0; /* … of those of phases, by their degrees of freedom */
    for (size_t i = 0; i < run->plan.n; i++) {
        const struct as_plan_point *point = &run->plan.points[i];
        double own = variance_of(point);
        variance += own;
        squares += own * own * point->chosen / fmax(point->chosen - 1, 1);
    }
    *prior = as_points_prior_of(variance, squares);
    return as_points_run_has_error(run);
}

size_t as_points_run_phases(const struct as_points_run *run)
{
    size_t phases = 0;
    for (size_t i = 0; i < run->plan.n; i++)
        phases += run->plan.points[i].number == 0;
    return phases;
}

double as_points_run_differs(const struct as_points_run *run)
{
    static const double cut_off = 0.01; /* blocks at the ends of an interval, and code that other blocks are made of */
    double now = (double)run->sampled->summary.instructions, then = (double)run->plan.instructions;
    return fmax(then > 0 ? fabs(now - then) / fmax(now, then) : 0, run->apart > cut_off ? run->apart : 0);
}
