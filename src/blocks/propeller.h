/* Block counts for Propeller: the compiler and the linker lay out the program anew, by two lists.
 *
 * - clusters, for clang -fbasic-block-sections=list=: for each function that ran the blocks that did, in the order in
 *   which they should lie; the rest goes to a section of cold code;
 * - the order of functions, for lld --symbol-ordering-file.
 *
 * Blocks have the compiler's numbers, which a program built with -fbasic-block-address-map carries in the section
 * .llvm_bb_addr_map. Version 2 of it is read, which clang 17 to 19 write.
 */
#ifndef AS_BLOCKS_PROPELLER_H
#define AS_BLOCKS_PROPELLER_H

#include "blocks/flow.h"

#include <stdio.h>

/* A block as the compiler numbers it; calls do not end it. */
struct as_propeller_block {
    uint64_t start, end;
    uint32_t id;
};
struct as_propeller_function {
    uint64_t start;
    size_t first, n; /* blocks */
};
struct as_propeller_map {
    AS_VEC(struct as_propeller_function) functions;
    AS_VEC(struct as_propeller_block) blocks; /* of one function side by side, by address */
};

/* The section's bytes, which may be anything. */
bool as_propeller_read(const uint8_t *bytes, size_t size, struct as_propeller_map *map,
                       struct as_error *err) AS_MUST_CHECK;
void as_propeller_map_free(struct as_propeller_map *map);

/* The order of one function's blocks: its first, then what ran, so that the likeliest successor of a block follows it.
 * Writes indices into the function's blocks to `order` and returns how many. */
size_t as_propeller_layout(const struct as_flow *flow, uint32_t module, const struct as_propeller_map *map,
                           const struct as_propeller_function *function, uint32_t *order);

/* Whether a module has a map that can be read. */
bool as_propeller_check(const struct as_cfg *cfg, uint32_t module, struct as_error *err) AS_MUST_CHECK;
bool as_propeller_write_clusters(const struct as_flow *flow, uint32_t module, FILE *out,
                                 struct as_error *err) AS_MUST_CHECK;
/* Needs no map: functions are known by their symbols. */
void as_propeller_write_order(const struct as_flow *flow, uint32_t module, FILE *out);

#endif
