/* The input of all stack formats: the time of one series in cells of (thread, call path, instruction, events).
 *
 * A profile stores time by instruction and events, and time by call path, each exactly. It does not store which
 * instruction had which events on which path, unless there is only one way to combine them. Otherwise each path gets a
 * proportional part of each instruction (of its function, or the one that it names), in whole units, so that the time
 * of every instruction, of every component and of the whole stays exact. Time that no path accounts for is a cell
 * without a path.
 *
 * A function with very many paths and instructions would have too many cells. The paths with most time are divided in
 * proportion (AS_EXPORT_FINE cells a function, AS_EXPORT_FINE_ALL in all); the others take what is left one after the
 * other.
 */
#ifndef AS_EXPORT_VIEW_H
#define AS_EXPORT_VIEW_H

#include "base/vec.h"
#include "export/export.h"

enum { AS_EXPORT_FINE = 1 << 18, AS_EXPORT_FINE_ALL = 1 << 22 };

struct as_export_cell {
    uint32_t thread, path, instruction; /* path: or AS_STORE_NONE */
    uint64_t events, units, samples;
};

/* A set of events that cells have, with its time. */
struct as_export_mask {
    uint64_t events, units, samples;
};

struct as_export_view {
    struct as_store *store;
    uint32_t number;
    const struct as_store_series *series;
    struct as_store_raw raw;
    AS_VEC(struct as_export_cell) cells; /* by thread, path, instruction, events */
    AS_VEC(struct as_export_mask) masks; /* most time first */
    uint64_t units, samples;             /* sums of all cells: those of the series in the chosen threads */
    bool has_components;
    size_t fine_left; /* counts down while time is divided */
};

bool as_export_view_open(struct as_export_view *view, struct as_store *store, const struct as_export_options *options,
                         struct as_error *err) AS_MUST_CHECK;
void as_export_view_free(struct as_export_view *view);

/* The name of a unit, such as "cycles"; never NULL. */
const char *as_export_unit(const struct as_store_series *series);

/* ---- export_share.c ---- */

/* The time of an instruction with exactly these events that no path has taken yet. */
struct as_export_supply {
    uint32_t thread, function, instruction;
    uint64_t events, units, samples;
};

/* Takes the time of paths out of `supply` (sorted by thread, function, instruction, events) and adds it as cells.
 * `supply` keeps the rest. */
void as_export_share(struct as_export_view *view, struct as_export_supply *supply, size_t n);

#endif
