/* Branches for the predictor's tests and benchmark: static instructions at given addresses, and a run that counts. */
#ifndef AS_TESTS_PREDICTOR_BED_H
#define AS_TESTS_PREDICTOR_BED_H

#include "base/random.h"
#include "core/predictor.h"

#include <stdio.h>
#include <stdlib.h>

/* boom-tip, found in the build tree, with changes ("predictor.btb_entries=16"; NULL: none). */
static inline struct as_predictor *bed_predictor(const char *name, const char *change)
{
    struct as_machine *machine = malloc(sizeof *machine);
    struct as_error err = AS_ERROR_INIT;
    if (!machine || !as_machine_load(name, machine, &err) || (change && !as_machine_set(machine, change, &err))) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    struct as_predictor *predictor = as_predictor_new(machine);
    free(machine);
    return predictor;
}

static inline struct as_insn bed_insn(enum as_class class_, uint64_t address, uint64_t target)
{
    return (struct as_insn){.address = address, .target = target, .class_ = (uint8_t)class_, .length = 4};
}

/* A conditional branch that goes 64 bytes on. Returns whether it was mispredicted. */
static inline bool bed_branch(struct as_predictor *predictor, uint64_t address, bool taken)
{
    struct as_insn insn = bed_insn(AS_CLASS_BRANCH, address, address + 64);
    return as_predictor_predict(predictor, &insn, taken, taken ? insn.target : address + 4).mispredicted;
}

#endif
