/* What the codes and paths of distances stand for, wherever the program ran: a run in the model answers (reuse_run.h), and so does one
 * on this machine (reuse_native.h). */
#ifndef AS_REUSE_REUSE_NAMES_H
#define AS_REUSE_REUSE_NAMES_H

#include "symbol/space.h"

/* Where a piece of code is; NULL, 0: not known. Strings live as long as the run. */
struct as_reuse_location {
    const char *function, *file, *module;
    uint64_t address;
    int line;
};

struct as_reuse_names {
    struct as_reuse_location (*locate)(const void *context, uint32_t code);
    /* The functions of a call path, innermost first: fills at most `n` and returns how many it has; 0: unknown. */
    size_t (*frames)(const void *context, uint32_t path, const char **names, size_t n);
    const void *context;
};

/* For those that answer: what lies at `address` of a space is at `location`. */
struct as_reuse_location as_reuse_location_in(struct as_space *space, uint64_t address,
                                              const struct as_location *location);

#endif
