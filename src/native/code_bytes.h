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

struct as_code *as_code_new(bool live); /* live: the processes run on this machine, so their memory may be read */
void as_code_free(struct as_code *code);
/* Has the signature of a sink's function, with the code as context; never fails. */
bool as_code_process(void *code, const struct as_perf_process *process, struct as_error *err);
/* Reads up to `size` bytes, at most to the end of the mapping; returns how many. */
size_t as_code_read(struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size);
/* Reads the current memory of the process, if it runs here: for data that does not change (jump tables). */
size_t as_code_memory(const struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size);

#endif
