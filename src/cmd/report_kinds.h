/* The kinds of report that a profile gives: rows, a call tree, a flame graph, data, branches, what differs from another
 * profile. Each is an entry of a table; a new one needs no more than its own. */
#ifndef AS_CMD_REPORT_KINDS_H
#define AS_CMD_REPORT_KINDS_H

#include "report/report.h"
#include "report/report_branches.h"
#include "report/report_data.h"

/* What a row is, in the order of --by. */
enum as_report_by {
    AS_REPORT_BY_FUNCTION,
    AS_REPORT_BY_LINE,
    AS_REPORT_BY_BLOCK,
    AS_REPORT_BY_INSTRUCTION,
    AS_REPORT_BY_FILE,
    AS_REPORT_BY_MODULE,
    AS_REPORT_BY_THREAD,
    AS_REPORT_BY_OBJECT, /* of data */
};
extern const char *const as_report_by_names[];

struct as_report_filters {
    bool threads, places, events; /* places: modules and symbols */
};

/* What is shown, made before anything is written. */
struct as_report_content {
    const struct as_report_kind *kind;
    int by;           /* enum as_report_by */
    const char *sort; /* NULL: the usual order */
    size_t limit;     /* rows; 0: all */
    bool limited;     /* somebody asked for it */
    bool text;        /* for people: neither JSON nor CSV */
    struct as_view view, other;
    struct as_report report;
    struct as_tree tree;
    struct as_diff *diff;
    struct as_data data;
    struct as_branches branches;
};

struct as_report_kind {
    const char *option;                                                    /* "--calls"; NULL: rows, which need none */
    const char *name;                                                      /* as in messages: "call paths" */
    struct as_report_filters filters;                                      /* that apply */
    uint32_t levels;                                                       /* bits of enum as_report_by that apply */
    bool sorts;                                                            /* --sort applies */
    bool (*make)(struct as_report_content *content, struct as_error *err); /* views are open */
    void (*text)(const struct as_report_content *content, FILE *out, const struct as_term *term);
    /* NULL: a drawing. Into an object that is open. */
    bool (*json)(const struct as_report_content *content, struct as_json *json, struct as_error *err);
    bool (*csv)(const struct as_report_content *content, FILE *out, struct as_error *err);
};
extern const struct as_report_kind as_report_rows, as_report_calls, as_report_flame, as_report_of_data,
    as_report_of_branches, as_report_of_diff;

/* Whether the level, the order and the filters that were asked for apply to the kind. */
bool as_report_kind_takes(const struct as_report_kind *kind, int by, bool sorted, struct as_report_filters asked,
                          struct as_error *err) AS_MUST_CHECK;

void as_report_content_free(struct as_report_content *content);

#endif
