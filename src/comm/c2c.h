/* Communication in a recording of perf: samples of loads and stores with data addresses and data sources, by cache line, as
 * perf c2c shows them. A load that hit a line which another core had modified (HITM) is a transfer.
 *
 * Counts are those of `perf c2c report`, by the same rules; a test holds both against each other.
 */
#ifndef AS_COMM_C2C_H
#define AS_COMM_C2C_H

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

enum { AS_C2C_LINE = 64 };

/* One for each number that perf c2c prints, in its order. */
struct as_c2c_counts {
    uint64_t records, locks;
    uint64_t loads, load_uncached, load_io, load_miss, load_no_address;
    uint64_t load_fill_buffer, load_l1, load_l2, load_llc;
    uint64_t local_hitm, remote_hitm, remote_hit, local_dram, remote_dram;
    uint64_t exclusive, shared;
    uint64_t blocked_data, blocked_address, local_peer, remote_peer;
    uint64_t stores, store_uncached, store_no_address, store_l1_hit, store_l1_miss, store_no_level;
    uint64_t no_map, unparsed;
};
static inline uint64_t as_c2c_hitm(const struct as_c2c_counts *counts)
{
    return counts->local_hitm + counts->remote_hitm;
}
/* Lines that came from another core: HITM, and of processors that do not tell the state (Arm) all that came from a peer. */
static inline uint64_t as_c2c_moved(const struct as_c2c_counts *counts)
{
    return as_c2c_hitm(counts) + counts->local_peer + counts->remote_peer;
}
/* Name and value of each count, for JSON: from 0 until it returns NULL. */
const char *as_c2c_count(const struct as_c2c_counts *counts, size_t number, uint64_t *value);

/* An offset of a line as one instruction accessed it. */
struct as_c2c_access {
    uint32_t offset;
    char *code; /* "worker at prog.c:12", "worker+0x1c", "prog+0x1234" */
    char *module;
    uint64_t ip;
    struct as_c2c_counts counts;
    uint64_t latency, weighed; /* sum, and of how many samples of loads */
    AS_VEC(uint32_t) threads;
    AS_VEC(uint32_t) cpus;
};

struct as_c2c_line {
    uint64_t address;
    uint32_t pid;
    char *object; /* "counters+0x40", "[heap]", "[unknown]" */
    struct as_c2c_counts counts;
    AS_VEC(struct as_c2c_access) accesses; /* most that moved first, then most records */
};

struct as_c2c {
    struct as_c2c_counts counts;      /* of the whole recording */
    uint64_t without_source;          /* samples that say nothing about memory */
    bool modelled;                    /* by a modelled PMU: its stores reach the caches after their samples */
    char *partial;                    /* why the recording is not whole; NULL: it is */
    AS_VEC(struct as_c2c_line) lines; /* most that moved first, then most stores, then most records */
};

/* Where samples of one instruction at one offset of a line are counted, while a c2c is made. */
struct as_c2c_index {
    struct as_map lines;    /* hash of process and line: index + 1 */
    struct as_map accesses; /* hash of line, offset and instruction: index in the line + 1 */
};
struct as_c2c_slot {
    struct as_c2c_line *line;     /* `object` NULL: new, to be named */
    struct as_c2c_access *access; /* `code` NULL: likewise */
};
/* Valid until the next call. False: there are too many lines. */
bool as_c2c_slot(struct as_c2c *c2c, struct as_c2c_index *index, uint32_t pid, uint64_t address, uint64_t ip,
                 struct as_c2c_slot *slot);
void as_c2c_add(const struct as_c2c_slot *slot, const struct as_c2c_counts *counts, uint32_t thread);
void as_c2c_add_counts(struct as_c2c_counts *sum, const struct as_c2c_counts *one);
void as_c2c_index_free(struct as_c2c_index *index);
void as_c2c_sort(struct as_c2c *c2c);

/* False: it cannot be read, or has no sample with a data source. */
bool as_c2c_read(struct as_c2c *c2c, const char *path, struct as_error *err) AS_MUST_CHECK;
void as_c2c_free(struct as_c2c *c2c);

#endif
