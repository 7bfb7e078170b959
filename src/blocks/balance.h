/* Counts that agree with each other: what comes into a block leaves it (Kirchhoff's law), with the least change of what
 * was measured.
 *
 * Each function is a network: its blocks and the edges between them carry flow, control comes in at its entry and leaves
 * at returns. Each count x that was measured as m may become another at the price of (x - m)^2 / v, where v is how far off it
 * may be: the variance of a count of samples depends on its true value, so the system is solved a few times over.
 * The flow with the least price in all, of those in which
 * nothing is lost and nothing is negative, solves a linear system in potentials of the nodes, the equations of an
 * electrical network. Edges that nobody measured cost nothing to use.
 */
#ifndef AS_BLOCKS_BALANCE_H
#define AS_BLOCKS_BALANCE_H

#include "blocks/flow.h"

/* Changes the counts and edges of all functions, and calls with their blocks. `edges`: those were measured too, as branch
 * stacks do. Of samples, flow->deviations are made; those of addresses from so many draws. */
enum { AS_BALANCE_DRAWS = 16 };
void as_flow_balance(struct as_flow *flow, bool edges);

/* Edges of counts of addresses, which do not say where control went: by the balanced counts, or where those stay as they were measured
 * (not `balance`) in the same shares. Where control can go several ways they are marked as estimates. */
void as_flow_guess_edges(struct as_flow *flow, bool balance);

/* How far blocks are from the law: the part of all executions that comes in and does not go out, or the other way. */
double as_flow_imbalance(const struct as_flow *flow);

#endif
