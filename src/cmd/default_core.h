/* The machine that is modelled where --core is not given: for x86-64 programs the one nearest to this processor, so that
 * all verbs that model one agree, and a profile is about the machine at hand as far as it can be. ASSAY_CORE in the
 * environment decides instead where results must not depend on the machine (tests, CI).
 */
#ifndef AS_CMD_DEFAULT_CORE_H
#define AS_CMD_DEFAULT_CORE_H

#include "core/machine.h"

#include <stdbool.h>
#include <stddef.h>

struct as_pmu;

struct as_default_core {
    char name[AS_MACHINE_NAME]; /* a machine's name, or what ASSAY_CORE contains */
    char why[256]; /* "core zen4-like: nearest to this AMD EPYC (AuthenticAMD, family 25, model 17)"; "": asked for */
};

/* Chooses for a program, by its name on the command line; NULL: an x86-64 one. */
void as_default_core(const char *program, struct as_default_core *core);

/* The core that is most like a modelled PMU's own. */
const char *as_core_of_unit(const struct as_pmu *pmu);

/* Chooses for a program that a modelled PMU samples. False: there is no such unit. */
bool as_default_core_of_unit(const char *unit, struct as_default_core *core);

/* The value of --core if it was given; otherwise chooses, and says why in a note. */
const char *as_core_or_default(const char *given, const char *program, struct as_default_core *core);

#endif
