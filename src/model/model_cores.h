/* Which core a thread has. Without a number of cores in the machine file each thread has one for itself; one that
 * ends leaves its core, with warm caches, to the next thread of its process. With a number, threads are pinned to them
 * (coherence.pinning) and share: the one that has the core keeps it for a slice of time, or until it waits in a system
 * call; then the thread that is behind in time has it next.
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
    uint32_t process;        /* that has it for itself; 0: none, or any */
    uint32_t threads;        /* that are pinned to it */
    struct as_seat *current; /* NULL: nobody has had it yet, or the last one ended */
    uint64_t free_at;        /* the time at which that was */
    uint64_t slice_end;
};

struct as_model_cores {
    const struct as_machine *machine;
    AS_VEC(struct as_model_core) list; /* by number */
    uint32_t started;                  /* threads so far */
};

/* Picks the core of a new thread. */
uint32_t as_model_cores_pick(struct as_model_cores *cores, uint32_t process);
/* The thread ends; true: it was the last of its process there, and the cores that it had for itself are gone. */
void as_model_cores_leave(struct as_model_cores *cores, struct as_seat *seat, struct as_uncore *uncore, bool last);
/* Another thread had the core, or none: now it is this one's, from when it is free. */
void as_model_cores_enter(struct as_model_cores *cores, struct as_seat *seat);
/* When the thread can go on. */
uint64_t as_model_cores_clock(const struct as_model_cores *cores, const struct as_seat *seat);

static inline bool as_model_cores_has(const struct as_model_cores *cores, const struct as_seat *seat)
{
    return cores->list.data[seat->number].current == seat;
}

#endif
