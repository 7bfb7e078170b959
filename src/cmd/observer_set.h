/* The observers that a command line asks for, bundled ones and the user's own, and the files that they write.
 *
 * A file appears under its name when the set is finished, or never, so a run that fails leaves no partial trace behind.
 * If a file cannot be opened when its observer is created, the command ends before the program starts.
 */
#ifndef AS_CMD_OBSERVER_SET_H
#define AS_CMD_OBSERVER_SET_H

#include "base/error.h"
#include "observe/fanout.h"

struct as_observer_set;
/* `result`: the file that the command itself writes, which its observers must leave alone; NULL: none. `before`: another
 * set of the same command, whose files they must leave alone as well; NULL: none. Both stay the caller's. */
struct as_observer_set *as_observer_set_new(const char *result, const struct as_observer_set *before);
/* as_run_info.open for their runs; the context is the set. Any thread may call it. */
FILE *as_observer_set_open(void *set, const char *path);
/* Creates the observer of `spec`, NAME or FILE with an argument after a comma (observe/observer_load.h), and adds it to
 * the fan-out, as several workers if it supports that and there are processors to spare. `accesses`: it must take only
 * accesses; otherwise it must take the core model's records. */
bool as_observer_set_add(struct as_observer_set *set, const char *spec, bool accesses, const struct as_run_info *run,
                         struct as_fanout *fanout, struct as_error *err) AS_MUST_CHECK;
/* Call this after as_fanout_report: gives the files their names and reports their sizes. */
bool as_observer_set_finish(struct as_observer_set *set, struct as_error *err) AS_MUST_CHECK;
/* Call this after as_fanout_free. Files that are not finished never appear. `crashed`: the user's code may still be on
 * some stack, so it stays loaded. */
void as_observer_set_free(struct as_observer_set *set, bool crashed);

#endif
