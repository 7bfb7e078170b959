/* The child process: shared memory, the start of QEMU, its end. */
#ifndef AS_ENGINE_LAUNCH_H
#define AS_ENGINE_LAUNCH_H

#include "engine/engine.h"
#include "engine/wire.h"

#include <pthread.h>
#include <sys/types.h>

struct as_child {
    int memory;                  /* the memfd */
    struct as_wire_header *wire; /* its mapping */
    pid_t pid;
    pthread_t reaper;
    bool reaper_runs, holds_mutex;
    _Atomic uint32_t released; /* futex: the reaper may end */
    _Atomic int ended;         /* the wait status is valid */
    int wait_status;
};

bool as_child_start(struct as_child *child, const struct as_engine_options *options,
                    struct as_error *err) AS_MUST_CHECK;
void as_child_wait(struct as_child *child); /* until its end, which must be near */
void as_child_free(struct as_child *child); /* kills it if it still runs */

#endif
