/* What a thread does, by the kernel's word. */
#ifndef AS_BASE_THREAD_STATE_H
#define AS_BASE_THREAD_STATE_H

#include <sys/types.h>

/* The kernel's letter ('R' runs or could, 'S' sleeps, 'D' sleeps in the kernel …: proc(5), stat); 0: there is no such thread.
 * A pid of 0 is this process. */
char as_thread_state(pid_t pid, pid_t tid);

#endif
