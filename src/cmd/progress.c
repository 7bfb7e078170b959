/* See progress.h. */
#include "cmd/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_AFTER_SECONDS = 2, LINE_SECONDS = 10, MOST_SECONDS = 60 };

/* Seconds to the first line of a log; 0: none is wanted. */
static double line_seconds(void)
{
    const char *wish = getenv("ASSAY_PROGRESS");
    char *end = NULL;
    double seconds = wish ? strtod(wish, &end) : LINE_SECONDS;
    return wish && (end == wish || *end || !(seconds >= 0)) ? LINE_SECONDS : seconds;
}

void as_progress_start(struct as_progress *progress, uint64_t goal)
{
    bool terminal = isatty(STDERR_FILENO);
    double gap = terminal ? FIRST_AFTER_SECONDS : line_seconds();
    *progress = (struct as_progress){.on = gap > 0 && as_log_shows(AS_LOG_NOTE),
                                     .terminal = terminal,
                                     .started = as_clock_seconds(),
                                     .gap = gap,
                                     .goal = goal};
    progress->next = progress->started + gap;
}

static void redraw(struct as_progress *progress, const char *rate, const char *rest)
{
    progress->next += 0.5;
    progress->shown = true;
    fprintf(stderr, "\r\033[Kassay: %s%s", rate, rest);
    fflush(stderr);
}

/* In a log a line stays: the longer the run, the longer until the next. */
static void add_line(struct as_progress *progress, double seconds, const char *rate, const char *rest)
{
    if (progress->gap < MOST_SECONDS)
        progress->gap = 2 * progress->gap < MOST_SECONDS ? 2 * progress->gap : MOST_SECONDS;
    progress->next += progress->gap;
    as_log_note("running for %.0f s: %s%s", seconds, rate, rest);
}

void as_progress_update(struct as_progress *progress, uint64_t instructions)
{
    if (!progress->on)
        return;
    double time = as_clock_seconds(), seconds = time - progress->started;
    if (time < progress->next)
        return;
    char rate[64], rest[32] = "";
    double each = (double)instructions / seconds;
    snprintf(rate, sizeof rate, "%.0f M instructions, %.*f MIPS", (double)instructions / 1e6, each < 1e7, each / 1e6);
    if (progress->goal > instructions && each > 0)
        snprintf(rest, sizeof rest, ", %.0f s to go", (double)(progress->goal - instructions) / each);
    progress->next = time;
    if (progress->terminal)
        redraw(progress, rate, rest);
    else
        add_line(progress, seconds, rate, rest);
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
