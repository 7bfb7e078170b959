/* Blocks through the core of their thread, in place or apart. See model_inside.h. */
#include "base/host_stream.h"
#include "model/model_inside.h"

bool as_model_set_apart(struct as_model *model, struct model_thread *own)
{
    if (!model->ahead || model->n_cores != 1 || (model->on_transfer && model->shared) ||
        model->stopped > as_core_time(own->seat.core))
        return false;
    model->apart = model->taking = own;
    return true;
}

static __attribute__((noinline)) void go_apart(struct as_model *model, struct model_thread *own)
{
    model->calm = model->apart_for = 0;
    if (as_model_set_apart(model, own))
        model->chains.core = own->seat.core;
}

/* Makes room for n records in the thread's batch. */
static inline void make_room(struct as_model *model, struct model_thread *own, uint32_t n)
{
    if (own->n + n > AS_MODEL_BATCH)
        as_model_publish(model, own, own->number, false);
    if (!own->buffer)
        own->buffer = as_pipe_buffer_take(model->fanout);
}

/* Waits until no observer reads edges any more, because the memo is about to drop them. */
static __attribute__((noinline)) void drop_memo(struct as_model *model, struct model_thread *own)
{
    own->drops = false;
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i])
            as_model_publish(model, model->threads.data[i], (uint32_t)i + 1, false);
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

/* An element that the core moved with those before it: observers see it as a part of the piece's access, which is among the
 * last ones in the batch. If the batch has gone, because a region ended or another thread made the memo drop its edges,
 * they have seen all that they will see of that piece. */
static __attribute__((noinline)) void note_element(struct as_model *model, struct model_thread *own,
                                                   const struct as_block_exec *exec)
{
    as_model_settle(model); /* a core that runs apart may not have come to the piece yet */
    if (!model->measure.on || own->n == 0)
        return;
    struct as_accesses all = as_accesses_of(exec);
    for (struct as_access access; as_accesses_next(&all, &access);)
        as_pipe_buffer_grow_access(own->buffer, (uint32_t)own->n - 1, access.kind, access.size);
}

/* Shifts a record's times so that cycles outside the measured stretches do not count. Times before the stretch become
 * its start. */
static void rebase(const struct model_thread *own, struct as_pipe *pipe)
{
    const uint16_t again = AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED | AS_PIPE_OWN_VECTORS;
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

/* Whether the whole edge lies in the measured stretch, after another block of it. */
static bool is_within(const struct model_thread *own, const struct as_edge_run *run)
{
    return own->within && run->base + (uint64_t)(int64_t)run->edge->records[0].fetch > own->border;
}

/* Two small numbers as they lie in memory one behind the other. */
static inline uint32_t neighbours(uint16_t first, uint16_t second)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? first | (uint32_t)second << 16 : (uint32_t)first << 16 | second;
}

/* Observers, on other processors, have read the batch before. */
static inline void stream_run(struct as_edge_run *to, const struct as_edge_run *run)
{
    const struct as_edge *edge = run->edge;
    as_host_stream((uint64_t *)&to->edge, (uint64_t)(uintptr_t)edge);
    as_host_stream(&to->base, run->base);
    as_host_stream_halves(&to->path, run->path, edge ? (uint32_t)edge->committed : 0);
    as_host_stream_halves(&to->number, edge ? edge->number : 0, neighbours(run->first, run->n));
}

_Static_assert(sizeof(struct as_pipe) == 64 && offsetof(struct as_pipe, path) == 48 &&
                   offsetof(struct as_pipe, thread) == 56,
               "path and thread are the lower part of the last two words");

/* Path and thread are put in on the way: had they just been written, the host would wait for them to be in its cache. */
static inline void stream_record(struct as_pipe *to, const struct as_pipe *from, uint32_t path, uint16_t thread)
{
    enum { PAIR = 16, PATH = 48, THREAD = 56 };
    uint64_t with_path, with_thread;
    memcpy(&with_path, (const char *)from + PATH, sizeof with_path);
    memcpy(&with_thread, (const char *)from + THREAD, sizeof with_thread);
    as_host_stream_pair(to, from);
    as_host_stream_pair((char *)to + PAIR, (const char *)from + PAIR);
    as_host_stream_pair((char *)to + 2 * PAIR, (const char *)from + 2 * PAIR);
    as_host_stream((uint64_t *)((char *)to + PATH), (with_path & ~(uint64_t)UINT32_MAX) | path);
    as_host_stream((uint64_t *)((char *)to + THREAD), (with_thread & ~(uint64_t)UINT16_MAX) | thread);
}

static void stream_records(struct model_thread *own, uint16_t number, const struct as_edge_run *run,
                           const struct as_pipe *pipes)
{
    struct as_pipe *to = &own->buffer->pipes[own->n];
    for (uint32_t i = 0; i < run->n; i++)
        stream_record(&to[i], &pipes[i], run->path, number);
}

/* Adds a run to the batch: as an edge, or with its records, which are in `pipes`. */
static void add_run(struct model_thread *own, uint32_t number, struct as_edge_run *run, struct as_pipe *pipes)
{
    if (__builtin_expect(own->shift && run->edge && !is_within(own, run), 0)) {
        as_edge_expand(run, number, 0, run->n, pipes);
        for (uint32_t i = 0; i < run->edge->n_stays; i++)
            *as_vec_push(&own->stays.stays) = as_edge_stay_of(run, i);
        run->edge = NULL;
    }
    if (run->edge) {
        run->base -= own->shift;
    } else {
        for (uint32_t i = 0; own->shift && i < run->n; i++)
            rebase(own, &pipes[i]);
        stream_records(own, (uint16_t)number, run, pipes);
        run->base = pipes[run->n - 1].commit;
    }
    own->within = true;
    stream_run(as_vec_push(&own->buffer->runs), run);
    own->n += run->n;
}

/* For a block that is executed for the first time, or not like the last time. */
static __attribute__((noinline)) const struct as_body *
find_body(struct as_model *model, const struct as_block_exec *exec, const struct as_core_access **accesses)
{
    if (!as_executed_has_block(&model->executed, exec->block))
        as_model_note_executed(model, exec->block);
    return as_bodies_find(&model->bodies, exec, accesses);
}

/* Runs a block in its core, on whichever host thread. */
static inline void run_body(struct as_model *model, struct model_thread *own, const struct as_body_run *run,
                            uint32_t path)
{
    struct as_edge_run known;
    if (__builtin_expect(own->drops, 0))
        drop_memo(model, own);
    if (__builtin_expect(model->measure.on, 1))
        make_room(model, own, run->body->n);
    known.path = path;
    known.first = (uint16_t)own->n;
    known.n = (uint16_t)run->body->n;
    known.edge = as_core_run(own->seat.core, run, model->records, &known.base);
    bool is_new = !known.edge;
    if (__builtin_expect(model->measure.on, 1)) {
        add_run(own, own->number, &known, model->records);
        if (__builtin_expect(run->body->n_accesses && model->wants & AS_WANT_ACCESSES, 0))
            note_accesses(own, run);
    }
    if (__builtin_expect(is_new && model->memo && as_memo_is_full(model->memo), 0))
        own->drops = true; /* before the next run: until then elements may be added to this one's accesses */
}

void as_model_run_apart(void *context, const struct as_body_run *run, uint32_t path)
{
    struct as_model *model = context;
    uint32_t blocks = run->body->n_blocks;
    if (model->together.on) /* where one core runs apart, the reading thread counts */
        as_model_count_shares(model, blocks);
    run_body(model, model->taking, run, path);
}

bool as_model_announce(void *context, const uint64_t *addresses, size_t n)
{
    const struct as_model *model = context;
    return model->taking && as_core_announce(model->taking->seat.core, addresses, n);
}

/* Asks the predictor of the core that runs apart about all control transfers of an execution. */
static void foresee(const struct as_model *model, const struct as_body *body, const struct as_block_exec *exec,
                    uint32_t *foreseen)
{
    const struct as_recipe *recipe = body->recipes;
    for (uint32_t i = 0; i < body->n; i++, recipe = as_recipe_behind(recipe)) {
        bool last = i + 1 == body->n;
        if (recipe->traits & AS_RECIPE_CONTROL)
            *foreseen++ = as_core_foresee(model->chains.core, body->insns[i], last && exec->taken,
                                          last ? exec->next : body->insns[i + 1]->address);
    }
}

/* Puts in an execution that is not like the block's last one, or the block's first one. */
static __attribute__((noinline)) bool put_slowly(struct as_model *model, const struct as_block_exec *exec,
                                                 uint32_t path)
{
    bool is_new = !as_executed_has_block(&model->executed, exec->block);
    if (is_new && model->ideal_of) /* what stands for its instructions is not known yet */
        return false;
    const struct as_core_access *accesses;
    const struct as_body *body = as_bodies_find(&model->bodies, exec, &accesses);
    struct as_ahead_block *block = as_ahead_room(model->ahead, body->n_accesses, body->controls);
    if (!block)
        return false;
    *block = (struct as_ahead_block){.body = body, .next = exec->next, .path = path, .taken = exec->taken};
    if (is_new)
        as_model_note_executed(model, exec->block);
    struct as_core_access *complete = (struct as_core_access *)block->data;
    if (body->n_accesses)
        memcpy(complete, accesses, body->n_accesses * sizeof *accesses);
    uint32_t *foreseen = (uint32_t *)(complete + body->n_accesses);
    foresee(model, body, exec, foreseen);
    as_ahead_put(model->ahead, body->n_accesses * sizeof *accesses, body->controls);
    return true;
}

/* Returns false if the block must run in place. */
static inline bool put_ahead(struct as_model *model, const struct as_block_exec *exec, uint32_t path)
{
    struct as_block_body *body = as_chains_put(&model->chains, exec, path);
    if (__builtin_expect(!body, 0))
        return put_slowly(model, exec, path);
    if (exec->number)
        as_bodies_number(&model->bodies, exec->number, body);
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

/* Whether an execution is an element of a string that the core has moved with the element before it. */
static __attribute__((noinline)) bool is_moved(const struct as_model *model, struct model_thread *own,
                                               const struct as_block_exec *exec)
{
    uint32_t bytes = model->machine->back.string_bytes, line = model->machine->memory.line;
    return bytes && exec->end - exec->first == 1 &&
           as_string_run_has(&own->strings, bytes < line ? bytes : line, line, exec);
}

static void run_block(struct as_model *model, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct model_thread *own = thread->user;
    if (__builtin_expect(exec->continues, 0) && is_moved(model, own, exec)) {
        if (model->wants & AS_WANT_ACCESSES)
            note_element(model, own, exec);
        return;
    }
    if (__builtin_expect(!own->path, 0)) {
        own->path = as_paths_number(&model->paths, own->book, as_call_tracker_begin(model->calls, thread, exec));
        as_paths_note(&model->paths, own->path);
    }
    if (!model->apart || !put_ahead(model, exec, own->path)) {
        if (model->apart)
            as_model_settle(model);
        run_in_place(model, own, exec);
    }
    if (__builtin_expect(model->measure.on, 1))
        model->instructions += as_block_exec_count(exec);
    if (exec->block->last_class == AS_CLASS_JUMP_INDIRECT || exec->block->last_class == AS_CLASS_CALL_INDIRECT)
        as_targets_note(&model->leaders, exec->block->image, exec->next);
    if ((exec->taken || as_block_touches_stack(exec->block)) && as_call_tracker_end(model->calls, thread, exec))
        own->path = 0;
}

/* Where a thread waits or goes on is a matter of the times of all. */
static void settle_together(struct as_model *model)
{
    if (model->together.on)
        as_model_settle(model);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    if (model->together.on && model->apart != own)
        as_model_turn_to(model, own);
    as_model_note_ran(model);
    if (!model->together.on)
        as_model_count_shares(model, 1);
    if (__builtin_expect(!as_model_cores_has(&model->cores, &own->seat), 0)) {
        as_model_settle(model);
        as_model_cores_enter(&model->cores, &own->seat);
    }
    if (__builtin_expect(!own->runs, 0)) { /* the thread returned from a system call unnoticed */
        settle_together(model);
        as_model_catch_up(model, own);
    }
    if (__builtin_expect(model->stretch.mode == AS_MODE_WARM, 0))
        as_model_warm_block(model, thread, exec);
    else
        run_block(model, thread, exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_model *model = context;
    settle_together(model);
    as_chains_close(&model->chains);
    as_model_stop(model, thread->user);
    if (model->stretch.mode == AS_MODE_COUNT)
        return;
    as_call_tracker_syscall(model->calls, thread, number);
    if (model->kernel_calls)
        model->kernel_calls->syscall(model->calls_context, thread, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_model *model = context;
    settle_together(model);
    as_model_catch_up(model, thread->user);
    if (model->kernel_calls && model->stretch.mode != AS_MODE_COUNT)
        model->kernel_calls->syscall_return(model->calls_context, thread, number, result);
}

/* The call tracker is asked again where the thread is. */
static void lose_path(struct model_thread *own)
{
    own->path = 0;
    own->followed = false;
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    struct as_model *model = context;
    as_chains_close(&model->chains);
    lose_path(thread->user);
    as_call_tracker_signal(model->calls, thread, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    as_chains_close(&model->chains);
    lose_path(thread->user);
    as_call_tracker_signal_return(model->calls, thread);
}

/* A core that runs apart looks at what is shared. */
static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_model *model = context;
    as_model_settle(model);
    as_shared_memory_sink.mapping(model->memory_shared, thread, mapping);
    if (model->kernel_calls && model->kernel_calls->mapping)
        model->kernel_calls->mapping(model->calls_context, thread, mapping);
}

/* Before it is mapped nobody uses it, so it may be known too early. */
static void on_foresee(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_model *model = context;
    as_model_settle(model);
    as_shared_memory_map(model->memory_shared, thread->process, mapping);
}

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    struct as_model *model = context;
    const struct model_thread *own = thread->user;
    if (model->together.on)
        return own->noted[model->together.seen % AS_MODEL_ROUNDS];
    if (model->apart)
        as_model_settle(model);
    model->calm = 0;
    return as_model_cores_clock(&model->cores, &own->seat);
}

static uint64_t turn_of(void *context, const struct as_thread *thread)
{
    const struct as_model *model = context;
    const struct model_thread *own = thread->user;
    uint64_t clock = clock_of(context, thread);
    return model->together.on || model->machine->coherence.cores ? clock : as_core_turn(own->seat.core);
}

/* Whether cache lines moved between cores a short while ago. */
static bool shares(void *context)
{
    const struct as_model *model = context;
    return model->together.on ? model->together.shared[model->together.seen % AS_MODEL_ROUNDS] : model->shares > 0;
}

/* Time that the thread owes passes on its core, now: the core is asked for it next. */
static void pass_what_is_due(struct as_model *model, struct model_thread *own)
{
    as_model_settle(model);
    as_model_warm_in_place(model, own);
    as_model_pass_due(model, own);
    as_model_warm_end(model);
}

static void on_show(void *context, struct as_thread *thread, uint32_t mark)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    pass_what_is_due(model, own);
    model->marks[mark % AS_MODEL_MARKS] = as_core_show_stores(own->seat.core);
}

/* A thread that saw a store goes on no earlier than that was. An atomic may ask for the line before: caches serve the owners of a line in
 * the order in which they ask here, as long as they are not much out of order in time (OUT_OF_ORDER in coherence.c), and a core that
 * asked only then would pay for its way to the caches on top of the line's. A thread that looks has asked as soon as it had lost the line. */
enum { QUEUED = 250 };

static uint64_t asks_since(const struct model_thread *own, uint64_t until, uint64_t word, bool atomic)
{
    if (atomic)
        return until > QUEUED ? until - QUEUED : until;
    uint64_t lost = word ? as_core_lost(own->seat.core, word) : UINT64_MAX;
    return lost < until && lost + QUEUED > until ? lost : until;
}

static void on_await(void *context, struct as_thread *thread, uint32_t mark, uint64_t word, bool atomic)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    pass_what_is_due(model, own);
    if (model->stretch.mode == AS_MODE_COUNT && model->n_cores > 1) /* lines move, though no transfer is seen */
        model->shares = AS_MODEL_SHARED_BLOCKS;
    own->woken = !own->runs;
    uint64_t until = asks_since(own, model->marks[mark % AS_MODEL_MARKS], word, atomic);
    if (until <= as_core_time(own->seat.core))
        return;
    as_core_empty(
        own->seat.core); /* what saw the store was executed behind it, and is not the value of an own, older one */
    as_core_wait_until(own->seat.core, until);
}

static const struct as_shared_ranges *shared_of(void *context, const struct as_thread *thread)
{
    const struct as_model *model = context;
    return as_shared_memory_of(model->memory_shared, thread->process);
}

const struct as_sink as_model_sink = {
    .thread_start = as_model_thread_start,
    .thread_end = as_model_thread_end,
    .block = on_block,
    .take = as_model_take,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .signal = on_signal,
    .signal_return = on_signal_return,
    .mapping = on_mapping,
    .stretch = as_model_stretch,
    .gap_end = as_model_gap_end,
    .skipped = as_model_skipped,
    .passed = as_model_passed,
    .trail = as_model_trail,
    .unmeasured = true,
    .clock = clock_of,
    .turn = turn_of,
    .shares = shares,
    .round = as_model_round,
    .show = on_show,
    .await = on_await,
    .shared = shared_of,
    .foresee = on_foresee,
};
