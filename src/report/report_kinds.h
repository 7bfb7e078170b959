/* The kinds of report. A kind builds its state from one or two views, owns it, and writes it as text, JSON and CSV. A
 * new kind is a file with its `struct as_report_kind` and a line in AS_REPORT_KINDS. */
#ifndef AS_REPORT_REPORT_KINDS_H
#define AS_REPORT_REPORT_KINDS_H

#include "base/json.h"
#include "report/term.h"
#include "view/gate.h"

/* X(name, value, help) for each kind, in the order of the help: the option --name with its value (NULL: a flag). The
 * kind is as_report_NAME. Rows need no option. */
#define AS_REPORT_KINDS(X)                                                                                             \
    X(calls, NULL, "Show the call tree: each path with its self time and its total with callees.")                     \
    X(flame, NULL, "Draw the call tree as a flame graph in the width of the terminal, callers above callees.")         \
    X(branches, NULL,                                                                                                  \
      "Show the taken branches that branch stacks hold: from where to where, how often, how often mispredicted, and "  \
      "after how many cycles. A profile has them if branches were asked for, or perf record -b made it.")              \
    X(data, NULL,                                                                                                      \
      "Show which data was accessed: variables, heap, stacks and mapped files, how much of the time, by which "        \
      "instructions. A profile has data addresses if accesses were asked for, or perf mem recorded it.")               \
    X(waits, NULL,                                                                                                     \
      "Show which threads waited for lines that another core had, and whose code made them wait: a matrix of the "     \
      "threads, objects, lines and pairs of code, with true and false sharing. Only profiles recorded with the model " \
      "have this.")                                                                                                    \
    X(diff, "OTHER",                                                                                                   \
      "Compare with OTHER, the profile before a change: what became faster or slower, by how much, and which "         \
      "components of its time changed.")

/* The rows of a report, in the order of --by. */
enum as_report_by {
    AS_REPORT_BY_FUNCTION, /* also the default */
    AS_REPORT_BY_LINE,
    AS_REPORT_BY_BLOCK,
    AS_REPORT_BY_INSTRUCTION,
    AS_REPORT_BY_FILE,
    AS_REPORT_BY_MODULE,
    AS_REPORT_BY_THREAD,
    AS_REPORT_BY_PROCESS,
    AS_REPORT_BY_COMMAND,
    AS_REPORT_BY_CPU,
    AS_REPORT_BY_OBJECT, /* of data */
};
extern const char *const as_report_by_names[]; /* NULL-terminated */
enum as_store_level as_report_level(enum as_report_by by);
#define AS_REPORT_LEVEL(by) (1u << (by))
#define AS_REPORT_CODE_LEVELS (AS_REPORT_LEVEL(AS_REPORT_BY_OBJECT) - 1)

struct as_report_filters {
    bool threads, places, events, time; /* places: modules and symbols */
};

/* What the user asked for. */
struct as_report_request {
    const struct as_view *view;
    const struct as_view *other; /* the earlier profile, for a kind whose option has a value; else NULL */
    enum as_report_by by;
    const char *sort;           /* NULL: the default order */
    size_t limit;               /* rows; 0: all */
    bool limited;               /* the user gave a limit */
    bool text;                  /* for a terminal: neither JSON nor CSV */
    const struct as_gate *gate; /* for comparisons; NULL: none */
};

struct as_report_kind {
    const char *option;               /* "--calls"; NULL: rows */
    const char *name;                 /* as in messages: "call paths" */
    struct as_report_filters filters; /* filters that apply */
    uint32_t levels;                  /* AS_REPORT_LEVEL bits that apply */
    bool sorts;                       /* --sort applies */
    /* Returns the state, or NULL and `err`. The views outlive it. */
    void *(*make)(const struct as_report_request *request, struct as_error *err);
    void (*free)(void *state);
    void (*text)(const void *state, FILE *out, const struct as_term *term);
    const char *values; /* of a drawing, which exists only as text: the option that has the same as JSON and CSV */
    /* NULL: a drawing. JSON is added to an open object. */
    bool (*json)(const void *state, struct as_json *json, struct as_error *err);
    bool (*csv)(const void *state, FILE *out, struct as_error *err);
};

extern const struct as_report_kind as_report_rows;
#define AS_REPORT_DECLARE(name, value, help) extern const struct as_report_kind as_report_##name;
AS_REPORT_KINDS(AS_REPORT_DECLARE)
#undef AS_REPORT_DECLARE

/* For the state of as_report_diff: the gate's result, NULL if no limit was given; and the comparison. */
const struct as_gate_result *as_report_diff_gate(const void *state);
const struct as_diff *as_report_diff_values(const void *state);

/* Whether the level, the order and the filters of the request apply to the kind. */
bool as_report_kind_takes(const struct as_report_kind *kind, enum as_report_by by, bool sorted,
                          struct as_report_filters asked, struct as_error *err) AS_MUST_CHECK;

/* How many of `n` rows a limit (0: none) leaves. */
static inline size_t as_report_shown(size_t n, size_t limit)
{
    return limit && limit < n ? limit : n;
}

#endif
