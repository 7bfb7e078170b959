/* assay doctor: what this machine offers for measuring, and what to do about what it lacks. */
#include "base/json.h"
#include "cmd/commands.h"
#include "cmd/doctor_rows.h"
#include "cmd/shared_options.h"

#include <stdio.h>

struct doctor_options {
    bool json;
};

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct doctor_options, json, AS_JSON_HELP),
    {.name = NULL},
};

static bool print_json(const as_doctor_rows *rows, const struct as_doctor_choice *choice)
{
    struct as_json *json = as_json_new(stdout);
    as_json_object(json, NULL);
    as_json_array(json, "rows");
    for (size_t i = 0; i < rows->len; i++) {
        const struct as_doctor_row *row = &rows->data[i];
        as_json_object(json, NULL);
        as_json_string(json, "name", row->name);
        as_json_string(json, "label", row->label);
        as_json_string(json, "state", row->state);
        as_json_string(json, "verdict", as_verdict_name(row->verdict));
        as_json_string(json, "remedy", row->remedy);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_object(json, "summary");
    as_json_string(json, "source", choice->source);
    as_json_string(json, "why", choice->why);
    as_json_end(json);
    as_json_end(json);
    return as_json_finish(json);
}

static void print_text(const as_doctor_rows *rows, const struct as_doctor_choice *choice)
{
    enum { STATE_COLUMN = 32 };
    for (size_t i = 0; i < rows->len; i++) {
        const struct as_doctor_row *row = &rows->data[i];
        printf("%-8s %-22s ", as_verdict_name(row->verdict), row->label);
        as_cli_wrap(stdout, row->state, STATE_COLUMN, STATE_COLUMN);
        if (row->remedy[0]) {
            printf("%*s-> ", STATE_COLUMN, "");
            as_cli_wrap(stdout, row->remedy, STATE_COLUMN + 3, STATE_COLUMN + 3);
        }
    }
    int column = printf("\nBest source here: %s: ", choice->source ? choice->source : "none") - 1;
    as_cli_wrap(stdout, choice->why, column, 4);
}

static int run_doctor(int argc, char **argv)
{
    struct doctor_options options = {0};
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_doctor, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (rest < argc)
        return as_cli_usage(&as_command_doctor, "doctor takes no arguments; unexpected '%s'", argv[rest]);
    struct as_probe probe;
    as_doctor_rows rows = {0};
    as_probe_machine("", &probe);
    as_doctor_native_rows(&probe, &rows);
    bool model_works = as_doctor_model_rows(&probe, &rows);
    struct as_doctor_choice choice = as_doctor_choose(&probe, model_works);
    bool written = true;
    if (options.json)
        written = print_json(&rows, &choice);
    else
        print_text(&rows, &choice);
    as_doctor_rows_free(&rows);
    return written ? AS_EXIT_OK : as_cli_stdout_failed();
}

const struct as_command as_command_doctor = {
    .name = "doctor",
    .summary = "What this machine offers for measuring",
    .usage = "[options]",
    .description = "Tries everything that Assay can measure with: it opens events, fires a debug register, runs a "
                   "program in QEMU. Each row has a verdict (ok, limited, missing), what was found, and a remedy if "
                   "there is one. The last line names the source that fits this machine best.",
    .options = options_table,
    .examples = "assay doctor\n"
                "assay doctor --json\n",
    .run = run_doctor,
};
