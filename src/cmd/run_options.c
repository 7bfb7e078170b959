/* See run_options.h. */
#include "cmd/run_options.h"

#include "base/alloc.h"
#include "base/log.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

const char *const as_run_memo_choices[] = {
    [AS_RUN_MEMO_ON] = "on", [AS_RUN_MEMO_OFF] = "off", [AS_RUN_MEMO_CHECK] = "check", NULL};

bool as_run_options_settle(struct as_run_options *options, struct as_error *err)
{
    if (!options->skip && !options->max && !options->from && !options->to)
        return true;
    struct as_region *region = as_regions_add(&options->regions);
    region->offset = options->skip;
    region->max = options->max ? options->max : AS_REGION_ALL;
    if (options->from)
        region->start = as_regions_symbol(&options->regions, options->from);
    if (options->to)
        region->stop = as_regions_symbol(&options->regions, options->to);
    return true;
}

void as_run_options_free(struct as_run_options *options)
{
    as_regions_free(&options->regions);
}

struct as_memo_options as_run_memo_options(const struct as_run_options *options)
{
    return (struct as_memo_options){.bytes = options->memo == AS_RUN_MEMO_OFF ? 0 : (size_t)options->memo_size << 20,
                                    .checks = options->memo == AS_RUN_MEMO_CHECK};
}

struct as_engine_options as_run_engine_options(const struct as_run_options *options, char **argv)
{
    return (struct as_engine_options){
        .argv = argv,
        .qemu = options->qemu,
        .window = options->window,
        .regions = &options->regions,
        .no_follow = options->no_follow,
    };
}

char *as_run_options_text(const struct as_run_options *run)
{
    char *text = as_strdup("");
    const struct {
        const char *word, *name;
        uint64_t number;
    } parts[] = {{"from", run->from, 0}, {"skip", NULL, run->skip}, {"max", NULL, run->max}, {"to", run->to, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *longer = NULL;
        if (parts[i].name)
            longer = as_format("%s%s--%s %s", text, *text ? " " : "", parts[i].word, parts[i].name);
        else if (parts[i].number)
            longer = as_format("%s%s--%s %" PRIu64, text, *text ? " " : "", parts[i].word, parts[i].number);
        if (longer) {
            free(text);
            text = longer;
        }
    }
    if (*text)
        return text;
    free(text);
    return NULL;
}

static void note_region(const struct as_engine_result *result, const struct as_run_options *options)
{
    if (result->region_reached)
        return;
    if (options->from)
        as_log_warn("the program never reached '%s'%s: nothing was measured", options->from,
                    options->skip ? ", or ended within --skip" : "");
    else if (options->skip)
        as_log_warn("the program ended within --skip: nothing was measured");
}

int as_run_end_report(const struct as_run_end *end)
{
    if (end->interrupted)
        as_log_warn("interrupted: this is what ran until then%s", end->running ? "; the program still runs" : "");
    else if (!end->stopped && end->signal)
        as_log_warn("the program was killed by signal %d (%s): this is what ran until then", end->signal,
                    strsignal(end->signal));
    if (end->stopped)
        return AS_EXIT_OK;
    return end->interrupted ? 128 + SIGINT : end->exit_status;
}

int as_run_report(const struct as_engine_result *result, const struct as_run_options *options)
{
    note_region(result, options);
    if (options->to && result->region_reached && !result->end.stopped)
        as_log_warn("the program never reached '%s' after that: it was measured to its end", options->to);
    if (result->end.signal == SIGILL && !result->end.stopped)
        as_log_note("QEMU knows x86-64 up to AVX2: a program built for newer instructions ends like this");
    if (result->untraced)
        as_log_note("%u executed program%s ran untraced (the first: %s)", result->untraced,
                    result->untraced == 1 ? "" : "s", result->first_untraced);
    if (result->left_running)
        as_log_note("%u process%s of the program still run%s, untraced from here on", result->left_running,
                    result->left_running == 1 ? "" : "es", result->left_running == 1 ? "s" : "");
    if (result->disagreements)
        as_log_debug("%u blocks of code accessed memory in another way than the decoder says; counted as seen",
                     result->disagreements);
    return as_run_end_report(&result->end);
}
