/* The agent: the part of Assay that runs inside a program, preloaded by the dynamic linker. It counts what threads
 * start and end, and where memory is allocated.
 *
 * It must not be noticed: no descriptor stays open, no signal is used, errno stays, nothing is allocated on the
 * program's account, no lock is taken. A forked child is none of its business: a page that the kernel wipes at fork
 * says so to the very next call, however the child was made. An exec starts anew, if the new program is dynamic too.
 */
#ifndef AS_AGENT_AGENT_H
#define AS_AGENT_AGENT_H

#include "agent/agent_wire.h"

#include <stdbool.h>
#include <stddef.h>

#define AS_EXPORT __attribute__((visibility("default")))
/* No call into the dynamic linker for thread-local variables: that could allocate. */
#define AS_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

/* NULL: the agent is off (not asked for, after a fork, no room). */
struct as_agent_image *as_agent_here(void);

/* Adds one allocation that `frame` (of the function that the program called) belongs to. */
void as_agent_count(enum as_agent_kind kind, enum as_agent_call call, size_t bytes, const void *frame);
void as_agent_count_call(enum as_agent_call call);

/* The calling thread's stack, for walking it. */
void as_agent_thread_begin(void);

void as_agent_tell(enum as_agent_event event);
unsigned as_agent_depth(void);

#endif
