/* See progress.h. */
#include "cmd/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

enum { FIRST_AFTER_SECONDS = 2 };

void as_progress_start(struct as_progress *progress, uint64_t goal)
{
    *progress = (struct as_progress){
        .on = isatty(STDERR_FILENO) && as_log_shows(AS_LOG_NOTE), .started = as_clock_seconds(), .goal = goal};
    progress->next = progress->started + FIRST_AFTER_SECONDS;
}

void as_progress_update(struct as_progress *progress, uint64_t instructions)
{
    if (!progress->on)
        return;
    double time = as_clock_seconds();
    if (time < progress->next)
        return;
    double rate = (double)instructions / (time - progress->started);
    progress->next = time + 0.5;
    progress->shown = true;
    fprintf(stderr, "\r\033[Kassay: %.0f M instructions, %.0f MIPS", (double)instructions / 1e6, rate / 1e6);
    if (progress->goal > instructions && rate > 0)
        fprintf(stderr, ", %.0f s to go", (double)(progress->goal - instructions) / rate);
    fflush(stderr);
}

void as_progress_end(struct as_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = progress->on = false;
}

void as_progress_tick(void *context)
{
    struct as_progress_watch *watch = context;
    as_progress_update(&watch->progress, as_engine_progress(watch->engine));
}

static void start(void *context, uint64_t goal)
{
    as_progress_start(context, goal);
}

static void update(void *context, uint64_t instructions)
{
    as_progress_update(context, instructions);
}

static void end(void *context)
{
    as_progress_end(context);
}

const struct as_meter as_progress_meter = {.start = start, .update = update, .end = end};

bool as_progress_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err)
{
    struct as_progress progress;
    modelled->meter = &as_progress_meter;
    modelled->meter_context = &progress;
    bool ok = as_modelled_run(modelled, engine, err);
    modelled->meter = NULL;
    return ok;
}
