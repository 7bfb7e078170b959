/* See operands.h. */
#include "cmd/operands.h"

#include "base/alloc.h"

enum as_parse as_operands_parse_all(const struct as_command *command, int argc, char **argv, void *values,
                                    struct as_strlist *words)
{
    *words = (struct as_strlist){.data = as_alloc_array((size_t)argc + 1, sizeof *words->data)};
    for (;;) {
        int rest;
        enum as_parse parsed = as_cli_parse(command, argc, argv, values, &rest);
        if (parsed != AS_PARSE_OK || rest >= argc)
            return parsed;
        words->data[words->len++] = argv[rest];
        argc -= rest; /* the word is where a verb would be: parsing continues after it */
        argv += rest;
    }
}

enum as_parse as_operands_parse(const struct as_command *command, int argc, char **argv, void *values,
                                struct as_operands *operands)
{
    struct as_strlist words;
    enum as_parse parsed = as_operands_parse_all(command, argc, argv, values, &words);
    *operands = (struct as_operands){.n = words.len};
    for (size_t i = 0; i < words.len && i < sizeof operands->words / sizeof *operands->words; i++)
        operands->words[i] = words.data[i];
    as_strlist_free(&words);
    return parsed;
}
