/* See model.h. Block executions go through their thread's core, and the records go out in batches, each of one thread.
 *
 * While there is only one thread, its core runs apart: on a host thread of its own, which receives the blocks as bodies,
 * and learns there which code is executed for the first time. Anything else first settles what is on its way there. From
 * then on blocks run in place again, until enough of them have come without interruption. Cores of several threads run apart together
 * while no line moves between them: model_together.c.
 */
#include "model/model_inside.h"

#include "engine/sink_tee.h"

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    const struct as_model *model = context;
    return model->engine ? as_engine_insn(model->engine, id) : NULL;
}

static const char *function_of(void *context, uint32_t id)
{
    struct as_location location;
    return as_model_locate(context, id, &location) && location.function ? location.function : "";
}

/* The root of a tree is not a frame: the functions below it are where threads begin. */
static size_t frames_of(void *context, uint32_t path, const char **names, size_t n)
{
    const struct as_model *model = context;
    if (path == 0 || path > model->paths.keys.len)
        return 0;
    const struct as_path_key *key = &model->paths.keys.data[path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(model->calls, key->tree);
    const struct as_image *image = as_call_tracker_image(model->calls, key->tree);
    size_t frames = 0;
    for (uint32_t at = key->node; at; frames++) {
        const struct as_call_node *node = as_call_tree_node(tree, at);
        if (frames < n)
            names[frames] = as_call_node_name(model->engine, image, node);
        at = node->parent;
    }
    return frames;
}

static FILE *open_file(void *context, const char *path)
{
    const struct as_model *model = context;
    return model->open ? model->open(model->open_context, path) : NULL;
}

void as_model_set_files(struct as_model *model, as_open_file *open, void *context)
{
    model->open = open;
    model->open_context = context;
}

static void count_entries(const struct as_machine *machine, uint32_t *entries)
{
    entries[AS_RESOURCE_ROB] = machine->back.rob;
    entries[AS_RESOURCE_QUEUE_INT] = machine->back.queue_size[AS_QUEUE_INT];
    entries[AS_RESOURCE_QUEUE_MEM] = machine->back.queue_size[AS_QUEUE_MEM];
    entries[AS_RESOURCE_QUEUE_FP] = machine->back.queue_size[AS_QUEUE_FP];
    entries[AS_RESOURCE_LOAD_QUEUE] = machine->back.load_queue;
    entries[AS_RESOURCE_STORE_QUEUE] = machine->back.store_queue;
    entries[AS_RESOURCE_MSHR_L1I] = machine->memory.l1i.mshrs;
    entries[AS_RESOURCE_MSHR_L1D] = machine->memory.l1d.mshrs;
    entries[AS_RESOURCE_MSHR_L2] = machine->memory.l2.mshrs;
}

const struct as_machine *as_model_machine(const struct as_model *model)
{
    return model->machine;
}

struct as_model *as_model_new(const struct as_machine *machine)
{
    struct as_model *model = as_alloc_apart(1, sizeof *model);
    model->machine = machine;
    model->bodies.machine = machine;
    model->cores.machine = machine;
    model->uncore = as_uncore_new(machine);
    model->calls = as_call_tracker_new();
    model->records = as_alloc_apart(AS_MODEL_BATCH, sizeof *model->records);
    model->memory_shared = as_shared_memory_new();
    model->info = (struct as_run_info){
        .size = sizeof model->info,
        .machine = machine->name,
        .frequency = machine->frequency,
        .commit_width = machine->back.commit_width,
        .rob = machine->back.rob,
        .dispatch_width = machine->back.width,
        .commit_group = machine->back.commit_width * (machine->back.fuse ? 2 : 1),
        .context = model,
        .insn = insn_of,
        .function = function_of,
        .frames = frames_of,
        .open = open_file,
    };
    count_entries(machine, model->info.entries);
    return model;
}

void as_model_free(struct as_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->threads.len; i++) {
        if (model->threads.data[i]) {
            as_core_free(model->threads.data[i]->seat.core);
            as_vec_free(&model->threads.data[i]->stays.stays);
            as_model_sieve_leave(model->threads.data[i]);
        }
        free(model->threads.data[i]);
    }
    as_vec_free(&model->threads);
    as_vec_free(&model->names);
    as_vec_free(&model->cores.list);
    as_targets_free(&model->leaders);
    as_memo_free(model->memo);
    free(model->records);
    as_chains_free(&model->chains);
    as_bodies_free(&model->bodies);
    as_executed_free(&model->executed);
    as_vec_free(&model->ideals);
    for (size_t i = 0; i < model->nops.len; i++)
        free(model->nops.data[i]);
    as_vec_free(&model->nops);
    as_call_tracker_free(model->calls);
    as_paths_free(&model->paths);
    as_measure_free(&model->measure);
    as_vec_free(&model->also);
    as_vec_free(&model->warm_ways);
    as_model_sieve_free(model);
    as_engine_free(model->engine);
    as_uncore_free(model->uncore);
    as_shared_memory_free(model->memory_shared);
    free(model);
}

const struct as_run_info *as_model_run_info(const struct as_model *model)
{
    return &model->info;
}

/* Returns the nop that replaces a removed instruction, else the instruction, and the events that must not happen to
 * it. */
static const struct as_insn *stand_in(void *context, const struct as_insn *insn, uint32_t *ideal)
{
    const struct as_model *model = context;
    const struct as_insn *nop = model->nops.data[insn->id];
    *ideal = model->ideals.data[insn->id];
    return nop ? nop : insn;
}

/* Reports transfers of measured stretches only. */
static void tell_transfer(void *context, const struct as_transfer *transfer)
{
    struct as_model *model = context;
    if (model->n_cores > 1) /* with one core, it may run apart and threads need not be read in small steps */
        model->shares = AS_MODEL_SHARED_BLOCKS;
    if (model->measure.on && model->on_transfer)
        model->on_transfer(model->transfer_context, transfer);
}

void as_model_set_ideal(struct as_model *model, as_ideal_of *ideal_of, void *context)
{
    model->ideal_of = ideal_of;
    model->ideal_context = context;
    model->bodies.stand_in = stand_in;
    model->bodies.context = model;
}

void as_model_set_moves(struct as_model *model, uint64_t (*move)(void *context, uint64_t address), void *context)
{
    model->bodies.move = move;
    model->bodies.move_context = context;
}

void as_model_set_transfers(struct as_model *model, as_on_transfer *on_transfer, void *context)
{
    model->on_transfer = on_transfer;
    model->transfer_context = context;
}

void as_model_set_calls(struct as_model *model, const struct as_sink *calls, void *context)
{
    model->kernel_calls = calls;
    model->calls_context = context;
}

void as_model_set_memo(struct as_model *model, const struct as_memo_options *options)
{
    as_memo_free(model->memo);
    model->memo = options->bytes ? as_memo_new(options) : NULL;
}

void as_model_add_also(struct as_model *model, const struct as_sink *also, void *context)
{
    *as_vec_push(&model->also) = (struct also){also, context};
}

void as_model_join(struct as_model *model, const struct as_engine *engine, struct as_fanout *fanout)
{
    model->engine = (struct as_engine *)engine; /* the model queries the engine but never runs it */
    model->fanout = fanout;
}

void as_model_copy_contents(struct as_model *to, struct as_model *from)
{
    as_model_settle(to);
    as_model_settle(from);
    if (!from->shared && from->n_cores == 1)
        as_uncore_copy(to->uncore, from->uncore);
}

void as_model_set_measured(struct as_model *model, as_region_measured *measured, void *context)
{
    model->measured = measured;
    model->measured_context = context;
}

uint64_t as_model_reads(const struct as_model *model)
{
    return as_uncore_reads(model->uncore);
}

uint64_t as_model_read_latency(const struct as_model *model)
{
    return as_uncore_read_latency(model->uncore);
}

bool as_model_counts_all(const struct as_model *model)
{
    for (size_t i = 0; i < model->also.len; i++)
        if (model->also.data[i].sink->skipped)
            return true;
    return false;
}

static void note_ideal(struct as_model *model, const struct as_insn *insn)
{
    while (model->ideals.len <= insn->id) {
        *as_vec_push(&model->ideals) = 0;
        *as_vec_push(&model->nops) = NULL;
    }
    uint32_t ideal = model->ideal_of(model->ideal_context, model, insn);
    model->ideals.data[insn->id] = ideal & ~(uint32_t)AS_IDEAL_REMOVED;
    if (ideal & AS_IDEAL_REMOVED && !as_insn_is_control(insn)) {
        struct as_insn *nop = model->nops.data[insn->id] = as_alloc(sizeof *nop);
        *nop = (struct as_insn){.address = insn->address,
                                .id = insn->id,
                                .length = insn->length,
                                .class_ = AS_CLASS_NOP,
                                .n_uops = 1,
                                .uops[0] = {.class_ = AS_CLASS_NOP, .mem = AS_UOP_NO_MEM}};
    }
}

void as_model_note_executed(struct as_model *model, const struct as_block *block)
{
    for (uint32_t i = 0; model->ideal_of && i < block->n; i++)
        if (!as_executed_has(&model->executed, block->insns[i]->id))
            note_ideal(model, block->insns[i]);
    as_executed_add(&model->executed, block);
}

static void sum_up(struct as_model_result *total)
{
    struct as_counters *counters = &total->counters;
    counters->processes = total->engine.processes;
    counters->threads = total->engine.threads;
    total->instructions = counters->instructions;
    total->cycles = counters->cycles;
    total->elapsed = counters->elapsed_cycles;
    total->kernel_cycles = counters->kernel_cycles;
}

static bool run_engine(struct as_model *model, struct as_engine_result *result, struct as_error *err)
{
    void *context = model;
    struct as_sink own = as_model_sink;
    struct as_sink_tee *tee = as_sink_tee_new();
    own.skipped = as_model_counts_all(model) || model->sieve ? as_model_skipped : NULL;
    own.passed = model->sieve ? as_model_passed : NULL;
    own.all_calls = model->sieve != NULL; /* waiting takes time in counted stretches, too */
    as_sink_tee_add(tee, &own, model);
    for (size_t i = 0; i < model->also.len; i++)
        as_sink_tee_add(tee, model->also.data[i].sink, model->also.data[i].context);
    const struct as_sink *both = as_sink_tee_sink(tee, &context);
    bool ok = as_engine_run(model->engine, both, context, result, err);
    as_sink_tee_free(tee);
    return ok;
}

bool as_model_run(struct as_model *model, const struct as_engine_options *options, struct as_fanout *fanout,
                  struct as_model_result *result, struct as_error *err)
{
    memset(result, 0, sizeof *result);
    model->fanout = fanout;
    as_uncore_set_transfers(model->uncore, tell_transfer, model);
    model->wants = as_fanout_wants(fanout);
    model->engine = as_engine_start(options, err);
    if (!model->engine || !as_fanout_start(fanout, err))
        return false;
    model->ahead = as_ahead_new(as_model_run_apart, as_model_warm_apart, as_model_announce, model);
    model->chains.bodies = &model->bodies;
    model->chains.ahead = model->ahead;
    model->chains.joins = model->memo != NULL;
    model->calm_enough = CALM_LEAST;
    as_model_prepare_together(model);
    bool ok = run_engine(model, &result->engine, err);
    as_model_settle(model);
    as_ahead_free(model->ahead);
    model->ahead = NULL;
    as_fanout_finish(fanout);
    if (model->measure.on)
        as_measure_end(&model->measure);
    model->total.counters = model->measure.total;
    model->total.measuring = model->measure.seconds;
    model->total.engine = result->engine;
    sum_up(&model->total);
    *result = model->total;
    return ok && (!model->memo || as_memo_check(model->memo, err));
}

const struct as_counters *as_model_region(const struct as_model *model, uint32_t region)
{
    static const struct as_counters none;
    return region < model->measure.regions.len ? &model->measure.regions.data[region] : &none;
}

uint64_t as_model_progress(const struct as_model *model)
{
    return model->instructions;
}

bool as_model_count_memo(const struct as_model *model, struct as_memo_counters *counters)
{
    if (model->memo)
        as_memo_count(model->memo, counters);
    return model->memo != NULL;
}

const struct as_engine *as_model_engine(const struct as_model *model)
{
    return model->engine;
}

const struct as_call_tracker *as_model_calls(const struct as_model *model)
{
    return model->calls;
}

const struct as_shared_memory *as_model_shared(const struct as_model *model)
{
    return model->memory_shared;
}

static const struct model_thread *find_thread(const struct as_model *model, uint32_t thread)
{
    return thread && thread <= model->threads.len ? model->threads.data[thread - 1] : NULL;
}

uint32_t as_model_process(const struct as_model *model, uint32_t thread)
{
    const struct model_thread *own = find_thread(model, thread);
    return own ? own->process : 0;
}

const char *as_model_thread_name(const struct as_model *model, uint32_t thread, uint32_t image)
{
    for (size_t i = model->names.len; i-- > 0;)
        if (model->names.data[i].thread == thread && model->names.data[i].image == image)
            return model->names.data[i].name;
    return NULL;
}

void as_model_note_paths(struct as_model *model)
{
    as_vec_clear(&model->paths.noted);
    model->paths.notes = true;
}

const uint32_t *as_model_noted_paths(const struct as_model *model, size_t *n)
{
    *n = model->paths.noted.len;
    return model->paths.noted.data;
}

const struct as_path_key *as_model_paths(const struct as_model *model, size_t *n)
{
    *n = model->paths.keys.len;
    return model->paths.keys.data;
}

bool as_model_executed(const struct as_model *model, uint32_t id)
{
    return as_executed_has(&model->executed, id);
}

const uint64_t *as_model_leaders(const struct as_model *model, size_t *n)
{
    *n = model->leaders.list.len;
    return model->leaders.list.data;
}

bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location)
{
    const struct as_insn *insn = model->engine ? as_engine_insn(model->engine, id) : NULL;
    if (!insn)
        return false;
    as_engine_locate(model->engine, id, location);
    return true;
}
