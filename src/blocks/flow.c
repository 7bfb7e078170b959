/* See flow.h. */
#include "blocks/flow.h"

#include "blocks/lost_calls.h"

#include <stdlib.h>
#include <string.h>

struct as_flow *as_flow_new(struct as_cfg *cfg)
{
    size_t n = as_cfg_count_modules(cfg);
    struct as_flow *flow = as_alloc(sizeof *flow);
    flow->cfg = cfg;
    flow->counts = as_alloc_array(n + 1, sizeof *flow->counts);
    flow->first = as_alloc_array(n + 1, sizeof *flow->first);
    for (size_t i = 0; i < n; i++) {
        size_t blocks = as_cfg_get(cfg, (uint32_t)i)->blocks.len;
        flow->counts[i] = as_alloc_array(blocks + 1, sizeof **flow->counts);
        flow->first[i] = as_alloc_array(blocks + 2, sizeof **flow->first);
    }
    return flow;
}

void as_flow_free(struct as_flow *flow)
{
    if (!flow)
        return;
    for (size_t i = 0; i < as_cfg_count_modules(flow->cfg); i++) {
        free(flow->counts[i]);
        free(flow->first[i]);
        free(flow->samples ? flow->samples[i] : NULL);
        free(flow->deviations ? flow->deviations[i] : NULL);
        free(flow->steady ? flow->steady[i] : NULL);
    }
    free(flow->steady);
    free(flow->steady_edges);
    free(flow->counts);
    free(flow->samples);
    free(flow->deviations);
    free(flow->fits);
    free(flow->first);
    as_vec_free(&flow->edges);
    free(flow);
}

double **as_flow_copy_counts(const struct as_flow *flow)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    double **counts = as_alloc_array(n + 1, sizeof *counts);
    for (uint32_t m = 0; m < n; m++) {
        size_t blocks = as_cfg_get(flow->cfg, m)->blocks.len;
        counts[m] = as_alloc_array(blocks + 1, sizeof **counts);
        memcpy(counts[m], flow->counts[m], blocks * sizeof **counts);
    }
    return counts;
}

void as_flow_add(struct as_flow *flow, const struct as_flow_branch *branch)
{
    uint32_t from = as_cfg_find(flow->cfg, branch->module, branch->from);
    if (from == AS_CFG_NONE)
        return;
    *as_vec_push(&flow->edges) = (struct as_flow_edge){
        .module = branch->module,
        .from = from,
        .to_module = branch->to_module,
        .to = branch->to_module == AS_CFG_NONE ? AS_CFG_NONE
                                               : as_cfg_find_start(flow->cfg, branch->to_module, branch->to),
        .target = branch->to,
        .kind = branch->kind,
        .count = branch->count,
        .mispredicted = branch->mispredicted,
    };
}

#define ORDER(x, y)                                                                                                    \
    if ((x) != (y))                                                                                                    \
    return (x) < (y) ? -1 : 1

static int by_place(const void *a, const void *b)
{
    const struct as_flow_edge *x = a, *y = b;
    ORDER(x->module, y->module);
    ORDER(x->from, y->from);
    ORDER(x->kind, y->kind);
    ORDER(x->to_module, y->to_module);
    ORDER(x->target, y->target);
    return 0;
}

static void join_edges(struct as_flow *flow)
{
    size_t kept = 0;
    if (flow->edges.len)
        qsort(flow->edges.data, flow->edges.len, sizeof *flow->edges.data, by_place);
    for (size_t i = 0; i < flow->edges.len; i++) {
        struct as_flow_edge *edge = &flow->edges.data[i];
        if (kept && by_place(&flow->edges.data[kept - 1], edge) == 0) {
            flow->edges.data[kept - 1].count += edge->count;
            flow->edges.data[kept - 1].mispredicted += edge->mispredicted;
        } else {
            flow->edges.data[kept++] = *edge;
        }
    }
    flow->edges.len = kept;
}

static double clamp(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* What falls out of a block. What comes back from a call is what no other edge brings to the block behind it. */
static double falls(const struct as_flow *flow, uint32_t module, uint32_t block, uint32_t to, const double *left,
                    const double *brought)
{
    const struct as_cfg_block *b = &as_cfg_get(flow->cfg, module)->blocks.data[block];
    double count = flow->counts[module][block];
    double next = clamp(flow->counts[module][to] - brought[to], count);
    bool call = as_cfg_calls(b);
    if (call && as_cfg_get(flow->cfg, module)->blocks.data[to].flags &
                    AS_CFG_ENTRY) /* it never comes back: another function begins */
        return 0;
    double rest = clamp(count - left[block], count);
    return call || (!flow->samples && next < rest) ? next : rest; /* exact: the rest faulted, or the run ended */
}

/* Whether nothing can fall out of a block though code goes on behind it: space between code that nobody saw run, and, of samples, a
 * call that never comes back. Where executions are exact they say that themselves. */
static bool never_falls(const struct as_flow *flow, uint32_t module, uint32_t number, uint32_t to)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    const struct as_cfg_block *block = &m->blocks.data[number];
    if (block->flags & AS_CFG_PADDING && flow->counts[module][number] <= 0)
        return true;
    return flow->samples &&
           ((as_cfg_calls(block) && m->blocks.data[to].flags & AS_CFG_ENTRY) || as_call_ends(m, block));
}

static void add_falls(struct as_flow *flow, uint32_t module, const double *left, const double *brought)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    for (uint32_t i = 0; i + 1 < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        uint32_t to = block->flags & AS_CFG_FALLS ? as_cfg_find_behind(m, i) : AS_CFG_NONE;
        if (to == AS_CFG_NONE || m->blocks.data[to].flags & AS_CFG_PADDING || never_falls(flow, module, i, to))
            continue;
        *as_vec_push(&flow->edges) = (struct as_flow_edge){.module = module,
                                                           .from = i,
                                                           .to_module = module,
                                                           .to = to,
                                                           .target = block->end,
                                                           .kind = AS_EDGE_FALL,
                                                           .count = falls(flow, module, i, to, left, brought)};
    }
}

static void index_edges(struct as_flow *flow)
{
    size_t at = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        for (uint32_t block = 0; block <= as_cfg_get(flow->cfg, m)->blocks.len; block++) {
            flow->first[m][block] = (uint32_t)at;
            while (at < flow->edges.len && flow->edges.data[at].module == m && flow->edges.data[at].from == block)
                at++;
        }
}

void as_flow_join(struct as_flow *flow)
{
    join_edges(flow);
    index_edges(flow);
}

void as_flow_know_branches(struct as_flow *flow)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (size_t i = 0; i < module->blocks.len; i++) {
            const struct as_cfg_block *block = &module->blocks.data[i];
            if (block->target && (block->last_class == AS_CLASS_BRANCH || block->last_class == AS_CLASS_JUMP))
                as_flow_add(
                    flow,
                    &(struct as_flow_branch){
                        .module = m, .to_module = m, .from = block->last, .to = block->target, .kind = AS_EDGE_TAKEN});
        }
    }
}

void as_flow_finish(struct as_flow *flow)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    double **left = as_alloc_array(n + 1, sizeof *left), **brought = as_alloc_array(n + 1, sizeof *brought);
    join_edges(flow);
    for (uint32_t m = 0; m < n; m++) {
        size_t blocks = as_cfg_get(flow->cfg, m)->blocks.len;
        left[m] = as_alloc_array(blocks + 1, sizeof **left);
        brought[m] = as_alloc_array(blocks + 1, sizeof **brought);
    }
    for (size_t i = 0; i < flow->edges.len; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        left[edge->module][edge->from] += edge->kind != AS_EDGE_CALL ? edge->count : 0;
        if (edge->to != AS_CFG_NONE)
            brought[edge->to_module][edge->to] += edge->count;
    }
    for (uint32_t m = 0; m < n; m++) {
        add_falls(flow, m, left[m], brought[m]);
        free(left[m]);
        free(brought[m]);
    }
    free(left);
    free(brought);
    as_flow_join(flow);
}

double as_flow_scale(struct as_flow *flow)
{
    static const double enough = 1e6;
    double most = 0, factor = 1;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, m)->blocks.len; i++)
            most = flow->counts[m][i] > most ? flow->counts[m][i] : most;
    while (most > 0 && most * factor < enough)
        factor *= 10;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, m)->blocks.len; i++) {
            flow->counts[m][i] *= factor;
            if (flow->deviations)
                flow->deviations[m][i] *= factor;
        }
    for (size_t i = 0; i < flow->edges.len; i++) {
        flow->edges.data[i].count *= factor;
        flow->edges.data[i].mispredicted *= factor;
    }
    return factor;
}

double as_flow_instructions(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    return flow->counts[module][block] * as_cfg_get(flow->cfg, module)->blocks.data[block].n_insns;
}

double as_flow_function_instructions(const struct as_flow *flow, uint32_t module, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(flow->cfg, module)->functions.data[function];
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        sum += as_flow_instructions(flow, module, f->first + i);
    return sum;
}

double as_flow_total(const struct as_flow *flow)
{
    double sum = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, m)->blocks.len; i++)
            sum += as_flow_instructions(flow, m, i);
    return sum;
}

static double enter_midway(const struct as_flow *flow, uint32_t module, const struct as_cfg_function *f)
{
    double sum = 0;
    for (size_t i = 0; i < flow->edges.len; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        bool here = edge->to != AS_CFG_NONE && edge->to_module == module && edge->to - f->first < f->n;
        bool inside = edge->module == module && edge->from - f->first < f->n;
        sum += here && (!inside || edge->kind == AS_EDGE_CALL) ? edge->count : 0;
    }
    return sum;
}

double as_flow_entries(const struct as_flow *flow, uint32_t module, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(flow->cfg, module)->functions.data[function];
    if (!f->n)
        return 0;
    double back = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(flow, module, f->first + i, &n);
        for (size_t e = 0; e < n; e++)
            back += edges[e].kind != AS_EDGE_CALL && edges[e].to_module == module && edges[e].to == f->first
                        ? edges[e].count
                        : 0;
    }
    double entries = clamp(flow->counts[module][f->first] - back, flow->counts[module][f->first]);
    return entries > 0 ? entries : enter_midway(flow, module, f);
}

bool as_flow_entries_estimated(const struct as_flow *flow, uint32_t module, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(flow->cfg, module)->functions.data[function];
    for (uint32_t i = 0; i < f->n; i++) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(flow, module, f->first + i, &n);
        for (size_t e = 0; e < n; e++)
            if (edges[e].estimated && edges[e].to_module == module && edges[e].to == f->first)
                return true;
    }
    return false;
}

bool as_flow_has_estimates(const struct as_flow *flow)
{
    for (size_t i = 0; i < flow->edges.len; i++)
        if (flow->edges.data[i].estimated)
            return true;
    return false;
}
