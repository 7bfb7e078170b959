/* The option parser. It walks the words once. Each option is looked up in the command's table, then in the common one,
 * and its value is checked and stored at its offset in the options struct. Every error message is one line. */
#include "cmd/cli.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/path.h"
#include "base/similar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum common { COMMON_HELP, COMMON_QUIET, COMMON_VERBOSE };

const struct as_option as_cli_common_options[] = {
    [COMMON_HELP] = {.name = "help", .short_name = 'h', .help = "Print this help and exit."},
    [COMMON_QUIET] = {.name = "quiet", .short_name = 'q', .help = "Print only errors and results."},
    [COMMON_VERBOSE] = {.name = "verbose", .short_name = 'v', .help = "Also report progress on stderr."},
    {0},
};

struct parse {
    const struct as_command *command;
    char *values;
    int argc, at; /* at: the word after the one being parsed */
    char **argv;
    bool help;
};

int as_cli_fail(const struct as_command *command, const struct as_error *err)
{
    fprintf(stderr, "assay %s: %s\n", command->name, err->message);
    return err->status;
}

int as_cli_usage(const struct as_command *command, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    as_error_clean(message);
    fprintf(stderr, "assay %s: %s; see 'assay %s -h'\n", command->name, message, command->name);
    return AS_EXIT_USAGE;
}

int as_cli_stdout_failed(void)
{
    /* If an earlier write failed, errno has changed since. A write now fails for the same reason and sets it again. */
    if (errno == 0) {
        clearerr(stdout);
        (void)(fputc('\n', stdout) == EOF || fflush(stdout));
    }
    const char *reason = errno ? strerror(errno) : NULL;
    fprintf(stderr, "assay: cannot write to standard output%s%s\n", reason ? ": " : "", reason ? reason : "");
    __fpurge(stdout);
    clearerr(stdout);
    return AS_EXIT_FAILURE;
}

static const struct as_option *find_long(const struct as_option *table, const char *name, size_t length)
{
    for (; table && table->name; table++)
        if (strlen(table->name) == length && memcmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

static const struct as_option *find_short(const struct as_option *table, char name)
{
    for (; table && table->name; table++)
        if (table->short_name == name)
            return table;
    return NULL;
}

static const struct as_option *closest(const struct as_option *table, const char *name, size_t *best)
{
    const struct as_option *found = NULL;
    for (; table && table->name; table++) {
        size_t distance = as_word_distance(name, table->name);
        if (distance < *best) {
            *best = distance;
            found = table;
        }
    }
    return found;
}

static bool complain_unknown(const struct parse *parse, const char *name)
{
    size_t best = SIZE_MAX;
    const struct as_option *own = closest(parse->command->options, name, &best);
    const struct as_option *common = closest(as_cli_common_options, name, &best);
    const struct as_option *guess = common ? common : own;
    if (guess)
        as_cli_usage(parse->command, "unknown option --%s (did you mean --%s?)", name, guess->name);
    else
        as_cli_usage(parse->command, "unknown option --%s", name);
    return false;
}

static bool store_u64(const struct parse *parse, const struct as_option *option, const char *text)
{
    uint64_t value;
    const char *name = option->name;
    unsigned long long min = option->min, max = option->max;
    if (!as_number_read(text, &value))
        as_cli_usage(parse->command, "--%s=%s: not a number like 1000, 10k, 5M, 2G or 0x10", name, text);
    else if (value < min)
        as_cli_usage(parse->command, "--%s=%s: must be at least %llu", name, text, min);
    else if (max && value > max)
        as_cli_usage(parse->command, "--%s=%s: must be at most %llu", name, text, max);
    else {
        memcpy(parse->values + option->offset, &value, sizeof value);
        return true;
    }
    return false;
}

static bool store_double(const struct parse *parse, const struct as_option *option, const char *text)
{
    char *end = NULL;
    bool numeric = isdigit((unsigned char)*text) || *text == '-' || *text == '.';
    double value = numeric ? strtod(text, &end) : 0;
    if (!numeric || end == text || *end || !isfinite(value)) {
        as_cli_usage(parse->command, "--%s=%s: not a number", option->name, text);
        return false;
    }
    memcpy(parse->values + option->offset, &value, sizeof value);
    return true;
}

static bool store_choice(const struct parse *parse, const struct as_option *option, const char *text)
{
    char known[256] = "";
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            memcpy(parse->values + option->offset, &i, sizeof i);
            return true;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", option->choices[i]);
    }
    as_cli_usage(parse->command, "--%s=%s: not one of %s", option->name, text, known);
    return false;
}

static bool store_list(const struct parse *parse, const struct as_option *option, const char *text)
{
    struct as_strlist *list = (void *)(parse->values + option->offset);
    list->data = as_realloc_array(list->data, list->len + 1, sizeof *list->data);
    list->data[list->len++] = text;
    return true;
}

static bool store_value(const struct parse *parse, const struct as_option *option, const char *text)
{
    switch (option->type) {
    case AS_OPTION_STRING:
        memcpy(parse->values + option->offset, &text, sizeof text);
        return true;
    case AS_OPTION_U64:
        return store_u64(parse, option, text);
    case AS_OPTION_DOUBLE:
        return store_double(parse, option, text);
    case AS_OPTION_CHOICE:
        return store_choice(parse, option, text);
    case AS_OPTION_LIST:
        return store_list(parse, option, text);
    case AS_OPTION_FLAG:
        break;
    }
    abort();
}

bool as_cli_is_given(const struct as_command *command, const void *values, const char *name, uint64_t none)
{
    const struct as_option *option = find_long(command->options, name, strlen(name));
    const char *value = (const char *)values + option->offset;
    switch (option->type) {
    case AS_OPTION_FLAG:
        return *(const bool *)value;
    case AS_OPTION_CHOICE:
        return *(const int *)value >= 0;
    case AS_OPTION_U64:
        return *(const uint64_t *)value != none;
    case AS_OPTION_DOUBLE:
        return !isnan(*(const double *)value);
    case AS_OPTION_LIST:
        return ((const struct as_strlist *)value)->len > 0;
    case AS_OPTION_STRING:
        break;
    }
    return *(const char *const *)value != NULL;
}

static void set_flag(struct parse *parse, const struct as_option *option)
{
    if (option == &as_cli_common_options[COMMON_HELP])
        parse->help = true;
    else if (option == &as_cli_common_options[COMMON_QUIET])
        as_log_set_level(AS_LOG_ERROR);
    else if (option == &as_cli_common_options[COMMON_VERBOSE])
        as_log_set_level(AS_LOG_DEBUG);
    else
        *(bool *)(parse->values + option->offset) = true;
}

/* Takes the next word as the value. */
static bool take_next(struct parse *parse, const struct as_option *option)
{
    if (parse->at >= parse->argc || strcmp(parse->argv[parse->at], "--") == 0) {
        as_cli_usage(parse->command, "option --%s needs a value", option->name);
        return false;
    }
    return store_value(parse, option, parse->argv[parse->at++]);
}

static bool parse_long(struct parse *parse, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct as_option *option = find_long(parse->command->options, word, length);
    if (!option)
        option = find_long(as_cli_common_options, word, length);
    if (!option) {
        char *name = as_strndup(word, length);
        complain_unknown(parse, name);
        free(name);
        return false;
    }
    if (option->type != AS_OPTION_FLAG)
        return equals ? store_value(parse, option, equals + 1) : take_next(parse, option);
    if (equals) {
        as_cli_usage(parse->command, "option --%s takes no value", option->name);
        return false;
    }
    set_flag(parse, option);
    return true;
}

static bool parse_short(struct parse *parse, const char *letters)
{
    for (; *letters && !parse->help; letters++) {
        const struct as_option *option = find_short(parse->command->options, *letters);
        if (!option)
            option = find_short(as_cli_common_options, *letters);
        if (!option) {
            as_cli_usage(parse->command, "unknown option -%c", *letters);
            return false;
        }
        if (option->type != AS_OPTION_FLAG)
            return letters[1] ? store_value(parse, option, letters + 1) : take_next(parse, option);
        set_flag(parse, option);
    }
    return true;
}

/* The file that an option writes; NULL: none, or standard output. */
static const char *written_by(const struct parse *parse, const struct as_option *option)
{
    const char *path = NULL;
    if (option->writes)
        memcpy(&path, parse->values + option->offset, sizeof path);
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

static bool check_outputs(const struct parse *parse)
{
    for (const struct as_option *one = parse->command->options; one && one->name; one++)
        for (const struct as_option *other = one + 1; written_by(parse, one) && other->name; other++) {
            const char *path = written_by(parse, other);
            if (!path || !as_path_is_same(written_by(parse, one), path))
                continue;
            as_cli_usage(parse->command, "--%s and --%s cannot write to one file (%s)", one->name, other->name, path);
            return false;
        }
    return true;
}

static void free_lists(const struct parse *parse)
{
    for (const struct as_option *option = parse->command->options; option && option->name; option++)
        if (option->type == AS_OPTION_LIST)
            as_strlist_free((void *)(parse->values + option->offset));
}

enum as_parse as_cli_parse(const struct as_command *command, int argc, char **argv, void *values, int *rest)
{
    struct parse parse = {.command = command, .values = values, .argc = argc, .argv = argv, .at = 1};
    bool ok = true;
    while (ok && !parse.help && parse.at < argc) {
        const char *word = argv[parse.at];
        if (word[0] != '-' || word[1] == '\0')
            break;
        parse.at++;
        if (strcmp(word, "--") == 0)
            break;
        ok = word[1] == '-' ? parse_long(&parse, word + 2) : parse_short(&parse, word + 1);
    }
    *rest = parse.at;
    ok = ok && (parse.help || check_outputs(&parse));
    if (ok && !parse.help)
        return AS_PARSE_OK;
    free_lists(&parse);
    if (!ok)
        return AS_PARSE_ERROR;
    as_cli_help(command, stdout);
    return AS_PARSE_HELP;
}
