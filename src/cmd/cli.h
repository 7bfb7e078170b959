/* Commands and their options. A command is one file (cmd_VERB.c) that exports one `struct as_command`, declared in
 * commands.h, and one line in the table of main.c. Its option table drives parsing and generates the -h text; a test
 * compares it with the manual.
 *
 * Parsing: long options `--name`, `--name=value` or `--name value`, short ones `-n value` or `-nvalue`, short flags may
 * be joined (`-qj`); parsing stops at `--` or at the first word that is not an option; what remains is left to the
 * command. A value in a word of its own is never `--`. The last of repeated options counts. An unknown option, a
 * missing or malformed value is one line on stderr that names the option and points to `assay VERB -h`, exit status
 * AS_EXIT_USAGE; so are two options that would write to one file, of which the second would replace the first.
 */
#ifndef AS_CMD_CLI_H
#define AS_CMD_CLI_H

#include "base/error.h"
#include "base/str.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum as_option_type {
    AS_OPTION_FLAG,   /* bool */
    AS_OPTION_STRING, /* const char * */
    AS_OPTION_U64,    /* uint64_t; accepts 1000, 10k, 5M, 2G (powers of 1000), 0x10 */
    AS_OPTION_DOUBLE, /* double */
    AS_OPTION_CHOICE, /* int: index into `choices` */
    AS_OPTION_LIST,   /* struct as_strlist: may be given several times */
};

struct as_option {
    const char *name; /* without dashes; NULL ends the table */
    char short_name;  /* 0: none */
    enum as_option_type type;
    size_t offset;                      /* of the value in the command's options struct */
    const char *value;                  /* name of the value in the help ("N", "FILE"); NULL for flags */
    const char *help;                   /* one or more sentences, wrapped by the help printer */
    void (*names)(struct as_str *list); /* appends the names that replace "%s" in the help; NULL: there is no %s */
    const char *const *choices;         /* AS_OPTION_CHOICE: NULL-terminated */
    bool writes;                        /* AS_OPTION_STRING: a file that the command writes */
    uint64_t min, max;                  /* AS_OPTION_U64: the allowed range, max 0: no limit */
};

struct as_command {
    const char *name;
    const char *summary;     /* one line, for `assay -h` and the first line of the verb's help */
    const char *usage;       /* what follows the verb: "[options] -- PROGRAM [ARGS…]" */
    const char *description; /* a paragraph or two for -h */
    const struct as_option *options;
    const char *examples;              /* lines for -h; may be NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
};

/* The options of every command; NULL-terminated like the commands' own. */
extern const struct as_option as_cli_common_options[];

enum as_parse { AS_PARSE_OK, AS_PARSE_HELP, AS_PARSE_ERROR };

/* Fills the options struct at `values`, which already contains the defaults. On OK, *rest is the index of the first
 * remaining word. HELP: the help was printed to stdout, return 0. ERROR: the message was printed, return AS_EXIT_USAGE.
 * The command frees its lists only after OK. `-h`/`--help`, `-q`/`--quiet` and `-v`/`--verbose` work for every command
 * without a table entry; the last two set the log level. */
enum as_parse as_cli_parse(const struct as_command *command, int argc, char **argv, void *values,
                           int *rest) AS_MUST_CHECK;

/* Whether one of the command's own options was given, whose default says that it was not: false, a choice below 0, no text,
 * an empty list, NAN, the number `none`. */
bool as_cli_is_given(const struct as_command *command, const void *values, const char *name, uint64_t none);

/* Prints `err` after "assay VERB: " and returns its status. */
int as_cli_fail(const struct as_command *command, const struct as_error *err);
/* For a usage error found by the command itself: prints one line, returns AS_EXIT_USAGE. */
int as_cli_usage(const struct as_command *command, const char *format, ...) AS_PRINTF(2, 3);
/* Call this when results could not be written: prints one line with the reason in errno, discards what is still
 * buffered (so that the failure is reported once), returns AS_EXIT_FAILURE. main() does this at the end for everything
 * that commands print; commands call it after a failed flush of their own (as_json_finish). */
int as_cli_stdout_failed(void);

/* Prints the text of `assay VERB -h`. */
void as_cli_help(const struct as_command *command, FILE *out);
/* Prints `text` wrapped to 80 columns after `indent` spaces; blank lines separate paragraphs. The first line starts at
 * column `column`, where the caller stopped. */
void as_cli_wrap(FILE *out, const char *text, int column, int indent);

#endif
