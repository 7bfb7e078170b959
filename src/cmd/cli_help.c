/* The help text of a command, generated from its tables: options in the left column, descriptions in the right one,
 * wrapped to 80 columns. Columns are counted in characters, not bytes, because the texts contain "…" and the like. */
#include "cmd/cli.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

static int columns(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

void as_cli_wrap(FILE *out, const char *text, int column, int indent)
{
    bool first = true; /* no blank before the first word of a line */
    for (const char *at = text; *at;) {
        if (*at == '\n' || *at == ' ') {
            if (at[0] == '\n' && at[1] == '\n') {
                fprintf(out, "\n\n%*s", indent, "");
                column = indent;
                first = true;
                at++;
            }
            at++;
            continue;
        }
        size_t length = strcspn(at, " \n");
        int width = columns(at, length);
        if (!first && column + 1 + width > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", (int)length, at);
        column += width + !first;
        first = false;
        at += length;
    }
    fputc('\n', out);
}

/* "-o, --output=FILE"; a choice without a value name lists its values. */
static void add_spelling(struct as_str *str, const struct as_option *option)
{
    if (option->short_name)
        as_str_addf(str, "  -%c, --%s", option->short_name, option->name);
    else
        as_str_addf(str, "      --%s", option->name);
    if (option->type == AS_OPTION_FLAG)
        return;
    as_str_add(str, "=");
    if (option->value || option->type != AS_OPTION_CHOICE) {
        as_str_add(str, option->value ? option->value : "VALUE");
        return;
    }
    for (int i = 0; option->choices[i]; i++)
        as_str_addf(str, "%s%s", i ? "|" : "", option->choices[i]);
}

/* The help with the names inserted. The caller frees. */
static char *help_of(const struct as_option *option)
{
    struct as_str text = {0}, names = {0};
    const char *at = option->names ? strstr(option->help, "%s") : NULL;
    if (!at)
        return as_strdup(option->help);
    option->names(&names);
    as_str_add_bytes(&text, option->help, (size_t)(at - option->help));
    as_str_add(&text, as_str_get(&names));
    as_str_add(&text, at + 2);
    as_str_free(&names);
    return as_str_take(&text);
}

static void print_option(FILE *out, const struct as_option *option)
{
    char *help = help_of(option);
    struct as_str left = {0};
    add_spelling(&left, option);
    int width = columns(left.data, left.len);
    fputs(left.data, out);
    if (width > HELP_COLUMN - 2)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - width, "");
    as_cli_wrap(out, help, HELP_COLUMN, HELP_COLUMN);
    as_str_free(&left);
    free(help);
}

static void print_examples(FILE *out, const char *lines)
{
    fputs("\nExamples:\n", out);
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        fprintf(out, "  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

void as_cli_help(const struct as_command *command, FILE *out)
{
    fprintf(out, "assay %s: %s\n\nUsage: assay %s %s\n\n", command->name, command->summary, command->name,
            command->usage);
    as_cli_wrap(out, command->description, 0, 0);
    fputs("\nOptions:\n", out);
    for (const struct as_option *option = command->options; option && option->name; option++)
        print_option(out, option);
    for (const struct as_option *option = as_cli_common_options; option->name; option++)
        print_option(out, option);
    if (command->examples)
        print_examples(out, command->examples);
}
