/* The rows of a view at one level, sorted. */
#ifndef AS_VIEW_ROWS_H
#define AS_VIEW_ROWS_H

#include "view/legend.h"
#include "view/view.h"

enum as_rows_sort {
    AS_SORT_SELF,
    AS_SORT_TOTAL,
    AS_SORT_SAMPLES,
    AS_SORT_EXECUTIONS,
    AS_SORT_NAME,
    AS_SORT_ADDRESS,
    AS_SORT_EVENT,
};

struct as_rows_order {
    enum as_rows_sort key;
    uint64_t event;         /* AS_SORT_EVENT: the event's bit */
    const char *event_name; /* and its name */
};

struct as_rows {
    const struct as_view *view;
    enum as_store_level level;
    const uint32_t *function; /* of this one alone; NULL: of all */
    struct as_store_rows rows;
    struct as_legend legend;
    struct as_rows_order order;
    const char **starts;  /* of threads: by thread, the function that one without a name began with; else NULL */
    bool *alike;          /* of functions: by row, whether another one of its module has the same name; else NULL */
    double *errors;       /* by row: half the 95 % interval of its share, for a sampled run; NULL: not known */
    double *total_errors; /* the same of what a function takes with what it calls; NULL: not known */
    uint64_t *once;       /* by row: units of it that were measured once, in no region; NULL: as for `errors` */
    size_t *parts_at;     /* by row: those of its components in `errors`; NULL: not known */
};

/* `sort` is self, total, samples, executions, name, address, or an event's name; NULL: self. Refuses a value that the
 * rows of this series and level do not have. */
bool as_rows_make(struct as_rows *list, const struct as_view *view, enum as_store_level level, const char *sort,
                  struct as_error *err) AS_MUST_CHECK;
void as_rows_free(struct as_rows *list);

/* Fills `errors`, `once` and the errors of components and of the legend (row_errors.c). A run that was measured in regions has replicates of its series,
 * each without a part of the regions (AS_STORE_REPLICATE). Their spread gives the error of a row at any level. Does nothing for other
 * series, or if only some threads or events are shown and the replicates do not separate these. */
bool as_row_errors_make(struct as_rows *list, struct as_error *err) AS_MUST_CHECK;
/* Half the 95 % interval of a component's share of the program's time; NAN: not known. */
double as_rows_part_error(const struct as_rows *list, const struct as_store_row *row, uint64_t mask);
/* Then fills `total_errors`, from the same replicates by call path (path_errors.c). Profiles of older versions have none. */
bool as_total_errors_make(struct as_rows *list, struct as_error *err) AS_MUST_CHECK;

/* As as_view_row_name; a thread without a name of its own has that of its start function beside its program's. Functions of one
 * name (overloads of a Java method, code that was compiled again, static functions) have their addresses: "f at demo+0x1000". */
const char *as_rows_name(const struct as_rows *list, const struct as_store_row *row, char name[AS_ROW_NAME_MAX]);
/* That function; NULL for other rows. */
const char *as_rows_start(const struct as_rows *list, const struct as_store_row *row);

/* Units of a row including its callees; the row's own units without a call tree, or if rows are not functions. */
uint64_t as_rows_total(const struct as_rows *list, const struct as_store_row *row);
bool as_rows_has_total(const struct as_rows *list);

#endif
