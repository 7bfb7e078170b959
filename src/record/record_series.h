/* The measurements of a modelled run in a profile: threads, the golden series, samplers, call paths, stacks of the
 * whole program, errors. All sums are checked while they are written. */
#ifndef AS_RECORD_SERIES_H
#define AS_RECORD_SERIES_H

#include "model/groups.h"
#include "record/modelled.h"
#include "record/record_code.h"
#include "record/record_threads.h"
#include "record/record_waits.h"
#include "record/sampled.h"

struct as_record_series {
    struct as_record_code *code;
    const struct as_modelled *modelled; /* its oracle is NULL if there is no golden reference */
    const struct as_groups *groups;
    struct as_record_waits *waits;    /* NULL: none */
    const struct as_sampled *sampled; /* the estimate for the whole program; NULL: the Oracle saw all of it */
    struct as_record_threads threads;
    struct as_record_paths *paths;
    uint32_t events; /* events asked for */
    double rate;     /* asked for; NAN: none */
    uint32_t series; /* number of the next series */
};

/* Adds everything. Returns false if something does not add up: such a profile is not worth keeping. */
bool as_record_series_add(struct as_record_series *all, struct as_error *err) AS_MUST_CHECK;

#endif
