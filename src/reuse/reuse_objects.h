/* Misses by what they are misses of: globals, blocks by the place that allocated them, mappings, stacks by thread. From the
 * counts by line that the exact analysis keeps. */
#ifndef AS_REUSE_REUSE_OBJECTS_H
#define AS_REUSE_REUSE_OBJECTS_H

#include "model/guest_objects.h"
#include "model/moved_memory.h"
#include "reuse/reuse.h"
#include "reuse/reuse_feed.h"

struct as_reuse_object {
    struct as_guest_object what;
    uint64_t lines; /* that missed */
    uint64_t misses[AS_MISS_CAUSES], llc;
    uint64_t fetched_bytes, far_octaves;
    /* Capacity and conflict misses by distance, each line's at its middle one: as_distance_octave. */
    uint64_t octaves[AS_DISTANCE_OCTAVES];
    double bytes[64];            /* by byte of a line: misses of lines of which that byte was used */
    uint64_t hottest, hottest_n; /* the line with the most misses, and how many */
    char *hottest_name;          /* "matrix[3].key", "+0x40" */
};

struct as_reuse_objects {
    AS_VEC(struct as_reuse_object) list; /* most misses first */
};

void as_reuse_objects_make(struct as_reuse_objects *objects, const struct as_reuse *exact, uint32_t shift,
                           struct as_guest_memory *memory, const struct as_moved_memory *moved,
                           const struct as_reuse_feed *feed);
void as_reuse_objects_free(struct as_reuse_objects *objects);

uint64_t as_reuse_object_misses(const struct as_reuse_object *object);
/* Bytes of a line that were used while it was in the L1, on average; of 64, or of 64 parts of longer lines. */
double as_reuse_object_used(const struct as_reuse_object *object);
/* The middle distance of its capacity and conflict misses, as a power of two; 0: there are none. */
uint64_t as_reuse_object_distance(const struct as_reuse_object *object);
/* The bytes that lines use, by what each used in its last stay in the L1 (so that those do not count which a line was filled by once), in
 * lines with more than a tenth of the misses: "0-7 32-39". The caller frees. */
char *as_reuse_object_bytes(const struct as_reuse_object *object);

#endif
