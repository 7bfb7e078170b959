/* Options that several verbs share, as entries for their tables. `member` is the value in the verb's options struct;
 * the help text is the verb's own. */
#ifndef AS_CMD_SHARED_OPTIONS_H
#define AS_CMD_SHARED_OPTIONS_H

#include "cmd/cli.h"

#define AS_JSON_OPTION(struct_type, member, text)                                                                      \
    {                                                                                                                  \
        .name = "json", .type = AS_OPTION_FLAG, .offset = offsetof(struct_type, member), .help = (text)                \
    }
#define AS_JSON_HELP "Print one JSON document."
#define AS_JSON_HELP_RUN "Print one JSON document; the program's own standard output then goes to standard error."

#define AS_OUTPUT_OPTION(struct_type, member, text)                                                                    \
    {                                                                                                                  \
        .name = "output", .short_name = 'o', .type = AS_OPTION_STRING, .offset = offsetof(struct_type, member),        \
        .value = "FILE", .writes = true, .help = (text)                                                                \
    }
#define AS_OUTPUT_HELP "Write to FILE instead of standard output (-)."
#define AS_OUTPUT_HELP_RUN "Write the result to FILE; the program's standard output and error are left alone."

#endif
