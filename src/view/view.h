/* A profile as a report sees it: one series, and a selection of threads, modules, functions and events. The other files
 * of this folder compute rows, call trees, differences, data, branches and annotations from a view, as values.
 *
 * This folder computes and names. It prints nothing and knows neither terminals nor JSON: that is src/report.
 */
#ifndef AS_VIEW_VIEW_H
#define AS_VIEW_VIEW_H

#include "base/ratio.h"
#include "base/show.h"
#include "view/summary.h"

struct as_words {
    const char *const *data;
    size_t len;
};

struct as_view_options {
    const char *file;
    const char *series;                       /* NULL: the profile's default */
    const char *series_option;                /* what the command calls it; NULL: series */
    struct as_words threads;                  /* thread numbers as text */
    struct as_words modules, symbols, events; /* shell patterns; names of events. Empty: all */
    const char *time;                         /* a part of the run, "1s..2s"; NULL: all of it */
};

struct as_view {
    struct as_store *store;
    struct as_summary summary;
    struct as_view_options options; /* as given; the words belong to the caller */
    uint32_t series;
    bool *threads, *modules, *functions; /* filters as in as_store_query */
    uint64_t events;                     /* likewise */
    char *part;                          /* the chosen time in words; NULL: everything */
    double part_seconds;
    bool has_events, has_calls;    /* the series has components; it has call paths */
    struct as_store_totals totals; /* if it has call paths */
    double *stack_errors;          /* of the summary (stack_errors.c) */
    const struct as_store_module *module;
    const struct as_store_function *function;
    const char *const *file;
    const struct as_store_location *location;
    const struct as_store_thread *thread;
    size_t n_modules, n_functions, n_files, n_locations, n_threads;
};

bool as_view_open(struct as_view *view, const struct as_view_options *options, struct as_error *err) AS_MUST_CHECK;
void as_view_free(struct as_view *view);
/* Used by as_view_open: finds the error bars of the program's bars (as_summary.stack_errors). */
bool as_stack_errors_make(struct as_view *view, struct as_error *err) AS_MUST_CHECK;
bool as_view_rows(const struct as_view *view, enum as_store_level level, struct as_store_rows *rows,
                  struct as_error *err) AS_MUST_CHECK;

/* Whether rows are threads, or groups of them, rather than code. */
static inline bool as_view_has_threads(enum as_store_level level)
{
    return level == AS_STORE_BY_THREAD || level == AS_STORE_BY_PROCESS || level == AS_STORE_BY_COMMAND;
}
/* Whether rows are parts of the code, so that they have a module and an address. */
static inline bool as_view_has_code(enum as_store_level level)
{
    return !as_view_has_threads(level) && level != AS_STORE_BY_PROCESSOR;
}
const char *as_view_level_name(enum as_store_level level); /* "function" … */

/* Names; NULL if there is none. */
const char *as_view_module(const struct as_view *view, uint32_t module); /* last component of its path */
const char *as_view_function(const struct as_view *view, uint32_t function);
const char *as_view_file(const struct as_view *view, uint32_t file);
/* The name of the process of a thread, which is that of its first thread; NULL: not known. */
const char *as_view_process_name(const struct as_view *view, uint32_t thread);
/* A printable name for a row: "main", "demo.c:12", "main+0x1c". Returns `name` or a constant. */
enum { AS_ROW_NAME_MAX = AS_SHOW_MAX + 64 };
const char *as_view_row_name(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                             char name[AS_ROW_NAME_MAX]);
/* The same for code of a module that is in no function: "[libc.so.6]". */
const char *as_view_no_function(const struct as_view *view, uint32_t module, char name[AS_ROW_NAME_MAX]);
/* The same for an address in no function: "libc.so.6+0x1234", by the offset in the file; "0x7f…" without a file. */
const char *as_view_address(const struct as_view *view, uint32_t module, uint64_t address, char name[AS_ROW_NAME_MAX]);
/* The same for an instruction, by its number. */
const char *as_view_location_name(const struct as_view *view, uint32_t instruction, char name[AS_ROW_NAME_MAX]);
/* The offset of an address in the module's file, which unlike the address is the same in all runs. Returns false where
 * there is no file ([kernel], say), and where it is not known. */
bool as_view_module_offset(const struct as_view *view, uint32_t module, uint64_t address, uint64_t *offset);
/* A printable name for an object of data, by its number: "table", "[anon] 0x7f…". */
const char *as_view_object_name(const struct as_store_object *objects, size_t n, uint32_t object,
                                char name[AS_SHOW_MAX]);
/* "ST-L1+ST-LLC", as in the profile; "Base" for 0. Returns `name` or a constant. */
enum { AS_COMPONENT_MAX = 512 };
const char *as_view_component(const struct as_view *view, uint64_t events, char name[AS_COMPONENT_MAX]);

/* The kinds of filters, each with the words that were given for it. */
struct as_view_filter {
    const char *name, *plural; /* "thread", "threads" */
    const struct as_words *words;
};
enum { AS_VIEW_FILTERS = 4 };
void as_view_filters(const struct as_view *view, struct as_view_filter filters[AS_VIEW_FILTERS]);
/* Whether an instruction is in the chosen modules and functions. */
bool as_view_counts(const struct as_view *view, uint32_t instruction);

double as_view_cycles(const struct as_view *view, uint64_t units);

/* Whether the function stands for all code of a file that was missing at import, "[libc.so.6]": it has no place of its own, and a
 * call from it to it is no recursion. */
bool as_view_is_whole_module(const struct as_view *view, uint32_t function);

/* The run-time address of the function: subtract it from an address to get an offset. */
uint64_t as_view_function_address(const struct as_view *view, uint32_t function);

#endif
