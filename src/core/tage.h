/* TAGE: which way a conditional branch goes, from tagged tables over ever longer histories (Seznec and Michaud, 2006).
 *
 * The table with the longest history whose tag fits provides the prediction; the next one, or the bimodal table, is the
 * alternative, which is believed where the provider's entry is still young and such entries have done badly of late.
 */
#ifndef AS_CORE_TAGE_H
#define AS_CORE_TAGE_H

#include "core/branch_history.h"
#include "core/machine.h"

struct as_tage;
struct as_tage *as_tage_new(const struct as_machine *machine);
void as_tage_free(struct as_tage *tage);

/* Which way a branch is predicted to go. */
bool as_tage_look(const struct as_tage *tage, uint64_t address);
/* … which then goes the way `taken`: trains the tables and pushes the outcome into the history. */
bool as_tage_predict(struct as_tage *tage, uint64_t address, bool taken);
/* Something else than a branch's outcome enters the history. */
void as_tage_push(struct as_tage *tage, bool bit);

/* How often an entry was changed. */
uint64_t as_tage_changes(const struct as_tage *tage);
/* What predictions of the next n branches depend on, beside their addresses, outcomes and the entries. False: that is not known. */
bool as_tage_context(struct as_tage *tage, uint32_t n, struct as_history_context *context);
void as_tage_show(const struct as_tage *tage, struct as_history_context *context); /* … where it is now */
/* n branches go as they went before in the same context, and nothing is learnt of them: on to what was shown behind them. */
void as_tage_pass(struct as_tage *tage, uint32_t outcomes, uint32_t n, const struct as_history_context *behind);

uint64_t as_tage_table_bits(const struct as_tage *tage); /* storage: the tagged tables */
uint64_t as_tage_base_bits(const struct as_tage *tage);  /* … the bimodal one */

#endif
