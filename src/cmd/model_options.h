/* Options of verbs that run programs in the model, as entries for their tables. See shared_options.h. */
#ifndef AS_CMD_MODEL_OPTIONS_H
#define AS_CMD_MODEL_OPTIONS_H

#include "cmd/cli.h"
#include "core/machine.h"

/* `usual` is the default machine of the verb, `more` any further text. */
#define AS_NEAREST_CORE "for x86-64 programs the one nearest to this processor, else boom-tea"
#define AS_CORE_OPTION(struct_type, member, usual, more)                                                               \
    {                                                                                                                  \
        .name = "core", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, member), .value = "NAME|FILE",       \
        .help = "The machine to model: a name (%s; default " usual ") or the path of a machine file" more,             \
        .names = as_machine_names                                                                                      \
    }

#define AS_SET_OPTION(struct_type, member, text)                                                                       \
    {                                                                                                                  \
        .name = "set", .type = AS_OPTION_LIST, .offset = offsetof(struct_type, member), .value = "KEY=VALUE",          \
        .help = (text)                                                                                                 \
    }
#define AS_SET_HELP "Change one value of the machine (back.rob=64); may be given several times."

#endif
