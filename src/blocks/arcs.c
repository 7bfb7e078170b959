/* See arcs.h. */
#include "blocks/arcs.h"

#include "blocks/lost_calls.h"

#include <stdlib.h>

bool as_arcs_cross(const struct as_flow *flow, const struct as_flow_edge *edge)
{
    if (edge->kind == AS_EDGE_CALL || edge->to == AS_CFG_NONE || edge->to_module != edge->module)
        return false;
    const struct as_cfg_block *blocks = as_cfg_get(flow->cfg, edge->module)->blocks.data;
    return blocks[edge->from].function != blocks[edge->to].function && !(blocks[edge->to].flags & AS_CFG_ENTRY);
}

static bool can_leave(const struct as_cfg_block *block)
{
    return block->last_class == AS_CLASS_RETURN || block->last_class == AS_CLASS_JUMP_INDIRECT || as_cfg_calls(block) ||
           block->last_class == AS_CLASS_SYSTEM;
}

/* The target of a call in the midst of a function: position-independent code finds itself so. */
static void open_called(const struct as_flow *flow, uint32_t module, bool *entered)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        uint32_t called = block->last_class == AS_CLASS_CALL && block->target
                              ? as_cfg_find_start(flow->cfg, module, block->target)
                              : AS_CFG_NONE;
        if (called != AS_CFG_NONE)
            entered[called] = false;
    }
}

/* The edges of a module, by block whether one leads to it and whether one leaves it. */
static as_arcs take_edges(const struct as_flow *flow, uint32_t module, bool *entered, bool *left)
{
    as_arcs arcs = {0};
    for (size_t e = flow->first[module][0]; e < flow->first[module][as_cfg_get(flow->cfg, module)->blocks.len]; e++) {
        const struct as_flow_edge *edge = &flow->edges.data[e];
        if (edge->kind == AS_EDGE_CALL)
            continue;
        bool known = edge->to != AS_CFG_NONE && edge->to_module == module;
        *as_vec_push(&arcs) = (struct as_arc){edge->from, known ? edge->to : AS_ARC_WORLD, (uint32_t)e};
        left[edge->from] = true;
        if (known)
            entered[edge->to] = true;
    }
    open_called(flow, module, entered);
    return arcs;
}

static void enter(as_arcs *arcs, uint32_t block)
{
    *as_vec_push(arcs) = (struct as_arc){AS_ARC_WORLD, block, AS_ARC_NO_EDGE};
}

static void leave(as_arcs *arcs, uint32_t block)
{
    *as_vec_push(arcs) = (struct as_arc){block, AS_ARC_WORLD, AS_ARC_NO_EDGE};
}

/* Whether control comes to a block from the end of a call or system call. */
static bool comes_behind(const struct as_cfg_block *before, const struct as_cfg_block *block)
{
    bool waits = as_cfg_calls(before) || before->last_class == AS_CLASS_SYSTEM;
    return waits && before->end == block->start && before->function == block->function;
}

as_arcs as_arcs_find(const struct as_flow *flow, uint32_t module, const uint8_t *anywhere, const uint8_t *open)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint32_t n = (uint32_t)m->blocks.len;
    bool *entered = as_alloc(2 * (size_t)n + 2), *left = entered + n + 1;
    as_arcs arcs = take_edges(flow, module, entered, left);
    for (uint32_t i = 0; i < n; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        bool all = open && open[block->function] == AS_ARCS_OPEN, in = anywhere && anywhere[block->function];
        bool again = i && comes_behind(&block[-1], block) &&
                     (as_call_forks(m, &block[-1]) || (open && open[block->function] == AS_ARCS_BACK));
        if (all || in || again || !entered[i] || block->flags & AS_CFG_ENTRY)
            enter(&arcs, i);
        if (all || !left[i] || (can_leave(block) && !as_call_forks(m, block)))
            leave(&arcs, i);
    }
    free(entered);
    return arcs;
}

/* ---- of samples ---- */

enum { NO_EDGE_YET = AS_CFG_NONE - 1 };

uint32_t *as_arcs_wholes(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint32_t *wholes = as_alloc_array(m->functions.len + 1, sizeof *wholes);
    for (size_t i = 0; i < m->functions.len; i++)
        wholes[i] = NO_EDGE_YET;
    for (size_t e = 0; e < flow->edges.len; e++) {
        const struct as_flow_edge *edge = &flow->edges.data[e];
        if (edge->to == AS_CFG_NONE || edge->to_module != module || !(m->blocks.data[edge->to].flags & AS_CFG_ENTRY))
            continue;
        uint32_t to = m->blocks.data[edge->to].function;
        uint32_t from = edge->module == module ? m->blocks.data[edge->from].function : AS_CFG_NONE;
        const char *name = m->functions.data[to].linkage;
        const char *whole = from == AS_CFG_NONE ? NULL : m->functions.data[from].linkage;
        if (from == to && edge->kind != AS_EDGE_CALL)
            continue;
        bool part = edge->kind != AS_EDGE_CALL && name && whole && as_cfg_is_part(name, whole);
        wholes[to] = part && (wholes[to] == from || wholes[to] == NO_EDGE_YET) ? from : AS_CFG_NONE;
    }
    for (size_t i = 0; i < m->functions.len; i++)
        wholes[i] = wholes[i] == NO_EDGE_YET ? AS_CFG_NONE : wholes[i];
    return wholes;
}

/* Where control comes from outside, whether it was sampled there or not. */
static void find_doors(const struct as_flow *flow, uint32_t module, const uint32_t *wholes, bool moved, bool *door)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        uint32_t called = block->last_class == AS_CLASS_CALL && block->target
                              ? as_cfg_find_start(flow->cfg, module, block->target)
                              : AS_CFG_NONE;
        door[i] |= block->flags & AS_CFG_ENTRY && wholes[block->function] == AS_CFG_NONE;
        if (called != AS_CFG_NONE)
            door[called] = true;
        if (moved && i + 1 < m->blocks.len && as_call_comes_again(m, block))
            door[i + 1] = true;
    }
    for (size_t i = 0; moved && i < m->pads.len; i++) {
        uint32_t pad = as_cfg_find_start(flow->cfg, module, m->pads.data[i].pad);
        if (pad != AS_CFG_NONE)
            door[pad] = true;
    }
}

static void reach(const struct as_flow *flow, uint32_t module, uint32_t block, bool *reached, uint32_t *open)
{
    uint32_t n_open = 0;
    if (reached[block])
        return;
    reached[block] = true;
    open[n_open++] = block;
    while (n_open) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(flow, module, open[--n_open], &n);
        for (size_t i = 0; i < n; i++) {
            if (edges[i].kind == AS_EDGE_CALL || edges[i].to == AS_CFG_NONE || edges[i].to_module != module ||
                reached[edges[i].to])
                continue;
            reached[edges[i].to] = true;
            open[n_open++] = edges[i].to;
        }
    }
}

/* What was sampled and cannot be reached through doors is one: something leads there that is not known. */
static void add_doors(const struct as_flow *flow, uint32_t module, bool *door)
{
    uint32_t n = (uint32_t)as_cfg_get(flow->cfg, module)->blocks.len;
    bool *reached = as_alloc((size_t)n + 1);
    uint32_t *open = as_alloc_array((size_t)n + 1, sizeof *open);
    for (uint32_t i = 0; i < n; i++)
        if (door[i])
            reach(flow, module, i, reached, open);
    for (uint32_t i = 0; i < n; i++)
        if (!reached[i] && flow->counts[module][i] > 0) {
            door[i] = true;
            reach(flow, module, i, reached, open);
        }
    free(reached);
    free(open);
}

as_arcs as_arcs_find_sampled(const struct as_flow *flow, uint32_t module, const uint32_t *wholes, bool moved)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint32_t n = (uint32_t)m->blocks.len;
    bool *entered = as_alloc(3 * (size_t)n + 3), *left = entered + n + 1, *door = left + n + 1;
    uint8_t *lost = moved ? as_calls_lost(flow, module) : NULL;
    as_arcs arcs = take_edges(flow, module, entered, left);
    find_doors(flow, module, wholes, moved, door);
    add_doors(flow, module, door);
    for (uint32_t i = 0; i < n; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        if (door[i])
            enter(&arcs, i);
        if (!left[i] || block->last_class == AS_CLASS_RETURN || (lost && lost[i]))
            leave(&arcs, i);
    }
    free(entered);
    free(lost);
    return arcs;
}

static uint32_t root_of(uint32_t *part, uint32_t function)
{
    while (part[function] != function)
        function = part[function] = part[part[function]];
    return function;
}

static void join(uint32_t *part, uint32_t *sizes, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    uint32_t first = a < b ? a : b, second = a < b ? b : a;
    part[second] = first;
    sizes[first] += sizes[second];
}

uint32_t *as_arcs_parts(const struct as_flow *flow, uint32_t module, const uint32_t *wholes, const as_arcs *arcs)
{
    enum { MOST_BLOCKS = 2000 };
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint32_t n = (uint32_t)m->functions.len;
    uint32_t *part = as_alloc_array((size_t)n + 1, sizeof *part), *sizes = as_alloc_array((size_t)n + 1, sizeof *sizes);
    for (uint32_t i = 0; i < n; i++) {
        part[i] = i;
        sizes[i] = m->functions.data[i].n;
    }
    for (uint32_t i = 0; wholes && i < n; i++)
        if (wholes[i] != AS_CFG_NONE)
            join(part, sizes, root_of(part, i), root_of(part, wholes[i]));
    for (size_t i = 0; i < arcs->len; i++) {
        const struct as_arc *arc = &arcs->data[i];
        if (arc->edge == AS_ARC_NO_EDGE || !as_arcs_cross(flow, &flow->edges.data[arc->edge]))
            continue;
        uint32_t a = root_of(part, m->blocks.data[arc->from].function);
        uint32_t b = root_of(part, m->blocks.data[arc->to].function);
        if (a == b || sizes[a] + sizes[b] > MOST_BLOCKS)
            continue;
        join(part, sizes, a, b);
    }
    for (uint32_t i = 0; i < n; i++)
        part[i] = root_of(part, i);
    free(sizes);
    return part;
}
