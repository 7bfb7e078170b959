/* Error bars of a run that was measured in regions: of anything that is a sum of its time. The profile has the same sums without a part
 * of the regions each (replicates.h), and this is the one place that makes bars of them: of rows and their components (row_errors.c), call
 * paths (path_errors.c), and bars of the whole program (stack_errors.c). */
#ifndef AS_VIEW_BARS_H
#define AS_VIEW_BARS_H

#include "view/legend.h"
#include "view/view.h"

/* The sums that have bars. `read` adds the units of each in a series to `units`, and all of the series' time to `*total`. */
struct as_bar_items {
    const struct as_view *view;
    size_t n;
    bool (*read)(const void *context, uint32_t series, double *units, double *total, struct as_error *err);
    const void *context;
    const uint32_t
        *of; /* by item: the item that it is a share of; AS_STORE_NONE: of the total. NULL: all are of the total */
};

struct as_bars {
    double *errors;       /* by item: half the 95 % interval of the share; NULL: none are known */
    double *once;         /* by item: units that were measured once, in no region */
    double *units, total; /* in the series itself */
    double *guessed;      /* by item: units of code that no region has, which is taken to meet no event */
    double common;        /* as_bar_of_part; 0: not known */
};

/* No bars, but success: the view is not of such a run, or its replicates do not separate what is shown. */
bool as_bars_make(struct as_bars *bars, const struct as_bar_items *items, struct as_error *err) AS_MUST_CHECK;
/* The bar of a part of a whole that consists of kinds of time: `found` by as_bars_make. Beside chance, all regions may have in common some
 * time too much or too little, of which nobody knows the kind; and time of code that no region has is taken to be `plain`, of the first
 * kind, but may be of any. `part`: its share of the whole; `whole`, `guessed`: shares of what the bar is of; `usual`: the share of its
 * kind in the program. */
struct as_bar_part {
    double found, part, whole, guessed, usual;
    bool plain;
};
double as_bar_of_part(const struct as_bars *bars, const struct as_bar_part *part);
/* The same for the components of a row, which is an item, from `parts` on; and for those of the legend with the others, which all of them
 * together follow. */
void as_bars_widen_row(struct as_bars *bars, const struct as_legend *legend, const struct as_store_row *row,
                       size_t item, size_t parts, size_t signs);
void as_bars_widen_legend(struct as_bars *bars, size_t signs, double guessed);
void as_bars_free(struct as_bars *bars);

#endif
