/* The order of functions for the linker; propeller.c says how it is found. */
#include "blocks/propeller.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

struct cluster {
    uint32_t first, last; /* functions; a function's `next` leads on */
    uint64_t bytes;
    double instructions;
};
struct orderer {
    const struct as_flow *flow;
    uint32_t module, n;
    uint32_t *next, *cluster_of, *caller; /* by function; caller: which calls it most often */
    double *calls;                        /* … and how often */
    struct cluster *clusters;             /* of which each function has one to begin with */
};

static void note_callers(struct orderer *orderer)
{
    const struct as_flow *flow = orderer->flow;
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, orderer->module);
    for (size_t i = flow->first[orderer->module][0]; i < flow->first[orderer->module][m->blocks.len]; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        if (edge->kind != AS_EDGE_CALL || edge->to_module != orderer->module || edge->to == AS_CFG_NONE)
            continue;
        uint32_t to = m->blocks.data[edge->to].function, from = m->blocks.data[edge->from].function;
        if (from != to && edge->count > orderer->calls[to]) {
            orderer->calls[to] = edge->count;
            orderer->caller[to] = from;
        }
    }
}

static int by_instructions(const void *a, const void *b, void *context)
{
    const struct orderer *orderer = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double first = orderer->clusters[x].instructions, second = orderer->clusters[y].instructions;
    return first > second ? -1 : first < second ? 1 : x < y ? -1 : x > y;
}

static double density(const struct cluster *cluster)
{
    return cluster->instructions / (double)(cluster->bytes ? cluster->bytes : 1);
}

static int by_density(const void *a, const void *b, void *context)
{
    const struct orderer *orderer = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double first = density(&orderer->clusters[x]), second = density(&orderer->clusters[y]);
    return first > second ? -1 : first < second ? 1 : x < y ? -1 : x > y;
}

static void append(struct orderer *orderer, uint32_t function)
{
    if (orderer->caller[function] == AS_CFG_NONE)
        return;
    uint32_t to = orderer->cluster_of[orderer->caller[function]], from = orderer->cluster_of[function];
    struct cluster *a = &orderer->clusters[to], *b = &orderer->clusters[from];
    if (to == from || a->bytes + b->bytes > PAGE || a->instructions <= 0)
        return;
    for (uint32_t i = b->first; i != AS_CFG_NONE; i = orderer->next[i])
        orderer->cluster_of[i] = to;
    orderer->next[a->last] = b->first;
    a->last = b->last;
    a->bytes += b->bytes;
    a->instructions += b->instructions;
    b->first = AS_CFG_NONE;
}

static void start(struct orderer *orderer, const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint32_t n = (uint32_t)m->functions.len;
    *orderer = (struct orderer){.flow = flow, .module = module, .n = n};
    orderer->next = as_alloc_array(n + 1, sizeof *orderer->next);
    orderer->cluster_of = as_alloc_array(n + 1, sizeof *orderer->cluster_of);
    orderer->caller = as_alloc_array(n + 1, sizeof *orderer->caller);
    orderer->calls = as_alloc_array(n + 1, sizeof *orderer->calls);
    orderer->clusters = as_alloc_array(n + 1, sizeof *orderer->clusters);
    for (uint32_t i = 0; i < n; i++) {
        orderer->next[i] = orderer->caller[i] = AS_CFG_NONE;
        orderer->cluster_of[i] = i;
        orderer->clusters[i] = (struct cluster){.first = i,
                                                .last = i,
                                                .bytes = m->functions.data[i].end - m->functions.data[i].start,
                                                .instructions = as_flow_function_instructions(flow, module, i)};
    }
    note_callers(orderer);
}

void as_propeller_write_order(const struct as_flow *flow, uint32_t module, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    struct orderer orderer;
    start(&orderer, flow, module);
    AS_VEC(uint32_t) hot = {0};
    for (uint32_t i = 0; i < orderer.n; i++)
        if (orderer.clusters[i].instructions > 0)
            *as_vec_push(&hot) = i;
    if (hot.len) {
        qsort_r(hot.data, hot.len, sizeof *hot.data, by_instructions, &orderer);
        for (size_t i = 0; i < hot.len; i++)
            append(&orderer, hot.data[i]);
        qsort_r(hot.data, hot.len, sizeof *hot.data, by_density, &orderer);
    }
    for (size_t i = 0; i < hot.len; i++)
        for (uint32_t f = orderer.clusters[hot.data[i]].first; f != AS_CFG_NONE; f = orderer.next[f]) {
            const char *name = m->functions.data[f].linkage;
            if (name && name[0] != '.' && !strpbrk(name, " @"))
                fprintf(out, "%s\n", name);
        }
    as_vec_free(&hot);
    free(orderer.next);
    free(orderer.cluster_of);
    free(orderer.caller);
    free(orderer.calls);
    free(orderer.clusters);
}
