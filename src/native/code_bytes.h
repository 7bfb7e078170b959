/* The code of sampled processes: bytes at an address as they were mapped when the sample was taken. They come from the
 * mapped file if there is one, from the kernel's own page for the vdso, else from the memory of the process if it still
 * runs.
 *
 * Pass it the process records of a session or a recording in order. It caches a bounded number of pages.
 */
#ifndef AS_NATIVE_CODE_BYTES_H
#define AS_NATIVE_CODE_BYTES_H

#include "perfdata/perfdata.h"

struct as_code;

struct as_code *as_code_new(bool live); /* live: the processes run here, their memory may be read */
void as_code_free(struct as_code *code);
/* Has the form of a sink's function, with the code as context; never fails. */
bool as_code_process(void *code, const struct as_perf_process *process, struct as_error *err);
/* Up to `size` bytes, to the end of the mapping; returns how many. */
size_t as_code_read(struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size);
/* The memory of the process as it is now, if it runs here: for what does not change (tables of jumps). */
size_t as_code_memory(const struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size);

#endif
