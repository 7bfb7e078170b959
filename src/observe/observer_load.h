/* A user's own observer, from a shared object (include/assay/observer.h). */
#ifndef AS_OBSERVE_OBSERVER_LOAD_H
#define AS_OBSERVE_OBSERVER_LOAD_H

#include "assay/observer.h"
#include "base/error.h"

struct as_loaded_observer {
    const struct as_observer *ops;
    void *self; /* for as_fanout_add, as a foreign one: freed by it */
    void *handle;
};

/* `spec` is FILE[,ARGUMENT]; a file whose name has a comma needs an argument behind another one, or none if it exists
 * as it stands. `run` must outlive the observer. On failure `err` says what is wrong with the file. */
bool as_observer_load(const char *spec, const struct as_run_info *run, struct as_loaded_observer *loaded,
                      struct as_error *err) AS_MUST_CHECK;
/* After as_fanout_free. Not for one that crashed: its code may still be on some stack. */
void as_observer_unload(struct as_loaded_observer *loaded);

#endif
