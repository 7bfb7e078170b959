/* What the parts of src/whatif share: which experiments there are (whatif_experiments.c), and their runs (whatif_run.c). */
#ifndef AS_WHATIF_WHATIF_EXPERIMENTS_H
#define AS_WHATIF_WHATIF_EXPERIMENTS_H

#include "whatif/whatif.h"

/* Whether there is a machine with all changes of an experiment. */
bool as_whatif_check_machine(const struct as_whatif *whatif, const struct as_experiment *experiment,
                             struct as_error *err) AS_MUST_CHECK;

/* The rest is known after the run of the program as it is. */

/* Whether each place that was asked for was executed. */
bool as_whatif_check_places(const struct as_whatif *whatif, struct as_error *err) AS_MUST_CHECK;
/* Adds the pairs of instruction and event with the most time, at most so many. */
void as_whatif_add_ranked(struct as_whatif *whatif, uint64_t most);
/* Next to instructions and events: the variable whose parts share lines, where accesses waited for at least a hundredth of the
 * time for that. */
void as_whatif_add_worst(struct as_whatif *whatif);
/* Where the variables are that shall lie apart: addresses in QEMU are the same in every run. False: one is nowhere. */
bool as_whatif_find_variables(struct as_whatif *whatif, struct as_error *err) AS_MUST_CHECK;
/* What the cycle stacks promise of an experiment. */
void as_experiment_weigh(const struct as_whatif *whatif, struct as_experiment *experiment);

#endif
