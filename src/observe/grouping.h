/* Groupings of static instructions, and the levels at which profiles are compared: single instructions, or what a
 * grouping makes of them (basic blocks, functions, the whole program). */
#ifndef AS_OBSERVE_GROUPING_H
#define AS_OBSERVE_GROUPING_H

#include <stddef.h>
#include <stdint.h>

/* Instruction id to group number, 0 … count-1, for ids below n. Ids beyond, and numbers beyond count, are one group
 * more: unknown. A NULL grouping means that each instruction is its own. */
struct as_grouping {
    const uint32_t *of;
    size_t n;
    uint32_t count;
};

extern const struct as_grouping as_grouping_program; /* everything is group 0 */

static inline uint32_t as_grouping_of(const struct as_grouping *grouping, uint32_t id)
{
    uint32_t group = id < grouping->n ? grouping->of[id] : grouping->count;
    return group < grouping->count ? group : grouping->count;
}

enum as_level { AS_LEVEL_INSTRUCTION, AS_LEVEL_BLOCK, AS_LEVEL_FUNCTION, AS_LEVEL_PROGRAM, AS_LEVELS };
extern const char *const as_level_names[AS_LEVELS];

/* The grouping of each level. A value: the groupings stay the caller's. */
struct as_levels {
    const struct as_grouping *grouping[AS_LEVELS];
};

#endif
