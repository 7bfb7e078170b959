/* Cores of several threads on the host thread of a core that runs apart: together, in one queue.
 *
 * The reading thread reads threads in rounds, each a piece of every thread, and chooses by their simulated times whose turn it is. It
 * need not know those to the cycle as long as no line moves between cores and no thread waits for its turn: it works with the times of
 * two rounds before, while the cores run what it has read since. So both host threads always have something to do, and the order
 * of reading follows from what was read, never from how fast the host threads are. Where lines move, or times have to be exact, all blocks run in
 * place, a block at a time. See model_inside.h.
 *
 * Between the rounds the queue has words: which thread's blocks follow, and the end of a round, where times are noted. */
#include "model/model_inside.h"

enum { LAG = 2 }; /* rounds */
_Static_assert(LAG + 1 < AS_MODEL_ROUNDS, "what is looked at is not written meanwhile");
enum { QUIET_LEAST = 4, QUIET_MOST = 512, WORTH = 8 }; /* rounds; WORTH: times as many as were waited for */
enum word { TURN, END }; /* the first of two: a thread follows, or the number of a round */

static void put(struct as_model *model, enum word what, uint64_t value)
{
    as_chains_close(&model->chains);
    as_ahead_put_words(model->ahead, (const uint64_t[]){what, value}, 2);
}

/* The times of all threads, at the end of a round. */
static void note_times(struct as_model *model, uint64_t round)
{
    struct as_model_together *together = &model->together;
    for (size_t i = 0; i < model->threads.len; i++) {
        struct model_thread *own = model->threads.data[i];
        if (own && own->seat.core)
            own->noted[round % AS_MODEL_ROUNDS] = as_model_cores_clock(&model->cores, &own->seat);
    }
    together->shared[round % AS_MODEL_ROUNDS] = model->shares > 0;
}

void as_model_take_together(struct as_model *model, const uint64_t *words)
{
    if (words[0] == TURN)
        model->taking = (struct model_thread *)(uintptr_t)words[1];
    else
        note_times(model, words[1]);
}

/* With fewer cores than threads, who runs is decided by times. */
static bool may_go(const struct as_model *model)
{
    return model->ahead && !model->apart && model->n_cores > 1 && !model->machine->coherence.cores && !model->shares &&
           (model->stretch.mode == AS_MODE_DETAIL || model->stretch.mode == AS_MODE_SETTLE);
}

static void go(struct as_model *model)
{
    struct as_model_together *together = &model->together;
    struct model_thread *first = NULL;
    for (size_t i = 0; i < model->threads.len && !first; i++)
        if (model->threads.data[i] && model->threads.data[i]->seat.core)
            first = model->threads.data[i];
    if (!first)
        return;
    together->on = true;
    together->round = together->seen = 0;
    together->handed[0] = as_ahead_hand_over(model->ahead);
    note_times(model, 0);
    model->apart = model->taking = first;
    model->chains.core = first->seat.core;
}

/* If nothing was read, times are to be known up to the end. */
static void end_round(struct as_model *model)
{
    struct as_model_together *together = &model->together;
    if (together->ran) {
        put(model, END, ++together->round);
        together->handed[together->round % AS_MODEL_ROUNDS] = as_ahead_hand_over(model->ahead);
        together->seen = together->round > LAG ? together->round - LAG : 0;
    } else {
        together->seen = together->round;
    }
    as_ahead_wait(model->ahead, together->handed[together->seen % AS_MODEL_ROUNDS]);
}

void as_model_round(void *context, bool exactly)
{
    struct as_model *model = context;
    struct as_model_together *together = &model->together;
    if (together->on && exactly)
        as_model_settle(model);
    else if (together->on)
        end_round(model);
    else if (together->ran && model->n_cores > 1 && ++together->quiet >= together->quiet_enough && !exactly &&
             may_go(model))
        go(model);
    together->ran = false;
}

void as_model_turn_to(struct as_model *model, struct model_thread *own)
{
    put(model, TURN, (uint64_t)(uintptr_t)own);
    model->apart = own;
    model->chains.core = own->seat.core;
}

void as_model_end_together(struct as_model *model)
{
    struct as_model_together *together = &model->together;
    uint32_t enough = together->quiet_enough;
    as_chains_close(&model->chains);
    as_ahead_settle(model->ahead);
    model->apart = NULL;
    together->on = false;
    if (together->round < (uint64_t)WORTH * enough)
        together->quiet_enough = enough * 2 < QUIET_MOST ? enough * 2 : QUIET_MOST;
    else
        together->quiet_enough = QUIET_LEAST;
}

void as_model_prepare_together(struct as_model *model)
{
    model->together.quiet_enough = QUIET_LEAST;
}
