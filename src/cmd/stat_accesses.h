/* Uses of every access in `assay stat`: the footprint, and observers (--footprint, --observer). They get the accesses
 * through an access stream besides the counts, each on its own thread, or where there are only two processors on the reader's.
 *
 * Calls: new, open, run the engine with what was added to the tee, finish, show, free (before the engine).
 */
#ifndef AS_CMD_STAT_ACCESSES_H
#define AS_CMD_STAT_ACCESSES_H

#include "base/json.h"
#include "cmd/cli.h"
#include "engine/sink_tee.h"

struct as_stat_accesses;
/* Returns NULL if no option asks for accesses. `result`: the file of the command itself, which observers must leave alone;
 * NULL: none. */
struct as_stat_accesses *as_stat_accesses_new(bool footprint, const struct as_strlist *observers, const char *result);
/* All functions accept NULL and then do nothing. */
bool as_stat_accesses_are_apart(const struct as_stat_accesses *accesses); /* observers have threads of their own */
/* Creates the observers before the engine starts: a wrong name must not cost a run. */
bool as_stat_accesses_open(struct as_stat_accesses *accesses, struct as_sink_tee *tee,
                           struct as_error *err) AS_MUST_CHECK;
/* Starts their threads, if they have any. */
bool as_stat_accesses_start(struct as_stat_accesses *accesses, const struct as_engine *engine,
                            struct as_error *err) AS_MUST_CHECK;
/* Waits for the observers and lets them report; then gives their files their names. */
bool as_stat_accesses_finish(struct as_stat_accesses *accesses, struct as_error *err) AS_MUST_CHECK;
void as_stat_accesses_json(const struct as_stat_accesses *accesses, struct as_json *json);
void as_stat_accesses_text(const struct as_stat_accesses *accesses, FILE *out);
/* What the user's own observers reported; "" if nothing. */
const char *as_stat_accesses_said(const struct as_stat_accesses *accesses);
/* Returns the number of observers that crashed. */
size_t as_stat_accesses_free(struct as_stat_accesses *accesses);

#endif
