/* TAGE: which way a conditional branch goes, from tagged tables over ever longer histories (Seznec and Michaud, 2006).
 *
 * The table with the longest history whose tag fits provides the prediction; the next one, or the bimodal table, is the
 * alternative, which is believed where the provider's entry is still young and such entries have done badly of late.
 */
#ifndef AS_CORE_TAGE_H
#define AS_CORE_TAGE_H

#include "core/machine.h"

/* What a prediction was made of: as_tage_update needs it back. Table 0 has the longest history; the bimodal table comes
 * last. */
enum { AS_TAGE_BASE = AS_TAGE_TABLES_MAX };
struct as_tage_lookup {
    uint32_t entry[AS_TAGE_TABLES_MAX + 1] __attribute__((aligned(16))); /* place in each table … */
    uint32_t tag[AS_TAGE_TABLES_MAX] __attribute__((aligned(16)));       /* … and tag there */
    uint32_t provider, alternative;                                      /* tables */
    bool provider_taken, alternative_taken;
    bool young; /* the provider's entry has proved nothing yet */
    bool taken; /* the prediction */
};

struct as_tage;
struct as_tage *as_tage_new(const struct as_machine *machine);
void as_tage_free(struct as_tage *tage);

void as_tage_predict(const struct as_tage *tage, uint64_t address, struct as_tage_lookup *lookup);
/* Trains the tables with the outcome. The history is the caller's to push, after this. */
void as_tage_update(struct as_tage *tage, const struct as_tage_lookup *lookup, bool taken);
void as_tage_push(struct as_tage *tage, bool bit);

uint64_t as_tage_table_bits(const struct as_tage *tage); /* storage: the tagged tables */
uint64_t as_tage_base_bits(const struct as_tage *tage);  /* … the bimodal one */

#endif
