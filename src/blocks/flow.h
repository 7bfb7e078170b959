/* How often blocks ran and where control went from them: the counts on a control-flow graph, exact or estimated.
 *
 * Blocks have a count; edges are what connects them. Falling into the next block is an edge, too, and so is coming back
 * from a call: what a call itself leads to is an edge of the kind AS_EDGE_CALL, which no law of flow within the function
 * concerns.
 */
#ifndef AS_BLOCKS_FLOW_H
#define AS_BLOCKS_FLOW_H

#include "blocks/cfg.h"

enum as_edge_kind {
    AS_EDGE_FALL,     /* to the block behind it, or back from a call to there */
    AS_EDGE_TAKEN,    /* a direct branch or jump */
    AS_EDGE_INDIRECT, /* an indirect jump */
    AS_EDGE_CALL,     /* direct or indirect */
};

struct as_flow_edge {
    uint32_t module, from;  /* the block that it leaves */
    uint32_t to_module, to; /* the block that it reaches; AS_CFG_NONE: none that is known */
    uint64_t target;        /* the address that it reaches, in to_module */
    enum as_edge_kind kind;
    double count, mispredicted;
    bool estimated; /* of exact counts of blocks: they do not say how often it was taken (derive.h) */
};

/* What samples say of a module, held against its code: addresses or, where there are stacks, branches. */
struct as_flow_fit {
    double checked, wrong; /* wrong: it cannot be in this code */
};

struct as_flow {
    struct as_cfg *cfg;
    double **counts;          /* by module and block: executions */
    double **samples;         /* how many samples each rests on; NULL: the counts are exact */
    double **deviations;      /* of balanced counts of samples: by how much each is off by chance; NULL: none */
    double together;          /* so many of them came together and say little more than one; 0: one */
    struct as_flow_fit *fits; /* by module, of samples; NULL: the counts are exact */
    AS_VEC(struct as_flow_edge) edges; /* by module and block that they leave, falling first, then by target */
    uint32_t **first;                  /* by module and block: its first edge; one more than there are blocks */
    double **steady,
        *steady_edges; /* balanced counts of blocks and edges, where `counts` are as measured; NULL: none */
};

/* Counts of nothing for a graph that was built. */
struct as_flow *as_flow_new(struct as_cfg *cfg);
void as_flow_free(struct as_flow *flow); /* not the graph */
/* A copy of all counts, by module; the caller frees them, and the list. */
double **as_flow_copy_counts(const struct as_flow *flow);

/* Edges of the same ends and kind become one. Ends of edges are addresses: `from` lies in the block that it leaves. Those
 * of no known block are left out. */
struct as_flow_branch {
    uint32_t module, to_module;
    uint64_t from, to;
    enum as_edge_kind kind;
    double count, mispredicted;
};
void as_flow_add(struct as_flow *flow, const struct as_flow_branch *branch);
/* Adds the direct branches that the code has, whether anybody saw them taken or not. */
void as_flow_know_branches(struct as_flow *flow);
/* After the last branch and with all blocks counted: sorts, and adds the edges along which control falls, as what the
 * branches leave over. */
void as_flow_finish(struct as_flow *flow);

/* For counts without branches, before they are balanced or derived: adds edges from indirect jumps (jump tables) to the blocks of
 * their function that nothing else leads to, or not as often as they ran. What they carry is a guess. */
void as_flow_guess_jumps(struct as_flow *flow);
/* After more branches were added, of which falling edges know nothing: sorts again. */
void as_flow_join(struct as_flow *flow);

static inline const struct as_flow_edge *as_flow_out(const struct as_flow *flow, uint32_t module, uint32_t block,
                                                     size_t *n)
{
    *n = flow->first[module][block + 1] - flow->first[module][block];
    return flow->edges.data + flow->first[module][block];
}

/* Multiplies what is less than about a million by a power of ten, for those who write whole numbers: nearly all of what
 * counts say of each other is kept then. Returns the factor. */
double as_flow_scale(struct as_flow *flow);

/* Instructions executed: of a block, a function, all. */
double as_flow_instructions(const struct as_flow *flow, uint32_t module, uint32_t block);
double as_flow_function_instructions(const struct as_flow *flow, uint32_t module, uint32_t function);
double as_flow_total(const struct as_flow *flow);
/* How often a function was entered: what calls and jumps from elsewhere bring to its first block or, if nothing does, to others (a
 * table of stubs, code that functions share). */
double as_flow_entries(const struct as_flow *flow, uint32_t module, uint32_t function);
/* Whether that rests on an edge that is estimated, though counts of blocks are exact. */
bool as_flow_entries_estimated(const struct as_flow *flow, uint32_t module, uint32_t function);
bool as_flow_has_estimates(const struct as_flow *flow);

#endif
