/* Which functions of the C library lead to the first function of a thread that the program itself has, or follow on it. */
#ifndef AS_SYMBOL_THREAD_ENTRY_H
#define AS_SYMBOL_THREAD_ENTRY_H

#include <stdbool.h>

/* True also for code of the C library without a name ("libc.so.6+0x1234", "[libc.so.6]"). Of other modules that can be
 * the start function itself ("pigz+0x6f20"). */
bool as_is_thread_entry(const char *name);

/* Only those that a thread comes through when its own function has ended: what they call says nothing of that. */
bool as_is_thread_end(const char *name);

#endif
