/* See derive.h. Arcs are the edges of a module. A block that can also be entered or left in other ways has an arc to the
 * world outside. One equation after the other narrows the bounds of the arcs, until nothing changes.
 *
 * In some functions the bounds contradict each other: control left them in a way that the graph does not have. Then the
 * blocks behind their calls get an arc to the world, and everything is done again. If that is not enough, all their
 * blocks get one. */
#include "blocks/derive.h"

#include "blocks/arcs.h"
#include "blocks/lost_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD = AS_ARC_WORLD, NO_EDGE = AS_ARC_NO_EDGE, MOST_ROUNDS = 64, MOST_TRIALS = 16 };

struct arc {
    uint32_t from, to; /* blocks, or WORLD */
    uint32_t edge;
    double least, most;
};

/* Arcs that are added up: those of one block or function, side by side. */
struct sums {
    uint32_t *first, *arcs;
};

struct net {
    struct as_flow *flow;
    uint32_t module, n, n_functions;
    const struct as_cfg_module *m;
    AS_VEC(struct arc) arcs;
    struct sums out, in, around; /* by block, by block, by function: arcs that cross its border */
    uint8_t *anywhere, *open;    /* by function: as in arcs.h */
    uint8_t *broken;             /* by function: its bounds contradict each other */
    bool any_broken;
};

static uint32_t function_of(const struct net *net, uint32_t block)
{
    return block == WORLD ? WORLD : net->m->blocks.data[block].function;
}

/* ---- where control comes from and goes to ---- */

/* Functions with an indirect jump that ran; its targets may also be in a part of the function that was moved away. */
static bool find_jumps(struct net *net, bool moved)
{
    bool any = false;
    for (uint32_t i = 0; i < net->n; i++)
        if (moved ||
            (net->m->blocks.data[i].last_class == AS_CLASS_JUMP_INDIRECT && net->flow->counts[net->module][i] > 0))
            net->anywhere[function_of(net, i)] = 1;
    for (size_t e = net->flow->first[net->module][0]; e < net->flow->first[net->module][net->n]; e++) {
        const struct as_flow_edge *edge = &net->flow->edges.data[e];
        if (!as_arcs_cross(net->flow, edge))
            continue;
        uint32_t a = function_of(net, edge->from), b = function_of(net, edge->to);
        net->anywhere[a] = net->anywhere[b] = net->anywhere[a] | net->anywhere[b];
    }
    for (uint32_t i = 0; i < net->n_functions; i++)
        any |= net->anywhere[i];
    return any;
}

/* Before anything is narrowed an arc carries at most what its ends ran. */
static void add_arcs(struct net *net)
{
    const double *counts = net->flow->counts[net->module];
    as_arcs found = as_arcs_find(net->flow, net->module, net->anywhere, net->open);
    net->arcs.len = 0;
    for (size_t i = 0; i < found.len; i++) {
        const struct as_arc *arc = &found.data[i];
        double most =
            fmin(arc->from == WORLD ? INFINITY : counts[arc->from], arc->to == WORLD ? INFINITY : counts[arc->to]);
        *as_vec_push(&net->arcs) = (struct arc){arc->from, arc->to, arc->edge, 0, most};
    }
    as_vec_free(&found);
}

/* ---- the equations ---- */

enum which { OUT, IN, AROUND };

/* The sums that an arc is part of: at most two. */
static int sums_of(const struct net *net, enum which which, const struct arc *arc, uint32_t of[2])
{
    uint32_t from = function_of(net, arc->from), to = function_of(net, arc->to);
    int n = 0;
    if (which == OUT && arc->from != WORLD)
        of[n++] = arc->from;
    if (which == IN && arc->to != WORLD)
        of[n++] = arc->to;
    if (which == AROUND && from != to && from != WORLD)
        of[n++] = from;
    if (which == AROUND && from != to && to != WORLD)
        of[n++] = to;
    return n;
}

static struct sums group(const struct net *net, enum which which, uint32_t n)
{
    struct sums sums = {as_alloc_array((size_t)n + 2, sizeof *sums.first),
                        as_alloc_array(2 * net->arcs.len + 1, sizeof *sums.arcs)};
    uint32_t of[2];
    for (size_t a = 0; a < net->arcs.len; a++)
        for (int i = sums_of(net, which, &net->arcs.data[a], of); i-- > 0;)
            sums.first[of[i] + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        sums.first[i] += sums.first[i - 1];
    for (size_t a = 0; a < net->arcs.len; a++)
        for (int i = sums_of(net, which, &net->arcs.data[a], of); i-- > 0;)
            sums.arcs[sums.first[of[i] + 1]++] = (uint32_t)a;
    return sums;
}

static void free_sums(struct sums *sums)
{
    free(sums->first);
    free(sums->arcs);
    *sums = (struct sums){0};
}

/* Next time it is opened further. */
static void break_function(struct net *net, uint32_t function)
{
    if (!net->broken[function] && net->open[function] < AS_ARCS_OPEN)
        net->open[function]++;
    net->broken[function] = 1;
    net->any_broken = true;
}

static bool narrow(struct net *net, struct arc *arc, double least, double most)
{
    least = fmax(least, arc->least);
    most = fmin(most, arc->most);
    if (least > most) { /* it keeps its bounds: other functions may still use them */
        uint32_t ends[] = {arc->from, arc->to};
        for (int i = 0; i < 2; i++)
            if (ends[i] != WORLD)
                break_function(net, function_of(net, ends[i]));
        return false;
    }
    bool changed = least > arc->least || most < arc->most;
    arc->least = least;
    arc->most = most;
    return changed;
}

/* The sum of some arcs, less that of those into `function` (WORLD: of none), is `total`. */
static bool apply(struct net *net, const struct sums *sums, uint32_t which, uint32_t function, double total)
{
    double least = 0, most = 0;
    bool changed = false;
    uint32_t own = function == WORLD ? function_of(net, which) : function;
    for (uint32_t i = sums->first[which]; i < sums->first[which + 1]; i++) {
        const struct arc *arc = &net->arcs.data[sums->arcs[i]];
        bool minus = function != WORLD && function_of(net, arc->to) == function;
        least += minus ? -arc->most : arc->least;
        most += minus ? -arc->least : arc->most;
    }
    for (uint32_t i = sums->first[which]; i < sums->first[which + 1] && !net->broken[own]; i++) {
        struct arc *arc = &net->arcs.data[sums->arcs[i]];
        bool minus = function != WORLD && function_of(net, arc->to) == function;
        double from = minus ? least + arc->most - total : total - (most - arc->most);
        double to = minus ? most + arc->least - total : total - (least - arc->least);
        double before_least = arc->least, before_most = arc->most;
        if (!narrow(net, arc, from, to))
            continue;
        changed = true;
        least += minus ? before_most - arc->most : arc->least - before_least;
        most += minus ? before_least - arc->least : arc->most - before_most;
    }
    return changed;
}

static bool sweep(struct net *net, bool back)
{
    const double *counts = net->flow->counts[net->module];
    bool changed = false;
    for (uint32_t i = 0; i < net->n; i++) {
        uint32_t block = back ? net->n - 1 - i : i;
        changed |= apply(net, &net->in, block, WORLD, counts[block]);
        changed |= apply(net, &net->out, block, WORLD, counts[block]);
    }
    for (uint32_t i = 0; i < net->n_functions; i++)
        changed |= apply(net, &net->around, i, i, 0);
    return changed;
}

static void narrow_all(struct net *net)
{
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        if (trial + 1 == MOST_TRIALS)
            memset(net->open, AS_ARCS_OPEN, net->n_functions);
        memset(net->broken, 0, net->n_functions);
        net->any_broken = false;
        add_arcs(net);
        net->out = group(net, OUT, net->n);
        net->in = group(net, IN, net->n);
        net->around = group(net, AROUND, net->n_functions);
        for (int round = 0; round < MOST_ROUNDS && sweep(net, round & 1); round++)
            ;
        if (!net->any_broken || trial + 1 == MOST_TRIALS)
            return;
        free_sums(&net->out);
        free_sums(&net->in);
        free_sums(&net->around);
    }
}

/* ---- the result ---- */

/* What is not known: the guess, within its bounds; what leaves a block for blocks alone adds up to its count. */
static void settle_block(struct net *net, uint32_t block)
{
    double left = net->flow->counts[net->module][block], guessed = 0;
    bool world = false;
    uint32_t last = NO_EDGE;
    for (uint32_t i = net->out.first[block]; i < net->out.first[block + 1]; i++) {
        const struct arc *arc = &net->arcs.data[net->out.arcs[i]];
        bool known = arc->least == arc->most;
        world |= arc->edge == NO_EDGE && !known;
        left -= known ? arc->least : 0;
        guessed += known || arc->edge == NO_EDGE ? 0 : net->flow->edges.data[arc->edge].count;
        last = known || arc->edge == NO_EDGE ? last : net->out.arcs[i];
    }
    double scale = !world && guessed > 0 ? left / guessed : 1;
    for (uint32_t i = net->out.first[block]; i < net->out.first[block + 1]; i++) {
        const struct arc *arc = &net->arcs.data[net->out.arcs[i]];
        if (arc->edge == NO_EDGE)
            continue;
        struct as_flow_edge *edge = &net->flow->edges.data[arc->edge];
        edge->estimated = arc->least != arc->most;
        double guess = net->out.arcs[i] == last && !world ? left : round(edge->count * scale);
        if (function_of(net, arc->from) != function_of(net, arc->to) && edge->kind == AS_EDGE_FALL)
            guess = 0; /* behind a call that never comes back another function begins */
        edge->count = fmin(fmax(guess, arc->least), arc->most);
        left -= edge->estimated ? edge->count : 0;
    }
}

static void derive(struct net *net)
{
    narrow_all(net);
    for (uint32_t i = 0; i < net->n; i++)
        settle_block(net, i);
    free_sums(&net->out);
    free_sums(&net->in);
    free_sums(&net->around);
}

void as_flow_derive(struct as_flow *flow)
{
    bool moved = as_flow_is_moved(flow);
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        struct net net = {.flow = flow, .module = m, .m = as_cfg_get(flow->cfg, m)};
        net.n = (uint32_t)net.m->blocks.len;
        net.n_functions = (uint32_t)net.m->functions.len;
        net.anywhere = as_alloc(net.n_functions + 1);
        net.open = as_alloc(net.n_functions + 1);
        net.broken = as_alloc(net.n_functions + 1);
        derive(&net); /* as if control went nowhere but along edges: a better guess than the first one */
        if (find_jumps(&net, moved)) {
            memset(net.open, 0, net.n_functions);
            derive(&net);
        }
        as_vec_free(&net.arcs);
        free(net.anywhere);
        free(net.open);
        free(net.broken);
    }
}
