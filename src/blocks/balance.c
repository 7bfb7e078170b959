/* See balance.h. Blocks are split in two nodes with an arc between them that carries the block's count; edges are arcs
 * from the end of one block to the begin of another; node 0 is the world outside, from which functions are entered and
 * to which they return. The system is solved by conjugate gradients; arcs that would carry less than nothing are taken
 * out, and it is solved again. */
#include "blocks/balance.h"

#include <math.h>
#include <stdlib.h>

struct arc {
    uint32_t from, to;
    double unit;             /* what one sample adds to it; 0: nobody measured it */
    double measured, spread; /* spread: v, how far off it may be; 0: the arc is out */
    double flow;
    double *result; /* where the flow goes in the end; NULL: nowhere */
};

struct network {
    struct as_flow *flow;
    uint32_t module, first, n; /* blocks */
    AS_VEC(struct arc) arcs;
    uint32_t nodes;
    double mean;  /* executions of its blocks */
    double free_; /* the spread of what nobody measured: it costs next to nothing */
    double *x, *r, *p, *ap, *diagonal;
};

static uint32_t begin_of(uint32_t block)
{
    return 1 + 2 * block;
}
static uint32_t end_of(uint32_t block)
{
    return 2 + 2 * block;
}

/* ---- the network ---- */

static void add_arc(struct network *net, uint32_t from, uint32_t to, double measured, double unit, double *result)
{
    *as_vec_push(&net->arcs) = (struct arc){.from = from,
                                            .to = to,
                                            .measured = unit > 0 ? measured : 0,
                                            .unit = unit,
                                            .spread = unit > 0 ? unit * fmax(measured, net->mean) : net->free_,
                                            .result = result};
}

static bool leaves_function(const struct network *net, uint32_t block)
{
    const struct as_cfg_block *b = &as_cfg_get(net->flow->cfg, net->module)->blocks.data[net->first + block];
    return b->last_class == AS_CLASS_RETURN || b->last_class == AS_CLASS_JUMP_INDIRECT ||
           b->last_class == AS_CLASS_CALL || b->last_class == AS_CLASS_CALL_INDIRECT ||
           b->last_class == AS_CLASS_SYSTEM;
}

/* Edges inside the function; `entered` and `left` say which blocks have some. `unit`: of edges that were measured. */
static void add_edges(struct network *net, double unit, bool *entered, bool *left)
{
    for (uint32_t i = 0; i < net->n; i++) {
        uint32_t block = net->first + i;
        for (size_t e = net->flow->first[net->module][block]; e < net->flow->first[net->module][block + 1]; e++) {
            struct as_flow_edge *edge = &net->flow->edges.data[e];
            bool inside = edge->kind != AS_EDGE_CALL && edge->to_module == net->module && edge->to != AS_CFG_NONE &&
                          edge->to - net->first < net->n;
            if (!inside)
                continue;
            /* What falls was not measured: it is what the branches left over. */
            add_arc(net, end_of(i), begin_of(edge->to - net->first), edge->count, edge->kind == AS_EDGE_FALL ? 0 : unit,
                    &edge->count);
            entered[edge->to - net->first] = left[i] = true;
        }
    }
}

/* What a sample adds to a block's count: with runs the same everywhere, with addresses less where it has more
 * instructions. Exact counts are taken as samples of themselves. */
static double mean_unit(const struct network *net, bool runs)
{
    double sum = 0, samples = 0;
    for (uint32_t i = 0; i < net->n && net->flow->samples; i++) {
        double scale = runs ? 1 : as_cfg_get(net->flow->cfg, net->module)->blocks.data[net->first + i].n_insns;
        sum += net->flow->counts[net->module][net->first + i] * scale;
        samples += net->flow->samples[net->module][net->first + i];
    }
    return sum > 0 && samples > 0 ? sum / samples : 0;
}

static void build(struct network *net, bool runs)
{
    double *counts = net->flow->counts[net->module] + net->first, total = 0, unit = mean_unit(net, runs);
    bool *entered = as_alloc(2 * (size_t)net->n + 2), *left = entered + net->n + 1;
    for (uint32_t i = 0; i < net->n; i++)
        total += counts[i];
    net->mean = total / net->n;
    net->free_ = 100 * (total + 1) * (unit > 0 ? unit : 1);
    for (uint32_t i = 0; i < net->n; i++) {
        uint32_t insns = as_cfg_get(net->flow->cfg, net->module)->blocks.data[net->first + i].n_insns;
        insns = insns ? insns : 1;
        add_arc(net, begin_of(i), end_of(i), counts[i], unit <= 0 ? 1 : runs ? unit : unit / insns, &counts[i]);
    }
    add_edges(net, !runs ? 0 : unit > 0 ? unit : 1, entered, left);
    for (uint32_t i = 0; i < net->n; i++) {
        if (i == 0 || !entered[i])
            add_arc(net, 0, begin_of(i), 0, 0, NULL);
        if (!left[i] || leaves_function(net, i))
            add_arc(net, end_of(i), 0, 0, 0, NULL);
    }
    free(entered);
}

/* ---- the system ---- */

/* y = L x, where L is the network's Laplacian: along each arc flows v times the difference of potentials. */
static void apply(const struct network *net, const double *x, double *y)
{
    for (uint32_t i = 0; i < net->nodes; i++)
        y[i] = 0;
    for (size_t a = 0; a < net->arcs.len; a++) {
        const struct arc *arc = &net->arcs.data[a];
        double flow = arc->spread * (x[arc->from] - x[arc->to]);
        y[arc->from] += flow;
        y[arc->to] -= flow;
    }
}

static double dot(const struct network *net, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < net->nodes; i++)
        sum += a[i] * b[i];
    return sum;
}

/* r: what the measured counts lose at each node. */
static void start(struct network *net)
{
    for (uint32_t i = 0; i < net->nodes; i++)
        net->r[i] = net->diagonal[i] = 0;
    for (size_t a = 0; a < net->arcs.len; a++) {
        const struct arc *arc = &net->arcs.data[a];
        double measured = arc->spread > 0 ? arc->measured : 0;
        net->r[arc->from] -= measured;
        net->r[arc->to] += measured;
        net->diagonal[arc->from] += arc->spread;
        net->diagonal[arc->to] += arc->spread;
    }
}

static void precondition(const struct network *net, double *z)
{
    for (uint32_t i = 0; i < net->nodes; i++)
        z[i] = net->diagonal[i] > 0 ? net->r[i] / net->diagonal[i] : 0;
}

/* r of the potentials so far, which are near where a few arcs were cut or spread anew; if they are worse than none, of none. */
static double begin_from_before(struct network *net, double *z, double of_none)
{
    apply(net, net->x, net->ap);
    for (uint32_t i = 0; i < net->nodes; i++)
        net->r[i] -= net->ap[i];
    precondition(net, z);
    double rz = dot(net, net->r, z);
    if (rz <= of_none)
        return rz;
    for (uint32_t i = 0; i < net->nodes; i++)
        net->x[i] = 0;
    start(net);
    precondition(net, z);
    return of_none;
}

/* The direction moves all nodes of a part of the network alike, as far as numbers have digits: nothing flows in it. */
static bool is_flat(const struct network *net, double curve)
{
    double scale = 0;
    for (uint32_t i = 0; i < net->nodes; i++)
        scale += net->diagonal[i] * net->p[i] * net->p[i];
    return !(curve > 1e-14 * scale);
}

static void follow_gradients(struct network *net, double *z, double rz, double enough)
{
    for (uint32_t i = 0; i < net->nodes; i++)
        net->p[i] = z[i];
    for (uint32_t round = 0; round < 3 * net->nodes + 50 && rz > enough && rz > 0; round++) {
        apply(net, net->p, net->ap);
        double curve = dot(net, net->p, net->ap);
        if (is_flat(net, curve))
            break;
        double step = rz / curve;
        for (uint32_t i = 0; i < net->nodes; i++) {
            net->x[i] += step * net->p[i];
            net->r[i] -= step * net->ap[i];
        }
        precondition(net, z);
        double next = dot(net, net->r, z);
        for (uint32_t i = 0; i < net->nodes; i++)
            net->p[i] = z[i] + next / rz * net->p[i];
        rz = next;
    }
}

static void solve(struct network *net, double *z)
{
    start(net);
    precondition(net, z);
    double of_none = dot(net, net->r, z), rz = begin_from_before(net, z, of_none);
    follow_gradients(net, z, rz, 1e-18 * of_none);
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        arc->flow = arc->spread > 0 ? arc->measured + arc->spread * (net->x[arc->from] - net->x[arc->to]) : 0;
    }
}

/* No arc can carry many times what was counted in all, and what was counted cannot have gone nowhere, as in a function that
 * is never left: then there is no such flow or the numbers did not suffice, and counts stay as they were. */
static bool is_solved(const struct network *net)
{
    double counted = net->mean * net->n, flows = 0;
    for (size_t a = 0; a < net->arcs.len; a++) {
        if (!(fabs(net->arcs.data[a].flow) <= 100 * counted))
            return false;
        flows = fmax(flows, net->arcs.data[a].flow);
    }
    return flows > 1e-6 * net->mean;
}

/* Takes out arcs that carry less than nothing; true: there were some. Those that are far less negative than the worst may be so
 * because of it, and are left for the next time: without them nothing might flow at all. */
static bool cut_negative(struct network *net)
{
    double largest = net->mean, least = 0;
    bool any = false;
    for (size_t a = 0; a < net->arcs.len; a++) {
        largest = fmax(largest, fabs(net->arcs.data[a].flow));
        least = fmin(least, net->arcs.data[a].flow);
    }
    for (size_t a = 0; a < net->arcs.len; a++) {
        struct arc *arc = &net->arcs.data[a];
        if (arc->flow >= fmin(-1e-9 * largest, 0.1 * least))
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

static void balance_function(struct as_flow *flow, uint32_t module, const struct as_cfg_function *function, bool edges)
{
    struct network net = {
        .flow = flow, .module = module, .first = function->first, .n = function->n, .nodes = 2 * function->n + 1};
    double *scratch = as_alloc_array(6 * (size_t)net.nodes, sizeof *scratch);
    net.x = scratch;
    net.r = scratch + net.nodes;
    net.p = scratch + 2 * (size_t)net.nodes;
    net.ap = scratch + 3 * (size_t)net.nodes;
    net.diagonal = scratch + 4 * (size_t)net.nodes;
    build(&net, edges);
    enum { ROUNDS = 4, MOST_CUTS = 30 };
    for (int round = 0; round < ROUNDS; round++) {
        solve(&net, scratch + 5 * (size_t)net.nodes);
        for (int i = 0; i < MOST_CUTS && cut_negative(&net); i++)
            solve(&net, scratch + 5 * (size_t)net.nodes);
        respread(&net);
    }
    bool solved = is_solved(&net);
    for (size_t a = 0; a < net.arcs.len && solved; a++)
        if (net.arcs.data[a].result)
            *net.arcs.data[a].result = fmax(0, net.arcs.data[a].flow);
    as_vec_free(&net.arcs);
    free(scratch);
}

void as_flow_balance(struct as_flow *flow, bool edges)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (size_t i = 0; i < module->functions.len; i++) {
            double sum = 0;
            for (uint32_t b = 0; b < module->functions.data[i].n; b++)
                sum += flow->counts[m][module->functions.data[i].first + b];
            if (sum > 0)
                balance_function(flow, m, &module->functions.data[i], edges);
        }
    }
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
