/* The rows of a profile at one level, sorted, as text, JSON or CSV; its call tree and flame graph. */
#ifndef AS_REPORT_REPORT_H
#define AS_REPORT_REPORT_H

#include "report/view.h"

enum as_report_sort {
    AS_SORT_SELF,
    AS_SORT_TOTAL,
    AS_SORT_SAMPLES,
    AS_SORT_EXECUTIONS,
    AS_SORT_NAME,
    AS_SORT_ADDRESS,
    AS_SORT_EVENT,
};

struct as_report_order {
    enum as_report_sort key;
    uint64_t event;         /* AS_SORT_EVENT: its bit */
    const char *event_name; /* and its name */
};

struct as_report {
    const struct as_view *view;
    enum as_store_level level;
    struct as_store_rows rows;
    struct as_legend legend;
    struct as_report_order order;
    size_t limit; /* rows to show; 0: all */
    double least; /* as text: leave out rows with a smaller share at the end */
};

/* `sort` is self, total, samples, executions, name, address, or an event's name; NULL: self. Refuses what the rows of
 * this series and level do not have. */
bool as_report_make(struct as_report *report, const struct as_view *view, enum as_store_level level, const char *sort,
                    struct as_error *err) AS_MUST_CHECK;
void as_report_free(struct as_report *report);

void as_report_text(const struct as_report *report, FILE *out, const struct as_term *term);
/* "summary", "by" and "rows", into an object that is open. */
bool as_report_json(const struct as_report *report, struct as_json *json, struct as_error *err) AS_MUST_CHECK;
bool as_report_csv(const struct as_report *report, FILE *out, struct as_error *err) AS_MUST_CHECK;

/* Units of a row and of what it calls; the row's own where there is no call tree or it is not about functions. */
uint64_t as_report_total(const struct as_report *report, const struct as_store_row *row);
bool as_report_has_total(const struct as_report *report);
uint64_t as_report_event_units(const struct as_store_row *row, uint64_t event); /* its time with an event */

/* One row's components, into an object that is open. */
void as_report_components_json(const struct as_view *view, const struct as_store_row *row, struct as_json *json,
                               const char *name);
/* A field of a CSV file: as_csv_add_text. NULL: empty. */
void as_report_csv_field(FILE *out, const char *text);

/* Components of CSV rows: those with a name of their own, and the rest, so that they add up; before them their names.
 */
void as_report_csv_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out);
void as_report_csv_components(const struct as_legend *legend, const struct as_view *view,
                              const struct as_store_row *row, FILE *out);

/* ---- call trees ---- */

struct as_tree_node {
    uint32_t function; /* AS_STORE_NONE: `address` tells all */
    uint64_t address;
    bool signal;
    uint32_t parent, depth; /* parent AS_STORE_NONE: a root */
    uint32_t first, n;      /* children: nodes first … first + n - 1, the most time first */
    uint64_t self, total;
    uint32_t levels;                  /* of direct recursion that it stands for; 1: none is folded into it */
    size_t part, self_end, total_end; /* of as_tree.parts: from `part` its own, then those of what it calls */
};

/* Paths with calls from several places of one function taken together. Children follow their parents. */
struct as_tree {
    struct as_tree_node *nodes;
    size_t n, n_roots; /* roots come first, the most time first */
    uint64_t total;
    struct as_store_row_part *parts; /* components of each node's own time, nodes in the order of a listing */
    size_t n_parts;
    struct as_legend legend;
    uint32_t *node_of;   /* by the profile's path */
    bool *needs_modules; /* by function: one of another module has its name */
};

/* False also where the series has no call paths. */
bool as_tree_make(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* … where a function that calls itself is one node, whatever it calls below that. */
bool as_tree_make_folded(struct as_tree *tree, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_tree_free(struct as_tree *tree);
/* A node's name, fit to be shown; roots, and functions whose name another module has too, with their module. Returns
 * `name`. */
enum { AS_TREE_NAME_MAX = 2 * AS_SHOW_MAX + 32 };
const char *as_tree_name(const struct as_tree *tree, const struct as_view *view, const struct as_tree_node *node,
                         char name[AS_TREE_NAME_MAX]);
/* The node after this one in the order of a listing, without what is below it if `skip`. NONE: that was the last. */
uint32_t as_tree_next(const struct as_tree *tree, uint32_t node, bool skip);

/* Whether its times have components; their sums, the most time first, into a row that holds nothing else:
 * as_tree_row_free. */
bool as_tree_has_parts(const struct as_tree *tree);
void as_tree_row_self(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_total(const struct as_tree *tree, const struct as_tree_node *node, struct as_store_row *row);
void as_tree_row_free(struct as_store_row *row);
/* While a tree is made: `node_of` tells the node of each path. */
bool as_tree_add_parts(struct as_tree *tree, const struct as_view *view, const uint32_t *node_of,
                       struct as_error *err) AS_MUST_CHECK;

/* The `limit` paths with the largest totals (0: all), and none whose part of the time is below `least`. */
void as_tree_text(const struct as_tree *tree, const struct as_view *view, FILE *out, const struct as_term *term,
                  size_t limit, double least);
void as_tree_json(const struct as_tree *tree, const struct as_view *view, struct as_json *json, size_t limit);
void as_tree_csv(const struct as_tree *tree, const struct as_view *view, FILE *out, size_t limit);
void as_tree_flame(const struct as_tree *tree, const struct as_view *view, FILE *out, const struct as_term *term);

/* ---- two profiles ---- */

struct as_diff;
/* Rows of both, matched by module and name (and line or offset). `before` is the other one. */
struct as_diff *as_diff_new(const struct as_view *before, const struct as_view *after, enum as_store_level level,
                            struct as_error *err) AS_MUST_CHECK;
void as_diff_free(struct as_diff *diff);
/* What differs beside the program, "core, arguments"; "" for nothing. */
const char *as_diff_differences(const struct as_diff *diff);
void as_diff_text(const struct as_diff *diff, FILE *out, const struct as_term *term, size_t limit);
void as_diff_json(const struct as_diff *diff, struct as_json *json, size_t limit);
void as_diff_csv(const struct as_diff *diff, FILE *out, size_t limit);

#endif
