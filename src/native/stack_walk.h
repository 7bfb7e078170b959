/* Call chains of programs without frame pointers: samples that carry registers and a copy of the top of the stack
 * (PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER), unwound by libdw with the programs' own .eh_frame. x86-64.
 *
 * Pass it the process records of a session or a recording in order. A chain ends where the copy ends, at a module
 * without an unwind table (generated code, the vdso), or after AS_WALK_MAX frames.
 */
#ifndef AS_NATIVE_STACK_WALK_H
#define AS_NATIVE_STACK_WALK_H

#include "perfdata/perfdata.h"

enum { AS_WALK_MAX = 1024 }; /* 8 KiB of stack contain no more */

struct as_stack_walker;

struct as_stack_walker_options {
    /* Whether the file that is mapped at this address of this process is still the same. NULL: all are. */
    bool (*usable)(void *context, uint32_t pid, uint64_t address);
    void *context;
};

struct as_stack_walker *as_stack_walker_new(const struct as_stack_walker_options *options); /* NULL: defaults */
void as_stack_walker_free(struct as_stack_walker *walker);
/* Has the signature of a sink's function, with the walker as context; never fails. */
bool as_stack_walker_process(void *walker, const struct as_perf_process *process, struct as_error *err);

/* Writes at most `max` addresses, innermost first: the interrupted one, then return addresses. Returns 0 if the sample
 * has no registers or no stack. */
size_t as_stack_walker_walk(struct as_stack_walker *walker, const struct as_perf_sample *sample, uint64_t *frames,
                            size_t max);

/* Why the last chain ends. */
enum as_walk_end {
    AS_WALK_ENDED,      /* there are no more callers: the unwind tables say so */
    AS_WALK_LOST,       /* the next caller cannot be found: no unwind table, or what it says does not lead on */
    AS_WALK_AT_MAX,     /* there are more, but `max` were found */
    AS_WALK_BEYOND_COPY /* the next caller is beyond the copy of the stack, which is full */
};
enum as_walk_end as_stack_walker_end(const struct as_stack_walker *walker);

#endif
