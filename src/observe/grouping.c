/* See grouping.h. */
#include "observe/grouping.h"

const struct as_grouping as_grouping_program = {0};

const char *const as_level_names[AS_LEVELS] = {
    [AS_LEVEL_INSTRUCTION] = "instruction",
    [AS_LEVEL_BLOCK] = "block",
    [AS_LEVEL_FUNCTION] = "function",
    [AS_LEVEL_PROGRAM] = "program",
};
