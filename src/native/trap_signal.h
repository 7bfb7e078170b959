/* How the hit of a watched address stops a traced thread: the event sends the thread a signal, and the tracer sees it first.
 *
 * It is a signal that does nothing to a program without a handler for it. The SIGTRAP that the kernel can send for such events
 * (attr.sigtrap) ends the program when the tracer is killed before it has waited for the thread. So the signal comes from the
 * event's descriptor instead, and its number says which watch was hit. */
#ifndef AS_NATIVE_TRAP_SIGNAL_H
#define AS_NATIVE_TRAP_SIGNAL_H

#include "base/vec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* By descriptor. Numbers go round, so that a late signal of a closed event is not taken for one of the next. */
struct as_traps {
    AS_VEC(struct as_trap) of;
    int next;
};

struct as_trap {
    bool known;
    uint32_t name;
};

/* Which signal the thread gets: one that it does not block, and that its process does not handle if there is one. */
int as_trap_signal_for(pid_t pid, pid_t tid);

/* Takes over the event `fd`, which is disabled, and enables it; its hits send `signal`. Returns the descriptor to close, or -1. */
int as_trap_send(struct as_traps *traps, int fd, pid_t tid, int signal, uint32_t name);

/* Whether it is the signal of a hit, and of which one. */
bool as_trap_is(const struct as_traps *traps, const siginfo_t *info, uint32_t *name);

void as_traps_free(struct as_traps *traps);

#endif
