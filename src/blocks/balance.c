/* See balance.h. Blocks are split in two nodes with an arc between them that carries the block's count; the other arcs are
 * those of arcs.h, from the end of one block to the begin of another; node 0 is the world outside. The system is solved
 * as a network of conductors (laplace.h); arcs that would carry less than nothing are taken out, and it is solved again. */
#include "blocks/balance.h"

#include "base/random.h"
#include "blocks/arcs.h"
#include "blocks/laplace.h"
#include "blocks/lost_calls.h"

#include <math.h>
#include <stdlib.h>

struct arc {
    uint32_t from, to;
    double unit;             /* what one sample adds to it; 0: nobody measured it */
    double measured, spread; /* spread: v, how far off it may be; 0: the arc is out */
    double flow;
    double *result; /* where the flow goes in the end; NULL: nowhere */
};

/* A function, with the parts of it that were moved away. */
struct network {
    struct as_flow *flow;
    uint32_t module;
    AS_VEC(uint32_t) blocks;
    AS_VEC(struct arc) arcs; /* those of the blocks first */
    uint32_t nodes;
    double mean;                       /* executions of its blocks */
    double unit;                       /* what a sample adds to them, on average; 0: the counts are exact */
    double free_;                      /* the spread of what nobody measured: it costs next to nothing */
    double *x;                         /* potentials */
    struct as_laplace_arc *conductors; /* scratch */
};

/* ---- the networks of a module ---- */

struct parts {
    struct as_flow *flow;
    uint32_t module;
    bool edges; /* were measured */
    bool moved; /* control was, past callers */
    as_arcs arcs;
    uint32_t *part, *place; /* by function: its network; by block: its place in the network */
    struct network *nets;
    uint32_t n;
};

static uint32_t begin_of(uint32_t place)
{
    return 1 + 2 * place;
}
static uint32_t end_of(uint32_t place)
{
    return 2 + 2 * place;
}

static const struct as_cfg_block *block_of(const struct network *net, uint32_t place)
{
    return &as_cfg_get(net->flow->cfg, net->module)->blocks.data[net->blocks.data[place]];
}

static void add_arc(struct network *net, uint32_t from, uint32_t to, double measured, double unit, double *result)
{
    *as_vec_push(&net->arcs) =
        (struct arc){.from = from, .to = to, .measured = unit > 0 ? measured : 0, .unit = unit, .result = result};
}

/* What a sample adds to a block's count: with runs the same everywhere, with addresses less where it has more
 * instructions. Exact counts are taken as samples of themselves. */
static double mean_unit(const struct network *net, bool runs)
{
    double sum = 0, samples = 0;
    for (uint32_t i = 0; i < net->blocks.len && net->flow->samples; i++) {
        double scale = runs ? 1 : block_of(net, i)->n_insns;
        sum += net->flow->counts[net->module][net->blocks.data[i]] * scale;
        samples += net->flow->samples[net->module][net->blocks.data[i]];
    }
    return sum > 0 && samples > 0 ? sum / samples : 0;
}

static void add_blocks(struct network *net, bool runs)
{
    double *counts = net->flow->counts[net->module], total = 0;
    for (uint32_t i = 0; i < net->blocks.len; i++)
        total += counts[net->blocks.data[i]];
    net->nodes = 2 * (uint32_t)net->blocks.len + 1;
    net->mean = net->blocks.len ? total / (double)net->blocks.len : 0;
    net->unit = mean_unit(net, runs);
    net->free_ = 100 * (total + 1) * (net->unit > 0 ? net->unit : 1);
    for (uint32_t i = 0; i < net->blocks.len; i++) {
        uint32_t insns = block_of(net, i)->n_insns;
        double unit = net->unit <= 0 ? 1 : runs ? net->unit : net->unit / (insns ? insns : 1);
        double *count = &counts[net->blocks.data[i]];
        add_arc(net, begin_of(i), end_of(i), *count, unit, count);
    }
}

/* An arc between two networks leaves one and enters the other; how often is settled in the one that it leaves. */
static void add_arcs(struct parts *parts)
{
    const struct as_cfg_block *blocks = as_cfg_get(parts->flow->cfg, parts->module)->blocks.data;
    for (size_t i = 0; i < parts->arcs.len; i++) {
        const struct as_arc *arc = &parts->arcs.data[i];
        struct as_flow_edge *edge = arc->edge == AS_ARC_NO_EDGE ? NULL : &parts->flow->edges.data[arc->edge];
        struct network *from = arc->from == AS_ARC_WORLD ? NULL : &parts->nets[parts->part[blocks[arc->from].function]];
        struct network *to = arc->to == AS_ARC_WORLD ? NULL : &parts->nets[parts->part[blocks[arc->to].function]];
        double count = edge ? edge->count : 0;
        /* What falls was not measured: it is what the branches left over. */
        bool measured = edge && edge->kind != AS_EDGE_FALL && parts->edges;
        if (from)
            add_arc(from, end_of(parts->place[arc->from]), from == to ? begin_of(parts->place[arc->to]) : 0, count,
                    !measured        ? 0
                    : from->unit > 0 ? from->unit
                                     : 1,
                    edge ? &edge->count : NULL);
        bool entry = to && blocks[arc->to].flags & AS_CFG_ENTRY; /* has an arc of its own: all its callers */
        if (to && from != to && !(from && entry))
            add_arc(to, 0, begin_of(parts->place[arc->to]), count, 0, NULL);
    }
}

static void divide(struct parts *parts)
{
    const struct as_cfg_module *m = as_cfg_get(parts->flow->cfg, parts->module);
    parts->n = (uint32_t)m->functions.len;
    parts->place = as_alloc_array(m->blocks.len + 1, sizeof *parts->place);
    parts->nets = as_alloc_array(m->functions.len + 1, sizeof *parts->nets);
    uint32_t *wholes = parts->flow->samples ? as_arcs_wholes(parts->flow, parts->module) : NULL;
    parts->arcs = wholes ? as_arcs_find_sampled(parts->flow, parts->module, wholes, parts->moved)
                         : as_arcs_find(parts->flow, parts->module, NULL, NULL);
    parts->part = as_arcs_parts(parts->flow, parts->module, wholes, &parts->arcs);
    free(wholes);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        struct network *net = &parts->nets[parts->part[m->blocks.data[i].function]];
        net->flow = parts->flow;
        net->module = parts->module;
        parts->place[i] = (uint32_t)net->blocks.len;
        *as_vec_push(&net->blocks) = i;
    }
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->nets[i].blocks.len)
            add_blocks(&parts->nets[i], parts->edges);
    add_arcs(parts);
}

static void free_parts(struct parts *parts)
{
    for (uint32_t i = 0; i < parts->n; i++) {
        as_vec_free(&parts->nets[i].blocks);
        as_vec_free(&parts->nets[i].arcs);
    }
    as_vec_free(&parts->arcs);
    free(parts->part);
    free(parts->place);
    free(parts->nets);
}

/* ---- the system ---- */

static struct as_laplace *make_system(struct network *net)
{
    size_t n = 0;
    for (size_t a = 0; a < net->arcs.len; a++)
        if (net->arcs.data[a].spread > 0)
            net->conductors[n++] =
                (struct as_laplace_arc){net->arcs.data[a].from, net->arcs.data[a].to, net->arcs.data[a].spread};
    return as_laplace_new(net->nodes, net->conductors, n);
}

/* What the measured counts lose at each node is brought there by potentials: along each arc flows v times their difference. */
static void find_flow(struct network *net, const struct as_laplace *system)
{
    for (uint32_t i = 0; i < net->nodes; i++)
        net->x[i] = 0;
    for (size_t a = 0; a < net->arcs.len; a++) {
        const struct arc *arc = &net->arcs.data[a];
        double measured = arc->spread > 0 ? arc->measured : 0;
        net->x[arc->from] -= measured;
        net->x[arc->to] += measured;
    }
    as_laplace_solve(system, net->x);
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        arc->flow = arc->spread > 0 ? arc->measured + arc->spread * (net->x[arc->from] - net->x[arc->to]) : 0;
    }
}

/* What counts may be off by as far as only they themselves say; all arcs are in. */
static void spread_first(struct network *net)
{
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        arc->spread = arc->unit > 0 ? arc->unit * fmax(arc->measured, net->mean) : net->free_;
    }
}

static void solve(struct network *net)
{
    struct as_laplace *system = make_system(net);
    find_flow(net, system);
    as_laplace_free(system);
}

/* No arc can carry many times what was counted in all, and what was counted cannot have gone nowhere, as in a function that
 * is never left: then there is no such flow or the numbers did not suffice, and counts stay as they were. */
static bool is_solved(const struct network *net)
{
    double counted = net->mean * (double)net->blocks.len, flows = 0;
    for (size_t a = 0; a < net->arcs.len; a++) {
        if (!(fabs(net->arcs.data[a].flow) <= 100 * counted))
            return false;
        flows = fmax(flows, net->arcs.data[a].flow);
    }
    return flows > 1e-6 * net->mean;
}

/* Takes out arcs that carry less than nothing; true: there were some. Those that are less negative than `part` of the worst may be
 * so because of it, and are left for the next time: without them nothing might flow at all. */
static bool cut_negative(struct network *net, double part)
{
    double largest = net->mean, least = 0;
    bool any = false;
    for (size_t a = 0; a < net->arcs.len; a++) {
        largest = fmax(largest, fabs(net->arcs.data[a].flow));
        least = fmin(least, net->arcs.data[a].flow);
    }
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        if (arc->flow > fmin(-1e-9 * largest, part * least))
            continue;
        arc->spread = 0;
        any = true;
    }
    return any;
}

/* A count of samples spreads like what it should be, which is known better now than before. */
static void respread(struct network *net)
{
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        if (arc->spread > 0 && arc->unit > 0)
            arc->spread = arc->unit * fmax(arc->flow, 0.1 * arc->unit);
    }
}

/* ---- confidence ---- */

static double draw_normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += as_random_fraction(seed);
    return sum;
}

/* How far off balanced counts of addresses are by chance: deviations that the measured counts may have are balanced like these,
 * and what is left of them is added up. All numbers are the same in every run. */
static void draw_deviations(struct network *net, double *deviations)
{
    uint64_t seed = 1;
    struct as_laplace *system = make_system(net);
    for (int draw = 0; draw < AS_BALANCE_DRAWS; draw++) {
        for (size_t a = 0; a < net->arcs.len; a++) {
            struct arc *arc = &net->arcs.data[a];
            arc->measured = arc->unit > 0 ? sqrt(arc->spread) * draw_normal(&seed) : 0;
        }
        find_flow(net, system);
        for (uint32_t i = 0; i < net->blocks.len; i++)
            deviations[net->blocks.data[i]] += net->arcs.data[i].flow * net->arcs.data[i].flow / AS_BALANCE_DRAWS;
    }
    as_laplace_free(system);
    for (uint32_t i = 0; i < net->blocks.len; i++)
        deviations[net->blocks.data[i]] = sqrt(deviations[net->blocks.data[i]]);
}

/* Those of runs: what one run passes is off together, so blocks around a block say nothing new about it. */
static void run_deviations(struct network *net, double *deviations)
{
    double together = fmax(net->flow->together, 1);
    for (uint32_t i = 0; i < net->blocks.len; i++)
        deviations[net->blocks.data[i]] = sqrt(net->arcs.data[i].spread * together);
}

/* Those of counts that stay as they are. */
static void keep_deviations(struct network *net, double *deviations)
{
    for (uint32_t i = 0; i < net->blocks.len; i++) {
        uint32_t block = net->blocks.data[i];
        double n = net->flow->samples[net->module][block] / fmax(net->flow->together, 1);
        deviations[block] = n > 0 ? net->flow->counts[net->module][block] / sqrt(n) : 0;
    }
}

/* ---- the result ---- */

/* Calls of samples are as many as the block that makes them ran; those of exact counts are. */
static void settle_calls(struct as_flow *flow, uint32_t module, uint32_t block)
{
    double calls = 0;
    for (size_t e = flow->first[module][block]; e < flow->first[module][block + 1]; e++)
        calls += flow->edges.data[e].kind == AS_EDGE_CALL ? flow->edges.data[e].count : 0;
    for (size_t e = flow->first[module][block]; e < flow->first[module][block + 1] && calls > 0; e++)
        if (flow->edges.data[e].kind == AS_EDGE_CALL)
            flow->edges.data[e].count *= flow->counts[module][block] / calls;
}

/* What is less than a thousandth of what a sample adds is nothing, or rounding. */
static void take_result(struct network *net)
{
    double least = net->unit / 1000;
    for (size_t a = 0; a < net->arcs.len; a++) {
        const struct arc *arc = &net->arcs.data[a];
        if (arc->result)
            *arc->result = arc->flow > least ? arc->flow : 0;
    }
    for (uint32_t i = 0; i < net->blocks.len && net->unit > 0; i++)
        settle_calls(net->flow, net->module, net->blocks.data[i]);
}

static bool find_balance(struct network *net, double part, int most_cuts)
{
    enum { ROUNDS = 4 };
    spread_first(net);
    for (int round = 0; round < ROUNDS; round++) {
        solve(net);
        for (int i = 0; i < most_cuts && cut_negative(net, part); i++)
            solve(net);
        respread(net);
    }
    return is_solved(net);
}

/* Where the only way in was cut together with the arc that made it negative, the worst arc alone is cut each time: this takes longer. */
static void balance_network(struct network *net, bool runs, double *deviations)
{
    net->x = as_alloc_array(net->nodes, sizeof *net->x);
    net->conductors = as_alloc_array(net->arcs.len + 1, sizeof *net->conductors);
    bool solved = find_balance(net, 0.1, 30) || find_balance(net, 1, 200);
    if (solved)
        take_result(net);
    if (deviations)
        (!solved ? keep_deviations : runs ? run_deviations : draw_deviations)(net, deviations);
    free(net->x);
    free(net->conductors);
}

static void balance_module(struct as_flow *flow, uint32_t module, bool edges, bool moved)
{
    struct parts parts = {.flow = flow, .module = module, .edges = edges, .moved = moved};
    divide(&parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (parts.nets[i].mean > 0)
            balance_network(&parts.nets[i], edges, flow->deviations ? flow->deviations[module] : NULL);
    free_parts(&parts);
}

void as_flow_balance(struct as_flow *flow, bool edges)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    if (flow->samples && !flow->deviations) {
        flow->deviations = as_alloc_array(n + 1, sizeof *flow->deviations);
        for (uint32_t m = 0; m < n; m++)
            flow->deviations[m] = as_alloc_array(as_cfg_get(flow->cfg, m)->blocks.len + 1, sizeof **flow->deviations);
    }
    bool moved = flow->samples && as_flow_is_moved(flow);
    for (uint32_t m = 0; m < n; m++)
        balance_module(flow, m, edges, moved);
}

/* ---- edges of addresses ---- */

static void mark_guessed(struct as_flow *flow, uint32_t module, uint32_t block)
{
    size_t n, ways = 0;
    const struct as_flow_edge *edges = as_flow_out(flow, module, block, &n);
    size_t first = (size_t)(edges - flow->edges.data);
    for (size_t i = 0; i < n; i++)
        ways += edges[i].kind != AS_EDGE_CALL;
    for (size_t i = first; i < first + n; i++)
        flow->edges.data[i].estimated = ways > 1 && flow->edges.data[i].kind != AS_EDGE_CALL;
}

/* Back to what was measured, which the flow takes over; each edge keeps its part of the block that it leaves. */
static void take_back(struct as_flow *flow, uint32_t module, double *measured)
{
    double *counts = flow->steady[module] = flow->counts[module];
    for (size_t e = flow->first[module][0]; e < flow->first[module][as_cfg_get(flow->cfg, module)->blocks.len]; e++) {
        struct as_flow_edge *edge = &flow->edges.data[e];
        flow->steady_edges[e] = edge->count;
        edge->count = counts[edge->from] > 0 ? edge->count / counts[edge->from] * measured[edge->from] : 0;
    }
    flow->counts[module] = measured;
    free(flow->deviations[module]);
}

void as_flow_guess_edges(struct as_flow *flow, bool balance)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    double **measured = as_flow_copy_counts(flow);
    as_flow_guess_jumps(flow);
    as_flow_balance(flow, false);
    if (!balance) {
        flow->steady = as_alloc_array(n + 1, sizeof *flow->steady);
        flow->steady_edges = as_alloc_array(flow->edges.len + 1, sizeof *flow->steady_edges);
    }
    for (uint32_t m = 0; m < n; m++) {
        if (balance)
            free(measured[m]);
        else
            take_back(flow, m, measured[m]);
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, m)->blocks.len; i++)
            mark_guessed(flow, m, i);
    }
    if (!balance) {
        free(flow->deviations);
        flow->deviations = NULL;
    }
    free(measured);
}

double as_flow_imbalance(const struct as_flow *flow)
{
    double wrong = 0, all = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (uint32_t b = 0; b < module->blocks.len; b++) {
            uint8_t class_ = module->blocks.data[b].last_class;
            if (class_ != AS_CLASS_BRANCH && class_ != AS_CLASS_JUMP)
                continue;
            size_t n;
            const struct as_flow_edge *edges = as_flow_out(flow, m, b, &n);
            double out = 0;
            for (size_t e = 0; e < n; e++)
                out += edges[e].count;
            wrong += fabs(out - flow->counts[m][b]);
            all += flow->counts[m][b];
        }
    }
    return all > 0 ? wrong / all : 0;
}
