/* See routes.h. A table with two places for each hash: what was noted last comes first. */
#include "core/routes.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 1 << 11, WAYS = 2 };
/* So many looks make a window; fewer finds than a third of them, and no route is looked for in that many times as many. */
enum { WINDOW = 1 << 10, PAUSE = 30 };

struct slot {
    const struct as_route *route; /* NULL: empty */
    uint64_t changes;             /* of TAGE's tables when it was noted */
    uint32_t outcomes;
    uint16_t n;
    uint16_t then; /* the set in which the next route was found the last time */
    struct as_history_context before, behind;
};

struct as_routes {
    uint32_t looks, finds;     /* in this window */
    uint32_t pause;            /* routes that are not looked for */
    struct slot (*sets)[WAYS]; /* NULL: no route came yet */
    struct slot *found;        /* the last one */
};

struct as_routes *as_routes_new(void)
{
    return as_alloc_apart(1, sizeof(struct as_routes));
}

void as_routes_free(struct as_routes *routes)
{
    free(routes->sets);
    free(routes);
}

static void sum_up(const struct as_route *route, uint32_t n, struct as_route_look *look)
{
    uint32_t outcomes = 0, branches = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t is_branch = route->branches >> i & 1;
        outcomes = is_branch ? outcomes << 1 | route->steps[i].taken : outcomes;
        branches += is_branch;
    }
    look->outcomes = outcomes;
    look->branches = branches;
}

/* Sets of one loop come in the same order again, from further away than the host's first caches: what is looked at next time
 * is fetched now. */
static inline void note_order(struct as_routes *routes, struct slot *place)
{
    enum { HOST_LINE = 64 };
    const char *then = (const char *)routes->sets[place->then];
    routes->found->then = (uint16_t)((size_t)((const char *)place - (const char *)routes->sets) / sizeof *routes->sets);
    routes->found = place;
    __builtin_prefetch(then);
    __builtin_prefetch(then + HOST_LINE);
    __builtin_prefetch(then + 2 * HOST_LINE);
}

static struct slot *set_of(struct as_routes *routes, const struct as_route *route, const struct as_route_look *look)
{
    const struct as_history_context *before = &look->before;
    uint64_t words[2 * sizeof before->index / sizeof(uint64_t)];
    memcpy(words, &before->index, sizeof before->index);
    memcpy(words + 2, &before->tag, sizeof before->tag);
    uint64_t hash = (words[0] ^ words[2] << 5 ^ (uintptr_t)route) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ words[1] ^ words[3] << 7 ^ look->outcomes) * UINT64_C(0xbf58476d1ce4e5b9);
    return routes->sets[hash >> 40 & (SETS - 1)];
}

/* Whether to look for a route at all. */
static bool wants_look(struct as_routes *routes)
{
    if (routes->pause) {
        routes->pause--;
        return false;
    }
    if (!routes->sets) {
        routes->sets = as_alloc_apart(SETS, sizeof *routes->sets);
        routes->found = routes->sets[0];
    }
    if (++routes->looks < WINDOW)
        return true;
    routes->pause = routes->finds < WINDOW / 3 ? PAUSE * WINDOW : 0;
    routes->looks = routes->finds = 0;
    return true;
}

static inline bool is_at(const struct slot *place, const struct as_route *route, uint32_t n,
                         const struct as_route_look *look)
{
    return place->route == route && place->changes == look->changes && place->outcomes == look->outcomes &&
           place->n == n && as_history_same(&place->before, &look->before);
}

bool as_routes_pass(struct as_routes *routes, struct as_tage *tage, const struct as_route *route, uint32_t n,
                    struct as_route_look *look)
{
    sum_up(route, n, look);
    look->looked = look->branches > 0 && wants_look(routes) && as_tage_context(tage, look->branches, &look->before);
    if (!look->looked)
        return look->branches == 0;
    look->changes = as_tage_changes(tage);
    struct slot *place = set_of(routes, route, look);
    if (!is_at(place, route, n, look) && !is_at(++place, route, n, look))
        return false;
    routes->finds++;
    note_order(routes, place);
    as_tage_pass(tage, look->outcomes, look->branches, &place->behind);
    return true;
}

void as_routes_note(struct as_routes *routes, const struct as_tage *tage, const struct as_route *route, uint32_t n,
                    const struct as_route_look *look)
{
    if (!look->looked || as_tage_changes(tage) != look->changes)
        return;
    struct slot *place = set_of(routes, route, look);
    place[1] = place[0];
    place->route = route;
    place->changes = look->changes;
    place->outcomes = look->outcomes;
    place->n = (uint16_t)n;
    place->before = look->before;
    as_tage_show(tage, &place->behind);
}
