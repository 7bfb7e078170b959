/* See model.h. Block executions go through their thread's core, and the records go out in batches, each of one thread.
 *
 * While there is only one thread, its core runs apart: on a host thread of its own, which receives the blocks as bodies,
 * and learns there which code is executed for the first time. Anything else first settles what is on its way there. From
 * then on blocks run in place again, until enough of them have come without interruption.
 */
#include "model/model.h"

#include "base/vec.h"
#include "count/targets.h"
#include "engine/sink_tee.h"
#include "model/ahead.h"
#include "model/bodies.h"
#include "model/chains.h"
#include "model/executed.h"
#include "model/measure.h"
#include "model/model_cores.h"

enum { HOST_LINE = 64 }; /* bytes: what two host threads write lies further apart */

struct model_thread {
    struct as_seat seat; /* its core; empty if the thread has ended */
    uint32_t number, image, process;
    bool runs;
    struct as_model *model; /* context of code_at */
    struct as_path_book *book;
    uint32_t path;             /* call path of the next block; 0: still to be determined */
    struct as_counters before; /* what its core had counted when the measured stretch began */
    uint64_t left_at;          /* its core's cycle at the end of the last measured stretch */
    char own_line[HOST_LINE];
    /* From here on the core's, which may run apart: what the reading thread writes for each block is not near it. */
    struct as_pipe_buffer *buffer; /* the batch being filled; NULL: none */
    size_t n;                      /* number of records in it */
    uint64_t cycles_before;        /* of programs that the thread executed before this one */
    uint64_t told;                 /* the last commit of this program that observers have seen */
    struct as_stay_log stays;      /* used only if an observer wants occupancy */
    uint64_t border, shift;        /* records are reported `shift` cycles earlier, but not before `border` */
    bool within;                   /* the stretch has executed a block */
    char last_line[HOST_LINE];
};

struct as_model {
    const struct as_machine *machine;
    struct as_uncore *uncore;
    struct as_engine *engine;
    struct as_fanout *fanout;
    uint32_t wants; /* AS_WANT_* of the observers */
    struct as_call_tracker *calls;
    struct as_paths paths;
    struct as_run_info info;
    as_open_file *open; /* NULL: observers cannot write files */
    void *open_context;
    AS_VEC(struct model_thread *) threads; /* by thread number - 1 */
    struct as_model_cores cores;
    struct as_stretch stretch;
    struct as_measure measure;
    uint64_t stopped;             /* the latest time at which a thread stopped, to wait or for good */
    struct as_model_result total; /* counts of threads that have ended */
    struct as_targets leaders;
    struct as_memo *memo; /* NULL: none */
    struct as_bodies bodies;
    struct as_executed executed; /* the core's, if it runs apart */
    struct as_ahead *ahead;      /* NULL: cores never run apart */
    struct model_thread *apart;  /* the thread whose core runs apart now; NULL: none */
    uint32_t n_cores;
    bool shared;                 /* there have been two cores at a time: lines may be elsewhere */
    as_on_transfer *on_transfer; /* NULL: transfers are not reported */
    void *transfer_context;
    const struct as_sink *kernel_calls; /* NULL: nobody asks */
    void *calls_context;
    as_ideal_of *ideal_of;
    void *ideal_context;
    AS_VEC(struct also {
        const struct as_sink *sink;
        void *context;
    })
    also;
    as_region_measured *measured; /* NULL: not reported */
    void *measured_context;
    AS_VEC(uint32_t) ideals;       /* by instruction; only with ideal_of */
    AS_VEC(struct as_insn *) nops; /* nops that replace removed instructions; NULL for all others */
    char own_line[HOST_LINE];
    /* From here on what the reading thread writes for each block: a core that runs apart reads what is above. */
    uint64_t instructions;
    uint64_t calm, calm_enough; /* blocks since the last interruption; how many of them make a core run apart */
    uint64_t apart_for;         /* … and how many ran apart */
    uint32_t shares;            /* for how many more blocks the threads are read in small steps */
    struct as_chains chains;    /* on their way to a core that runs apart */
    AS_VEC(bool) noted;         /* by block: it is in `executed`, or on its way there */
};

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
            names[frames] = as_space_name(image->space, node->function);
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

struct as_model *as_model_new(const struct as_machine *machine)
{
    struct as_model *model = as_alloc_apart(1, sizeof *model);
    model->machine = machine;
    model->bodies.machine = machine;
    model->cores.machine = machine;
    model->uncore = as_uncore_new(machine);
    model->calls = as_call_tracker_new();
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
        }
        free(model->threads.data[i]);
    }
    as_vec_free(&model->threads);
    as_vec_free(&model->cores.list);
    as_targets_free(&model->leaders);
    as_memo_free(model->memo);
    as_chains_free(&model->chains);
    as_bodies_free(&model->bodies);
    as_executed_free(&model->executed);
    as_vec_free(&model->noted);
    as_vec_free(&model->ideals);
    for (size_t i = 0; i < model->nops.len; i++)
        free(model->nops.data[i]);
    as_vec_free(&model->nops);
    as_call_tracker_free(model->calls);
    as_paths_free(&model->paths);
    as_measure_free(&model->measure);
    as_vec_free(&model->also);
    as_engine_free(model->engine);
    as_uncore_free(model->uncore);
    free(model);
}

const struct as_run_info *as_model_run_info(const struct as_model *model)
{
    return &model->info;
}

static const struct as_insn *code_at(void *context, uint64_t address)
{
    const struct model_thread *thread = context;
    return as_executed_at(&thread->model->executed, thread->image, address);
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

static uint64_t code_version(void *context, bool unknown)
{
    const struct as_executed *executed = &((const struct model_thread *)context)->model->executed;
    return unknown ? executed->n_blocks : executed->n_changes;
}

enum { SHARED_BLOCKS = 4000 };

/* Reports transfers of measured stretches only. */
static void tell_transfer(void *context, const struct as_transfer *transfer)
{
    struct as_model *model = context;
    if (model->n_cores > 1) /* with one core, it may run apart and threads need not be read in small steps */
        model->shares = SHARED_BLOCKS;
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

/* Whether an observer wants to see code that is only counted. */
static bool counts_all(const struct as_model *model)
{
    for (size_t i = 0; i < model->also.len; i++)
        if (model->also.data[i].sink->skipped)
            return true;
    return false;
}

void as_model_set_measured(struct as_model *model, as_region_measured *measured, void *context)
{
    model->measured = measured;
    model->measured_context = context;
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

static bool is_noted(const struct as_model *model, const struct as_block *block)
{
    return block->index < model->noted.len && model->noted.data[block->index];
}

static void set_noted(struct as_model *model, const struct as_block *block)
{
    while (model->noted.len <= block->index)
        *as_vec_push(&model->noted) = false;
    model->noted.data[block->index] = true;
}

/* Only if no core runs apart. */
static __attribute__((noinline)) void note_executed(struct as_model *model, const struct as_block *block)
{
    for (uint32_t i = 0; model->ideal_of && i < block->n; i++)
        if (!as_executed_has(&model->executed, block->insns[i]->id))
            note_ideal(model, block->insns[i]);
    as_executed_add(&model->executed, block);
    set_noted(model, block);
}

/* The time of the slowest running thread; UINT64_MAX if none runs. */
static uint64_t slowest(const struct as_model *model, const struct model_thread *besides)
{
    uint64_t time = UINT64_MAX;
    for (size_t i = 0; i < model->threads.len; i++) {
        const struct model_thread *thread = model->threads.data[i];
        if (thread && thread != besides && thread->runs && as_core_time(thread->seat.core) < time)
            time = as_core_time(thread->seat.core);
    }
    return time;
}

/* ---- a core apart ---- */

enum { CALM_LEAST = 2000, CALM_MOST = 256000 }; /* in blocks */

static void stop(struct as_model *model, struct model_thread *thread);

/* From here on blocks run in place. If the core was interrupted soon, it waits longer before it runs apart again. */
static __attribute__((noinline)) void settle_apart(struct as_model *model)
{
    struct model_thread *own = model->apart;
    as_chains_close(&model->chains);
    as_ahead_settle(model->ahead);
    model->apart = NULL;
    model->calm_enough *= model->apart_for < 10 * model->calm_enough ? 2 : 1;
    if (model->calm_enough > CALM_MOST)
        model->calm_enough = CALM_MOST;
    if (!own->runs)
        stop(model, own);
}

/* Call this before handling anything but a block. */
static inline void settle(struct as_model *model)
{
    if (model->apart)
        settle_apart(model);
    model->calm = 0;
}

/* A core may run apart if only its own thread depends on its time and nobody is told what it does. */
static __attribute__((noinline)) void go_apart(struct as_model *model, struct model_thread *own)
{
    model->calm = model->apart_for = 0;
    if (!model->ahead || model->n_cores != 1 || (model->on_transfer && model->shared) ||
        model->stopped > as_core_time(own->seat.core))
        return;
    model->apart = own;
}

/* ---- threads ---- */

/* A thread that starts or returns from a system call continues at the present: the time of the slowest running thread
 * or, if none runs, the time at which the last one stopped. */
static void catch_up(struct as_model *model, struct model_thread *thread)
{
    thread->runs = true;
    thread->seat.waits = false;
    if (model->apart) /* the only thread is always in the present */
        return;
    uint64_t time = slowest(model, thread);
    if (time == UINT64_MAX)
        time = model->stopped;
    if (time > as_core_time(thread->seat.core))
        as_core_wait_until(thread->seat.core, time);
}

static void stop(struct as_model *model, struct model_thread *thread)
{
    thread->runs = false;
    thread->seat.waits = true;
    if (model->apart) /* its time matters only after settling */
        return;
    uint64_t time = as_core_time(thread->seat.core);
    model->stopped = time > model->stopped ? time : model->stopped;
}

/* Whether the process has other living threads. */
static bool has_fellows(const struct as_model *model, const struct model_thread *besides)
{
    for (size_t i = 0; i < model->threads.len; i++) {
        const struct model_thread *thread = model->threads.data[i];
        if (thread && thread != besides && thread->seat.core && thread->process == besides->process)
            return true;
    }
    return false;
}

/* Called when a thread has ended: adds up what its core did. Where it ends unmeasured, observers cannot know that; the next one with
 * its number then goes on in the same time (on_thread_start). */
static void retire(struct as_model *model, struct model_thread *thread, bool known)
{
    as_measure_leave(&model->measure, thread->seat.core, &thread->before);
    stop(model, thread);
    thread->cycles_before += known ? thread->told : 0;
    thread->told = known ? 0 : thread->told;
    as_model_cores_leave(&model->cores, &thread->seat, model->uncore, !has_fellows(model, thread));
    model->n_cores--;
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    settle(model);
    while (model->threads.len < thread->number)
        *as_vec_push(&model->threads) = NULL;
    struct model_thread *own = model->threads.data[thread->number - 1];
    if (!own) {
        own = model->threads.data[thread->number - 1] = as_alloc_apart(1, sizeof *own);
        own->model = model;
    }
    own->before = (struct as_counters){0};
    own->left_at = own->border = 0;
    own->shift = 0 - own->told;
    own->within = false;
    own->seat.number = as_model_cores_pick(&model->cores, thread->process);
    own->seat.core = as_core_new(model->machine, model->uncore, own->seat.number, code_at, own);
    as_core_set_process(own->seat.core, thread->process);
    as_core_set_thread(own->seat.core, thread->number);
    as_core_set_code_version(own->seat.core, code_version);
    if (model->wants & AS_WANT_OCCUPANCY)
        as_core_log_stays(own->seat.core, &own->stays);
    if (model->memo)
        as_core_set_memo(own->seat.core, model->memo);
    model->n_cores++;
    model->shared |= model->n_cores > 1;
    own->number = thread->number;
    own->image = thread->image->number;
    own->process = thread->process;
    thread->user = own;
    catch_up(model, own);
    as_call_tracker_thread_start(model->calls, thread);
    own->path = 0;
    own->book = as_paths_book(&model->paths, thread->number, (uint32_t)as_call_tracker_image_of(model->calls, thread));
}

/* Converts stays to the time of the measured stretches. */
static void rebase_stays(struct model_thread *own)
{
    for (size_t i = 0; i < own->stays.stays.len; i++) {
        struct as_stay *stay = &own->stays.stays.data[i];
        uint64_t from = stay->from > own->border ? stay->from : own->border + 1, before = from - stay->from;
        stay->cycles = before < stay->cycles ? stay->cycles - (uint32_t)before : 0;
        stay->from = from - own->shift;
    }
}

static void publish(struct as_model *model, struct model_thread *own, uint32_t number, bool last)
{
    if (own->shift)
        rebase_stays(own);
    if (own->buffer) {
        own->buffer->cycles_before = own->cycles_before;
        own->told = own->n ? as_core_cycles(own->seat.core) - own->shift : own->told;
        as_pipe_buffer_add_stays(own->buffer, own->stays.stays.data, own->stays.stays.len);
        as_pipe_buffer_publish(model->fanout, own->buffer, number, own->n, last);
    }
    as_vec_clear(&own->stays.stays);
    own->buffer = NULL;
    own->n = 0;
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    settle(model);
    bool known = own->n > 0;
    publish(model, own, thread->number, true);
    retire(model, own, known);
    as_call_tracker_thread_end(model->calls, thread);
}

/* Returns room for n records in the thread's batch, or in a scratch buffer if they are not measured. */
static struct as_pipe *make_room(struct as_model *model, struct model_thread *own, uint32_t number, uint32_t n)
{
    static struct as_pipe nowhere[AS_MODEL_BATCH];
    if (__builtin_expect(!model->measure.on, 0))
        return nowhere;
    if (own->n + n > AS_MODEL_BATCH)
        publish(model, own, number, false);
    if (!own->buffer)
        own->buffer = as_pipe_buffer_take(model->fanout);
    return own->buffer->pipes + own->n;
}

/* Waits until no observer reads edges any more, because the memo is about to drop them. */
static __attribute__((noinline)) void drop_memo(struct as_model *model)
{
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i])
            publish(model, model->threads.data[i], (uint32_t)i + 1, false);
    as_fanout_forget(model->fanout);
    as_memo_drop(model->memo);
}

/* Adds the accesses of a run for observers that want them; its records are the last ones in the buffer. */
static __attribute__((noinline)) void note_accesses(struct model_thread *own, const struct as_body_run *run)
{
    const struct as_body *body = run->body;
    for (uint32_t i = 0; i < body->n_accesses; i++) {
        const struct as_core_access *access = &run->accesses[i];
        as_pipe_buffer_add_access(own->buffer, (uint32_t)own->n - body->n + access->index,
                                  &(struct as_data_access){.address = access->address,
                                                           .insn = body->insns[access->index]->id,
                                                           .size = access->size & 0xffffff,
                                                           .kind = access->kind});
    }
}

/* ---- stretches ---- */

static bool has_time(enum as_mode mode)
{
    return mode == AS_MODE_SETTLE || mode == AS_MODE_DETAIL;
}

static void end_measuring(struct as_model *model)
{
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *own = model->threads.data[i];
        if (!own || !own->seat.core)
            continue;
        as_measure_leave(&model->measure, own->seat.core, &own->before);
        own->left_at = as_core_cycles(own->seat.core);
        if (model->measured)
            publish(model, own, (uint32_t)i + 1, false);
    }
    as_measure_end(&model->measure);
    if (!model->measured)
        return;
    as_fanout_forget(model->fanout); /* waits for the observers */
    model->measured(model->measured_context, model->stretch.region);
}

/* The first cycle of the stretch is the one after the last commit. If the pipeline is not empty, it is the cycle of the
 * last commit, in which more instructions may commit. */
static void begin_measuring(struct as_model *model, uint32_t region, bool settled)
{
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *own = model->threads.data[i];
        if (!own || !own->seat.core)
            continue;
        uint64_t cycles = as_core_cycles(own->seat.core);
        publish(model, own, (uint32_t)i + 1, false); /* records of two regions are never in one batch */
        own->before = as_measure_core(&model->measure, own->seat.core);
        as_vec_clear(&own->stays.stays);
        own->border = settled && cycles > own->left_at ? cycles - 1 : cycles;
        own->before.cycles = own->border;
        own->shift += own->border - own->left_at;
        own->within = false;
    }
    as_measure_begin(&model->measure, region);
}

static void empty_cores(struct as_model *model)
{
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i] && model->threads.data[i]->seat.core)
            as_core_empty(model->threads.data[i]->seat.core);
}

static void forget_calls(struct as_model *model)
{
    as_call_tracker_forget(model->calls);
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i])
            model->threads.data[i]->path = 0;
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_model *model = context;
    enum as_mode was = model->stretch.mode, is = stretch->mode;
    settle(model);
    if (model->measure.on)
        end_measuring(model);
    if (has_time(is) && !has_time(was))
        empty_cores(model);
    if (was == AS_MODE_COUNT && is != AS_MODE_COUNT)
        forget_calls(model);
    if (is == AS_MODE_DETAIL)
        begin_measuring(model, stretch->region, was == AS_MODE_SETTLE);
    model->stretch = *stretch;
}

/* Shifts a record's times so that cycles outside the measured stretches do not count. Times before the stretch become
 * its start. */
static void rebase(const struct model_thread *own, struct as_pipe *pipe)
{
    const uint16_t again = AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED;
    uint64_t *const times[] = {&pipe->fetch, &pipe->dispatch, &pipe->issue, &pipe->done, &pipe->commit};
    if (pipe->flags & again && pipe->dispatch <= own->border + pipe->exception + pipe->first_try) {
        pipe->flags &= (uint16_t)~again;
        pipe->exception = 0;
        if (!(pipe->flags & AS_PIPE_MISPREDICTED))
            pipe->first_try = 0;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = (*times[i] > own->border ? *times[i] : own->border + 1) - own->shift;
}

/* Code that is only counted is also reported to observers that count it, and it needs a location in the profile. */
static void on_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                       uint32_t end, uint64_t times)
{
    struct as_model *model = context;
    if (!is_noted(model, block)) {
        settle(model);
        note_executed(model, block);
    }
}

/* Updates caches, TLBs and predictors with a block. */
static void warm_block(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    const struct as_insn *last = exec->block->insns[exec->end - 1];
    struct as_accesses all = as_accesses_of(exec);
    struct as_access access;
    own->path = 0;
    (void)as_call_tracker_begin(model->calls, thread, exec);
    if (model->also.len && counts_all(model))
        on_skipped(model, thread, exec->block, exec->first, exec->end, 1);
    if (!exec->continues)
        as_core_warm_fetch(own->seat.core, exec->block->insns[exec->first]->address, last->address + last->length);
    while (as_accesses_next(&all, &access))
        as_core_warm_access(own->seat.core, &(struct as_core_access){
                                                .address = access.address, .size = access.size, .kind = access.kind});
    if (as_insn_is_control(last))
        as_core_warm_control(own->seat.core, last, exec->taken, exec->next);
    as_call_tracker_end(model->calls, thread, exec);
}

/* ---- blocks ---- */

/* Whether the whole edge lies in the measured stretch, after another block of it. */
static bool is_within(const struct model_thread *own, const struct as_edge_run *run)
{
    return own->within && run->base + (uint64_t)(int64_t)run->edge->records[0].fetch > own->border;
}

/* Adds a run to the batch: as an edge, or with its records, which are in place already. */
static void add_run(struct model_thread *own, uint32_t number, struct as_edge_run *run)
{
    struct as_pipe *pipes = own->buffer->pipes + own->n;
    if (__builtin_expect(own->shift && run->edge && !is_within(own, run), 0)) {
        as_edge_expand(run, number, 0, run->n, pipes);
        for (uint32_t i = 0; i < run->edge->n_stays; i++)
            *as_vec_push(&own->stays.stays) = as_edge_stay_of(run, i);
        run->edge = NULL;
    }
    run->base -= own->shift;
    for (uint32_t i = 0; !run->edge && i < run->n; i++) {
        pipes[i].path = run->path;
        pipes[i].thread = (uint16_t)number;
        if (__builtin_expect(own->shift != 0, 0))
            rebase(own, &pipes[i]);
    }
    own->within = true;
    *as_vec_push(&own->buffer->runs) = *run;
    own->n += run->n;
}

/* For a block that is executed for the first time, or not like the last time. */
static __attribute__((noinline)) const struct as_body *
find_body(struct as_model *model, const struct as_block_exec *exec, const struct as_core_access **accesses)
{
    if (!is_noted(model, exec->block))
        note_executed(model, exec->block);
    return as_bodies_find(&model->bodies, exec, accesses);
}

/* Runs a block in its core, on whichever host thread. */
static inline void run_body(struct as_model *model, struct model_thread *own, const struct as_body_run *run,
                            uint32_t path)
{
    struct as_pipe *pipes = make_room(model, own, own->number, run->body->n);
    struct as_edge_run known;
    known.path = path;
    known.first = (uint32_t)own->n;
    known.n = run->body->n;
    known.edge = as_core_run(own->seat.core, run, pipes, &known.base);
    bool is_new = !known.edge;
    if (__builtin_expect(model->measure.on, 1)) {
        add_run(own, own->number, &known);
        if (__builtin_expect(run->body->n_accesses && model->wants & AS_WANT_ACCESSES, 0))
            note_accesses(own, run);
    }
    if (__builtin_expect(is_new && model->memo && as_memo_is_full(model->memo), 0))
        drop_memo(model);
}

/* `news`: the block, if it is executed for the first time. */
static void run_apart(void *context, const struct as_body_run *run, uint32_t path, const void *news)
{
    struct as_model *model = context;
    if (__builtin_expect(news != NULL, 0))
        as_executed_add(&model->executed, news);
    run_body(model, model->apart, run, path);
}

/* Puts in an execution that is not like the block's last one, or the block's first one. */
static __attribute__((noinline)) bool put_slowly(struct as_model *model, const struct as_block_exec *exec,
                                                 uint32_t path)
{
    bool is_new = !is_noted(model, exec->block);
    if (is_new && model->ideal_of) /* what stands for its instructions is not known yet */
        return false;
    const struct as_core_access *accesses;
    const struct as_body *body = as_bodies_find(&model->bodies, exec, &accesses);
    struct as_ahead_block *block = as_ahead_room(model->ahead, body->n_accesses);
    if (!block)
        return false;
    *block = (struct as_ahead_block){
        .body = body, .news = is_new ? exec->block : NULL, .next = exec->next, .path = path, .taken = exec->taken};
    if (is_new)
        set_noted(model, exec->block);
    if (body->n_accesses)
        memcpy(block->data, accesses, body->n_accesses * sizeof *accesses);
    as_ahead_put(model->ahead, body->n_accesses * sizeof *accesses);
    return true;
}

/* Returns false if the block must run in place. */
static inline bool put_ahead(struct as_model *model, const struct as_block_exec *exec, uint32_t path)
{
    if (__builtin_expect(!as_chains_put(&model->chains, exec, path), 0))
        return put_slowly(model, exec, path);
    model->apart_for++;
    return true;
}

static void run_in_place(struct as_model *model, struct model_thread *own, const struct as_block_exec *exec)
{
    struct as_body_run run = {.next = exec->next, .taken = exec->taken};
    run.body = as_bodies_look(&model->bodies, exec, &run.accesses);
    if (__builtin_expect(!run.body, 0))
        run.body = find_body(model, exec, &run.accesses);
    run_body(model, own, &run, own->path);
    if (__builtin_expect(++model->calm >= model->calm_enough, 0))
        go_apart(model, own);
}

static void run_block(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    if (__builtin_expect(!own->path, 0))
        own->path = as_paths_number(&model->paths, own->book, as_call_tracker_begin(model->calls, thread, exec));
    if (!model->apart || !put_ahead(model, exec, own->path)) {
        if (model->apart)
            settle(model);
        run_in_place(model, own, exec);
    }
    if (__builtin_expect(model->measure.on, 1))
        model->instructions += as_block_exec_count(exec);
    if (exec->block->last_class == AS_CLASS_JUMP_INDIRECT || exec->block->last_class == AS_CLASS_CALL_INDIRECT)
        as_targets_note(&model->leaders, exec->block->image, exec->next);
    if ((exec->taken || as_block_touches_stack(exec->block)) && as_call_tracker_end(model->calls, thread, exec))
        own->path = 0;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    model->shares -= model->shares > 0;
    if (__builtin_expect(!as_model_cores_has(&model->cores, &own->seat), 0)) {
        settle(model);
        as_model_cores_enter(&model->cores, &own->seat);
    }
    if (__builtin_expect(!own->runs, 0)) /* the thread returned from a system call unnoticed */
        catch_up(model, own);
    if (__builtin_expect(model->stretch.mode == AS_MODE_WARM, 0))
        warm_block(model, thread, exec);
    else
        run_block(model, thread, exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_model *model = context;
    as_chains_close(&model->chains);
    stop(model, thread->user);
    as_call_tracker_syscall(model->calls, thread, number);
    if (model->kernel_calls)
        model->kernel_calls->syscall(model->calls_context, thread, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_model *model = context;
    catch_up(model, thread->user);
    if (model->kernel_calls)
        model->kernel_calls->syscall_return(model->calls_context, thread, number, result);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    struct as_model *model = context;
    as_chains_close(&model->chains);
    ((struct model_thread *)thread->user)->path = 0;
    as_call_tracker_signal(model->calls, thread, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    as_chains_close(&model->chains);
    ((struct model_thread *)thread->user)->path = 0;
    as_call_tracker_signal_return(model->calls, thread);
}

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    struct as_model *model = context;
    settle(model);
    return as_model_cores_clock(&model->cores, &((const struct model_thread *)thread->user)->seat);
}

/* Whether cache lines moved between cores a short while ago. */
static bool shares(void *context)
{
    const struct as_model *model = context;
    return model->shares > 0;
}

const struct as_sink as_model_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .signal = on_signal,
    .signal_return = on_signal_return,
    .stretch = on_stretch,
    .unmeasured = true,
    .clock = clock_of,
    .shares = shares,
};

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
    own.skipped = counts_all(model) ? on_skipped : NULL;
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
    model->ahead = as_ahead_new(run_apart, model);
    model->chains.bodies = &model->bodies;
    model->chains.ahead = model->ahead;
    model->chains.joins = model->memo != NULL;
    model->calm_enough = CALM_LEAST;
    bool ok = run_engine(model, &result->engine, err);
    settle(model);
    as_ahead_free(model->ahead);
    model->ahead = NULL;
    as_fanout_finish(fanout);
    if (model->measure.on)
        as_measure_end(&model->measure);
    model->total.counters = model->measure.total;
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

uint32_t as_model_process(const struct as_model *model, uint32_t thread)
{
    const struct model_thread *own = thread && thread <= model->threads.len ? model->threads.data[thread - 1] : NULL;
    return own ? own->process : 0;
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
