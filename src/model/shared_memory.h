/* Memory that processes share, and which line is which: what lies at equal offsets of one object (a file, System V memory, memory
 * without a file that a fork shared) has one physical address, wherever processes map it (base/shared_lines.h).
 *
 * Each process has its ranges; a sink tells of changes (as_shared_memory_sink). An object gets physical addresses in pieces of
 * 1 GiB, in the order in which they are met, so that equal runs have equal ones.
 *
 * What is not known: memory that a thread maps and another one uses at once may for a moment count as the process's own, because
 * what threads did is read one after the other. */
#ifndef AS_MODEL_SHARED_MEMORY_H
#define AS_MODEL_SHARED_MEMORY_H

#include "base/shared_lines.h"
#include "engine/engine.h"

struct as_shared_memory;
struct as_shared_memory *as_shared_memory_new(void);
void as_shared_memory_free(struct as_shared_memory *shared);
extern const struct as_sink as_shared_memory_sink; /* thread_start and mapping; the context is the memory */

/* What the sink does, for others that know of mappings: of a process, and of one that was forked. */
void as_shared_memory_map(struct as_shared_memory *shared, uint32_t process, const struct as_mapping *mapping);
void as_shared_memory_fork(struct as_shared_memory *shared, uint32_t parent, uint32_t child);

/* Of a process (a number from 1), as they are now and in future: the pointer stays, what it points to changes. */
const struct as_shared_ranges *as_shared_memory_of(struct as_shared_memory *shared, uint32_t process);

/* Turns a physical address into one of the process that mapped the memory first. False: it is not one; nothing changes. */
bool as_shared_memory_home(const struct as_shared_memory *shared, uint32_t *process, uint64_t *address);

#endif
