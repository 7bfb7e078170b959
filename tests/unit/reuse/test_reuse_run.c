/* Whole runs of reuse_victim.c, which walks along 256 lines five times: from every access, from a sample of the lines, and from
 * watchpoints; what the engine is asked for; what codes, paths and objects are.
 *
 * usage: test_reuse_run VICTIM PLUGIN */
#include "reuse/reuse_run.h"

#include "reuse/reuse_ratios.h"

#include "unit_engine.h"

#include <math.h>
#include <string.h>

enum { LINES = 256, ROUNDS = 5, LINE = 64 };
static char **arguments, *plugin;

/* The L1 has a quarter of the victim's data, the last level four times as much. */
static const struct as_machine machine = {.memory = {.line = LINE,
                                                     .l1d = {.size = LINES * LINE / 4, .ways = 4},
                                                     .l2 = {.size = LINES * LINE / 2, .ways = 8},
                                                     .llc = {.size = LINES * LINE * 4, .ways = 16}}};

struct bed {
    struct as_engine_options options;
    struct as_engine *engine;
    struct as_reuse_run *run;
    struct as_engine_result ended;
    const struct as_reuse_result *result;
};

static struct as_reuse_run_options options_of(enum as_reuse_method method)
{
    return (struct as_reuse_run_options){.method = method,
                                         .machine = &machine,
                                         .interval = 1000,
                                         .lines = 1 << 20,
                                         .sockets = 1,
                                         .watch = AS_WATCH_OPTIONS_DEFAULT,
                                         .period = 101,
                                         .registers = 4};
}

static void open_bed(struct bed *bed, const struct as_reuse_run_options *reuse)
{
    struct as_error err = AS_ERROR_INIT;
    bed->options = unit_engine_options(arguments[1], plugin);
    bed->run = as_reuse_run_new(reuse);
    as_reuse_run_ask(bed->run, &bed->options);
    void *context;
    const struct as_sink *sink = as_reuse_run_sink(bed->run, &context);
    bed->engine = as_engine_start(&bed->options, &err);
    if (!bed->engine || !as_reuse_run_start(bed->run, bed->engine, &err) ||
        !as_engine_run(bed->engine, sink, context, &bed->ended, &err))
        fail_msg("%s", err.message);
    assert_int_equal(bed->ended.end.exit_status, 0);
    as_reuse_run_finish(bed->run);
    bed->result = as_reuse_run_result(bed->run);
    assert_int_equal(bed->result->instructions, bed->ended.executed);
}

static void close_bed(struct bed *bed)
{
    as_reuse_run_free(bed->run);
    as_engine_free(bed->engine);
}

static struct as_reuse_location locate(const struct bed *bed, uint32_t code)
{
    return bed->result->names.locate(bed->result->names.context, code);
}

/* The load of the walk, used again in the next one. */
static const struct as_reuse_pair *walk_of(const struct bed *bed, const struct as_reuse_view *view)
{
    for (size_t i = 0; i < view->pairs.len; i++) {
        const struct as_reuse_pair *pair = &view->pairs.data[i];
        const char *function = locate(bed, pair->use).function;
        if (pair->use == pair->reuse && pair->count > LINES && function && strcmp(function, "walk") == 0)
            return pair;
    }
    fail_msg("no pair of the walk");
    return NULL;
}

static void check_path(const struct bed *bed, uint32_t path)
{
    static const char *const expected[] = {"walk", "rounds", "main"};
    const struct as_reuse_names *named = &bed->result->names;
    const char *names[16], *first;
    size_t n = named->frames(named->context, path, names, 16);
    assert_in_range(n, 3, 16);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(names[i], expected[i]);
    assert_int_equal(named->frames(named->context, path, &first, 1), n);
    assert_int_equal(named->frames(named->context, 0, names, 16), 0);
    assert_int_equal(named->frames(named->context, 1 << 30, names, 16), 0);
}

static void check_objects(const struct bed *bed)
{
    const struct as_reuse_objects *objects = bed->result->objects;
    assert_non_null(objects);
    const struct as_reuse_object *data = &objects->list.data[0]; /* with the most misses */
    assert_string_equal(data->what.name, "data");
    assert_int_equal(data->lines, LINES);
    assert_int_equal(as_reuse_object_misses(data), ROUNDS * LINES);
    assert_int_equal(data->misses[AS_MISS_COLD], LINES);
}

static void every_access(void **state)
{
    struct as_reuse_run_options options = options_of(AS_REUSE_EXACT);
    struct bed bed;
    options.adjacent = true;
    open_bed(&bed, &options);
    const struct as_reuse_result *result = bed.result;
    assert_true(bed.options.observed && bed.options.causal && !bed.options.blocks_only && !bed.options.sample);
    assert_true(result->exact && result->adjacent && !result->estimate && result->missed == 0);
    assert_int_equal(result->options->shape.shift, 6);
    assert_int_equal(result->options->shape.levels[AS_REUSE_L2].lines, LINES / 2);
    const struct as_reuse_pair *walk = walk_of(&bed, as_reuse_all_threads(result->exact));
    assert_int_equal(walk->count, (ROUNDS - 1) * LINES);
    assert_int_equal(walk->beyond[AS_REUSE_L1], walk->count);
    assert_int_equal(walk->beyond[AS_REUSE_LLC], 0);
    check_path(&bed, walk->use_path);
    check_objects(&bed);
    assert_true(result->n_advice > 0 && result->advice[0].count > 0);
    assert_int_equal(locate(&bed, AS_REUSE_NO_CODE).address, 0);
    assert_string_equal(locate(&bed, AS_REUSE_NO_CODE).function, "[more code than is kept apart]");
    assert_null(locate(&bed, AS_REUSE_NO_CODE - 1).function);
    close_bed(&bed);
}

/* Other granules than lines have no caches, and so no objects. */
static void words(void **state)
{
    struct as_reuse_run_options options = options_of(AS_REUSE_EXACT);
    struct bed bed;
    options.granularity = 8;
    options.no_paths = true;
    open_bed(&bed, &options);
    assert_int_equal(bed.result->options->shape.shift, 3);
    assert_true(!bed.result->objects && !bed.result->adjacent);
    const struct as_reuse_pair *walk = walk_of(&bed, as_reuse_all_threads(bed.result->exact));
    assert_true(walk->count == (ROUNDS - 1) * LINES && walk->use_path == 0);
    close_bed(&bed);
}

/* Its sums are those of the run, whatever is left out. */
static void a_sample_of_the_lines(void **state)
{
    struct as_reuse_run_options options = options_of(AS_REUSE_LINES);
    struct bed all, some;
    open_bed(&all, &options);
    assert_true(all.options.blocks_only && !all.options.causal && all.options.sample_shift == 6);
    assert_true(*all.options.sample == UINT64_MAX && !all.result->objects && !all.result->adjacent);
    assert_int_equal(as_reuse_scale(all.result->exact), 0);
    options.lines = 64;
    open_bed(&some, &options);
    assert_true(*some.options.sample < UINT64_MAX && as_reuse_scale(some.result->exact) > 0);
    const struct as_reuse_view *left = as_reuse_all_threads(all.result->exact),
                               *right = as_reuse_all_threads(some.result->exact);
    assert_true(left->counts.touches > ROUNDS * LINES && left->counts.touches == right->counts.touches);
    assert_true(left->counts.accesses == right->counts.accesses);
    assert_true(as_reuse_get_thread(some.result->exact, 0)->view->counts.touches == right->counts.touches);
    assert_int_equal(some.result->names.frames(some.result->names.context, 1, NULL, 0), 0);
    close_bed(&all);
    close_bed(&some);
}

/* The engine's gates are for threads in a fixed order alone. */
static void threads_in_order(void **state)
{
    struct as_reuse_run_options options = options_of(AS_REUSE_LINES);
    struct as_engine_options engine = AS_ENGINE_OPTIONS_DEFAULT;
    struct as_reuse_run *run = as_reuse_run_new(&options);
    engine.quantum = 1000;
    engine.deterministic = true;
    as_reuse_run_ask(run, &engine);
    assert_true(engine.quantum == 1000 && engine.blocks_only);
    engine.deterministic = false;
    as_reuse_run_ask(run, &engine);
    assert_int_equal(engine.quantum, 0);
    as_reuse_run_free(run);
    as_reuse_run_free(NULL);
}

static void watchpoints(void **state)
{
    struct as_reuse_run_options options = options_of(AS_REUSE_WATCH);
    struct bed bed;
    open_bed(&bed, &options);
    const struct as_reuse_estimate *estimate = bed.result->estimate;
    assert_true(estimate && !bed.result->exact && !bed.result->objects && bed.result->n_advice == 0);
    assert_int_equal(bed.result->options->shape.shift, 3); /* what a debug register watches */
    assert_true(estimate->accesses > ROUNDS * LINES && estimate->result.samples >= estimate->accesses / 202);
    close_bed(&bed);
    options.exact = true;
    open_bed(&bed, &options);
    assert_true(bed.result->estimate && bed.result->exact && bed.result->options->shape.distinct);
    assert_int_equal(as_reuse_all_threads(bed.result->exact)->counts.accesses, bed.result->estimate->accesses);
    close_bed(&bed);
}

static void jobs(void **state)
{
    assert_in_range(as_reuse_usual_jobs(), 0, AS_REUSE_MOST_JOBS);
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = realpath(argv[2], NULL); /* QEMU wants a path, not a name */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_access),     cmocka_unit_test(words),       cmocka_unit_test(a_sample_of_the_lines),
        cmocka_unit_test(threads_in_order), cmocka_unit_test(watchpoints), cmocka_unit_test(jobs),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(plugin);
    return failed;
}
