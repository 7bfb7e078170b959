/* Instructions executed by function, over all processes and threads of a run. */
#ifndef AS_COUNT_FUNCTIONS_H
#define AS_COUNT_FUNCTIONS_H

#include "count/counts.h"

struct as_function_count {
    char *module;   /* path, or "[anon]" */
    char *function; /* name; "module+0x…" by the entry that calls were seen to go to where there is no symbol */
    uint64_t instructions;
};

typedef AS_VEC(struct as_function_count) as_function_counts;

/* Most instructions first; ties by module and name. */
as_function_counts as_functions_count(const struct as_engine *engine, const struct as_counter *counter);
void as_functions_free(as_function_counts *functions);

#endif
