/* The agent: the part of Assay that runs inside a program, preloaded by the dynamic linker. It counts the threads that
 * start and end, where memory is allocated, and which of that memory is never freed.
 *
 * The program must not notice it: the agent keeps no descriptor open, uses no signal, preserves errno, allocates
 * nothing from the program's allocator and takes no lock. It does not follow forked children: a page that the kernel
 * wipes at fork shows the next call that it runs in a child, however the child was made. After an exec the agent starts
 * anew if the new program is dynamic too.
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

bool as_agent_in_model(void); /* see AS_AGENT_MODEL */

/* Turns the agent on; `where` as AS_AGENT_VARIABLE has it. */
bool as_agent_start(const char *where);

/* Adds one allocation. `frame` is that of the function that the program called. */
void as_agent_took(enum as_agent_call call, const void *block, size_t bytes, const void *frame);
void as_agent_mapped(size_t bytes, const void *frame);
void as_agent_unmapped(void);

/* The block goes back: before it does, since it may be another's right after. `moves`: by realloc. What it returns says
 * what the block was, for as_agent_keep, where it stays after all. */
uint64_t as_agent_gave(const void *block, bool moves);
void as_agent_keep(const void *block, uint64_t what);

/* An operator new of this frame calls the one behind it: what is taken within counts for its caller. True at its end:
 * nothing was taken within. */
void as_agent_operator_begin(const void *frame);
bool as_agent_operator_end(const void *frame);
/* An operator delete gives the block back: the free within does it no second time. What begin returns is for end. */
const void *as_agent_delete_begin(const void *block);
void as_agent_delete_end(const void *outer);
bool as_agent_deleting(const void *block);

/* Calls that the agent itself makes are between these two: nothing is counted. What enter returns is for leave. */
bool as_agent_enter(void);
void as_agent_leave(bool before);

/* ---- within the agent ---- */

/* What is allocated and not freed: agent_live.c. */
bool as_agent_live_open(void); /* anew */
void as_agent_live_add(struct as_agent_image *image, const void *block, size_t bytes, uint32_t site);

/* Which block had which memory last: agent_blocks.c. */
void as_agent_blocks_use(void *mapped); /* AS_AGENT_TABLE bytes of zeros; NULL: keeps none */
void as_agent_blocks_add(struct as_agent_image *image, const void *block, size_t size, uint32_t site);

/* A sum with which nothing else comes. Assay reads it when the process has ended (agent_host.c), or as a sum that is about right. */
static inline void as_agent_add(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

/* The same, but NULL also inside a call that the agent itself makes. */
struct as_agent_image *as_agent_counting(void);

/* The calling thread's stack, for walking it. */
void as_agent_thread_begin(void);

void as_agent_tell(enum as_agent_event event);
unsigned as_agent_depth(void);

#endif
