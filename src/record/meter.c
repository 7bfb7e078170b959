/* See meter.h. */
#include "record/meter.h"

struct watch {
    const struct as_meter *meter;
    void *context;
    const struct as_engine *engine;
};

static void tick(void *context)
{
    struct watch *watch = context;
    uint64_t executed = as_engine_progress(watch->engine);
    watch->meter->update(watch->context, executed, executed);
}

bool as_meter_run(const struct as_meter *meter, void *meter_context, struct as_engine_options options,
                  const struct as_metered *program, struct as_engine **engine, struct as_engine_result *result,
                  struct as_error *err)
{
    struct watch watch = {.meter = meter, .context = meter_context};
    options.tick = meter ? tick : NULL;
    options.tick_context = &watch;
    watch.engine = *engine = as_engine_start(&options, err);
    if (!*engine)
        return false;
    if (meter)
        meter->start(meter_context, program->goal);
    bool ok = (!program->start || program->start(program->run, *engine, err)) &&
              as_engine_run(*engine, program->sink, program->context, result, err) &&
              (!program->finish || program->finish(program->run, err));
    if (meter)
        meter->end(meter_context);
    return ok;
}
