/* Loops by dominators: an edge to a block that dominates where it comes from closes a loop; what cycles without such edges was entered at
 * several places. Dominators as Cooper, Harvey
 * and Kennedy compute them, over the edges that were executed and from calls that threw to their landing pads or were left by longjmp. Blocks that control reached in unknown ways (a signal, a
 * jump from another function) hang on a root above the function's entry. */
#include "blocks/loops.h"

#include "base/search.h"
#include "blocks/arcs.h"
#include "blocks/lost_calls.h"

#include <math.h>
#include <stdlib.h>

enum { ROOT = 0 }; /* blocks of the function are 1 … n here */

struct arc {
    uint32_t from, to;
    double count;
    bool estimated;
    bool pad; /* from a call that did not come back to where control went on */
};

/* Of samples arcs may be there that none fell on: they say where control can come from, not what runs together. */
static bool is_seen(const struct arc *arc)
{
    return arc->count > 0;
}

/* By block of the module, of the smallest loop that it is in: its header and how many blocks it has; 0: it is in none. */
struct nest {
    uint32_t *header, *size;
};

/* A function, with the parts of it that were moved away. */
struct graph {
    const struct as_flow *flow;
    const struct nest *nest; /* NULL: nobody asks */
    uint32_t module, n;
    AS_VEC(uint32_t) blocks;    /* those of the module: number i + 1 here is blocks[i] */
    AS_VEC(struct arc) arcs;    /* by `from`, then by `to` */
    uint32_t *out_of, *into;    /* the first arc out of or into a block; one more than there are blocks */
    uint32_t *order, *place;    /* blocks in reverse postorder; where each is in it */
    uint32_t *dominator;        /* by block */
    uint32_t *member, *pending; /* scratch of one loop */
};

static uint32_t block_of(const struct graph *g, uint32_t number)
{
    return g->blocks.data[number - 1];
}

static double count_of(const struct graph *g, uint32_t number)
{
    return g->flow->counts[g->module][block_of(g, number)];
}

static int by_to(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

static int by_from(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static void sort_arcs(struct graph *g, bool to, uint32_t *first)
{
    if (g->arcs.len)
        qsort(g->arcs.data, g->arcs.len, sizeof *g->arcs.data, to ? by_to : by_from);
    size_t at = 0;
    for (uint32_t block = 0; block <= g->n + 1; block++) {
        first[block] = (uint32_t)at;
        while (at < g->arcs.len && (to ? g->arcs.data[at].to : g->arcs.data[at].from) == block)
            at++;
    }
}

/* Depth first from `start`, with a stack of our own; blocks are appended when they are left. */
static void visit(const struct graph *g, uint32_t start, uint8_t *seen, uint32_t *postorder, uint32_t *len)
{
    struct step {
        uint32_t block, next;
    };
    AS_VEC(struct step) stack = {0};
    *as_vec_push(&stack) = (struct step){start, g->out_of[start]};
    seen[start] = 1;
    while (stack.len) {
        struct step *top = &stack.data[stack.len - 1];
        uint32_t to = 0;
        while (!to && top->next < g->out_of[top->block + 1]) {
            uint32_t next = g->arcs.data[top->next++].to;
            to = seen[next] ? 0 : next;
        }
        if (to) {
            seen[to] = 1;
            *as_vec_push(&stack) = (struct step){to, g->out_of[to]};
        } else {
            postorder[(*len)++] = top->block;
            stack.len--;
        }
    }
    as_vec_free(&stack);
}

struct entry {
    uint32_t block;
    double outside; /* executions that no arc brings */
};

static int by_outside(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->outside != y->outside)
        return x->outside < y->outside ? 1 : -1;
    return (x->block > y->block) - (x->block < y->block);
}

static const struct as_cfg_block *code_of(const struct graph *g, uint32_t number)
{
    return &as_cfg_get(g->flow->cfg, g->module)->blocks.data[block_of(g, number)];
}

/* Whether a block lies behind a call or system call that ran. */
static bool comes_back(const struct graph *g, uint32_t number)
{
    const struct as_cfg_block *block = code_of(g, number);
    if (block->flags & AS_CFG_ENTRY || !block_of(g, number) || block[-1].end != block->start)
        return false;
    bool waits = as_cfg_calls(&block[-1]) || block[-1].last_class == AS_CLASS_SYSTEM;
    return waits && g->flow->counts[g->module][block_of(g, number) - 1] > 0;
}

/* Calls that come back more than once (fork, in the child too, and whatever calls it) do not bring control from elsewhere, if
 * somebody called the function. Otherwise measuring began in a call. */
static void drop_returns(const struct graph *g, struct entry *entries)
{
    bool called = false;
    for (uint32_t i = 1; i <= g->n && !called; i++)
        called = code_of(g, i)->flags & AS_CFG_ENTRY && entries[i - 1].outside > 0;
    for (uint32_t i = 1; i <= g->n && called; i++)
        if (comes_back(g, i))
            entries[i - 1].outside = 0;
}

/* Few samples fall on what runs once: the function begins where it does though none fell there, and not in the loop that has most of
 * them. Parts that were moved away begin where they are jumped to. */
static void prefer_begin(const struct graph *g, struct entry *entries)
{
    for (uint32_t i = 1; i <= g->n; i++)
        if (code_of(g, i)->flags & AS_CFG_ENTRY)
            entries[i - 1].outside = INFINITY;
    for (size_t i = 0; i < g->arcs.len; i++) {
        const struct arc *arc = &g->arcs.data[i];
        if (code_of(g, arc->from)->function != code_of(g, arc->to)->function &&
            entries[arc->to - 1].outside == INFINITY)
            entries[arc->to - 1].outside = 0;
    }
}

/* Blocks by how often control came to them from elsewhere: what is reached from one is no entry, unless nothing else leads there. */
static struct entry *find_entries(const struct graph *g)
{
    struct entry *entries = as_alloc_array((size_t)g->n + 1, sizeof *entries);
    for (uint32_t i = 1; i <= g->n; i++)
        entries[i - 1] = (struct entry){i, count_of(g, i)};
    for (size_t i = 0; i < g->arcs.len; i++)
        entries[g->arcs.data[i].to - 1].outside -=
            g->arcs.data[i].pad ? count_of(g, g->arcs.data[i].to) : g->arcs.data[i].count;
    drop_returns(g, entries);
    if (g->flow->samples)
        prefer_begin(g, entries);
    qsort(entries, g->n, sizeof *entries, by_outside);
    return entries;
}

static void number_blocks(struct graph *g)
{
    uint8_t *seen = as_alloc(g->n + 2);
    uint32_t *postorder = as_alloc_array(g->n + 2, sizeof *postorder), len = 0;
    struct entry *entries = find_entries(g);
    AS_VEC(uint32_t) roots = {0};
    for (uint32_t i = 0; i < g->n; i++)
        if (!seen[entries[i].block] && (entries[i].outside == INFINITY || count_of(g, entries[i].block) > 0)) {
            visit(g, entries[i].block, seen, postorder, &len);
            *as_vec_push(&roots) = entries[i].block;
        }
    free(entries);
    for (size_t i = 0; i < roots.len; i++)
        *as_vec_push(&g->arcs) = (struct arc){.from = ROOT, .to = roots.data[i]};
    as_vec_free(&roots);
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
        if (arc->from == ROOT || !is_seen(arc) || !dominates(g, header, arc->from))
            continue;
        back += arc->count;
        if (g->member[arc->from] != header)
            g->pending[waiting++] = arc->from;
        g->member[arc->from] = header;
    }
    loop->n_blocks = 1;
    loop->instructions = as_flow_instructions(g->flow, g->module, block_of(g, header));
    while (waiting) {
        uint32_t block = g->pending[--waiting];
        loop->n_blocks++;
        loop->instructions += as_flow_instructions(g->flow, g->module, block_of(g, block));
        for (uint32_t i = g->into[block]; i < g->into[block + 1]; i++) {
            uint32_t from = g->arcs.data[i].from;
            if (from != ROOT && is_seen(&g->arcs.data[i]) && g->member[from] != header) {
                g->member[from] = header;
                g->pending[waiting++] = from;
            }
        }
    }
    loop->iterations = count_of(g, header);
    loop->entries = loop->iterations - back;
}

/* The loop that was collected last. */
static void note_nest(const struct graph *g, uint32_t header, uint32_t n_blocks)
{
    for (uint32_t i = 1; i <= g->n; i++) {
        uint32_t block = block_of(g, i);
        if (g->member[i] != header || (g->nest->size[block] && g->nest->size[block] <= n_blocks))
            continue;
        g->nest->header[block] = block_of(g, header);
        g->nest->size[block] = n_blocks;
    }
}

static void add_loops(struct graph *g, as_loops *loops)
{
    for (uint32_t block = 1; block <= g->n; block++) {
        bool closes = false;
        for (uint32_t i = g->into[block]; i < g->into[block + 1] && !closes; i++)
            closes =
                g->arcs.data[i].from != ROOT && is_seen(&g->arcs.data[i]) && dominates(g, block, g->arcs.data[i].from);
        if (!closes)
            continue;
        struct as_loop loop = {.module = g->module, .header = block_of(g, block)};
        collect(g, block, &loop);
        if (g->nest)
            note_nest(g, block, loop.n_blocks);
        *as_vec_push(loops) = loop;
    }
}

/* ---- cycles that are entered at several places ---- */

/* By arc: whether it closes a natural loop. NULL: all cycles are such loops. */
static bool *find_back_arcs(const struct graph *g)
{
    bool *back = as_alloc(g->arcs.len + 1), others = false;
    for (size_t i = 0; i < g->arcs.len; i++) {
        const struct arc *arc = &g->arcs.data[i];
        bool retreats = arc->from != ROOT && is_seen(arc) && g->place[arc->to] <= g->place[arc->from];
        back[i] = retreats && dominates(g, arc->to, arc->from);
        others |= retreats && !back[i];
    }
    if (others)
        return back;
    free(back);
    return NULL;
}

/* Marks what can be reached from what is marked, or what can reach it, without the arcs that close natural loops. */
static void spread(const struct graph *g, const bool *back, bool forward, uint8_t mark, uint8_t *marks)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < g->arcs.len; i++) {
            const struct arc *arc = &g->arcs.data[i];
            uint32_t here = forward ? arc->from : arc->to, there = forward ? arc->to : arc->from;
            if (back[i] || arc->from == ROOT || !is_seen(arc) || !(marks[here] & mark) || marks[there] & mark)
                continue;
            marks[there] |= mark;
            changed = true;
        }
    }
}

/* The block that ran most often stands for the cycle, as it has no header. */
static void add_cycle(struct graph *g, const uint8_t *marks, uint8_t both, as_loops *loops)
{
    struct as_loop loop = {.module = g->module};
    uint32_t header = 0;
    for (uint32_t i = 1; i <= g->n; i++) {
        if ((marks[i] & both) != both)
            continue;
        header = header && count_of(g, header) >= count_of(g, i) ? header : i;
        loop.n_blocks++;
        loop.entries += count_of(g, i);
        loop.instructions += as_flow_instructions(g->flow, g->module, block_of(g, i));
    }
    for (uint32_t i = 1; i <= g->n; i++)
        g->member[i] = (marks[i] & both) == both ? header : g->member[i];
    for (size_t i = 0; i < g->arcs.len; i++) {
        const struct arc *arc = &g->arcs.data[i];
        bool into = arc->from != ROOT && g->member[arc->to] == header;
        loop.entries -= into && g->member[arc->from] == header ? arc->count : 0;
        loop.estimated |= into && arc->estimated;
    }
    loop.entries = loop.entries > 0 ? loop.entries : 0;
    loop.header = block_of(g, header);
    loop.iterations = count_of(g, header);
    if (g->nest)
        note_nest(g, header, loop.n_blocks);
    *as_vec_push(loops) = loop;
}

static void add_cycles(struct graph *g, as_loops *loops)
{
    enum { AHEAD = 1, BEFORE = 2, BOTH = AHEAD | BEFORE, DONE = 4 };
    bool *back = find_back_arcs(g);
    uint8_t *marks = back ? as_alloc(g->n + 1) : NULL;
    for (size_t i = 0; back && i < g->arcs.len; i++) {
        const struct arc *arc = &g->arcs.data[i];
        if (arc->from == ROOT || back[i] || !is_seen(arc) || g->place[arc->to] > g->place[arc->from] ||
            marks[arc->to] & DONE)
            continue;
        marks[arc->to] |= BOTH;
        spread(g, back, true, AHEAD, marks);
        spread(g, back, false, BEFORE, marks);
        add_cycle(g, marks, BOTH, loops);
        for (uint32_t k = 0; k <= g->n; k++)
            marks[k] = (marks[k] & BOTH) == BOTH ? DONE : marks[k] & DONE;
    }
    free(back);
    free(marks);
}

static void search_graph(struct graph *g, as_loops *loops)
{
    size_t n = (size_t)g->n + 3;
    uint32_t *scratch = as_alloc_array(7 * n, sizeof *scratch),
             **arrays[] = {&g->out_of, &g->into, &g->order, &g->place, &g->dominator, &g->member, &g->pending};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = scratch + i * n;
    sort_arcs(g, false, g->out_of);
    number_blocks(g);
    sort_arcs(g, true, g->into);
    find_dominators(g);
    add_loops(g, loops);
    add_cycles(g, loops);
    free(scratch);
}

/* ---- the graphs of a module ---- */

struct module_graphs {
    const struct as_flow *flow;
    uint32_t module;
    uint32_t *part, *number; /* by function: its graph; by block: its number there */
    struct graph *graphs;
};

/* Between blocks of one graph; others are none of its. */
static void add_arc(struct module_graphs *all, uint32_t from, uint32_t to, struct arc arc)
{
    const struct as_cfg_block *blocks = as_cfg_get(all->flow->cfg, all->module)->blocks.data;
    uint32_t part = all->part[blocks[from].function];
    arc.from = all->number[from];
    arc.to = all->number[to];
    if (part == all->part[blocks[to].function])
        *as_vec_push(&all->graphs[part].arcs) = arc;
}

/* How many calls of a block did not come back; 0 of one that does not call, or that ends the process. */
static double lost_calls(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    size_t n;
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    const struct as_flow_edge *edges = as_flow_out(flow, module, block, &n);
    double lost = flow->counts[module][block];
    if (!as_cfg_calls(&m->blocks.data[block]) || as_call_exits(m, &m->blocks.data[block]))
        return 0;
    for (size_t i = 0; i < n; i++)
        lost -= edges[i].kind == AS_EDGE_FALL ? edges[i].count : 0;
    return lost > 0 ? lost : 0;
}

/* A call that threw goes on at its landing pad. */
static void add_pads(struct module_graphs *all)
{
    const struct as_cfg_module *m = as_cfg_get(all->flow->cfg, all->module);
    const double *counts = all->flow->counts[all->module];
    for (size_t i = 0; i < m->pads.len; i++) {
        const struct as_landing_pad *pad = &m->pads.data[i];
        uint32_t to = as_cfg_find_start(all->flow->cfg, all->module, pad->pad);
        if (to == AS_CFG_NONE || counts[to] <= 0)
            continue;
        uint32_t from = (uint32_t)as_search((size_t)0, m->blocks.len, k, m->blocks.data[k].last < pad->start);
        for (; from < m->blocks.len && m->blocks.data[from].last < pad->end; from++)
            if (lost_calls(all->flow, all->module, from) > 0)
                add_arc(all, from, to, (struct arc){.pad = true});
    }
}

/* By block: how often control came back to behind a call otherwise than from that call, as longjmp does to that of setjmp. Some
 * longjmps end in an indirect jump, whose target is known, others in a return: of exact counts, what nothing else explains, if the call
 * was made (otherwise measuring began in it). */
static double *find_returns(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    double *returns = as_alloc_array(m->blocks.len + 1, sizeof *returns);
    double *rest = as_alloc_array(m->blocks.len + 1, sizeof *rest);
    for (size_t i = 0; i < flow->edges.len; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        if (edge->to == AS_CFG_NONE || edge->to_module != module)
            continue;
        bool elsewhere =
            edge->module != module || m->blocks.data[edge->from].function != m->blocks.data[edge->to].function;
        returns[edge->to] += edge->kind == AS_EDGE_INDIRECT && elsewhere ? edge->count : 0;
        rest[edge->to] -= edge->count;
    }
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        const double *count = &flow->counts[module][i];
        rest[i] += *count;
        if (!i || block[-1].end != block->start || !as_cfg_calls(&block[-1]) || block->flags & AS_CFG_ENTRY ||
            as_call_forks(m, &block[-1])) /* a child comes back too */
            returns[i] = 0;
        else if (!flow->samples && count[-1] > 0 && rest[i] > 0)
            returns[i] += rest[i];
    }
    free(rest);
    for (size_t i = 0; i < m->pads.len; i++) {
        uint32_t pad = as_cfg_find_start(flow->cfg, module, m->pads.data[i].pad);
        returns[pad == AS_CFG_NONE ? m->blocks.len : pad] = 0;
    }
    return returns;
}

/* Control that longjmp brings back comes from a call of the function that did not return. Of several such calls each has its
 * part; then only all parts together are known. */
static void add_longjmps(struct module_graphs *all, const double *returns)
{
    const struct as_cfg_module *m = as_cfg_get(all->flow->cfg, all->module);
    for (uint32_t to = 0; to < m->blocks.len; to++) {
        const struct as_cfg_function *f = &m->functions.data[m->blocks.data[to].function];
        double lost = 0;
        size_t sources = 0;
        for (uint32_t from = f->first; returns[to] > 0 && from < f->first + f->n; from++) {
            double here = lost_calls(all->flow, all->module, from);
            lost += here;
            sources += here > 0;
        }
        for (uint32_t from = f->first; sources && from < f->first + f->n; from++) {
            double here = lost_calls(all->flow, all->module, from);
            struct arc arc = {.count = returns[to] * here / lost, .pad = true, .estimated = sources > 1};
            if (here > 0)
                add_arc(all, from, to, arc);
        }
    }
}

/* In a static program the unwinder's jump to a landing pad is an edge from its function to that of the pad: control that
 * comes from the call, and no way that joins the two functions. So is that of longjmp. */
static void drop_unwinding(const struct as_flow *flow, uint32_t module, const double *returns, as_arcs *arcs)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    bool *pad = as_alloc(m->blocks.len + 1);
    for (size_t i = 0; i < m->pads.len; i++) {
        uint32_t block = as_cfg_find_start(flow->cfg, module, m->pads.data[i].pad);
        if (block != AS_CFG_NONE)
            pad[block] = true;
    }
    for (size_t i = 0; i < m->blocks.len; i++)
        pad[i] |= returns[i] > 0;
    size_t kept = 0;
    for (size_t i = 0; i < arcs->len; i++) {
        const struct as_arc *arc = &arcs->data[i];
        const struct as_flow_edge *edge = arc->edge == AS_ARC_NO_EDGE ? NULL : &flow->edges.data[arc->edge];
        if (!edge || edge->kind != AS_EDGE_INDIRECT || !as_arcs_cross(flow, edge) || !pad[edge->to])
            arcs->data[kept++] = *arc;
    }
    arcs->len = kept;
    free(pad);
}

/* Whether control may have gone along an edge without a sample; jumps through tables are guesses. */
static bool can_be_taken(const struct as_flow *flow, const struct as_flow_edge *edge)
{
    return flow->samples && (edge->kind == AS_EDGE_FALL || edge->kind == AS_EDGE_TAKEN);
}

static void search_module(const struct as_flow *flow, uint32_t module, const struct nest *nest, as_loops *loops)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    as_arcs arcs = as_arcs_find(flow, module, NULL, NULL);
    uint32_t *wholes = flow->samples ? as_arcs_wholes(flow, module) : NULL;
    double *returns = find_returns(flow, module);
    drop_unwinding(flow, module, returns, &arcs);
    struct module_graphs all = {.flow = flow,
                                .module = module,
                                .part = as_arcs_parts(flow, module, wholes, &arcs),
                                .number = as_alloc_array(m->blocks.len + 1, sizeof(uint32_t)),
                                .graphs = as_alloc_array(m->functions.len + 1, sizeof(struct graph))};
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        struct graph *g = &all.graphs[all.part[m->blocks.data[i].function]];
        *as_vec_push(&g->blocks) = i;
        all.number[i] = ++g->n;
    }
    for (size_t i = 0; i < arcs.len; i++) {
        const struct as_arc *arc = &arcs.data[i];
        const struct as_flow_edge *edge = arc->edge == AS_ARC_NO_EDGE ? NULL : &flow->edges.data[arc->edge];
        if (edge && arc->to != AS_ARC_WORLD && (edge->count > 0 || can_be_taken(flow, edge)))
            add_arc(&all, arc->from, arc->to, (struct arc){.count = edge->count, .estimated = edge->estimated});
    }
    add_pads(&all);
    add_longjmps(&all, returns);
    free(returns);
    free(wholes);
    for (uint32_t i = 0; i < m->functions.len; i++) {
        all.graphs[i].flow = flow;
        all.graphs[i].module = module;
        all.graphs[i].nest = nest;
        if (all.graphs[i].arcs.len)
            search_graph(&all.graphs[i], loops);
        as_vec_free(&all.graphs[i].blocks);
        as_vec_free(&all.graphs[i].arcs);
    }
    as_vec_free(&arcs);
    free(all.part);
    free(all.number);
    free(all.graphs);
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

static as_loops find_loops(const struct as_flow *flow)
{
    as_loops loops = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        search_module(flow, m, NULL, &loops);
    if (loops.len)
        qsort(loops.data, loops.len, sizeof *loops.data, by_instructions);
    return loops;
}

as_loops as_loops_find(const struct as_flow *flow)
{
    if (!flow->steady)
        return find_loops(flow);
    struct as_flow steady = *flow;
    steady.counts = flow->steady;
    steady.edges.data = as_alloc_array(flow->edges.len + 1, sizeof *steady.edges.data);
    for (size_t i = 0; i < flow->edges.len; i++) {
        steady.edges.data[i] = flow->edges.data[i];
        steady.edges.data[i].count = flow->steady_edges[i];
    }
    as_loops loops = find_loops(&steady);
    for (size_t i = 0; i < loops.len; i++)
        loops.data[i].estimated = true;
    free(steady.edges.data);
    return loops;
}

uint32_t *as_loops_innermost(const struct as_flow *flow, uint32_t module)
{
    size_t n = as_cfg_get(flow->cfg, module)->blocks.len;
    as_loops loops = {0};
    struct nest nest = {.header = as_alloc_array(n + 1, sizeof(uint32_t)),
                        .size = as_alloc_array(n + 1, sizeof(uint32_t))};
    for (size_t i = 0; i < n; i++)
        nest.header[i] = AS_CFG_NONE;
    search_module(flow, module, &nest, &loops);
    as_vec_free(&loops);
    free(nest.size);
    return nest.header;
}
