/* Ways of sampling blocks, on the records of the core model: one observer takes the samples of all of them in one run.
 *
 * The numbers of the mechanism are those of a modelled PMU (src/pmu, pmus/): the shadow of precise events, the size of the
 * branch stack, the bits that the hardware makes random. What is sampled is instructions, micro-operations or taken
 * branches of the program itself; the kernel is not there.
 *
 *   imprecise  the counter overflows, the interrupt comes `skid` cycles later, and the address is that of the oldest
 *              instruction that has not retired then
 *   precise    so many cycles after the overflow, its shadow, the unit is armed; the next instruction that retires is
 *              recorded, by the address of the one behind it (IP+1)
 *   exact      the very instruction that overflows the counter is recorded (PDIR), by the address of the one behind it
 *   ops        micro-operations are counted, and the instruction of the one that overflows is recorded by its own address
 *   branches   taken branches are counted; `skid` cycles after the overflow the branch stack is read
 */
#ifndef AS_BLOCKS_UNITS_H
#define AS_BLOCKS_UNITS_H

#include "assay/observer.h"
#include "blocks/estimate.h"
#include "blocks/samples.h"
#include "pmu/pmu.h"

enum as_unit_trigger { AS_UNIT_IMPRECISE, AS_UNIT_PRECISE, AS_UNIT_EXACT, AS_UNIT_OPS, AS_UNIT_BRANCHES };
enum as_unit_period { AS_PERIOD_ROUND, AS_PERIOD_PRIME, AS_PERIOD_RANDOM };

/* A way of sampling, and what is made of the samples. */
struct as_way {
    const char *name, *meaning;
    enum as_unit_trigger trigger;
    enum as_unit_period period;
    enum as_method method;
    bool hardware_random; /* the lowest bits of the period, as the PMU says */
    bool same_samples;    /* as the way before it: only the method differs */
};
extern const struct as_way as_ways[];
extern const size_t as_ways_count;

struct as_units_options {
    const struct as_pmu *pmu;
    uint64_t period; /* instructions: of each sample, on average */
    uint32_t skid;   /* cycles */
    uint64_t seed;
};

struct as_units;
struct as_units *as_units_new(const struct as_run_info *run, const struct as_units_options *options);
void as_units_free(struct as_units *units);        /* the fan-out does that for its observers */
extern const struct as_observer as_units_observer; /* with the units as self */

/* After the run: the samples of a way, by its place in as_ways; NULL: the PMU cannot do that. Addresses are instruction
 * ids + 1, of the run's. */
struct as_samples *as_units_samples(const struct as_units *units, size_t way);
uint64_t as_units_period(const struct as_units *units, size_t way); /* its average */

uint64_t as_units_prime(uint64_t least); /* the next prime from here on */

#endif
