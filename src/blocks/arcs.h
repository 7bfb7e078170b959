/* The ways that control can take through the blocks of a module, seen as a network: the edges of a flow, and one arc between
 * the world outside and each block that can be entered or left otherwise (calls of functions, returns, what the code does not
 * say). The law of flow holds on it: as often as a block ran, arcs lead to it and away from it. Calls are not arcs.
 */
#ifndef AS_BLOCKS_ARCS_H
#define AS_BLOCKS_ARCS_H

#include "blocks/flow.h"

enum { AS_ARC_WORLD = UINT32_MAX, AS_ARC_NO_EDGE = UINT32_MAX };

struct as_arc {
    uint32_t from, to; /* blocks of the module, or AS_ARC_WORLD */
    uint32_t edge;     /* of the flow; AS_ARC_NO_EDGE: none */
};
typedef AS_VEC(struct as_arc) as_arcs;

/* By function, both may be NULL: `anywhere`, control may enter all its blocks; `open`, how control got lost there: AS_ARCS_BACK, it comes
 * back from calls and system calls that were not made (in another process); AS_ARCS_OPEN, it enters and leaves all blocks. The caller frees
 * the list. */
enum as_arcs_opened { AS_ARCS_CLOSED, AS_ARCS_BACK, AS_ARCS_OPEN };
as_arcs as_arcs_find(const struct as_flow *flow, uint32_t module, const uint8_t *anywhere, const uint8_t *open);

/* By function: the one that it is a part of by name, moved away (f.cold), which alone leads to its begin, by jumps; AS_CFG_NONE: none.
 * The caller frees. */
uint32_t *as_arcs_wholes(const struct as_flow *flow, uint32_t module);

/* The same of samples, which leave more to choose: calls come back, unless control is `moved` (lost_calls.h) and they may be lost;
 * jumps whose targets are known go there; what nothing leads to is entered only if it was sampled; and a part of a function that was
 * moved away is entered from its whole alone. */
as_arcs as_arcs_find_sampled(const struct as_flow *flow, uint32_t module, const uint32_t *wholes, bool moved);

/* Functions between which control jumps to and fro, which are parts of one, as long as that is no larger than functions are, and parts
 * with their `wholes` (NULL: none): by function the first of those that belong together. The caller frees. */
uint32_t *as_arcs_parts(const struct as_flow *flow, uint32_t module, const uint32_t *wholes, const as_arcs *arcs);

/* Whether an edge leads into the midst of another function, as to and from a part of a function that was moved away. */
bool as_arcs_cross(const struct as_flow *flow, const struct as_flow_edge *edge);

#endif
