/* From samples to counts of blocks: what each method makes of the same samples.
 *
 *   ip     the samples of a block, averaged over its instructions: each instruction is sampled as often as it ran. The
 *          classic, precise, prime, random and PDIR methods differ in how samples are taken, not in this
 *   fixed  the same, with addresses of the instruction behind (IP+1) put right by the branch stack
 *   uops   the same where the event counts micro-operations: averaged over those
 *   flow   branches whose order is not known, as a profile keeps them: a block ran as often as branches lead to it, and
 *          as the block before it falls into it, which is what branches leave over there
 *   lbr    every run between two branches of every stack executed all its blocks; the sampled address is ignored
 *
 * Entries of branch stacks are held against the code first; what cannot be is left out and counted by reason.
 */
#ifndef AS_BLOCKS_ESTIMATE_H
#define AS_BLOCKS_ESTIMATE_H

#include "blocks/flow.h"
#include "blocks/samples.h"

enum as_method { AS_METHOD_IP, AS_METHOD_FIXED, AS_METHOD_UOPS, AS_METHOD_LBR, AS_METHOD_FLOW, AS_METHODS };
extern const char *const as_method_names[]; /* "ip" …, NULL behind the last */

/* Parts of the samples, branches or runs, by what is wrong with them. */
struct as_estimate_trouble {
    double used;
    double unknown;    /* in no known code: JIT, no file, another file, between functions */
    double between;    /* inside an instruction */
    double no_branch;  /* a branch begins where there is none */
    double elsewhere;  /* a direct branch goes elsewhere than its bytes say */
    double impossible; /* a run would pass a jump, a call or a return without taking it */
};

/* Tells the graph, before it is built, which functions and targets were sampled. */
void as_estimate_see(const struct as_samples *samples, struct as_cfg *cfg);
/* Whether samples say where control went, not only where it was: edges are measured then. */
bool as_estimate_has_edges(const struct as_samples *samples, enum as_method method);
/* `cfg` is built. `trouble` may be NULL. */
struct as_flow *as_estimate(const struct as_samples *samples, struct as_cfg *cfg, enum as_method method,
                            struct as_estimate_trouble *trouble);

#endif
