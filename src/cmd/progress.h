/* A progress line on stderr, if that is a terminal and the run takes long enough. */
#ifndef AS_CMD_PROGRESS_H
#define AS_CMD_PROGRESS_H

#include "record/modelled.h"

#include <stdbool.h>
#include <stdint.h>

struct as_progress {
    bool on, shown;
    double started, next;
    uint64_t goal; /* instructions, 0: unknown */
};

void as_progress_start(struct as_progress *progress, uint64_t goal);
void as_progress_update(struct as_progress *progress, uint64_t instructions); /* cheap; draws twice a second */
void as_progress_end(struct as_progress *progress);                           /* erases the line */

/* The same for a run in the engine: as_engine_options.tick, with a watch as its context, once it has the engine. */
struct as_progress_watch {
    const struct as_engine *engine;
    struct as_progress progress;
};
void as_progress_tick(void *context);

extern const struct as_meter as_progress_meter; /* the same, with a struct as_progress as context */
/* as_modelled_run with that line. */
bool as_progress_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err) AS_MUST_CHECK;

#endif
