/* The replicates of a sampled series: the same estimate without a part of the regions each (AS_STORE_REPLICATE). Their spread is
 * the error of whatever is summed up from them. For rows (row_errors.c) and call paths (path_errors.c). */
#ifndef AS_VIEW_REPLICATES_H
#define AS_VIEW_REPLICATES_H

#include "base/vec.h"
#include "score/confidence.h"
#include "view/view.h"

struct as_replicates {
    AS_VEC(uint32_t) series; /* numbers of the replicates; fewer than two: no error is known */
    uint32_t common, alike;  /* of what they share: the same times, and times that a factor multiplies; NONE: none */
    struct as_region_prior prior;
    bool has_prior;
    double
        common_error; /* half the 95 % interval of what all regions have in common, as a part of the program's time */
    bool by_threads, by_events; /* they have the times of single threads; and components */
};

/* Those of the view's series; none if it is not sampled, or if only some threads or events are shown and its replicates do not
 * separate these: there are too many threads, or it is of an older version. */
struct as_replicates as_replicates_of(const struct as_view *view);
void as_replicates_free(struct as_replicates *replicates);

/* Half the 95 % interval of a share. `values`: the share in each replicate; `moving`: its part of the time that differs between
 * replicates; `guessed`: the share of code that no region has. */
double as_replicates_error(const struct as_replicates *replicates, double share, double moving, double guessed,
                           const double *values);

#endif
