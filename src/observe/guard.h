/* Calls into foreign code: a crash there ends the call, not the process.
 *
 * The code runs in our address space, so this is a safety net, not a wall: what it wrote into our memory before it
 * crashed, or a lock of the C library that it held, stays as it is. Code that has crashed must not be called again, not
 * even to free. Code that never returns is not caught, nor is exit().
 */
#ifndef AS_OBSERVE_GUARD_H
#define AS_OBSERVE_GUARD_H

#include "base/error.h"

/* Calls call(argument). NULL when that returned; otherwise the name of the signal that it ended in: SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL or SIGABRT. Any thread may call, not nested. Takes over these signals for the process; crashes
 * elsewhere go to the handlers that were there before. After a crash, do not allocate until it has been reported: the heap may be
 * damaged. */
const char *as_guard_call(void (*call)(void *argument), void *argument) AS_MUST_CHECK;
/* A thread that guards often says so before, and then only every AS_GUARD_LOOKS-th of its calls takes the signals over again from code
 * that has set its own handlers meanwhile. Returns false where there is no memory; then all is as without. */
enum { AS_GUARD_LOOKS = 64 };
bool as_guard_begin_thread(void);
void as_guard_end_thread(void); /* gives back what the calling thread's guards used */

#endif
