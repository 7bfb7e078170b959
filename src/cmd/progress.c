/* See progress.h. */
#include "cmd/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>
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

static void begin(struct as_progress *progress, uint64_t goal, bool terminal)
{
    double gap = terminal ? FIRST_AFTER_SECONDS : line_seconds();
    *progress = (struct as_progress){.on = gap > 0 && as_log_shows(AS_LOG_NOTE),
                                     .terminal = terminal,
                                     .started = as_clock_seconds(),
                                     .gap = gap,
                                     .goal = goal};
    progress->next = progress->started + gap;
}

/* A line that is redrawn must be alone on its terminal: what the program writes would follow it, or be erased by it. */
void as_progress_start(struct as_progress *progress, uint64_t goal)
{
    begin(progress, goal, isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO));
}

static void redraw(struct as_progress *progress, const char *text)
{
    progress->next += 0.5;
    progress->shown = true;
    fprintf(stderr, "\r\033[Kassay: %s", text);
    fflush(stderr);
}

/* In a log a line stays: the longer it takes, the longer until the next. */
static void add_line(struct as_progress *progress, double seconds, const char *text)
{
    if (progress->gap < MOST_SECONDS)
        progress->gap = 2 * progress->gap < MOST_SECONDS ? 2 * progress->gap : MOST_SECONDS;
    progress->next += progress->gap;
    as_log_note("%s for %.0f s: %s", progress->then ? progress->then : "running", seconds, text);
}

/* Seconds since the start, if it is time for a line; else 0. */
static double seconds_if_due(struct as_progress *progress)
{
    double time = as_clock_seconds();
    if (!progress->on || time < progress->next)
        return 0;
    progress->next = time;
    return time - progress->started;
}

void as_progress_update(struct as_progress *progress, uint64_t executed, uint64_t measured)
{
    double seconds = seconds_if_due(progress);
    if (seconds <= 0)
        return;
    char rate[64], rest[32] = "", text[96];
    double each = (double)executed / seconds;
    snprintf(rate, sizeof rate, "%.0f M instructions, %.*f MIPS", (double)executed / 1e6, each < 1e7, each / 1e6);
    if (progress->goal > measured && measured)
        snprintf(rest, sizeof rest, ", %.0f s to go", seconds * (double)(progress->goal - measured) / (double)measured);
    snprintf(text, sizeof text, "%s%s", rate, rest);
    if (progress->terminal)
        redraw(progress, text);
    else
        add_line(progress, seconds, text);
}

/* Whether it is time for a line about what is done now that the program has ended. */
static double seconds_if_due_then(struct as_progress *progress, const char *what)
{
    if (!progress->then) {
        begin(progress, 0, isatty(STDERR_FILENO));
        progress->then = what;
    }
    return seconds_if_due(progress);
}

static void show_then(struct as_progress *progress, double seconds, const char *text)
{
    char line[128];
    snprintf(line, sizeof line, "%s: %s", progress->then, text);
    if (progress->terminal)
        redraw(progress, line);
    else
        add_line(progress, seconds, text);
}

void as_progress_write(struct as_progress *progress, uint64_t rows)
{
    char text[64];
    double seconds = seconds_if_due_then(progress, "writing the profile");
    if (seconds <= 0)
        return;
    snprintf(text, sizeof text, "%.1f M rows", (double)rows / 1e6);
    show_then(progress, seconds, text);
}

void as_progress_try(struct as_progress *progress, uint64_t ways, uint64_t of)
{
    char text[64];
    double seconds = seconds_if_due_then(progress, "choosing points");
    if (seconds <= 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " ways", ways, of);
    show_then(progress, seconds, text);
}

void as_progress_end(struct as_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = progress->on = false;
    progress->then = NULL;
}

static void start(void *context, uint64_t goal)
{
    as_progress_start(context, goal);
}

static void update(void *context, uint64_t executed, uint64_t measured)
{
    as_progress_update(context, executed, measured);
}

static void write_rows(void *context, uint64_t rows)
{
    as_progress_write(context, rows);
}

static void tried(void *context, uint64_t ways, uint64_t of)
{
    as_progress_try(context, ways, of);
}

static void end(void *context)
{
    as_progress_end(context);
}

const struct as_meter as_progress_meter = {
    .start = start, .update = update, .write = write_rows, .tried = tried, .end = end};

bool as_progress_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err)
{
    struct as_progress progress;
    modelled->meter = &as_progress_meter;
    modelled->meter_context = &progress;
    bool ok = as_modelled_run(modelled, engine, err);
    modelled->meter = NULL;
    return ok;
}
