/* The code in the page's document: functions, their instructions, source files. See page_document.h. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "report/page_document.h"
#include "view/block_counts.h"
#include "view/module_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT_LINES = 30 };

uint32_t as_page_function_of(const struct as_page_document *document, uint32_t function, uint32_t module)
{
    const struct as_view *view = document->view;
    if (function < view->n_functions)
        return document->function_of[function];
    return document->function_of[view->n_functions + (module < view->n_modules ? module : view->n_modules)];
}

/* ---- which functions, in which order ---- */

static int most_first(const void *a, const void *b)
{
    const struct as_page_function *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->module > y->module) - (x->module < y->module);
}

/* Counts instructions by slot of function_of: the profile's functions, then modules, and one more. */
static void count_insns(const struct as_view *view, uint32_t *counts)
{
    for (size_t i = 0; i < view->n_locations; i++) {
        const struct as_store_location *location = &view->location[i];
        uint32_t module = location->module < view->n_modules ? location->module : (uint32_t)view->n_modules;
        counts[location->function < view->n_functions ? location->function : view->n_functions + module]++;
    }
}

static void make_functions(struct as_page_document *document)
{
    const struct as_view *view = document->view;
    size_t slots = view->n_functions + view->n_modules + 1;
    uint32_t *counts = as_alloc_array(slots, sizeof *counts);
    document->functions = as_alloc_array(slots, sizeof *document->functions);
    document->function_of = as_alloc_array(slots, sizeof *document->function_of);
    document->n_functions = slots;
    count_insns(view, counts);
    for (size_t i = 0; i < slots; i++)
        document->functions[i] = (struct as_page_function){
            .function = i < view->n_functions ? (uint32_t)i : AS_STORE_NONE,
            .module = i < view->n_functions ? view->function[i].module : (uint32_t)(i - view->n_functions),
            .count = counts[i],
            .first = (uint32_t)i}; /* its slot, until the list is sorted */
    const struct as_store_rows *rows = &document->series[view->series].functions;
    for (size_t i = 0; i < rows->n; i++) {
        const struct as_store_row *row = &rows->rows[i];
        uint32_t module = row->module < view->n_modules ? row->module : (uint32_t)view->n_modules;
        document->functions[row->id < view->n_functions ? row->id : view->n_functions + module].units += row->units;
    }
    qsort(document->functions, slots, sizeof *document->functions, most_first);
    uint32_t used = 0;
    for (size_t i = 0; i < slots; i++) {
        struct as_page_function *function = &document->functions[i];
        document->function_of[function->first] = (uint32_t)i;
        if (used + (uint64_t)function->count > AS_PAGE_INSNS) {
            document->shortened |= function->count > 0;
            function->count = 0;
        }
        function->first = used;
        used += function->count;
    }
    document->n_insns = used;
    free(counts);
}

/* ---- their instructions ---- */

static bool take_insn(void *context, uint32_t number, const struct as_store_insn *insn)
{
    struct as_page_document *document = context;
    uint32_t function = as_page_function_of(document, insn->location.function, insn->location.module);
    const struct as_page_function *of = &document->functions[function];
    uint32_t at = document->row_of[number]; /* its position within its function, from counting */
    if (at >= of->count)
        return true;
    document->insns[of->first + at] =
        (struct as_page_insn){.number = number,
                              .function = function,
                              .address = insn->location.address,
                              .target = insn->target,
                              .text = as_strings_intern(document->strings, insn->text ? insn->text : "?"),
                              .calls = insn->class_ && strncmp(insn->class_, "call", 4) == 0};
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct as_page_insn *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool make_insns(struct as_page_document *document, struct as_error *err)
{
    const struct as_view *view = document->view;
    uint32_t *seen = as_alloc_array(document->n_functions, sizeof *seen);
    document->insns = as_alloc_array(document->n_insns + 1, sizeof *document->insns);
    document->row_of = as_alloc_array(view->n_locations + 1, sizeof *document->row_of);
    for (size_t i = 0; i < view->n_locations; i++)
        document->row_of[i] =
            seen[as_page_function_of(document, view->location[i].function, view->location[i].module)]++;
    free(seen);
    if (!as_store_instructions(view->store, AS_STORE_NONE, take_insn, document, err))
        return false;
    for (size_t i = 0; i < document->n_functions; i++)
        if (document->functions[i].count)
            qsort(document->insns + document->functions[i].first, document->functions[i].count, sizeof *document->insns,
                  by_address);
    for (size_t i = 0; i < view->n_locations; i++)
        document->row_of[i] = AS_STORE_NONE;
    for (size_t i = 0; i < document->n_insns; i++)
        document->row_of[document->insns[i].number] = (uint32_t)i;
    return true;
}

/* Drops groups outside functions that have no instructions: they were sorted to the end. */
static void drop_empty(struct as_page_document *document)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(document->view->store, &n);
    for (size_t i = 0; i < n; i++)
        if (paths[i].function == AS_STORE_NONE)
            return;
    while (document->n_functions) {
        const struct as_page_function *last = &document->functions[document->n_functions - 1];
        if (last->function != AS_STORE_NONE || last->count || last->units)
            return;
        document->n_functions--;
    }
}

bool as_page_code_make(struct as_page_document *document, struct as_error *err)
{
    document->strings = as_strings_new();
    make_functions(document);
    if (!make_insns(document, err))
        return false;
    drop_empty(document);
    return true;
}

/* ---- JSON ---- */

static const char *function_name(const struct as_page_document *document, const struct as_page_function *function,
                                 char text[AS_ROW_NAME_MAX])
{
    const char *name = as_view_function(document->view, function->function);
    if (function->function != AS_STORE_NONE)
        return name ? name : "?";
    return as_view_no_function(document->view, function->module, text);
}

/* The first exact series, which has executions; n_series: there is none. */
static size_t exact_series(const struct as_page_document *document)
{
    size_t n, s = 0;
    const struct as_store_series *series = as_store_series(document->view->store, &n);
    while (s < document->n_series && !series[s].exact)
        s++;
    return s;
}

/* Converts the profile's rows, by function or (outside functions) by module, to one number per function of the page. */
static uint64_t *by_function(const struct as_page_document *document, const struct as_store_rows *rows, bool executions)
{
    uint64_t *sums = as_alloc_array(document->n_functions + 1, sizeof *sums);
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t to = as_page_function_of(document, rows->rows[i].id, rows->rows[i].module);
        if (to < document->n_functions)
            sums[to] += executions ? rows->rows[i].executions : rows->rows[i].units;
    }
    return sums;
}

/* The time including callees, from all call paths; the page itself may contain only the larger paths. */
static void totals_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    if (!view->has_calls)
        return;
    uint64_t *self = by_function(document, &document->series[view->series].functions, false);
    as_json_array(json, "total");
    for (size_t i = 0; i < document->n_functions; i++) {
        uint32_t function = document->functions[i].function;
        uint64_t total = function < view->n_functions ? view->totals.function_total[function] : 0;
        total = total > self[i] ? total : self[i]; /* as in as_rows_total */
        as_json_double(json, NULL, round(as_view_cycles(view, total) * 1000) / 1000);
    }
    as_json_end(json);
    free(self);
}

/* The instructions that each function executed, including functions whose instructions are left out. */
static void function_executions_json(const struct as_page_document *document, struct as_json *json)
{
    size_t exact = exact_series(document);
    if (exact == document->n_series)
        return;
    uint64_t *executions = by_function(document, &document->series[exact].functions, true);
    as_json_array(json, "executed");
    for (size_t i = 0; i < document->n_functions; i++)
        as_json_u64(json, NULL, executions[i]);
    as_json_end(json);
    free(executions);
}

static void functions_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    as_json_object(json, "functions");
    as_json_array(json, "name");
    for (size_t i = 0; i < document->n_functions; i++) {
        char name[AS_ROW_NAME_MAX];
        const char *shown = function_name(document, &document->functions[i], name);
        as_json_u64(json, NULL, as_strings_intern(document->strings, shown));
    }
    as_json_end(json);
    as_json_array(json, "count");
    for (size_t i = 0; i < document->n_functions; i++)
        as_json_u64(json, NULL, document->functions[i].count);
    as_json_end(json);
    as_json_array(json, "module");
    for (size_t i = 0; i < document->n_functions; i++)
        as_json_i64(json, NULL,
                    document->functions[i].module < view->n_modules ? (int64_t)document->functions[i].module : -1);
    as_json_end(json);
    as_json_array(json, "file");
    for (size_t i = 0; i < document->n_functions; i++) {
        uint32_t function = document->functions[i].function;
        uint32_t file = function < view->n_functions ? view->function[function].file : AS_STORE_NONE;
        as_json_i64(json, NULL, file < view->n_files ? (int64_t)file : -1);
    }
    as_json_end(json);
    as_json_array(json, "line");
    for (size_t i = 0; i < document->n_functions; i++) {
        uint32_t function = document->functions[i].function;
        as_json_u64(json, NULL, function < view->n_functions ? view->function[function].line : 0);
    }
    as_json_end(json);
    as_json_array(json, "address");
    for (size_t i = 0; i < document->n_functions; i++) {
        const struct as_page_function *function = &document->functions[i];
        as_json_address(json, NULL,
                        function->count ? document->insns[function->first].address
                                        : as_view_function_address(view, function->function));
    }
    as_json_end(json);
    totals_json(document, json);
    function_executions_json(document, json);
    as_json_end(json);
}

/* The distance in rows to the target of a jump inside its function; 0: not such a jump. */
static int64_t jump_of(const struct as_page_document *document, size_t row)
{
    const struct as_page_insn *insn = &document->insns[row];
    const struct as_page_function *function = &document->functions[insn->function];
    if (!insn->target || insn->calls)
        return 0;
    size_t end = function->first + function->count;
    size_t at = as_search((size_t)function->first, end, i, document->insns[i].address < insn->target);
    bool found = at < end && document->insns[at].address == insn->target;
    return found ? (int64_t)at - (int64_t)row : 0;
}

static void calls_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    struct as_map entries = {0};
    AS_VEC(uint32_t) rows = {0}, targets = {0};
    for (size_t i = 0; i < view->n_functions; i++)
        *as_map_put(&entries, view->function[i].address) = i + 1;
    for (size_t row = 0; row < document->n_insns; row++) {
        uint64_t *entry = document->insns[row].calls ? as_map_get(&entries, document->insns[row].target) : NULL;
        if (!entry || !document->insns[row].target)
            continue;
        *as_vec_push(&rows) = (uint32_t)row;
        *as_vec_push(&targets) = document->function_of[*entry - 1];
    }
    as_json_object(json, "call");
    as_json_array(json, "row");
    for (size_t i = 0; i < rows.len; i++)
        as_json_u64(json, NULL, rows.data[i] - (i ? rows.data[i - 1] : 0));
    as_json_end(json);
    as_json_array(json, "function");
    for (size_t i = 0; i < targets.len; i++)
        as_json_u64(json, NULL, targets.data[i]);
    as_json_end(json);
    as_json_end(json);
    as_vec_free(&rows);
    as_vec_free(&targets);
    as_map_free(&entries);
}

/* How often each row was executed, from an exact series. */
static void executed_json(const struct as_page_document *document, struct as_json *json)
{
    size_t exact = exact_series(document);
    if (exact == document->n_series)
        return;
    uint64_t *executions = as_alloc_array(document->n_insns + 1, sizeof *executions);
    const struct as_store_rows *rows = &document->series[exact].instructions;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].id < document->view->n_locations && document->row_of[rows->rows[i].id] != AS_STORE_NONE)
            executions[document->row_of[rows->rows[i].id]] = rows->rows[i].executions;
    as_json_array(json, "executed");
    for (size_t row = 0; row < document->n_insns; row++)
        as_json_u64(json, NULL, executions[row]);
    as_json_end(json);
    free(executions);
}

/* Where nothing was counted exactly: how often the block of each row ran, as far as samples tell; -1: they do not. */
static void runs_json(const struct as_page_document *document, struct as_json *json)
{
    struct as_block_counts counts;
    struct as_error ignored = AS_ERROR_INIT;
    if (exact_series(document) < document->n_series ||
        !as_block_counts_make(&counts, document->view, &(struct as_block_counts_options){.method = -1}, &ignored))
        return;
    if (as_block_counts_are_executions(&counts)) {
        as_json_array(json, "runs");
        for (size_t row = 0; row < document->n_insns; row++) {
            const struct as_store_location *location = &document->view->location[document->insns[row].number];
            bool starts;
            double runs = as_block_counts_at(&counts, location->module, location->address, &starts);
            as_json_double(json, NULL, isnan(runs) ? -1 : round(runs));
        }
        as_json_end(json);
    }
    as_block_counts_free(&counts);
}

/* Numbers the inlined calls that instructions of the page come from, and the calls around them. Parents come first. */
static uint32_t number_inlines(const struct as_page_document *document, uint32_t *number, size_t n)
{
    const struct as_store_inline *inlines = as_store_inlines(document->view->store, &n);
    uint32_t used = 0;
    for (size_t row = 0; row < document->n_insns; row++) {
        uint32_t at = document->view->location[document->insns[row].number].inlined;
        for (; at < n && !number[at]; at = inlines[at].parent)
            number[at] = 1;
    }
    for (size_t i = 0; i < n; i++)
        number[i] = number[i] ? used++ : AS_STORE_NONE;
    return used;
}

static int64_t number_or_none(const uint32_t *number, size_t n, uint32_t at)
{
    return at < n && number[at] != AS_STORE_NONE ? (int64_t)number[at] : -1;
}

/* Writes the inlined call of each instruction: column "inlined" of the open table. The calls follow as a table. */
static void inlined_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    size_t n;
    const struct as_store_inline *inlines = as_store_inlines(view->store, &n);
    uint32_t *number = as_alloc_array(n + 1, sizeof *number);
    if (!number_inlines(document, number, n)) {
        free(number);
        return;
    }
    as_json_array(json, "inlined");
    for (size_t row = 0; row < document->n_insns; row++)
        as_json_i64(json, NULL, number_or_none(number, n, view->location[document->insns[row].number].inlined));
    as_json_end(json);
    as_json_object(json, "inlines");
    as_json_array(json, "parent");
    for (size_t i = 0; i < n; i++)
        if (number[i] != AS_STORE_NONE)
            as_json_i64(json, NULL, number_or_none(number, n, inlines[i].parent));
    as_json_end(json);
    as_json_array(json, "name");
    for (size_t i = 0; i < n; i++)
        if (number[i] != AS_STORE_NONE)
            as_json_u64(json, NULL,
                        as_strings_intern(document->strings, inlines[i].function ? inlines[i].function : "?"));
    as_json_end(json);
    as_json_array(json, "file");
    for (size_t i = 0; i < n; i++)
        if (number[i] != AS_STORE_NONE)
            as_json_i64(json, NULL, inlines[i].file < view->n_files ? (int64_t)inlines[i].file : -1);
    as_json_end(json);
    as_json_array(json, "line");
    for (size_t i = 0; i < n; i++)
        if (number[i] != AS_STORE_NONE)
            as_json_u64(json, NULL, inlines[i].line);
    as_json_end(json);
    as_json_end(json);
    free(number);
}

static void instructions_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    as_json_object(json, "instructions");
    as_json_array(json, "address");
    for (size_t row = 0; row < document->n_insns; row++) {
        bool first = document->functions[document->insns[row].function].first == row;
        as_json_u64(json, NULL, first ? 0 : document->insns[row].address - document->insns[row - 1].address);
    }
    as_json_end(json);
    as_json_array(json, "text");
    for (size_t row = 0; row < document->n_insns; row++)
        as_json_u64(json, NULL, document->insns[row].text);
    as_json_end(json);
    as_json_array(json, "file");
    for (size_t row = 0; row < document->n_insns; row++) {
        uint32_t file = view->location[document->insns[row].number].file;
        as_json_i64(json, NULL, file < view->n_files ? (int64_t)file : -1);
    }
    as_json_end(json);
    as_json_array(json, "line");
    for (size_t row = 0; row < document->n_insns; row++)
        as_json_u64(json, NULL, view->location[document->insns[row].number].line);
    as_json_end(json);
    executed_json(document, json);
    runs_json(document, json);
    as_json_array(json, "jump");
    for (size_t row = 0; row < document->n_insns; row++)
        as_json_i64(json, NULL, jump_of(document, row));
    as_json_end(json);
    calls_json(document, json);
    inlined_json(document, json);
    as_json_end(json);
}

void as_page_code_json(const struct as_page_document *document, struct as_json *json)
{
    functions_json(document, json);
    instructions_json(document, json);
    as_json_array(json, "strings"); /* last, because names are added up to here */
    for (size_t i = 0; i < as_strings_count(document->strings); i++)
        as_page_string(json, NULL, as_strings_get(document->strings, (uint32_t)i));
    as_json_end(json);
}

/* ---- files: the lines that have instructions, and some around them ---- */

struct span {
    uint32_t first, last;
    uint64_t units;
    bool newer; /* the file is newer than the program */
};

static struct span *find_spans(const struct as_page_document *document)
{
    const struct as_view *view = document->view;
    struct span *spans = as_alloc_array(view->n_files + 1, sizeof *spans);
    for (size_t row = 0; row < document->n_insns; row++) {
        const struct as_store_location *location = &view->location[document->insns[row].number];
        if (location->file >= view->n_files || !location->line)
            continue;
        struct span *span = &spans[location->file];
        span->first = !span->first || location->line < span->first ? location->line : span->first;
        span->last = location->line > span->last ? location->line : span->last;
        if (location->module < view->n_modules && view->module[location->module].file_time)
            span->newer |= as_sources_get(document->options->sources, view->file[location->file])->time >
                           view->module[location->module].file_time;
    }
    return spans;
}

static void file_json(const struct as_page_document *document, struct as_json *json, uint32_t file, struct span *span,
                      size_t *left)
{
    const struct as_source *source = as_sources_get(document->options->sources, document->view->file[file]);
    size_t first = span->first > CONTEXT_LINES ? span->first - CONTEXT_LINES : 1, bytes = 0;
    size_t last = (size_t)span->last + CONTEXT_LINES < source->n_lines ? span->last + CONTEXT_LINES : source->n_lines;
    for (size_t line = first; line <= last && span->first; line++)
        bytes += strlen(source->lines[line - 1]);
    bool fits = bytes <= *left && span->first && first <= last;
    as_json_object(json, NULL);
    as_page_string(json, "name", source->path);
    if (fits) {
        *left -= bytes;
        as_json_u64(json, "first", first);
        as_json_array(json, "lines");
        for (size_t line = first; line <= last; line++)
            as_page_string(json, NULL, source->lines[line - 1]);
        as_json_end(json);
    }
    if (source->problem)
        as_json_string(json, "note", source->problem);
    else if (!fits)
        as_json_string(json, "note", span->first ? "left out: the page would be too large" : "not needed");
    else if (span->newer)
        as_json_string(json, "note", "newer than the program: its lines may have moved");
    as_json_end(json);
}

void as_page_files_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    struct span *spans = find_spans(document);
    size_t left = AS_PAGE_SOURCE;
    as_json_array(json, "modules");
    for (size_t i = 0; i < view->n_modules; i++) {
        const char *note = as_module_check(view->store, &view->module[i]);
        as_json_object(json, NULL);
        as_page_string(json, "name", as_view_module(view, (uint32_t)i));
        as_page_string(json, "path", view->module[i].path);
        if (view->module[i].build_id)
            as_page_string(json, "build_id", view->module[i].build_id);
        if (note)
            as_json_string(json, "note", note);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "files");
    for (uint32_t i = 0; i < view->n_files; i++)
        file_json(document, json, i, &spans[i], &left);
    as_json_end(json);
    free(spans);
}
