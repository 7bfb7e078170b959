/* Observers by name or from a shared object (include/assay/observer.h): finding them, and creating them. */
#ifndef AS_OBSERVE_OBSERVER_LOAD_H
#define AS_OBSERVE_OBSERVER_LOAD_H

#include "assay/observer.h"
#include "base/error.h"

enum { AS_OBSERVER_MOST_WORKERS = 16 };

struct as_loaded_observer {
    const struct as_observer *ops;
    bool foreign; /* the user's own: to be called under a guard */
    const struct as_run_info *run;
    char *path, *argument;
    void *handle;
};

/* `spec` is NAME[,ARGUMENT] of a bundled observer (observe/bundled.h) or FILE[,ARGUMENT]; a file whose name has a comma
 * needs an argument behind another one, or none if it exists as it stands. `run` must outlive the observer. On failure
 * `err` states what is wrong with the file. */
bool as_observer_load(const char *spec, const struct as_run_info *run, struct as_loaded_observer *loaded,
                      struct as_error *err) AS_MUST_CHECK;
/* Creates n of them, for as_fanout_add_workers, which takes them over. On failure there is none. */
bool as_observer_create(const struct as_loaded_observer *loaded, void **selves, size_t n,
                        struct as_error *err) AS_MUST_CHECK;
/* After as_fanout_free. Not for one that crashed: its code may still be on some stack. */
void as_observer_unload(struct as_loaded_observer *loaded);

#endif
