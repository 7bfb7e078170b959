/* Block counts for tools that rewrite programs behind the linker, by address instead of source line:
 *
 * - fdata, which llvm-bolt reads: branches between functions and their offsets, with counts;
 * - pre-aggregated, which perf2bolt -pa reads: branches and the straight runs between them, by address;
 * - what llvm-profgen --unsymbolized-profile reads: the same. It makes a profile for clang of it, also one by pseudo-probes.
 */
#ifndef AS_BLOCKS_BOLT_H
#define AS_BLOCKS_BOLT_H

#include "blocks/flow.h"

#include <stdio.h>

/* Whether functions have names, by which fdata says where branches are. */
bool as_bolt_check(const struct as_cfg *cfg, uint32_t module, struct as_error *err);
void as_bolt_write_fdata(const struct as_flow *flow, uint32_t module, FILE *out);
void as_bolt_write_aggregated(const struct as_flow *flow, uint32_t module, FILE *out);
void as_bolt_write_profgen(const struct as_flow *flow, uint32_t module, FILE *out);

/* A straight run: from where control came to, to the branch by which it left. */
struct as_bolt_run {
    uint64_t start, end; /* end: the address of the last instruction */
    uint64_t count;
};
typedef AS_VEC(struct as_bolt_run) as_bolt_runs;
/* Runs that together execute every block and take every edge as often as the flow says. By start, then end. */
as_bolt_runs as_bolt_runs_of(const struct as_flow *flow, uint32_t module);

#endif
