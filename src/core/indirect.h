/* Targets of indirect jumps and calls, from tagged tables over ever longer histories (ITTAGE, Seznec 2011). The BTB's
 * last target is the base that the caller brings along. */
#ifndef AS_CORE_INDIRECT_H
#define AS_CORE_INDIRECT_H

#include "core/machine.h"

struct as_indirect_lookup {
    uint16_t index[AS_TAGE_TABLES_MAX];
    uint16_t tag[AS_TAGE_TABLES_MAX];
    int provider; /* table; -1: the base */
    uint64_t target, base;
};

struct as_indirect;
/* NULL where the machine has none: the functions below must not be called then, except free. */
struct as_indirect *as_indirect_new(const struct as_machine *machine);
void as_indirect_free(struct as_indirect *indirect);

void as_indirect_predict(struct as_indirect *indirect, uint64_t address, uint64_t base,
                         struct as_indirect_lookup *lookup);
void as_indirect_update(struct as_indirect *indirect, const struct as_indirect_lookup *lookup, uint64_t target);
void as_indirect_push(struct as_indirect *indirect, bool bit);
void as_indirect_push_many(struct as_indirect *indirect, uint32_t bits, uint32_t n); /* the last one lowest */
uint64_t as_indirect_bits(const struct as_indirect *indirect);

#endif
