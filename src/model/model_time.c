/* The time of instructions that do not go through a pipeline, because they are only counted or warm. See model_inside.h.
 *
 * A thread then goes on at the pace that it had where it was last measured (time-based sampling: Carlson, Heirman and Eeckhout,
 * ISPASS 2013). So threads stay together in simulated time, a thread that waits for another one waits as long as it would, and
 * the machine's time at the end of the run is the elapsed time of all of it. A core's own cycles do not grow. */
#include "model/model_inside.h"

enum {
    STEP = 256,    /* cycles that a thread goes on at a time … */
    STEP_MANY = 1, /* … and one of several: which of them comes to a lock first is a matter of a few cycles */
    KNOWN = 200,   /* instructions from which on a thread has a pace of its own */
    HEEDED = 60000 /* instructions that decide about a pace: what was measured before them counts ever less */
};

static void add(struct as_model_pace *to, double cycles, double instructions)
{
    to->cycles += cycles;
    to->instructions += instructions;
    double kept = to->instructions > HEEDED ? HEEDED / to->instructions : 1;
    to->cycles *= kept;
    to->instructions *= kept;
}

void as_model_learn_pace(struct as_model *model, struct model_thread *own)
{
    struct as_counters now;
    as_core_count(own->seat.core, &now);
    double cycles = (double)(now.cycles - own->before.cycles);
    double instructions = (double)(now.instructions - own->before.instructions);
    add(&own->pace, cycles, instructions);
    add(&model->pace, cycles, instructions);
}

void as_model_set_pace(struct as_model *model, as_model_pace_of *pace, void *context)
{
    model->pace_of = pace;
    model->pace_context = context;
}

static double cycles_each(const struct as_model *model, const struct model_thread *own)
{
    const struct as_model_pace *pace = own->pace.instructions >= KNOWN ? &own->pace : &model->pace;
    return pace->instructions > 0 ? pace->cycles / pace->instructions : 1;
}

/* Counted executions may be told when the thread already waits in a system call: it stays there. Were it taken for running, all others
 * would keep to its time, which stands still. */
void as_model_let_pass(struct as_model *model, struct model_thread *own, const struct as_block *block, uint32_t first,
                       uint32_t end, uint64_t times)
{
    as_model_warm_in_place(model, own);
    double cycles = model->pace_of ? model->pace_of(model->pace_context, block, first, end)
                                   : (end - first) * cycles_each(model, own);
    own->due += (double)times * cycles;
    if (own->due >= (model->n_cores > 1 ? STEP_MANY : STEP))
        as_model_pass_due(model, own);
}

void as_model_pass_due(struct as_model *model, struct model_thread *own)
{
    uint64_t cycles = (uint64_t)own->due;
    if (!cycles)
        return;
    own->due -= (double)cycles;
    model->let_pass += cycles;
    as_model_warm_wait(model, cycles);
}

double as_model_idle_factor(const struct as_model *model)
{
    uint64_t busy = model->retired + model->let_pass;
    for (size_t i = 0; i < model->threads.len; i++)
        if (model->threads.data[i] && model->threads.data[i]->seat.core)
            busy += as_core_cycles(model->threads.data[i]->seat.core);
    return busy ? (double)model->measure.machine.elapsed_cycles / (double)busy : 1;
}
