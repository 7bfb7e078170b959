/* From overlapping intervals to one answer per address: symbols nest, compilation units overlap, inlined functions lie
 * inside functions. Given all intervals, the index cuts the address line into disjoint pieces and keeps the winner of
 * each; a look-up is one binary search.
 *
 * The winner at an address: the lowest rank; then the latest start, the earliest end (the innermost), the highest id.
 */
#ifndef AS_SYMBOL_INTERVAL_H
#define AS_SYMBOL_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct as_address_range {
    uint64_t start, end; /* [start, end); empty ones are ignored */
    uint32_t rank, id;
};

#define AS_INTERVAL_NONE UINT32_MAX

/* Piece i reaches from starts[i] to starts[i + 1]; the last one is always a gap. */
struct as_interval_index {
    uint64_t *starts;
    uint32_t *ids; /* AS_INTERVAL_NONE: nothing here */
    size_t len;
};

/* Builds the index in O(n log n); `items` is sorted in place. An index of no items is all zeros. */
void as_interval_build(struct as_interval_index *index, struct as_address_range *items, size_t count);
void as_interval_free(struct as_interval_index *index);
uint32_t as_interval_find(const struct as_interval_index *index, uint64_t address);

#endif
