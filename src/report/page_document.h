/* Makes the document of the HTML page (doc/format/page.md) from a profile. */
#ifndef AS_REPORT_PAGE_DOCUMENT_H
#define AS_REPORT_PAGE_DOCUMENT_H

#include "base/json.h"
#include "base/vec.h"
#include "page/page.h"
#include "view/branches.h"
#include "view/data.h"
#include "view/diff.h"
#include "view/sources.h"
#include "view/waits.h"

/* Limits that keep a page below 5 MB and quick. In larger programs only the functions with the most time have their
 * instructions, the others have sums; small subtrees of the call tree count as their callers' time. The page states
 * this. */
enum {
    AS_PAGE_INSNS = 100000,
    AS_PAGE_PATHS = 50000,
    AS_PAGE_SOURCE = 4 << 20,
    AS_PAGE_THREADS = 32,
    AS_PAGE_DIFF = 2000,
    AS_PAGE_ROWS = 2000, /* most objects, and most branches, of a series */
    AS_PAGE_WAITS = 500, /* most rows of each list of waits … */
    AS_PAGE_WAITERS = 64 /* … and most threads of the matrix */
};

struct as_page_options {
    struct as_sources *sources;
    const struct as_diff *diff;              /* by function, with the page's view as the later one; NULL: none */
    const char *reuse;                       /* from as_page_reuse_read; NULL: none */
    const char *(*meaning)(const char *key); /* explains a parameter of the machine; may return NULL */
    enum as_page_encoding encoding;
};

/* Writes the page. The view must have no filters: the page shows the whole profile. */
bool as_page_document_write(const struct as_view *view, const struct as_page_options *options, FILE *out,
                            struct as_error *err) AS_MUST_CHECK;

/* What `assay reuse --json` wrote to a file, checked to be that and of this program (NULL: of any). The caller frees. NULL: error. */
char *as_page_reuse_read(const char *path, const char *program, struct as_error *err) AS_MUST_CHECK;

/* ---- parts of the document ---- */

/* A function of the page: a function of the profile, or the code of a module outside functions. */
struct as_page_function {
    uint32_t function, module; /* function AS_STORE_NONE: code of the module, or of no module */
    uint32_t first, count;     /* instructions */
    uint64_t units;            /* in the default series */
};

struct as_page_insn {
    uint32_t number; /* in the profile */
    uint32_t function;
    uint64_t address, target;
    uint32_t text; /* of strings */
    bool calls;
};

/* The time of a row, in tables whose rows are numbered. */
struct as_page_entry {
    uint32_t row, component; /* component AS_STORE_NONE: the series has no components */
    uint64_t units;
};
struct as_page_entries {
    struct as_page_entry *data;
    size_t len, cap;
};

struct as_page_series {
    bool events; /* it has components */
    struct as_store_rows instructions, functions;
    struct as_data data;         /* empty if the series has no data addresses */
    struct as_branches branches; /* empty if it has no branches */
    struct as_waits waits;       /* empty if it has no waits */
};

struct as_page_document {
    const struct as_view *view;
    const struct as_page_options *options;
    struct as_strings *strings;
    struct as_page_function *functions;
    size_t n_functions;
    uint32_t *function_of; /* by the profile's function, then by module, then one for code outside modules */
    struct as_page_insn *insns;
    size_t n_insns;
    uint32_t *row_of; /* by the profile's instruction; AS_STORE_NONE: left out */
    struct as_page_series *series;
    size_t n_series;
    uint64_t *masks; /* of components, Base first */
    size_t n_masks;
    bool shortened;              /* some instructions were left out */
    uint64_t folded;             /* units of call paths that are counted as their callers' */
    struct as_page_paths *paths; /* NULL: there are none */
};

bool as_page_code_make(struct as_page_document *document, struct as_error *err) AS_MUST_CHECK;
void as_page_code_json(const struct as_page_document *document, struct as_json *json);
void as_page_files_json(const struct as_page_document *document, struct as_json *json);
void as_page_run_json(const struct as_page_document *document, struct as_json *json);
void as_page_reuse_json(const struct as_page_document *document, struct as_json *json);
bool as_page_paths_make(struct as_page_document *document, struct as_error *err) AS_MUST_CHECK;
void as_page_paths_json(const struct as_page_document *document, struct as_json *json);
void as_page_paths_free(struct as_page_document *document);
/* Members of a series: its time by call path, and by thread and function. */
void as_page_series_paths_json(const struct as_page_document *document, struct as_json *json, uint32_t series);
void as_page_series_threads_json(const struct as_page_document *document, struct as_json *json, uint32_t series);
/* The first objects and branches of a series; and how data addresses were obtained. */
bool as_page_lists_make(struct as_page_document *document, struct as_error *err) AS_MUST_CHECK;
/* Error bars (page_errors.c); of the paths of the view's series, if they are known. */
void as_page_paths_errors_json(const struct as_page_document *document, struct as_json *json);
void as_page_series_errors_json(const struct as_page_document *document, struct as_json *json, uint32_t series);
void as_page_series_lists_json(const struct as_page_document *document, struct as_json *json, uint32_t series);
void as_page_addresses_json(const struct as_page_document *document, struct as_json *json);
void as_page_lists_free(struct as_page_document *document);
void as_page_waits_json(const struct as_page_document *document, const struct as_waits *waits, double scale,
                        struct as_json *json);
/* Elements of arrays: a string's number; where an instruction stands among the page's, -1: left out. */
void as_page_name_json(const struct as_page_document *document, struct as_json *json, const char *name);
void as_page_row_json(const struct as_page_document *document, struct as_json *json, uint32_t instruction);
/* The function of the page for a row of the profile, or for an address without one. */
uint32_t as_page_function_of(const struct as_page_document *document, uint32_t function, uint32_t module);
uint32_t as_page_component_of(const struct as_page_document *document, uint64_t events);
/* Writes "row", "component" and "cycles" of entries in any order. */
void as_page_sparse_json(const struct as_page_document *document, struct as_json *json, const char *name,
                         uint32_t series, struct as_page_entries *entries);
double as_page_cycles(uint64_t units, double scale); /* rounded to the document's precision */

#endif
