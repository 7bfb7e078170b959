/* Routes that come again: what TAGE says of the branches of a chain of blocks depends on its tables and on the histories before the
 * chain, of which only folds matter and the outcomes that leave them meanwhile. Where all of these are as they were, and TAGE was
 * right and sure of every branch then, so that it learnt nothing, it is so again: only the histories have to go on.
 *
 * States are compared whole. A change of any entry makes all that was noted worthless, so routes are looked for only where many
 * of them were found of late.
 */
#ifndef AS_CORE_ROUTES_H
#define AS_CORE_ROUTES_H

#include "core/core.h"
#include "core/tage.h"

struct as_routes;
struct as_routes *as_routes_new(void);
void as_routes_free(struct as_routes *routes);

/* What a look for a route leaves for as_routes_note. */
struct as_route_look {
    bool looked;                 /* else there is nothing to note */
    uint32_t outcomes, branches; /* of the branches, the last one lowest; how many there are */
    uint64_t changes;
    struct as_history_context before;
};

/* Whether TAGE is right and sure about all branches of the route's first `n` transfers; then it goes on as behind them. */
bool as_routes_pass(struct as_routes *routes, struct as_tage *tage, const struct as_route *route, uint32_t n,
                    struct as_route_look *look);
/* It was asked about each of them instead. */
void as_routes_note(struct as_routes *routes, const struct as_tage *tage, const struct as_route *route, uint32_t n,
                    const struct as_route_look *look);

#endif
