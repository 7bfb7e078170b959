/* Blocks of the program's allocator that an experiment puts on cache lines of their own: those that a function allocates, each as a
 * whole, or in parts of so many bytes. Which blocks there are is known from Assay's agent (model/guest_memory.h) as the run goes
 * on, so it does not matter whether they lie at the same addresses in every run.
 *
 * Blocks of the program's first process; a forked child has them at the same addresses. */
#ifndef AS_WHATIF_WHATIF_HEAP_H
#define AS_WHATIF_WHATIF_HEAP_H

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

struct as_heap_rule {
    char *function; /* that calls the allocator, itself or by up to two others; NULL: no rule */
    uint64_t part;  /* bytes; 0: blocks stay whole */
};

/* heap:FUNCTION[/BYTES]. False and no message: it is not about the heap, so it names a variable. */
bool as_heap_is_rule(const char *text);
bool as_heap_parse(const char *text, struct as_heap_rule *rule, struct as_error *err) AS_MUST_CHECK;

struct as_heap_block {
    uint64_t start, size, part, to;
};

/* What is known in one run. */
struct as_heap {
    AS_VEC(const struct as_heap_rule *) rules;
    AS_VEC(uint64_t) found; /* blocks, by rule */
    struct as_map callers;  /* by return address: place of the rule + 1; UINT64_MAX: none */
    struct as_map granules; /* 16 bytes: place of the block that has them + 1 */
    AS_VEC(struct as_heap_block) blocks;
    uint64_t low, high, used; /* addresses of blocks; bytes that were given to them elsewhere */
};

void as_heap_add_rule(struct as_heap *heap, const struct as_heap_rule *rule);
extern const struct as_sink as_heap_sink; /* its context is the heap: for as_model_set_calls */
/* Where an address lies in this run. */
uint64_t as_heap_move(const struct as_heap *heap, uint64_t address);
void as_heap_free(struct as_heap *heap);

#endif
