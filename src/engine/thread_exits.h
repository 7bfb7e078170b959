/* Threads that end, for those that wait for it: pthread_join.
 *
 * A thread is made with an address (CLONE_CHILD_CLEARTID): when it has ended, the kernel stores 0 there and wakes whoever waits for that
 * word. Neither is in the thread's lane, which ends with the call of exit; and the lane may be gone when the thread that joined it is
 * read. So the address is kept from the clone on, and the mark (handover.h) of the thread's last words for good.
 *
 * What is not known: the exit of a thread whose maker has not come back from its clone, which the host can hold up. */
#ifndef AS_ENGINE_THREAD_EXITS_H
#define AS_ENGINE_THREAD_EXITS_H

#include "base/map.h"
#include "engine/engine.h"

struct as_thread_exits {
    struct as_map words; /* by process and thread id: the address of what its end is stored to */
    struct as_map marks; /* by number of the thread, which has ended */
};

/* The address that a system call gives to a thread that it makes; 0: it makes none, or gives none. */
uint64_t as_exits_word_of(enum as_arch arch, uint32_t number, const uint64_t args[6]);
bool as_exits_is_exit(enum as_arch arch, uint32_t number);

void as_exits_add(struct as_thread_exits *exits, uint32_t process, int32_t tid, uint64_t address);
/* The address of a thread that ends now, which is forgotten with it; 0: none is known. */
uint64_t as_exits_take(struct as_thread_exits *exits, const struct as_thread *thread);
void as_exits_free(struct as_thread_exits *exits);

#endif
