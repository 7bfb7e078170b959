/* Stretches of a run that are counted, warmed or measured. See model_inside.h. */
#include "model/model_inside.h"
#include "model/resident.h"

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
        if (model->sieve)
            as_model_learn_pace(model, own);
        as_measure_leave(&model->measure, own->seat.core, &own->before);
        own->left_at = as_core_cycles(own->seat.core);
        if (model->measured)
            as_model_publish(model, own, (uint32_t)i + 1, false);
    }
    as_measure_end(&model->measure);
    if (!model->measured)
        return;
    as_fanout_forget(model->fanout); /* waits for the observers */
    model->measured(model->measured_context, model->stretch.region);
}

/* The first cycle of the stretch is the one after the last commit. If the pipeline is not empty, it is the cycle of the
 * last commit, in which more instructions may commit; but not if that cycle belongs to the stretch before, because the thread has
 * executed nothing since. */
static void begin_measuring(struct as_model *model, uint32_t region, bool settled)
{
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *own = model->threads.data[i];
        if (!own || !own->seat.core)
            continue;
        uint64_t cycles = as_core_cycles(own->seat.core);
        as_model_publish(model, own, (uint32_t)i + 1, false); /* records of two regions are never in one batch */
        own->before = as_measure_core(&model->measure, own->seat.core);
        own->border = settled && cycles > own->left_at ? cycles - 1 : cycles;
        if (own->border == cycles && (settled || model->n_cores > 1))
            as_core_empty(own->seat.core);
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

/* The paths that threads are on when pipelines begin: they come to others from there. */
static void note_paths(struct as_model *model)
{
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i])
            as_paths_note(&model->paths, model->threads.data[i]->path);
}

static void forget_calls(struct as_model *model)
{
    as_call_tracker_forget(model->calls);
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i])
            model->threads.data[i]->path = model->threads.data[i]->followed = 0;
}

void as_model_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_model *model = context;
    enum as_mode was = model->stretch.mode, is = stretch->mode;
    /* A core that runs apart and only warms goes on with that: the words for both stretches come in order. */
    if (!(model->sieve && model->warm.apart && was == AS_MODE_COUNT && is == AS_MODE_WARM))
        as_model_settle(model);
    if (model->measure.on)
        end_measuring(model);
    if (has_time(is) && !has_time(was)) {
        empty_cores(model);
        note_paths(model);
    }
    if (was == AS_MODE_COUNT && is != AS_MODE_COUNT && model->sieve)
        as_model_sieve_end(model);
    else if (was == AS_MODE_COUNT && is != AS_MODE_COUNT)
        forget_calls(model);
    if (is == AS_MODE_DETAIL)
        begin_measuring(model, stretch->region, was == AS_MODE_SETTLE);
    model->stretch = *stretch;
}

static void touch_pages(void *context, uint64_t start, uint64_t end)
{
    const struct model_thread *own = context;
    as_uncore_touch(own->model->uncore, own->model->machine, own->process, start, end);
}

void as_model_gap_end(void *context)
{
    struct as_model *model = context;
    uint32_t done = 0; /* threads of a process are adjacent, as a rule */
    as_model_settle(model);
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *own = model->threads.data[i];
        if (own && own->seat.core && !own->forked && own->process != done)
            as_resident_pages(own->pid, touch_pages, own);
        done = own && own->seat.core ? own->process : done;
    }
}

uint64_t as_model_time(struct as_model *model)
{
    uint64_t sum = 0;
    as_model_settle(model);
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i] && model->threads.data[i]->seat.core)
            sum += as_core_cycles(model->threads.data[i]->seat.core);
    return sum;
}

void as_model_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                      uint32_t end, uint64_t times)
{
    struct as_model *model = context;
    struct model_thread *own = thread->user;
    if (!as_executed_has_block(&model->executed, block))
        as_model_note_executed(model, block);
    if (!model->sieve || model->stretch.mode != AS_MODE_COUNT)
        return;
    as_model_sieve_mark(model, thread, block);
    as_model_count_shares(model, times < UINT32_MAX ? (uint32_t)times : UINT32_MAX);
    as_model_let_pass(model, own, block, first, end, times);
    as_model_warm_end(model);
    if (!own->runs) /* it came to its system call later than that seemed to be */
        as_model_stop(model, own);
}
