/* A copy of a run that measures a part of it, and what its original learns from it. See model_inside.h. */
#include "model/model_inside.h"

#include <unistd.h>

/* The program has ended in the stretch, or the original has. If it had not begun to measure, nothing ends the copy but this. */
static void end_twin(void *context)
{
    as_model_stretch(context, &(struct as_stretch){.mode = AS_MODE_COUNT, .region = AS_REGION_NONE});
    _exit(AS_EXIT_OK);
}

/* The threads of the original are not here. */
static bool start_threads(struct as_model *model, struct as_fanout *fanout, struct as_error *err)
{
    model->fanout = fanout;
    model->wants = as_fanout_wants(fanout);
    model->ahead = as_ahead_new(as_model_run_apart, as_model_warm_apart, as_model_announce, model);
    model->chains.ahead = model->ahead;
    return as_fanout_start(fanout, err);
}

pid_t as_model_twin(struct as_model *model, enum as_mode mode, struct as_fanout *fanout, as_region_measured *measured,
                    void *context, struct as_error *err)
{
    as_model_settle(model);
    pid_t pid = as_engine_twin(model->engine, end_twin, model, err);
    if (pid != 0)
        return pid;
    as_model_set_measured(model, measured, context);
    if (!start_threads(model, fanout, err))
        _exit(AS_EXIT_FAILURE);
    as_engine_treat_as(model->engine, mode);
    return 0;
}

void as_model_twin_end(struct as_model *model)
{
    as_engine_twin_end(model->engine);
}

uint32_t as_model_adopt_call(struct as_model *model, uint32_t tree, const struct as_call_node *node)
{
    return as_call_tracker_adopt(model->calls, tree, node);
}

uint32_t as_model_adopt_path(struct as_model *model, const struct as_path_key *key)
{
    return as_paths_number(&model->paths, as_paths_book(&model->paths, key->thread, key->tree), key->node);
}

void as_model_adopt_leader(struct as_model *model, uint64_t leader)
{
    as_targets_note(&model->leaders, (uint32_t)(leader >> 48), as_target_address(leader));
}
