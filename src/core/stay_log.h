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

/* Room for so many more; returns where they go. */
static inline struct as_stay *as_stay_log_room(struct as_stay_log *log, size_t n)
{
    if (__builtin_expect(log->stays.len + n > log->stays.cap, 0))
        as_vec_reserve((void **)&log->stays.data, &log->stays.cap, log->stays.len + n, sizeof *log->stays.data);
    return log->stays.data + log->stays.len;
}

/* In use from cycle `from` to before `until`; returns how many stays that is, 0 or 1. */
static inline size_t as_stay_set(struct as_stay *stay, enum as_resource resource, uint64_t from, uint64_t until)
{
    uint64_t cycles = until - from;
    *stay = (struct as_stay){
        .from = from, .cycles = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX, .resource = (uint8_t)resource};
    return until > from;
}

static inline void as_stay_log_add(struct as_stay_log *log, enum as_resource resource, uint64_t from, uint64_t until)
{
    if (until > from)
        log->stays.len += as_stay_set(as_stay_log_room(log, 1), resource, from, until);
}

/* The same in the memory's time; not what is in use before the core's first cycle. */
static inline void as_stay_log_add_late(struct as_stay_log *log, enum as_resource resource, uint64_t from,
                                        uint64_t until)
{
    if (from > log->offset)
        as_stay_log_add(log, resource, from - log->offset, until - log->offset);
}

#endif
