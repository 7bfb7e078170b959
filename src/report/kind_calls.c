/* The call tree as text (recursive functions on one line), JSON and CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_PATH 0.005 /* smaller paths are left out of the text, unless a limit was given */

enum { NAME_MIN = 24 };

struct shown {
    struct as_tree tree;
    size_t limit; /* paths to show; 0: all */
    double least; /* in text: least share of a path that is shown */
};

static void free_calls(void *state)
{
    struct shown *shown = state;
    as_tree_free(&shown->tree);
    free(shown);
}

static void *make_calls(const struct as_report_request *request, struct as_error *err)
{
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    shown->least = request->limited ? 0 : SMALL_PATH;
    if ((request->text ? as_tree_make_folded : as_tree_make)(&shown->tree, request->view, err) &&
        as_tree_errors_make(&shown->tree, err))
        return shown;
    free_calls(shown);
    return NULL;
}

/* ---- text ---- */

struct columns {
    unsigned bar;
    size_t n; /* number of components with a column of their own */
    size_t keys[AS_LEGEND_COLUMNS];
};

static struct columns lay_out(const struct as_tree *tree, const struct as_term *term)
{
    struct columns columns = {.bar = as_tree_has_parts(tree) ? (term->width >= AS_TERM_WIDE ? 16 : 10) : 0};
    if (columns.bar)
        columns.n = as_legend_columns(&tree->legend, term, columns.keys);
    return columns;
}

static void put_header(const struct as_tree *tree, FILE *out, const struct as_term *term, const struct columns *columns)
{
    as_term_bold(out, term, true);
    fputs(tree->total_errors ? "   total       +-       self       +-   " : "   total      self   ", out);
    for (size_t i = 0; i < columns->n; i++)
        fprintf(out, tree->part_errors ? "    %c    +-  " : "    %c   ", as_term_letter(columns->keys[i]));
    fprintf(out, "%*scall path\n", columns->bar ? (int)columns->bar + 2 : 0, "");
    as_term_bold(out, term, false);
}

/* Components of the total: what a path and its callees spend their time on. */
static void put_parts(const struct as_tree *tree, FILE *out, const struct as_term *term, const struct columns *columns,
                      const struct as_tree_node *node)
{
    struct as_store_row row;
    if (!columns->bar)
        return;
    as_tree_row_total(tree, node, &row);
    for (size_t i = 0; i < columns->n; i++) {
        size_t key = columns->keys[i];
        fprintf(out, "%6.2f", 100 * as_ratio(as_row_part(&row, tree->legend.masks[key]), tree->total));
        if (tree->part_errors)
            fprintf(out, " %5.2f", 100 * as_tree_part_error(tree, node, key, true));
        fputs("  ", out);
    }
    as_legend_bar(&tree->legend, out, term, &row, tree->total, columns->bar, true);
    fputs("  ", out);
    as_tree_row_free(&row);
}

/* A share, with its error if that is known. */
static void put_error(FILE *out, const struct as_tree *tree, const double *errors, const struct as_tree_node *node)
{
    if (errors)
        fprintf(out, "%7.2f  ", 100 * errors[node - tree->nodes]);
}

static void put_node(const struct as_tree *tree, FILE *out, const struct as_term *term, const struct columns *columns,
                     const struct as_tree_node *node)
{
    unsigned used = 21 + (tree->total_errors ? 18 : 0) + (tree->part_errors ? 14 : 8) * (unsigned)columns->n +
                    (columns->bar ? columns->bar + 2 : 0);
    unsigned most = term->width > used + NAME_MIN ? (term->width - used - NAME_MIN) / 2 : 1;
    char depth[16] = "", deep[32] = "", name[AS_TREE_NAME_MAX];
    unsigned indent = node->depth < most ? node->depth : most;
    as_term_heat(out, term, as_ratio(node->total, tree->total));
    fprintf(out, "%7.2f %%  ", 100 * as_ratio(node->total, tree->total));
    as_term_plain(out, term);
    put_error(out, tree, tree->total_errors, node);
    fprintf(out, "%6.2f %%  ", 100 * as_ratio(node->self, tree->total));
    put_error(out, tree, tree->self_errors, node);
    put_parts(tree, out, term, columns, node);
    for (unsigned i = 0; i < indent; i++)
        fputs(term->utf8 ? "│ " : "| ", out);
    if (node->depth > indent) /* the tree is deeper than the terminal is wide */
        snprintf(depth, sizeof depth, "(%" PRIu32 ") ", node->depth);
    if (node->levels > 1)
        snprintf(deep, sizeof deep, " (%s%" PRIu32 " deep)", term->utf8 ? "×" : "x", node->levels);
    used += 2 * indent + (unsigned)strlen(depth) + (unsigned)as_show_columns(deep);
    fputs(depth, out);
    as_show_in(out, term, as_tree_name(tree, node, name), term->width > used ? term->width - used : 1, false);
    fprintf(out, "%s\n", deep);
}

/* Rows of functions are made of executions, all of which are known; paths are known in the regions alone. */
static void put_sampled(const struct as_tree *tree, FILE *out, const struct as_term *term)
{
    if (!tree->view->summary.sampled)
        return;
    as_show_wrapped(out, term,
                    tree->total_errors
                        ? "note: which paths lead to a function is known in the regions alone; what they take together "
                          "is the function's own time. +- is half the 95 % interval of the share, in points"
                        : "note: which paths lead to a function is known in the regions alone; what they take together "
                          "is the function's own time. The errors of single paths and of totals are not known",
                    0, 6);
    fputs("\n\n", out);
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct shown *shown = state;
    const struct as_tree *tree = &shown->tree;
    struct as_tree_walk walk = as_tree_walk_start(tree, shown->limit, shown->least);
    struct columns columns = lay_out(tree, term);
    const struct as_tree_node *node;
    as_head_text(tree->view, out, term);
    put_sampled(tree, out, term);
    put_header(tree, out, term, &columns);
    while ((node = as_tree_walk_next(&walk)))
        put_node(tree, out, term, &columns, node);
    if (walk.left_out)
        fprintf(out, "%s smaller branch%s left out; --limit 0 shows all\n", AS_COUNT(walk.left_out),
                walk.left_out == 1 ? " is" : "es are");
    if (columns.bar) {
        fputc('\n', out);
        as_legend_text(&tree->legend, tree->view, out, term);
    }
}

/* ---- JSON and CSV ---- */

static void json_parts(const struct as_tree *tree, const struct as_tree_node *node, struct as_json *json)
{
    struct as_store_row row;
    as_tree_row_self(tree, node, &row);
    as_components_json(tree->view, &row, json, "components");
    as_tree_row_free(&row);
    as_tree_row_total(tree, node, &row);
    as_components_json(tree->view, &row, json, "total_components");
    as_tree_row_free(&row);
}

/* Of the components with a sign of their own, and of the others. */
static void json_part_errors(const struct as_tree *tree, const struct as_tree_node *node, bool total, const char *name,
                             struct as_json *json)
{
    char component[AS_COMPONENT_MAX];
    as_json_object(json, name);
    for (size_t key = 0; key < tree->legend.n; key++)
        as_json_double(json, as_view_component(tree->view, tree->legend.masks[key], component),
                       as_tree_part_error(tree, node, key, total));
    if (tree->legend.others)
        as_json_double(json, "other", as_tree_part_error(tree, node, AS_LEGEND_KEYS, total));
    as_json_end(json);
}

static uint32_t module_of(const struct as_view *view, const struct as_tree_node *node)
{
    return node->function < view->n_functions ? view->function[node->function].module : node->module;
}

static void json_node(const struct as_tree *tree, const struct as_tree_node *node, struct as_json *json)
{
    const struct as_view *view = tree->view;
    uint32_t module = module_of(view, node);
    as_json_object(json, NULL);
    as_json_u64(json, "depth", node->depth);
    as_json_string(json, "module", module < view->n_modules ? view->module[module].path : NULL);
    as_json_string(json, "function", as_view_function(view, node->function));
    if (node->address) {
        as_json_address(json, "address", node->address);
        as_json_module_offset(json, view, module, node->address);
    } else { /* not known: text of perf script may name functions without their addresses */
        as_json_null(json, "address");
        as_json_null(json, "module_offset");
    }
    as_json_bool(json, "signal", node->signal);
    as_json_double(json, "time", as_view_cycles(view, node->self));
    as_json_double(json, "cycles", as_view_cycles(view, node->self)); /* the original name of the field */
    as_json_double(json, "share", as_ratio(node->self, tree->total));
    as_json_double(json, "total", as_view_cycles(view, node->total));
    as_json_double(json, "total_share", as_ratio(node->total, tree->total));
    if (tree->total_errors) {
        as_json_double(json, "share_error", tree->self_errors[node - tree->nodes]);
        as_json_double(json, "total_share_error", tree->total_errors[node - tree->nodes]);
    }
    if (as_tree_has_parts(tree))
        json_parts(tree, node, json);
    if (tree->part_errors) {
        json_part_errors(tree, node, false, "component_errors", json);
        json_part_errors(tree, node, true, "total_component_errors", json);
    }
    as_json_end(json);
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_tree *tree = &shown->tree;
    struct as_tree_walk walk = as_tree_walk_start(tree, shown->limit, 0);
    const struct as_tree_node *node;
    as_summary_json(&tree->view->summary, json, "summary");
    as_json_string(json, "by", "call path");
    as_json_string(json, "unit", tree->view->summary.unit);
    as_module_notes_json(tree->view, json);
    as_filters_json(tree->view, json);
    as_legend_json(&tree->legend, tree->view, json);
    as_json_array(json, "rows");
    while ((node = as_tree_walk_next(&walk)))
        json_node(tree, node, json);
    as_json_end(json);
    return true;
}

/* Components of the self time and of the total, each with a remainder, so that they add up. */
static void csv_parts(const struct as_tree *tree, const struct as_tree_node *node, FILE *out)
{
    struct as_store_row row;
    as_tree_row_self(tree, node, &row);
    as_csv_components(&tree->legend, tree->view, &row, out);
    as_tree_row_free(&row);
    as_tree_row_total(tree, node, &row);
    as_csv_components(&tree->legend, tree->view, &row, out);
    as_tree_row_free(&row);
}

static void csv_error_names(const struct as_tree *tree, FILE *out)
{
    as_csv_error_names(&tree->legend, tree->view, "", out);
    as_csv_error_names(&tree->legend, tree->view, "total ", out);
}

static void csv_part_errors(const struct as_tree *tree, const struct as_tree_node *node, FILE *out)
{
    for (int total = 0; total < 2; total++)
        for (size_t key = 0; key < tree->legend.n; key++)
            fprintf(out, ",%.17g", as_tree_part_error(tree, node, key, total));
}

static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_tree *tree = &shown->tree;
    const struct as_view *view = tree->view;
    struct as_tree_walk walk = as_tree_walk_start(tree, shown->limit, 0);
    const struct as_tree_node *node;
    fputs("depth,module,function,address,module_offset,signal,time,share,total", out);
    as_csv_names(&tree->legend, view, "", out);
    as_csv_names(&tree->legend, view, "total ", out);
    fputs(tree->total_errors ? ",share_error,total_share_error" : "", out);
    if (tree->part_errors)
        csv_error_names(tree, out);
    fputs("\r\n", out);
    while ((node = as_tree_walk_next(&walk))) {
        uint32_t module = module_of(view, node);
        fprintf(out, "%" PRIu32 ",", node->depth);
        as_csv_field(out, module < view->n_modules ? view->module[module].path : NULL);
        fputc(',', out);
        as_csv_field(out, as_view_function(view, node->function));
        if (node->address)
            fprintf(out, ",0x%" PRIx64, node->address);
        else
            fputc(',', out);
        fputc(',', out);
        if (node->address)
            as_csv_module_offset(out, view, module, node->address);
        fprintf(out, ",%d,%.17g,%.17g,%.17g", node->signal, as_view_cycles(view, node->self),
                as_ratio(node->self, tree->total), as_view_cycles(view, node->total));
        if (as_tree_has_parts(tree))
            csv_parts(tree, node, out);
        if (tree->total_errors)
            fprintf(out, ",%.17g,%.17g", tree->self_errors[node - tree->nodes], tree->total_errors[node - tree->nodes]);
        if (tree->part_errors)
            csv_part_errors(tree, node, out);
        fputs("\r\n", out);
    }
    return true;
}

const struct as_report_kind as_report_calls = {.option = "--calls",
                                               .name = "call paths",
                                               .filters = {.threads = true, .time = true},
                                               /* Rows have no levels. */
                                               .levels = AS_REPORT_LEVEL(AS_REPORT_BY_FUNCTION),
                                               .make = make_calls,
                                               .free = free_calls,
                                               .text = put_text,
                                               .json = put_json,
                                               .csv = put_csv};
