/* Words that are not options, for verbs that run no program: options may come before, between and after them. */
#ifndef AS_CMD_OPERANDS_H
#define AS_CMD_OPERANDS_H

#include "cmd/cli.h"

struct as_operands {
    const char *words[3]; /* the first ones */
    size_t n;
};

/* Like as_cli_parse, over the whole line. After `--` one word that looks like an option is taken as an operand. */
enum as_parse as_operands_parse(const struct as_command *command, int argc, char **argv, void *values,
                                struct as_operands *operands) AS_MUST_CHECK;
/* The same for any number of words. The caller frees the list in any case. */
enum as_parse as_operands_parse_all(const struct as_command *command, int argc, char **argv, void *values,
                                    struct as_strlist *words) AS_MUST_CHECK;

#endif
