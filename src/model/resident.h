/* The pages that a program has touched, as the kernel knows them: which pages of QEMU's process are in memory.
 *
 * Where a stretch of a run is only counted, nobody sees accesses, but QEMU makes them at the same addresses in its own
 * process. A page that is there has been touched. Assumed: guest addresses are QEMU's own, as for 64-bit programs.
 * Limits: pages of files that the kernel maps beside one that was touched count as well; QEMU's own memory lies above
 * everything that it gives to programs and is left out; a page that was swapped out counts.
 */
#ifndef AS_MODEL_RESIDENT_H
#define AS_MODEL_RESIDENT_H

#include <stdint.h>
#include <sys/types.h>

/* Called for each run of adjacent pages, given as addresses [start, end), in order. */
typedef void as_resident_take(void *context, uint64_t start, uint64_t end);

/* Does nothing if there is no such process, or if it may not be looked at. */
void as_resident_pages(pid_t pid, as_resident_take *take, void *context);

#endif
