/* Memory that a program moves, and memory that comes anew to an address that others had: which page is which.
 *
 * A page keeps the name under which it was first seen, the address that it had then, wherever mremap puts it: a cache of physical
 * addresses still has its lines. Memory that is mapped where other memory was unmapped gets a new name, beyond all addresses of
 * programs (AS_SHARED_BIT), because its lines are others. Programs under QEMU need both: its mremap moves whatever grows, and the
 * kernel does that where it must.
 *
 * Each process has its ranges (base/shared_lines.h). A forked one begins without: its pages are others than its parent's.
 *
 * What is not known: memory that is mapped over other memory without unmapping it, madvise, a break that shrinks and grows again:
 * there names stay. */
#ifndef AS_MODEL_MOVED_MEMORY_H
#define AS_MODEL_MOVED_MEMORY_H

#include "base/shared_lines.h"
#include "engine/engine.h"

struct as_moved_memory;
struct as_moved_memory *as_moved_memory_new(void);
void as_moved_memory_free(struct as_moved_memory *moved);
extern const struct as_sink as_moved_memory_sink; /* its context is the memory */

/* Of a process (a number from 1), as they are now and in future: the pointer stays, what it points to changes. `physical` is the
 * name. */
const struct as_shared_ranges *as_moved_memory_of(struct as_moved_memory *moved, uint32_t process);
/* The address that a name has now, or had last. */
uint64_t as_moved_memory_home(const struct as_moved_memory *moved, uint32_t process, uint64_t name);

#endif
