/* The call paths of stopped threads, from their registers and stacks by the unwind tables of their programs
 * (native/stack_walk.h). Equal paths get the same number. Names are looked up when a path is shown, not while the program stands
 * still. */
#ifndef AS_REUSE_TRACED_PATHS_H
#define AS_REUSE_TRACED_PATHS_H

#include "native/stack_walk.h"
#include "watch/operand.h"

#include <sys/types.h>

enum { AS_TRACED_FRAMES = 64 };

struct as_traced_paths;
struct as_traced_paths *as_traced_paths_new(void);
void as_traced_paths_free(struct as_traced_paths *paths);
void as_traced_paths_map(struct as_traced_paths *paths, const struct as_perf_process *map);
void as_traced_paths_forget(struct as_traced_paths *paths, pid_t pid); /* it executes another program, or has ended */

/* Returns how many bytes from `address` on could be read, at most `size`. */
typedef size_t as_traced_read(void *context, uint64_t address, void *bytes, size_t size);

struct as_traced_stop {
    pid_t pid;
    uint32_t image; /* what is mapped: equal addresses of different ones are different */
    uint64_t insn;  /* the instruction that the path is of; the state may be the one behind it */
    const struct as_machine_state *state;
    as_traced_read *read;
    void *context;
};
uint32_t as_traced_paths_find(struct as_traced_paths *paths, const struct as_traced_stop *place); /* 1 and more */
/* The addresses of a path, innermost first; the others are behind calls. Valid until the next find. */
const uint64_t *as_traced_paths_get(const struct as_traced_paths *paths, uint32_t path, size_t *n, uint32_t *image);

#endif
