/* What memory a program asked the kernel for, from its system calls: the heap, mappings without a file, stacks of threads. */
#ifndef AS_COMM_COMM_MEMORY_H
#define AS_COMM_COMM_MEMORY_H

#include "comm/comm_run.h"

struct as_comm_memory;
struct as_comm_memory *as_comm_memory_new(void);
void as_comm_memory_free(struct as_comm_memory *memory);
void as_comm_memory_syscall(struct as_comm_memory *memory, const struct as_thread *thread, const uint64_t args[6]);
void as_comm_memory_return(struct as_comm_memory *memory, const struct as_thread *thread, uint32_t number,
                           int64_t result);
/* Later mappings come behind earlier ones, and hold where both cover an address. */
const struct as_comm_region *as_comm_memory_regions(const struct as_comm_memory *memory, size_t *n);
/* The stack that an address lies in. A process's first thread has one from the kernel, of the usual 8 MiB. */
void as_comm_memory_stack(const struct as_comm_memory *memory, uint32_t process, uint64_t address, uint64_t *start,
                          uint64_t *end);

#endif
