/* See operands.h. */
#include "cmd/operands.h"

enum as_parse as_operands_parse(const struct as_command *command, int argc, char **argv, void *values,
                                struct as_operands *operands)
{
    operands->n = 0;
    for (;;) {
        int rest;
        enum as_parse parsed = as_cli_parse(command, argc, argv, values, &rest);
        if (parsed != AS_PARSE_OK || rest >= argc)
            return parsed;
        if (operands->n < sizeof operands->words / sizeof *operands->words)
            operands->words[operands->n] = argv[rest];
        operands->n++;
        argc -= rest; /* the word stands where a verb would: parsing goes on behind it */
        argv += rest;
    }
}
