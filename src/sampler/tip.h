/* TIP's sample: what the hardware of the paper's Figure A.6 puts into its registers, and what software makes of it. TEA
 * (Figure B.4) adds the signature vectors to it and waits with a sample of a stalled or drained cycle until the
 * instruction commits, so that its vector is complete: a record's vector is always that one.
 *
 * The two halves share nothing but this struct. Ids stand for addresses. One entry of the ROB is one instruction here;
 * the entry of the instruction at position p of its thread is in bank p mod `banks`.
 */
#ifndef AS_SAMPLER_TIP_H
#define AS_SAMPLER_TIP_H

#include "sampler/sampler.h"

struct as_tip_sample {
    uint32_t banks;
    uint32_t address[AS_GROUP_MAX]; /* by bank */
    uint32_t events[AS_GROUP_MAX];  /* by bank: the signature vectors, for TEA */
    uint32_t path[AS_GROUP_MAX];    /* by bank: what unwinding the stack would give; no register holds it */
    uint32_t valid;                 /* bit b: address[b] counts */
    uint32_t oldest;                /* bank of the oldest entry */
    bool stalled;                   /* nothing committed in the sampled cycle */
    bool front_end;                 /* the ROB was empty and none of the following is set: drained */
    bool exception, flush, mispredicted;
};

/* Copies the registers in the sampled cycle; for a drained ROB also in the cycle of the next dispatch. */
enum as_verdict as_tip_hardware(const struct as_query *query, struct as_tip_sample *sample);

/* From the sample alone. `ilp`: equal shares to all that committed; otherwise the oldest of them gets all. */
void as_tip_software(const struct as_tip_sample *sample, bool ilp, struct as_attribution *attribution);

#endif
