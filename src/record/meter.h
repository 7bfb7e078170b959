/* Reports the progress of a run, and of what is done with it then, to a caller that displays it. All calls come from the thread that
 * runs the program. */
#ifndef AS_RECORD_METER_H
#define AS_RECORD_METER_H

#include "engine/engine.h"

struct as_meter {
    void (*start)(void *context, uint64_t goal); /* instructions; 0: unknown */
    /* Instructions that were executed, and how many of them were measured, which the goal is of. */
    void (*update)(void *context, uint64_t executed, uint64_t measured);
    void (*write)(void *context, uint64_t rows); /* of the profile, so far */
    /* Ways to choose points that were tried, of so many. */
    void (*tried)(void *context, uint64_t ways, uint64_t of);
    void (*end)(void *context); /* of the run, of writing, of trying */
};

/* A program in the engine, and what is done with what it executes. */
struct as_metered {
    const struct as_sink *sink;
    void *context; /* the sink's */
    uint64_t goal; /* instructions that are to be measured; 0: unknown */
    /* Called before the program runs, and behind a run that succeeded; NULL: there is nothing to do. */
    bool (*start)(void *run, const struct as_engine *engine, struct as_error *err);
    bool (*finish)(void *run, struct as_error *err);
    void *run; /* that they take */
};

/* Starts the program and runs it to its end; all of it counts as measured. `meter` may be NULL. The caller frees the engine in any
 * case. */
bool as_meter_run(const struct as_meter *meter, void *meter_context, struct as_engine_options options,
                  const struct as_metered *program, struct as_engine **engine, struct as_engine_result *result,
                  struct as_error *err) AS_MUST_CHECK;

#endif
