/* Which core a thread runs on. If the machine file does not set the number of cores, each thread has its own core, and
 * a thread that ends leaves its core, with warm caches, to the next thread of its process. If the number is set,
 * threads are pinned to cores (coherence.pinning) and share them: a thread keeps its core for a time slice, or until it
 * waits in a system call; then the thread that is furthest behind in time runs next.
 */
#ifndef AS_MODEL_MODEL_CORES_H
#define AS_MODEL_MODEL_CORES_H

#include "base/vec.h"
#include "core/core.h"

/* A thread's place on a core. */
struct as_seat {
    struct as_core *core; /* NULL: the thread has ended */
    uint32_t number;      /* of the core */
    bool waits;           /* in a system call */
};

struct as_model_core {
    uint32_t process;        /* the process that owns it; 0: none, or shared */
    uint32_t threads;        /* number of threads pinned to it */
    struct as_seat *current; /* NULL: no thread has run on it yet, or the last one ended */
    uint64_t free_at;        /* the time at which that happened */
    uint64_t slice_end;
};

struct as_model_cores {
    const struct as_machine *machine;
    AS_VEC(struct as_model_core) list; /* by number */
    uint32_t started;                  /* number of threads started so far */
};

/* Chooses the core of a new thread. */
uint32_t as_model_cores_pick(struct as_model_cores *cores, uint32_t process);
/* The thread ends; true: it was the last of its process there, and the cores that it had for itself are gone. */
void as_model_cores_leave(struct as_model_cores *cores, struct as_seat *seat, struct as_uncore *uncore, bool last);
/* Switches the core to this thread, from the time at which the core is free. */
void as_model_cores_enter(struct as_model_cores *cores, struct as_seat *seat);
/* The time at which the thread can continue. */
uint64_t as_model_cores_clock(const struct as_model_cores *cores, const struct as_seat *seat);

static inline bool as_model_cores_has(const struct as_model_cores *cores, const struct as_seat *seat)
{
    return cores->list.data[seat->number].current == seat;
}

#endif
