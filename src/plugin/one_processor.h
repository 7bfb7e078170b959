/* Threads that hand turns to each other stay on one of the host's processors while they do so.
 *
 * Only one of them executes at a time, and the kernel spreads them all the same: a thread that is woken goes to a processor that idles. To
 * wake that takes an interrupt, on a virtual machine by way of its host: 34 to 75 us for a hand-over on two processors of one, 2.5 us on one
 * processor. The other processor is the reader's.
 *
 * The program must not notice: the thread has its own processors again in calls that ask for them, or that hand them on (fork).
 */
#ifndef AS_PLUGIN_ONE_PROCESSOR_H
#define AS_PLUGIN_ONE_PROCESSOR_H

#include "assay/insn.h"

#include <stdbool.h>
#include <stdint.h>

/* The calling thread is to share the process's processor. Nothing happens if it may not run there. */
void as_one_processor_join(void);
/* … a given one's, + 1; 0: it is where it was before. The reader of the model chooses it, and is there too (engine/meeting_place.h). */
void as_one_processor_follow(uint32_t chosen);
void as_one_processor_leave(void); /* … and is where it was before */
/* Before a system call. */
void as_one_processor_call(enum as_arch arch, int64_t number);

#endif
