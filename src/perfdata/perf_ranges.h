/* The contents of an address space: disjoint ranges, where a new range replaces the parts that it covers. The nodes of
 * the treap are shared: a copy (fork) takes no time, and a change copies the path to it. So a hostile recording cannot
 * become expensive by many mappings, many processes or both. */
#ifndef AS_PERFDATA_PERF_RANGES_H
#define AS_PERFDATA_PERF_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct as_perf_range {
    uint64_t start, end; /* [start, end) */
    uint64_t offset;     /* offset of `start` in the file */
    void *value;
};

struct as_perf_node;
struct as_perf_ranges {
    struct as_perf_node *root;
};

void as_perf_ranges_put(struct as_perf_ranges *ranges, const struct as_perf_range *range); /* empty ones are ignored */
void as_perf_ranges_remove(struct as_perf_ranges *ranges, uint64_t start, uint64_t end);
struct as_perf_ranges as_perf_ranges_copy(const struct as_perf_ranges *ranges);
const struct as_perf_range *as_perf_ranges_find(const struct as_perf_ranges *ranges, uint64_t address); /* or NULL */
/* The last range that begins at or below the address, whether or not it contains it; NULL: none. */
const struct as_perf_range *as_perf_ranges_before(const struct as_perf_ranges *ranges, uint64_t address);
void as_perf_ranges_free(struct as_perf_ranges *ranges);

#endif
