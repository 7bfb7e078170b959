/* How long entries of the core's parts were in use (struct as_stay), for observers that ask for occupancy. A core has a
 * log only then; otherwise each place that would write one costs a test that is never true. */
#ifndef AS_CORE_STAY_LOG_H
#define AS_CORE_STAY_LOG_H

#include "assay/observer.h"
#include "base/vec.h"

struct as_stay_log {
    AS_VEC(struct as_stay) stays; /* the owner takes them out */
    uint64_t offset;              /* from the core's cycles to the memory's time */
};

/* In use from cycle `from` to before `until`. */
static inline void as_stay_log_add(struct as_stay_log *log, enum as_resource resource, uint64_t from, uint64_t until)
{
    if (until <= from)
        return;
    uint64_t cycles = until - from;
    *as_vec_push(&log->stays) = (struct as_stay){
        .from = from, .cycles = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX, .resource = (uint8_t)resource};
}

/* The same in the memory's time. */
static inline void as_stay_log_add_late(struct as_stay_log *log, enum as_resource resource, uint64_t from,
                                        uint64_t until)
{
    if (from >= log->offset)
        as_stay_log_add(log, resource, from - log->offset, until - log->offset);
}

#endif
