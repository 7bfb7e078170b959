/* `assay blocks --for`: counts of a module's blocks as a profile for a compiler or a rewriter of programs. */
#ifndef AS_CMD_BLOCKS_FOR_H
#define AS_CMD_BLOCKS_FOR_H

#include "blocks/flow.h"

#include <stdio.h>

/* As in as_blocks_for_choices. */
enum as_blocks_for {
    AS_BLOCKS_FOR_NOTHING = -1,
    AS_BLOCKS_FOR_AUTOFDO,
    AS_BLOCKS_FOR_AUTOFDO_BINARY,
    AS_BLOCKS_FOR_GCC,
    AS_BLOCKS_FOR_BOLT,
    AS_BLOCKS_FOR_AGGREGATED,
    AS_BLOCKS_FOR_PROFGEN,
    AS_BLOCKS_FOR_PROPELLER,
    AS_BLOCKS_FOR_PROPELLER_ORDER,
};
extern const char *const as_blocks_for_choices[];

/* Of a recording or profile: the program (no library) that executed most; AS_CFG_NONE with the reason in err. */
uint32_t as_blocks_main_module(const struct as_flow *flow, struct as_error *err);
/* The module of this name or path, or the one that the program's file is; AS_CFG_NONE with the reason in err. */
uint32_t as_blocks_module(const struct as_flow *flow, const char *name, const char *program, struct as_error *err);
/* Before a run: whether the file of this program, or at this path (NULL: not known), has what the profile needs. Files that
 * cannot be found pass. */
bool as_blocks_check_for(enum as_blocks_for what, const char *program, const char *debug_path,
                         struct as_error *err) AS_MUST_CHECK;

/* Of addresses without branches: scales the counts, which are balanced, for formats of whole numbers, and says what they
 * are. `asked`: --balance was given. */
void as_blocks_settle_addresses(struct as_flow *flow, bool asked);

bool as_blocks_write_for(enum as_blocks_for what, const struct as_flow *flow, uint32_t module, FILE *out,
                         struct as_error *err) AS_MUST_CHECK;

#endif
