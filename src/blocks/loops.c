/* Loops by dominators: an edge to a block that dominates where it comes from closes a loop. Dominators as Cooper, Harvey
 * and Kennedy compute them, over the edges that were executed. Blocks that control reached in unknown ways (a signal, a
 * jump from another function) hang on a root above the function's entry. */
#include "blocks/loops.h"

#include <stdlib.h>

enum { ROOT = 0 }; /* blocks of the function are 1 … n here */

struct arc {
    uint32_t from, to;
    double count;
    bool estimated;
};

struct graph {
    const struct as_flow *flow;
    uint32_t module, first, n;
    AS_VEC(struct arc) arcs;    /* by `to` once sorted */
    uint32_t *into;             /* first arc into a block; one more than there are blocks */
    uint32_t *order, *place;    /* blocks in reverse postorder; where each is in it */
    uint32_t *dominator;        /* by block */
    uint32_t *member, *pending; /* scratch of one loop */
};

static int by_to(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

static void add_arcs(struct graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(g->flow, g->module, g->first + i, &n);
        for (size_t e = 0; e < n; e++)
            if (edges[e].kind != AS_EDGE_CALL && edges[e].count > 0 && edges[e].to_module == g->module &&
                edges[e].to != AS_CFG_NONE && edges[e].to - g->first < g->n)
                *as_vec_push(&g->arcs) =
                    (struct arc){i + 1, edges[e].to - g->first + 1, edges[e].count, edges[e].estimated};
    }
}

static void sort_arcs(struct graph *g)
{
    if (g->arcs.len)
        qsort(g->arcs.data, g->arcs.len, sizeof *g->arcs.data, by_to);
    size_t at = 0;
    for (uint32_t block = 0; block <= g->n + 1; block++) {
        g->into[block] = (uint32_t)at;
        while (at < g->arcs.len && g->arcs.data[at].to == block)
            at++;
    }
}

/* Depth first from `start`, with a stack of our own; blocks are appended when they are left. */
static void visit(const struct graph *g, uint32_t start, uint8_t *seen, uint32_t *postorder, uint32_t *len)
{
    struct step {
        uint32_t block;
        size_t next;
    };
    AS_VEC(struct step) stack = {0};
    *as_vec_push(&stack) = (struct step){.block = start};
    seen[start] = 1;
    while (stack.len) {
        struct step *top = &stack.data[stack.len - 1];
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(g->flow, g->module, g->first + top->block - 1, &n);
        uint32_t to = 0;
        while (!to && top->next < n) {
            const struct as_flow_edge *edge = &edges[top->next++];
            bool inside = edge->kind != AS_EDGE_CALL && edge->count > 0 && edge->to_module == g->module &&
                          edge->to != AS_CFG_NONE && edge->to - g->first < g->n;
            to = inside && !seen[edge->to - g->first + 1] ? edge->to - g->first + 1 : 0;
        }
        if (to) {
            seen[to] = 1;
            *as_vec_push(&stack) = (struct step){.block = to};
        } else {
            postorder[(*len)++] = top->block;
            stack.len--;
        }
    }
    as_vec_free(&stack);
}

static void number_blocks(struct graph *g)
{
    uint8_t *seen = as_alloc(g->n + 2);
    uint32_t *postorder = as_alloc_array(g->n + 2, sizeof *postorder), len = 0;
    for (uint32_t i = 1; i <= g->n; i++)
        if (!seen[i] && g->flow->counts[g->module][g->first + i - 1] > 0) {
            visit(g, i, seen, postorder, &len);
            *as_vec_push(&g->arcs) = (struct arc){ROOT, i, 0, false};
        }
    g->order[0] = ROOT;
    for (uint32_t i = 0; i < len; i++)
        g->order[i + 1] = postorder[len - 1 - i];
    g->order[len + 1] = UINT32_MAX;
    for (uint32_t i = 0; i <= len; i++)
        g->place[g->order[i]] = i;
    free(seen);
    free(postorder);
}

static uint32_t common(const struct graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->place[a] > g->place[b])
            a = g->dominator[a];
        while (g->place[b] > g->place[a])
            b = g->dominator[b];
    }
    return a;
}

static void find_dominators(struct graph *g)
{
    for (uint32_t i = 0; i <= g->n; i++)
        g->dominator[i] = UINT32_MAX;
    g->dominator[ROOT] = ROOT;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = 1; g->order[at] != UINT32_MAX; at++) {
            uint32_t block = g->order[at], best = UINT32_MAX;
            for (uint32_t i = g->into[block]; i < g->into[block + 1]; i++) {
                uint32_t from = g->arcs.data[i].from;
                if (g->dominator[from] != UINT32_MAX)
                    best = best == UINT32_MAX ? from : common(g, best, from);
            }
            changed |= best != g->dominator[block];
            g->dominator[block] = best;
        }
    }
}

static bool dominates(const struct graph *g, uint32_t above, uint32_t block)
{
    while (g->place[block] > g->place[above])
        block = g->dominator[block];
    return block == above;
}

/* The blocks from which the back edges can be reached without passing the header. */
static void collect(struct graph *g, uint32_t header, struct as_loop *loop)
{
    uint32_t waiting = 0;
    double back = 0;
    g->member[header] = header;
    for (uint32_t i = g->into[header]; i < g->into[header + 1]; i++) {
        const struct arc *arc = &g->arcs.data[i];
        loop->estimated |= arc->estimated;
        if (arc->from == ROOT || !dominates(g, header, arc->from))
            continue;
        back += arc->count;
        if (g->member[arc->from] != header)
            g->pending[waiting++] = arc->from;
        g->member[arc->from] = header;
    }
    loop->n_blocks = 1;
    loop->instructions = as_flow_instructions(g->flow, g->module, g->first + header - 1);
    while (waiting) {
        uint32_t block = g->pending[--waiting];
        loop->n_blocks++;
        loop->instructions += as_flow_instructions(g->flow, g->module, g->first + block - 1);
        for (uint32_t i = g->into[block]; i < g->into[block + 1]; i++) {
            uint32_t from = g->arcs.data[i].from;
            if (from != ROOT && g->member[from] != header) {
                g->member[from] = header;
                g->pending[waiting++] = from;
            }
        }
    }
    loop->iterations = g->flow->counts[g->module][g->first + header - 1];
    loop->entries = loop->iterations - back;
}

static void add_loops(struct graph *g, as_loops *loops)
{
    for (uint32_t block = 1; block <= g->n; block++) {
        bool closes = false;
        for (uint32_t i = g->into[block]; i < g->into[block + 1] && !closes; i++)
            closes = g->arcs.data[i].from != ROOT && dominates(g, block, g->arcs.data[i].from);
        if (!closes)
            continue;
        struct as_loop loop = {.module = g->module, .header = g->first + block - 1};
        collect(g, block, &loop);
        *as_vec_push(loops) = loop;
    }
}

static void search_function(const struct as_flow *flow, uint32_t module, const struct as_cfg_function *function,
                            as_loops *loops)
{
    struct graph g = {.flow = flow, .module = module, .first = function->first, .n = function->n};
    size_t n = (size_t)function->n + 3;
    uint32_t *scratch = as_alloc_array(6 * n, sizeof *scratch);
    g.into = scratch;
    g.order = scratch + n;
    g.place = scratch + 2 * n;
    g.dominator = scratch + 3 * n;
    g.member = scratch + 4 * n;
    g.pending = scratch + 5 * n;
    add_arcs(&g);
    if (g.arcs.len) {
        number_blocks(&g);
        sort_arcs(&g);
        find_dominators(&g);
        add_loops(&g, loops);
    }
    as_vec_free(&g.arcs);
    free(scratch);
}

static int by_instructions(const void *a, const void *b)
{
    const struct as_loop *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->header < y->header ? -1 : x->header > y->header;
}

as_loops as_loops_find(const struct as_flow *flow)
{
    as_loops loops = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (size_t i = 0; i < module->functions.len; i++)
            search_function(flow, m, &module->functions.data[i], &loops);
    }
    if (loops.len)
        qsort(loops.data, loops.len, sizeof *loops.data, by_instructions);
    return loops;
}
