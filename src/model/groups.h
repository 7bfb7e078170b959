/* The basic block and the function of each executed static instruction: the levels at which profiles are compared. */
#ifndef AS_MODEL_GROUPS_H
#define AS_MODEL_GROUPS_H

#include "model/model.h"
#include "observe/profile.h"

struct as_groups {
    struct as_grouping blocks, functions;
    uint32_t *block_of, *function_of;  /* by instruction id */
    struct as_strings *function_names; /* by group */
};

/* Call this after the run. Instructions that never executed are in no group. */
void as_groups_make(struct as_groups *groups, const struct as_model *model);
void as_groups_free(struct as_groups *groups);
/* The levels: instructions, blocks, functions, all. Valid as long as the groups. */
struct as_levels as_groups_levels(const struct as_groups *groups);
/* "main (demo)"; valid as long as the groups. */
const char *as_groups_function(const struct as_groups *groups, uint32_t function);

#endif
