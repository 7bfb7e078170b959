/* See flow.h, as_flow_guess_jumps. Blocks that control cannot reach from a function's begin, from a call or from a landing pad are
 * taken for targets, and so are cases of tables that were read (case_tables.h) and, of exact counts, those that ran more often than all that leads to them. */
#include "blocks/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 1 << 16, /* of a function: jumps times targets */ TAKEN = 2 };

struct search {
    struct as_flow *flow;
    uint32_t module;
    const struct as_cfg_module *m;
    const double *counts;
    bool exact;
    uint8_t *led, *reached; /* by block: an edge leads to it (or it is TAKEN for a target); control can come there */
    double *most;           /* by block: what all edges to it bring at most */
    AS_VEC(uint32_t) jumps, targets, open;
};

/* Whether control may have been there: what was not sampled may have run all the same. */
static bool may_run(const struct search *search, uint32_t block)
{
    return !(search->m->blocks.data[block].flags & AS_CFG_PADDING) && (!search->exact || search->counts[block] > 0);
}

static void reach(struct search *search, uint32_t block)
{
    if (search->reached[block] || !may_run(search, block))
        return;
    search->reached[block] = 1;
    *as_vec_push(&search->open) = block;
    while (search->open.len) {
        size_t n;
        const struct as_flow_edge *edges =
            as_flow_out(search->flow, search->module, search->open.data[--search->open.len], &n);
        for (size_t i = 0; i < n; i++) {
            bool inside = edges[i].to != AS_CFG_NONE && edges[i].to_module == search->module;
            if (!inside || search->reached[edges[i].to] || !may_run(search, edges[i].to))
                continue;
            search->reached[edges[i].to] = 1;
            *as_vec_push(&search->open) = edges[i].to;
        }
    }
}

static void look_at_edges(struct search *search)
{
    for (size_t i = 0; i < search->flow->edges.len; i++) {
        const struct as_flow_edge *edge = &search->flow->edges.data[i];
        if (edge->to == AS_CFG_NONE || edge->to_module != search->module)
            continue;
        bool call = edge->kind == AS_EDGE_CALL, own = edge->module == search->module && edge->from == edge->to;
        if (call || edge->module != search->module)
            reach(search, edge->to);
        if (!own)
            search->led[edge->to] = 1;
        search->most[edge->to] += call  ? search->counts[edge->to]
                                  : own ? 0
                                        : search->flow->counts[edge->module][edge->from];
    }
    for (uint32_t i = 0; i < search->m->functions.len; i++)
        if (search->m->functions.data[i].n)
            reach(search, search->m->functions.data[i].first);
    for (size_t i = 0; i < search->m->pads.len; i++) {
        uint32_t pad = as_cfg_find_start(search->flow->cfg, search->module, search->m->pads.data[i].pad);
        if (pad == AS_CFG_NONE)
            continue;
        reach(search, pad);
        search->most[pad] += search->counts[pad];
    }
}

static bool is_loop(const struct search *search, uint32_t block)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(search->flow, search->module, block, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i].kind != AS_EDGE_CALL && edges[i].to_module == search->module && edges[i].to == block)
            return true;
    return false;
}

static void take(struct search *search, uint32_t block)
{
    *as_vec_push(&search->targets) = block;
    search->led[block] = TAKEN;
    reach(search, block);
}

/* First those that tables are known to lead to, then those that nothing leads to, as they lead to others. */
static void find_targets(struct search *search, const struct as_cfg_function *function)
{
    search->jumps.len = search->targets.len = 0;
    for (uint32_t i = function->first; i < function->first + function->n; i++)
        if (search->m->blocks.data[i].last_class == AS_CLASS_JUMP_INDIRECT && may_run(search, i))
            *as_vec_push(&search->jumps) = i;
    for (uint32_t i = function->first; i < function->first + function->n && search->jumps.len; i++)
        if (search->m->blocks.data[i].flags & AS_CFG_CASE)
            take(search, i);
    for (int loose = 0; loose < 2 && search->jumps.len; loose++)
        for (uint32_t i = function->first; i < function->first + function->n; i++)
            if (!search->reached[i] && may_run(search, i) && (loose || !search->led[i]))
                take(search, i);
    for (uint32_t i = function->first; i < function->first + function->n && search->jumps.len && search->exact; i++)
        if (search->led[i] != TAKEN && !(search->m->blocks.data[i].flags & AS_CFG_ENTRY) && !is_loop(search, i) &&
            search->most[i] < search->counts[i])
            take(search, i);
}

/* A first guess: what no edge brings is shared among the jumps as they ran. */
static void add_edges(struct search *search)
{
    double jumped = 0, missing = 0;
    for (size_t i = 0; i < search->jumps.len; i++)
        jumped += search->counts[search->jumps.data[i]];
    for (size_t i = 0; i < search->targets.len; i++) {
        uint32_t to = search->targets.data[i];
        missing += search->counts[to] > search->most[to] ? search->counts[to] - search->most[to] : 0;
    }
    for (size_t i = 0; i < search->jumps.len; i++)
        for (size_t k = 0; k < search->targets.len; k++) {
            uint32_t from = search->jumps.data[i], to = search->targets.data[k];
            double rest = search->counts[to] > search->most[to] ? search->counts[to] - search->most[to] : 0;
            double all = jumped > missing ? jumped : missing;
            as_flow_add(search->flow,
                        &(struct as_flow_branch){.module = search->module,
                                                 .to_module = search->module,
                                                 .from = search->m->blocks.data[from].last,
                                                 .to = search->m->blocks.data[to].start,
                                                 .kind = AS_EDGE_INDIRECT,
                                                 .count = all > 0 ? rest * search->counts[from] / all : 0});
        }
}

/* The linker's stubs jump to other files; of code without a symbol nobody knows how far a function goes. */
static bool is_known(const struct as_cfg_module *module, const struct as_cfg_function *function)
{
    if (!module->has_code)
        return true;
    return function->linkage && function->linkage[0] != '.' && !strstr(function->linkage, "@plt");
}

void as_flow_guess_jumps(struct as_flow *flow)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        struct search search = {
            .flow = flow, .module = m, .m = module, .counts = flow->counts[m], .exact = !flow->samples};
        search.led = as_alloc(2 * module->blocks.len + 2);
        search.reached = search.led + module->blocks.len + 1;
        search.most = as_alloc_array(module->blocks.len + 1, sizeof *search.most);
        look_at_edges(&search);
        for (size_t i = 0; i < module->functions.len; i++) {
            if (!is_known(module, &module->functions.data[i]))
                continue;
            find_targets(&search, &module->functions.data[i]);
            if (search.jumps.len * search.targets.len <= MOST_EDGES)
                add_edges(&search);
        }
        free(search.led);
        free(search.most);
        as_vec_free(&search.jumps);
        as_vec_free(&search.targets);
        as_vec_free(&search.open);
        as_flow_join(flow);
    }
}
