/* See comm_given.h. */
#include "cmd/comm_given.h"

#include "cmd/commands.h"

struct as_detect_options as_comm_given_detect(const struct as_comm_given *options)
{
    return (struct as_detect_options){.buckets = options->buckets,
                                      .entry_life = (uint32_t)options->entry_life,
                                      .watch_life = (uint32_t)options->watch_life,
                                      .registers = (uint32_t)options->registers,
                                      .last_stores = options->method == AS_COMM_LAST_STORES,
                                      .follow_life = (uint32_t)options->follow_life,
                                      .own_samples = AS_DETECT_OWN_SAMPLES,
                                      .seed = options->seed};
}

bool as_comm_given_takes_stdout(const struct as_comm_given *options)
{
    return (options->json || options->csv || options->svg || options->html) && !options->output;
}

static int print(const struct as_comm_given *options, const struct as_comm_shown *shown, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    bool written = true;
    if (options->json)
        written = as_comm_json(shown, output->file);
    else if (options->csv)
        as_comm_csv(shown, output->file);
    else if (options->svg)
        as_comm_svg(shown, output->file);
    else if (options->html)
        as_comm_html(shown, output->file);
    else
        as_comm_text(shown, output->file);
    if (!written && !output->path)
        return as_cli_stdout_failed();
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_comm, &err);
}

int as_comm_given_show(const struct as_comm_given *options, const struct as_comm_shown *known, struct as_output *output)
{
    struct as_comm_rows rows = {0};
    struct as_comm_shown shown = *known;
    as_comm_rows_make(&rows, known->result);
    shown.rows = &rows;
    shown.top = options->top;
    int failed = print(options, &shown, output);
    as_comm_rows_free(&rows);
    return failed;
}
