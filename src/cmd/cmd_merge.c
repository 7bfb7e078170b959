/* assay merge: merges profiles of one program. */
#include "base/log.h"
#include "base/split.h"
#include "base/vec.h"
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "merge/merge.h"

#include <string.h>

struct merge_options {
    const char *output, *weights;
    bool force;
};

static const struct as_option options_table[] = {
    {.name = "output",
     .short_name = 'o',
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct merge_options, output),
     .value = "FILE",
     .writes = true,
     .help = "Write the merged profile to FILE, which must not be an input."},
    {.name = "weights",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct merge_options, weights),
     .value = "LIST",
     .help = "The weight of each input, in their order: numbers or fractions, separated by commas (3,0.25,37/1024). "
             "The default is 1."},
    {.name = "force",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct merge_options, force),
     .help = "Merge profiles of different programs, builds or cores, too, and leave out series that are not in all of "
             "them or that differ in their unit or events."},
    {.name = NULL},
};

/* Reads one weight per input. */
static bool read_words(char *const *words, size_t given, struct as_merge_input *inputs, size_t n, struct as_error *err)
{
    for (size_t i = 0; i < given && i < n; i++)
        if (!as_weight_read(words[i], &inputs[i].weight))
            return as_error_set_status(
                err, AS_EXIT_USAGE,
                "--weights: '%.60s' is not a weight (3, 0.25 or 37/1024: more than 0, up to 18 digits)", words[i]);
    return given == n || as_error_set_status(err, AS_EXIT_USAGE, "--weights has %zu weight%s for %zu profile%s", given,
                                             given == 1 ? "" : "s", n, n == 1 ? "" : "s");
}

static bool read_weights(const char *list, struct as_merge_input *inputs, size_t n, struct as_error *err)
{
    size_t given;
    char **words = as_split(list, ",", &given);
    bool empty = *list == ',' || strstr(list, ",,") || (*list && list[strlen(list) - 1] == ',');
    bool ok = empty ? as_error_set_status(err, AS_EXIT_USAGE, "--weights=%s: a weight is empty", list)
                    : read_words(words, given, inputs, n, err);
    as_split_free(words);
    return ok;
}

static int merge_files(const struct merge_options *options, const struct as_strlist *files)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_merge_input *inputs = as_alloc_array(files->len, sizeof *inputs);
    const struct as_merge_options how = {.force = options->force, .version = AS_VERSION, .notices = as_notices_to_log};
    for (size_t i = 0; i < files->len; i++)
        inputs[i] = (struct as_merge_input){.path = files->data[i], .weight = {1, 1}};
    bool ok = (!options->weights || read_weights(options->weights, inputs, files->len, &err)) &&
              as_merge(inputs, files->len, options->output, &how, &err);
    free(inputs);
    if (ok)
        as_log_note("%zu profile%s merged into %s", files->len, files->len == 1 ? "" : "s", options->output);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_merge, &err);
}

static int run_merge(int argc, char **argv)
{
    struct merge_options options = {0};
    struct as_strlist files;
    enum as_parse parsed = as_operands_parse_all(&as_command_merge, argc, argv, &options, &files);
    int status = parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (parsed == AS_PARSE_OK && !options.output)
        status = as_cli_usage(&as_command_merge, "-o is missing: name the file for the merged profile");
    else if (parsed == AS_PARSE_OK && files.len == 0)
        status = as_cli_usage(&as_command_merge, "no profiles given: name their files");
    else if (parsed == AS_PARSE_OK)
        status = merge_files(&options, &files);
    as_strlist_free(&files);
    return status;
}

const struct as_command as_command_merge = {
    .name = "merge",
    .summary = "Make one profile of several",
    .usage = "[options] -o FILE PROFILE…",
    .description =
        "Adds up profiles of one program: of several runs, inputs, threads or regions. What they have in common is "
        "found "
        "by build-id, place in the module and bytes, wherever the program was loaded. Every run stays in the list of "
        "runs.\n\n"
        "A weight scales the time of an input, exactly. Samples are not scaled: the uncertainty of the result depends "
        "on how "
        "many there were.",
    .options = options_table,
    .examples = "assay merge run1.db run2.db run3.db -o all.db\n"
                "assay merge --weights=12,88 point1.db point2.db -o whole.db\n",
    .run = run_merge,
};
