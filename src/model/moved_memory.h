/* Memory that a program moves, and memory that comes anew to an address that others had: which page is which.
 *
 * A page keeps the name under which it was first seen, the address that it had then, wherever mremap puts it: a cache of physical
 * addresses still has its lines. Memory that comes where other memory was gets a new name, beyond all addresses of programs
 * (AS_SHARED_BIT), because its lines are others: behind munmap, behind a break that went down, over private anonymous memory
 * (MAP_FIXED), and such memory itself behind MADV_DONTNEED. Programs under QEMU need both: its mremap moves whatever grows, and
 * the kernel does that where it must.
 *
 * Each process has its ranges (base/shared_lines.h). A forked one begins without: its pages are others than its parent's.
 *
 * What is not known: names stay where memory is mapped over that of a file or over shared memory without unmapping it, as loaders
 * do with pages that nothing has touched yet. Two mappings of the same file or shared memory have two names. */
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
