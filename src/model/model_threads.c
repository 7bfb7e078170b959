/* Threads, each on a core of its own: their time, what a core that runs apart needs, and the batches that they fill. See
 * model_inside.h. */
#include "base/host_stream.h"
#include "model/model_inside.h"

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

/* From here on blocks run in place. If the core was interrupted soon, it waits longer before it runs apart again. */
void as_model_settle_apart(struct as_model *model)
{
    struct model_thread *own = model->apart;
    if (model->together.on) {
        as_model_end_together(model);
        return;
    }
    as_chains_close(&model->chains);
    as_model_warm_flush(model);
    as_ahead_settle(model->ahead);
    model->apart = NULL;
    if (!model->warm.apart && model->apart_for < 10 * model->calm_enough)
        model->calm_enough = model->calm_enough * 2 < CALM_MOST ? model->calm_enough * 2 : CALM_MOST;
    model->warm.apart = false;
    if (!own->runs)
        as_model_stop(model, own);
}

void as_model_catch_up(struct as_model *model, struct model_thread *thread)
{
    thread->runs = true;
    thread->seat.waits = false;
    bool woken = thread->woken;
    thread->woken = false;
    if (model->apart || woken) /* the only thread is always in the present; one that was woken goes on when that was */
        return;
    uint64_t time = slowest(model, thread);
    if (time == UINT64_MAX)
        time = model->stopped;
    if (time > as_core_time(thread->seat.core))
        as_core_wait_until(thread->seat.core, time);
}

void as_model_stop(struct as_model *model, struct model_thread *thread)
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

/* Called when a thread has ended: adds up what its core did. If it ends unmeasured, observers cannot know that; the next
 * thread with its number then goes on in the same time (as_model_thread_start). */
static void retire(struct as_model *model, struct model_thread *thread, bool known)
{
    as_measure_leave(&model->measure, thread->seat.core, &thread->before);
    model->retired += as_core_cycles(thread->seat.core);
    as_model_stop(model, thread);
    thread->cycles_before += known ? thread->told : 0;
    thread->told = known ? 0 : thread->told;
    as_model_sieve_leave(thread);
    as_model_cores_leave(&model->cores, &thread->seat, model->uncore, !has_fellows(model, thread));
    model->n_cores--;
}

static bool code_at(void *context, uint64_t address, struct as_code_run *run)
{
    const struct model_thread *thread = context;
    return as_executed_at(&thread->model->executed, thread->image, address, run);
}

static uint64_t code_version(void *context, bool unknown)
{
    const struct as_executed *executed = &((const struct model_thread *)context)->model->executed;
    return unknown ? executed->n_blocks : executed->n_changes;
}

void as_model_thread_start(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    as_model_settle(model);
    as_shared_memory_sink.thread_start(model->memory_shared, thread);
    if (model->kernel_calls && model->kernel_calls->thread_start)
        model->kernel_calls->thread_start(model->calls_context, thread);
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
    as_core_set_shared(own->seat.core, as_shared_memory_of(model->memory_shared, thread->process));
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
    own->pid = thread->pid;
    own->forked = thread->parent != 0;
    thread->user = own;
    as_model_catch_up(model, own);
    as_call_tracker_thread_start(model->calls, thread);
    own->path = 0;
    own->followed = false;
    own->book = as_paths_book(&model->paths, thread->number, (uint32_t)as_call_tracker_image_of(model->calls, thread));
}

enum { STAYS_A_BATCH = 4 * AS_MODEL_BATCH };

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

void as_model_publish(struct as_model *model, struct model_thread *own, uint32_t number, bool last)
{
    if (own->shift)
        rebase_stays(own);
    if (own->buffer) {
        own->buffer->cycles_before = own->cycles_before;
        own->told = own->n ? as_core_cycles(own->seat.core) - own->shift : own->told;
        bool logs = own->stays.stays.len > 0;
        as_pipe_buffer_swap_stays(own->buffer, &own->stays.stays.data, &own->stays.stays.len, &own->stays.stays.cap);
        if (logs) /* room for most batches: growing means copying */
            as_vec_reserve((void **)&own->stays.stays.data, &own->stays.stays.cap, STAYS_A_BATCH,
                           sizeof *own->stays.stays.data);
        as_host_stream_end();
        as_pipe_buffer_publish(model->fanout, own->buffer, number, own->n, last);
    }
    as_vec_clear(&own->stays.stays);
    own->buffer = NULL;
    own->n = 0;
}

static void keep_name(struct as_model *model, const struct as_thread *thread)
{
    struct as_model_name name = {.thread = thread->number, .image = thread->image->number};
    memcpy(name.name, thread->name, sizeof name.name);
    if (name.name[0])
        *as_vec_push(&model->names) = name;
}

void as_model_thread_end(void *context, struct as_thread *thread)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    as_model_settle(model);
    bool known = own->n > 0;
    as_model_publish(model, own, thread->number, true);
    retire(model, own, known);
    as_call_tracker_thread_end(model->calls, thread);
    keep_name(model, thread);
}
