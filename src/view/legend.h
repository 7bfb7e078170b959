/* The components of rows that get a sign and a column of their own: Base first, then by time. */
#ifndef AS_VIEW_LEGEND_H
#define AS_VIEW_LEGEND_H

#include "store/store_read.h"

enum { AS_LEGEND_KEYS = 12 };

struct as_legend {
    uint64_t masks[AS_LEGEND_KEYS], units[AS_LEGEND_KEYS];
    size_t n;
    uint64_t others; /* units of the components without a key */
    uint64_t total;
    /* In a sampled run: half the 95 % intervals of the shares of `total`, those of the others last. */
    bool has_errors;
    double errors[AS_LEGEND_KEYS + 1];
};

struct as_legend as_legend_of(const struct as_store_rows *rows);
size_t as_legend_key(const struct as_legend *legend, uint64_t mask); /* AS_LEGEND_KEYS: it has no key */

uint64_t as_row_part(const struct as_store_row *row, uint64_t mask); /* units with exactly these events */
/* Units with this event, alone or among others. */
uint64_t as_row_event_units(const struct as_store_row *row, uint64_t event);

#endif
