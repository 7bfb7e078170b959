/* The function that a thread of another process began with. The C library (glibc) keeps it in its record of the thread, which lies at the
 * upper end of the thread's stack; where in the record differs from version to version, so the words around it are taken, and whoever has the
 * symbols looks for the first one that is the start of a function. */
#ifndef AS_NATIVE_THREAD_START_H
#define AS_NATIVE_THREAD_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { AS_THREAD_START_WORDS = 32 };

/* False: the record is not found below `stack_end`, or the memory cannot be read (any more). */
bool as_thread_start_words(pid_t pid, uint64_t stack_end, uint64_t words[AS_THREAD_START_WORDS]);

#endif
