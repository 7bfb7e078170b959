/* Instructions by call path: who called whom, exactly, with the instructions that each path executed itself.
 *
 * Each image has a tree of its own (addresses mean nothing across images); threads and forked processes of an image
 * share it. A forked child starts on its parent's path.
 */
#ifndef AS_COUNT_CALLS_H
#define AS_COUNT_CALLS_H

#include "engine/engine.h"
#include "symbol/callpath.h"

struct as_call_counter;
struct as_call_counter *as_call_counter_new(void);
void as_call_counter_free(struct as_call_counter *counter);
extern const struct as_sink as_call_counter_sink; /* its context is the counter */

/* One node of an image's tree, parents before their children. */
struct as_call_count {
    uint32_t image, node, parent; /* node 0 is the image's root */
    uint64_t function;            /* 0 for the root */
    uint32_t entry;               /* as_call_node.entry */
    bool signal;
    uint64_t self, total; /* instructions: of the path itself, and with everything that it called */
};

/* After the run, for each image in order. The caller frees. Needs the images: before the engine is freed. */
struct as_call_count *as_call_counter_list(const struct as_call_counter *counter, const struct as_engine *engine,
                                           size_t *n);
/* Calls that are counted as part of their callers: see as_call_tree_folded. */
uint64_t as_call_counter_folded(const struct as_call_counter *counter);

/* "main", "libc.so.6+0x…", "(signal) handler"; valid until the next call. */
const char *as_call_count_name(const struct as_engine *engine, const struct as_call_count *count);

#endif
