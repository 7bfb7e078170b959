/* See body_bed.h. */
#include "body_bed.h"

enum { LONGEST = 16 };

static struct as_body *find(struct body_bed *bodies, uint32_t first, uint32_t n)
{
    for (size_t i = 0; i < bodies->bodies.len; i++)
        if (bodies->starts.data[i] == first && bodies->bodies.data[i]->n == n)
            return bodies->bodies.data[i];
    return NULL;
}

static struct as_body *make(struct body_bed *bodies, size_t at, uint32_t n)
{
    const struct core_bed *bed = bodies->bed;
    const struct as_insn *insns[LONGEST];
    struct as_core_access shape[LONGEST];
    uint32_t ideals[LONGEST], n_shape = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct bed_step *step = &bed->steps.data[at + i];
        insns[i] = &bed->code.data[step->insn];
        ideals[i] = bed->ideal;
        if (step->access.size)
            shape[n_shape++] = (struct as_core_access){.index = (uint16_t)i, .kind = step->access.kind};
    }
    *as_vec_push(&bodies->starts) = bed->steps.data[at].insn;
    return *as_vec_push(&bodies->bodies) = as_body_new(&bed->machine, insns, n, ideals, false, shape, n_shape);
}

/* Adds its accesses to those that are there. */
static uint32_t add_block(struct body_bed *bodies, size_t at, struct as_body_run *run)
{
    const struct core_bed *bed = bodies->bed;
    uint32_t n = 0;
    const struct bed_step *step;
    do {
        step = &bed->steps.data[at + n++];
        if (step->access.size)
            bodies->accesses[bodies->n_accesses++] = step->access;
    } while (n < LONGEST && at + n < bed->steps.len && !as_insn_is_control(&bed->code.data[step->insn]));
    struct as_body *body = find(bodies, bed->steps.data[at].insn, n);
    *run = (struct as_body_run){.body = body ? body : make(bodies, at, n),
                                .accesses = bodies->accesses,
                                .next = step->next,
                                .taken = step->taken};
    return n;
}

uint32_t body_bed_next(struct body_bed *bodies, size_t at, struct as_body_run *run)
{
    bodies->n_accesses = 0;
    return add_block(bodies, at, run);
}

static struct as_body *join(struct body_bed *bodies, const struct as_body *first, const struct as_body *second,
                            bool taken)
{
    for (size_t i = 0; i < bodies->joins.len; i++) {
        const struct body_join *known = &bodies->joins.data[i];
        if (known->first == first && known->second == second && known->taken == taken)
            return known->both;
    }
    struct as_body *both = as_body_join(&bodies->bed->machine, first, second, taken);
    *as_vec_push(&bodies->joins) = (struct body_join){first, second, taken, both};
    return both;
}

uint32_t body_bed_chain(struct body_bed *bodies, size_t at, uint32_t blocks, struct as_body_run *run)
{
    const struct core_bed *bed = bodies->bed;
    uint32_t n = body_bed_next(bodies, at, run);
    while (--blocks > 0 && at + n < bed->steps.len && !body_bed_pauses(at + n) &&
           (!run->next || run->next == bed->code.data[bed->steps.data[at + n].insn].address)) {
        const struct as_body *first = run->body;
        bool taken = run->taken;
        n += add_block(bodies, at + n, run);
        run->body = join(bodies, first, run->body, taken);
    }
    return n;
}

void body_bed_close(struct body_bed *bodies)
{
    for (size_t i = 0; i < bodies->joins.len; i++)
        as_body_free(bodies->joins.data[i].both);
    as_vec_free(&bodies->joins);
    for (size_t i = 0; i < bodies->bodies.len; i++)
        as_body_free(bodies->bodies.data[i]);
    as_vec_free(&bodies->bodies);
    as_vec_free(&bodies->starts);
}
