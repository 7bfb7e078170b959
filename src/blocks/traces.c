/* Hot traces: see loops.h. */
#include "blocks/loops.h"

#include <stdlib.h>

struct finder {
    const struct as_flow *flow;
    uint32_t module;
    uint32_t *best_from; /* by block: the block that brings most of its executions; AS_CFG_NONE */
    double *best_count;
    bool *used;
};

/* The edge that most executions of a block take; NULL: none takes more than half. */
static const struct as_flow_edge *main_edge(const struct finder *finder, uint32_t block)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(finder->flow, finder->module, block, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i].kind != AS_EDGE_CALL && edges[i].to != AS_CFG_NONE && edges[i].to_module == finder->module &&
            edges[i].count > finder->flow->counts[finder->module][block] / 2)
            return &edges[i];
    return NULL;
}

static void find_sources(struct finder *finder, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        finder->best_from[i] = AS_CFG_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const struct as_flow_edge *edge = main_edge(finder, i);
        if (!edge || edge->count <= finder->flow->counts[finder->module][edge->to] / 2)
            continue;
        finder->best_from[edge->to] = i;
        finder->best_count[edge->to] = edge->count;
    }
}

/* The block that control goes on to most of the time, and that it mostly comes from here to. */
static uint32_t next_of(const struct finder *finder, uint32_t block)
{
    const struct as_flow_edge *edge = main_edge(finder, block);
    return edge && finder->best_from[edge->to] == block ? edge->to : AS_CFG_NONE;
}

static void take(struct finder *finder, struct as_traces *traces, struct as_trace *trace, uint32_t block)
{
    finder->used[block] = true;
    *as_vec_push(&traces->blocks) = block;
    trace->n++;
    trace->instructions += as_flow_instructions(finder->flow, finder->module, block);
}

static void follow(struct finder *finder, struct as_traces *traces, uint32_t seed)
{
    uint32_t start = seed, from;
    while ((from = finder->best_from[start]) != AS_CFG_NONE && !finder->used[from] && from != seed)
        start = from;
    struct as_trace trace = {.module = finder->module,
                             .first = (uint32_t)traces->blocks.len,
                             .count = finder->flow->counts[finder->module][start]};
    uint32_t block = start, next;
    take(finder, traces, &trace, block);
    while ((next = next_of(finder, block)) != AS_CFG_NONE && !finder->used[next]) {
        if (finder->best_count[next] < trace.count)
            trace.count = finder->best_count[next];
        trace.estimated |= main_edge(finder, block)->estimated;
        take(finder, traces, &trace, next);
        block = next;
    }
    trace.loops = next == start;
    if (trace.loops && trace.n == 1) { /* its only edge leads back */
        trace.count = main_edge(finder, block)->count;
        trace.estimated = main_edge(finder, block)->estimated;
    }
    *as_vec_push(&traces->list) = trace;
}

struct hot {
    double instructions;
    uint32_t block;
};

static int by_heat(const void *a, const void *b)
{
    const struct hot *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static void search_module(const struct as_flow *flow, uint32_t module, struct as_traces *traces)
{
    uint32_t n = (uint32_t)as_cfg_get(flow->cfg, module)->blocks.len;
    struct hot *order = as_alloc_array(n + 1, sizeof *order);
    struct finder finder = {.flow = flow,
                            .module = module,
                            .best_from = as_alloc_array(n + 1, sizeof(uint32_t)),
                            .best_count = as_alloc_array(n + 1, sizeof(double)),
                            .used = as_alloc(n + 1)};
    find_sources(&finder, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct hot){as_flow_instructions(flow, module, i), i};
    if (n)
        qsort(order, n, sizeof *order, by_heat);
    for (uint32_t i = 0; i < n && order[i].instructions > 0; i++)
        if (!finder.used[order[i].block])
            follow(&finder, traces, order[i].block);
    free(order);
    free(finder.best_from);
    free(finder.best_count);
    free(finder.used);
}

static int by_instructions(const void *a, const void *b)
{
    const struct as_trace *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

void as_traces_find(const struct as_flow *flow, struct as_traces *traces)
{
    *traces = (struct as_traces){0};
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        search_module(flow, m, traces);
    if (traces->list.len)
        qsort(traces->list.data, traces->list.len, sizeof *traces->list.data, by_instructions);
}

void as_traces_free(struct as_traces *traces)
{
    as_vec_free(&traces->list);
    as_vec_free(&traces->blocks);
}
