/* See reuse_run.h.
 *
 * On the engine's thread are the access stream and sinks that note what memory the program has and moves. The feed is the observer of
 * the accesses. */
#include "reuse/reuse_run.h"

#include "count/tracker.h"
#include "engine/sink_tee.h"
#include "lens/weave.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"
#include "reuse/same_code.h"

#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 4096, IN_FLIGHT = 8, THINNEST = 7 };

struct as_reuse_run {
    bool follows_calls;
    bool ordered; /* what a thread saw comes behind the store that it saw */
    struct as_reuse_options analysis;
    struct as_reuse *exact;
    struct as_adjacent *adjacent;
    struct as_reuse_feed *feed;
    struct as_fanout *fanout;
    struct as_access_stream *stream;
    struct as_guest_memory *memory;
    struct as_moved_memory *moved;
    struct as_sink_tee *sinks;
    const struct as_engine *engine;
    _Atomic uint64_t threshold; /* AS_REUSE_LINES: of the lines that are sampled */

    struct as_reuse_estimate *estimate;
    struct as_reuse_objects objects;
    struct as_reuse_result result;
};

/* ---- before the run ---- */

uint32_t as_reuse_usual_jobs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? processors - 2 < AS_REUSE_MOST_JOBS ? (uint32_t)(processors - 2) : AS_REUSE_MOST_JOBS : 0;
}

static struct as_cache_shape shape_of(const struct as_machine *machine, const struct as_cache_machine *cache)
{
    return (struct as_cache_shape){.lines = cache->size / machine->memory.line, .ways = cache->ways};
}

static void plan(struct as_reuse_run *run, const struct as_reuse_run_options *options)
{
    const struct as_machine *machine = options->machine;
    struct as_reuse_shape *shape = &run->analysis.shape;
    uint64_t usual = options->method == AS_REUSE_WATCH ? AS_REUSE_WATCHED : machine->memory.line;
    uint64_t granularity = options->granularity ? options->granularity : usual;
    run->analysis = (struct as_reuse_options){
        .shape = {.shift = (uint32_t)__builtin_ctzll(granularity), .interval = options->interval},
        .sockets = options->sockets,
        .jobs = options->jobs,
        .threshold = &run->threshold,
        .most = options->lines,
        .nearest = AS_SAMPLE_NEAR,
        .thinnest = THINNEST};
    run->threshold = UINT64_MAX;
    shape->sampled = options->method == AS_REUSE_LINES;
    shape->distinct = options->method == AS_REUSE_WATCH; /* what it is to be held against */
    if (granularity != machine->memory.line)
        return;
    shape->levels[AS_REUSE_L1] = shape_of(machine, &machine->memory.l1d);
    shape->levels[AS_REUSE_L2] = shape_of(machine, &machine->memory.l2);
    shape->levels[AS_REUSE_LLC] = shape_of(machine, &machine->memory.llc);
}

static struct as_adjacent *make_adjacent(const struct as_machine *machine)
{
    struct as_cache_shape own = shape_of(machine, machine->memory.l2.size ? &machine->memory.l2 : &machine->memory.l1d);
    return as_adjacent_new((uint32_t)__builtin_ctzll(machine->memory.line), &own);
}

static struct as_reuse_feed *make_feed(const struct as_reuse_run *run, const struct as_reuse_run_options *options)
{
    struct as_reuse_feed_options feed = {.exact = run->exact,
                                         .adjacent = run->adjacent,
                                         .watch = options->method == AS_REUSE_WATCH,
                                         .watch_options = options->watch,
                                         .period = options->period,
                                         .registers = options->registers,
                                         .unit = options->unit,
                                         .disturb = options->disturb,
                                         .path_kind = run->follows_calls ? AS_ACCESS_PATH : 0,
                                         .run = as_access_stream_run_info(run->stream)};
    feed.watch_options.sockets = options->sockets;
    feed.watch_options.length = UINT32_C(1) << run->analysis.shape.shift;
    return as_reuse_feed_new(&feed);
}

static struct as_access_stream *make_stream(struct as_reuse_run *run)
{
    struct as_access_stream *stream = as_access_stream_new(run->fanout, NULL, NULL);
    if (run->ordered)
        as_access_stream_keep_order(stream, AS_WEAVE_QUANTUM);
    if (run->follows_calls)
        as_access_stream_follow_calls(stream);
    as_access_stream_set_moved(stream, run->moved);
    if (run->analysis.shape.sampled)
        as_access_stream_set_sample(stream, run->analysis.shape.shift, &run->threshold);
    return stream;
}

struct as_reuse_run *as_reuse_run_new(const struct as_reuse_run_options *options)
{
    struct as_reuse_run *run = as_alloc(sizeof *run);
    struct as_fanout_options fanout = {.kind = &as_access_buffers, .batch = BATCH, .in_flight = IN_FLIGHT};
    run->follows_calls = options->method != AS_REUSE_LINES && !options->no_paths;
    /* A sample of the lines is for long runs, and reading threads in order takes a third more processor time if they spin. */
    run->ordered = options->method != AS_REUSE_LINES;
    plan(run, options);
    run->memory = as_guest_memory_new();
    run->moved = as_moved_memory_new();
    run->fanout = as_fanout_new(&fanout);
    run->stream = make_stream(run);
    if (options->method != AS_REUSE_WATCH || options->exact)
        run->exact = as_reuse_new(&run->analysis);
    if (options->adjacent)
        run->adjacent = make_adjacent(options->machine);
    run->feed = make_feed(run, options);
    run->sinks = as_sink_tee_new();
    as_sink_tee_add(run->sinks, &as_moved_memory_sink, run->moved);
    as_sink_tee_add(run->sinks, as_access_stream_choose_sink(run->stream), run->stream);
    as_sink_tee_add(run->sinks, &as_guest_memory_sink, run->memory);
    as_fanout_add(run->fanout, &as_reuse_feed_observer, run->feed, false);
    return run;
}

void as_reuse_run_ask(const struct as_reuse_run *run, struct as_engine_options *engine)
{
    engine->observed = true;
    engine->causal = run->ordered;
    if (!run->analysis.shape.sampled)
        return;
    engine->blocks_only = true;
    engine->sample = &run->threshold;
    engine->sample_shift = run->analysis.shape.shift;
    /* The reader keeps threads in order. Each gate costs as much as thousands of accesses that are left out. */
    if (!engine->deterministic)
        engine->quantum = 0;
}

const struct as_sink *as_reuse_run_sink(struct as_reuse_run *run, void **context)
{
    return as_sink_tee_sink(run->sinks, context);
}

bool as_reuse_run_start(struct as_reuse_run *run, const struct as_engine *engine, struct as_error *err)
{
    run->engine = engine;
    as_access_stream_set_engine(run->stream, engine);
    return as_fanout_start(run->fanout, err);
}

void as_reuse_run_free(struct as_reuse_run *run)
{
    if (!run)
        return;
    as_access_stream_free(run->stream);
    as_fanout_free(run->fanout);
    as_reuse_feed_free(run->feed);
    as_reuse_estimate_free(run->estimate);
    as_reuse_free(run->exact);
    as_adjacent_free(run->adjacent);
    as_reuse_objects_free(&run->objects);
    as_guest_memory_free(run->memory);
    as_moved_memory_free(run->moved);
    as_sink_tee_free(run->sinks);
    free(run);
}

/* ---- what codes and paths are ---- */

static struct as_reuse_location locate(const void *context, uint32_t code)
{
    const struct as_engine *engine = ((const struct as_reuse_run *)context)->engine;
    struct as_location location;
    const struct as_insn *insn = as_engine_insn(engine, code);
    if (!insn)
        return (struct as_reuse_location){.function =
                                              code == AS_REUSE_NO_CODE ? "[more code than is kept apart]" : NULL};
    const struct as_image *image = as_engine_image(engine, as_engine_insn_image(engine, code));
    as_engine_locate(engine, code, &location);
    return as_reuse_location_in(image->space, insn->address, &location);
}

static size_t frames(const void *context, uint32_t path, const char **names, size_t n)
{
    const struct as_reuse_run *run = context;
    const struct as_code_sites *sites = as_reuse_feed_sites(run->feed);
    const struct as_call_tracker *calls = as_access_stream_calls(run->stream);
    size_t count = 0;
    if (!path || !sites || path > sites->paths.len || !calls)
        return 0;
    uint64_t name = sites->paths.data[path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(calls, name >> 32);
    const struct as_image *image = as_call_tracker_image(calls, name >> 32);
    for (uint32_t node = (uint32_t)name; node; node = as_call_tree_node(tree, node)->parent) {
        if (count < n)
            names[count] = as_call_node_name(run->engine, image, as_call_tree_node(tree, node));
        count++;
    }
    return count;
}

/* ---- the end ---- */

/* The sample's sums are those of the run. */
static void adjust(struct as_reuse_run *run)
{
    struct as_access_sum seen = as_access_stream_seen(run->stream, 0);
    as_reuse_adjust(run->exact, seen.accesses, seen.touches);
    for (size_t i = 0; i < as_reuse_count_threads(run->exact); i++) {
        seen = as_access_stream_seen(run->stream, as_reuse_get_thread(run->exact, i)->number);
        as_reuse_adjust_thread(run->exact, i, seen.accesses, seen.touches);
    }
}

static void find_objects(struct as_reuse_run *run)
{
    const struct as_reuse_shape *shape = &run->analysis.shape;
    if (!run->exact || !shape->levels[AS_REUSE_L1].lines || shape->sampled)
        return;
    as_reuse_objects_make(&run->objects, run->exact, shape->shift, run->memory, run->moved, run->feed);
    run->result.objects = &run->objects;
}

/* Code of libraries that were closed and opened again. */
static void join_same(struct as_reuse_run *run)
{
    struct as_same_code *same = as_same_code_new(run->engine);
    if (run->exact)
        as_same_code_join(same, as_reuse_all_threads(run->exact));
    if (run->exact && as_reuse_all_sockets(run->exact))
        as_same_code_join(same, as_reuse_all_sockets(run->exact));
    if (run->estimate)
        as_same_code_join_estimate(same, run->estimate);
    as_same_code_free(same);
}

void as_reuse_run_finish(struct as_reuse_run *run)
{
    const struct as_reuse_watch *watch;
    struct as_reuse_result *result = &run->result;
    as_access_stream_finish(run->stream);
    as_fanout_report(run->fanout, NULL); /* the feed finishes, and reports nothing */
    if (run->analysis.shape.sampled)
        adjust(run);
    *result = (struct as_reuse_result){.options = &run->analysis,
                                       .instructions = as_access_stream_executed(run->stream),
                                       .exact = run->exact,
                                       .missed = as_reuse_feed_missed(run->feed),
                                       .adjacent = run->adjacent,
                                       .names = {locate, frames, run}};
    if ((watch = as_reuse_feed_watch(run->feed)))
        result->estimate = run->estimate =
            as_reuse_estimate_new(watch, as_reuse_feed_accesses(run->feed), as_reuse_feed_sites(run->feed));
    find_objects(run);
    join_same(run);
    if (run->exact)
        result->n_advice = as_reuse_advise(as_reuse_all_threads(run->exact), as_reuse_all_sockets(run->exact),
                                           result->advice, AS_REUSE_ADVICE_MOST);
}

const struct as_reuse_result *as_reuse_run_result(const struct as_reuse_run *run)
{
    return &run->result;
}
