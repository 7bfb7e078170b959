/* See laplace.h. Node 0 is never taken out: it is where potentials are measured from, and usually a neighbour of most others. */
#include "blocks/laplace.h"

#include "base/vec.h"

#include <stdbool.h>
#include <stdlib.h>

struct link {
    uint32_t node;
    double weight;
};
typedef AS_VEC(struct link) links;

/* A node that was taken out, with the neighbours that it had then. */
struct step {
    uint32_t node;
    size_t first, n;
    double sum; /* of the weights of all its arcs; 0: it had none */
};

struct as_laplace {
    uint32_t nodes;
    AS_VEC(struct step) steps;
    links stars; /* neighbours of the steps, one behind the other */
};

/* While nodes are taken out. */
struct mesh {
    links *near;    /* by node: its neighbours but node 0 */
    double *ground; /* by node: the weight of its arcs to node 0 */
    uint32_t *at;   /* scratch, by node: its place in a list + 1; 0: it is not there */
    bool *out;
    AS_VEC(uint32_t) * by_degree; /* nodes by how many neighbours they have, or had */
    uint32_t degrees, least;
};

static void queue(struct mesh *mesh, uint32_t node)
{
    uint32_t degree = mesh->near[node].len < mesh->degrees ? (uint32_t)mesh->near[node].len : mesh->degrees - 1;
    *as_vec_push(&mesh->by_degree[degree]) = node;
    if (degree < mesh->least)
        mesh->least = degree;
}

/* A node with as few neighbours as any; UINT32_MAX: all are out. Entries that are no longer true are dropped. */
static uint32_t next_node(struct mesh *mesh)
{
    for (; mesh->least < mesh->degrees; mesh->least++)
        while (mesh->by_degree[mesh->least].len) {
            uint32_t node = mesh->by_degree[mesh->least].data[--mesh->by_degree[mesh->least].len];
            size_t degree = mesh->near[node].len;
            if (!mesh->out[node] &&
                (degree == mesh->least || (mesh->least == mesh->degrees - 1 && degree > mesh->least)))
                return node;
        }
    return UINT32_MAX;
}

/* Adds links to a node's neighbours; of one that it has already, the weights are added up. `times`: of all weights. */
static void add_links(struct mesh *mesh, uint32_t node, const struct link *more, size_t n, double times)
{
    links *near = &mesh->near[node];
    for (size_t i = 0; i < near->len; i++)
        mesh->at[near->data[i].node] = (uint32_t)i + 1;
    for (size_t i = 0; i < n; i++) {
        if (more[i].node == node)
            continue;
        uint32_t at = mesh->at[more[i].node];
        if (at)
            near->data[at - 1].weight += times * more[i].weight;
        else
            *as_vec_push(near) = (struct link){more[i].node, times * more[i].weight};
    }
    for (size_t i = 0; i < near->len; i++)
        mesh->at[near->data[i].node] = 0;
}

static void unlink_node(links *near, uint32_t node)
{
    for (size_t i = 0; i < near->len; i++)
        if (near->data[i].node == node) {
            near->data[i] = near->data[--near->len];
            return;
        }
}

static void take_out(struct as_laplace *system, struct mesh *mesh, uint32_t node)
{
    const links *near = &mesh->near[node];
    double sum = mesh->ground[node];
    for (size_t i = 0; i < near->len; i++)
        sum += near->data[i].weight;
    *as_vec_push(&system->steps) = (struct step){.node = node, .first = system->stars.len, .n = near->len, .sum = sum};
    mesh->out[node] = true;
    for (size_t i = 0; i < near->len; i++) {
        uint32_t other = near->data[i].node;
        double part = near->data[i].weight / sum;
        *as_vec_push(&system->stars) = near->data[i];
        unlink_node(&mesh->near[other], node);
        add_links(mesh, other, near->data, near->len, part);
        mesh->ground[other] += part * mesh->ground[node];
    }
    for (size_t i = 0; i < near->len; i++)
        queue(mesh, near->data[i].node);
    as_vec_free(&mesh->near[node]);
}

static void add_arcs(struct mesh *mesh, const struct as_laplace_arc *arcs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct as_laplace_arc *arc = &arcs[i];
        if (arc->from == arc->to)
            continue;
        if (arc->from == 0 || arc->to == 0) {
            mesh->ground[arc->from + arc->to] += arc->weight;
            continue;
        }
        *as_vec_push(&mesh->near[arc->from]) = (struct link){arc->to, arc->weight};
        *as_vec_push(&mesh->near[arc->to]) = (struct link){arc->from, arc->weight};
    }
}

/* Several arcs between two nodes become one. */
static void join_links(struct mesh *mesh, uint32_t node)
{
    links all = mesh->near[node];
    mesh->near[node] = (links){0};
    for (size_t i = 0; i < all.len; i++) {
        uint32_t *at = &mesh->at[all.data[i].node];
        if (*at)
            mesh->near[node].data[*at - 1].weight += all.data[i].weight;
        else {
            *as_vec_push(&mesh->near[node]) = all.data[i];
            *at = (uint32_t)mesh->near[node].len;
        }
    }
    for (size_t i = 0; i < all.len; i++)
        mesh->at[all.data[i].node] = 0;
    as_vec_free(&all);
}

struct as_laplace *as_laplace_new(uint32_t nodes, const struct as_laplace_arc *arcs, size_t n)
{
    enum { MOST_DEGREES = 256 }; /* those with more neighbours come last, in any order */
    struct as_laplace *system = as_alloc(sizeof *system);
    size_t size = (size_t)nodes + 1;
    struct mesh mesh = {.near = as_alloc_array(size, sizeof *mesh.near),
                        .ground = as_alloc_array(size, sizeof *mesh.ground),
                        .at = as_alloc_array(size, sizeof *mesh.at),
                        .out = as_alloc_array(size, sizeof *mesh.out),
                        .by_degree = as_alloc_array(MOST_DEGREES, sizeof *mesh.by_degree),
                        .degrees = MOST_DEGREES};
    system->nodes = nodes;
    add_arcs(&mesh, arcs, n);
    mesh.least = MOST_DEGREES;
    for (uint32_t node = 1; node < nodes; node++) {
        join_links(&mesh, node);
        queue(&mesh, node);
    }
    for (uint32_t node; (node = next_node(&mesh)) != UINT32_MAX;)
        take_out(system, &mesh, node);
    for (size_t i = 0; i < MOST_DEGREES; i++)
        as_vec_free(&mesh.by_degree[i]);
    free(mesh.near);
    free(mesh.ground);
    free(mesh.at);
    free(mesh.out);
    free(mesh.by_degree);
    return system;
}

void as_laplace_free(struct as_laplace *system)
{
    if (!system)
        return;
    as_vec_free(&system->steps);
    as_vec_free(&system->stars);
    free(system);
}

void as_laplace_solve(const struct as_laplace *system, double *values)
{
    for (size_t i = 0; i < system->steps.len; i++) { /* what comes into a node that is out goes on to its neighbours */
        const struct step *step = &system->steps.data[i];
        const struct link *star = system->stars.data + step->first;
        for (size_t k = 0; k < step->n; k++)
            values[star[k].node] += values[step->node] * star[k].weight / step->sum;
    }
    if (system->nodes)
        values[0] = 0;
    for (size_t i = system->steps.len; i-- > 0;) {
        const struct step *step = &system->steps.data[i];
        const struct link *star = system->stars.data + step->first;
        double sum = values[step->node];
        for (size_t k = 0; k < step->n; k++)
            sum += star[k].weight * values[star[k].node];
        values[step->node] = step->sum > 0 ? sum / step->sum : 0;
    }
}
