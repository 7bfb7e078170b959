/* Error bars of the page's rows: half the 95 % intervals of the shares, in a profile of a sampled run (view/rows.h). */
#include "base/vec.h"
#include "report/page_document.h"
#include "view/rows.h"

#include <math.h>
#include <stdlib.h>

struct row_error {
    uint32_t row;
    double share;
};

static int by_row(const void *a, const void *b)
{
    const struct row_error *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static void list_json(struct as_json *json, const char *name, const struct row_error *errors, size_t n)
{
    static const double precision = 1e6;
    as_json_object(json, name);
    as_json_array(json, "row");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, errors[i].row - (i ? errors[i - 1].row : 0));
    as_json_end(json);
    as_json_array(json, "share");
    for (size_t i = 0; i < n; i++)
        as_json_double(json, NULL, round(errors[i].share * precision) / precision);
    as_json_end(json);
    as_json_end(json);
}

static void level_json(const struct as_page_document *document, struct as_json *json, const char *name,
                       const struct as_rows *list, const double *of)
{
    if (!of)
        return;
    struct row_error *errors = as_alloc_array(list->rows.n + 1, sizeof *errors);
    size_t n = 0;
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        uint32_t to = list->level == AS_STORE_BY_FUNCTION ? as_page_function_of(document, row->id, row->module)
                                                          : document->row_of[row->id];
        if (to != AS_STORE_NONE)
            errors[n++] = (struct row_error){to, of[i]};
    }
    qsort(errors, n, sizeof *errors, by_row);
    list_json(json, name, errors, n);
    free(errors);
}

struct part_error {
    uint32_t function, component;
    double share;
};

static int by_function(const void *a, const void *b)
{
    const struct part_error *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->component > y->component) - (x->component < y->component);
}

/* Components of functions whose bars are seen: of those with a thousandth of the time or more. */
static struct part_error *collect_parts(const struct as_page_document *document, const struct as_rows *list, size_t *n)
{
    static const double seen = 0.001;
    AS_VEC(struct part_error) errors = {0};
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        uint32_t to = as_page_function_of(document, row->id, row->module);
        for (size_t k = 0; k < row->n_parts && to != AS_STORE_NONE; k++)
            if (as_ratio(row->units, list->rows.total) >= seen)
                *as_vec_push(&errors) = (struct part_error){to, as_page_component_of(document, row->parts[k].key),
                                                            list->errors[list->parts_at[i] + k]};
    }
    if (errors.len)
        qsort(errors.data, errors.len, sizeof *errors.data, by_function);
    *n = errors.len;
    return errors.data;
}

static void parts_json(const struct as_page_document *document, struct as_json *json, const struct as_rows *list)
{
    static const double precision = 1e6;
    size_t n;
    struct part_error *errors = collect_parts(document, list, &n);
    as_json_object(json, "parts");
    as_json_array(json, "row");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, errors[i].function - (i ? errors[i - 1].function : 0));
    as_json_end(json);
    as_json_array(json, "component");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, errors[i].component);
    as_json_end(json);
    as_json_array(json, "share");
    for (size_t i = 0; i < n; i++)
        as_json_double(json, NULL, round(errors[i].share * precision) / precision);
    as_json_end(json);
    as_json_end(json);
    free(errors);
}

/* Components of the program: those that the legend of the text has. */
static void components_json(const struct as_page_document *document, struct as_json *json, const struct as_rows *list)
{
    struct row_error errors[AS_LEGEND_KEYS];
    for (size_t key = 0; key < list->legend.n; key++)
        errors[key] =
            (struct row_error){as_page_component_of(document, list->legend.masks[key]), list->legend.errors[key]};
    qsort(errors, list->legend.n, sizeof *errors, by_row);
    list_json(json, "components", errors, list->legend.n);
}

void as_page_series_errors_json(const struct as_page_document *document, struct as_json *json, uint32_t series)
{
    static const struct {
        const char *name;
        enum as_store_level level;
        const char *total;
    } levels[] = {{"functions", AS_STORE_BY_FUNCTION, "totals"}, {"instructions", AS_STORE_BY_INSTRUCTION, ""}};
    struct as_error ignored = AS_ERROR_INIT; /* a page without error bars is better than none */
    if (series != document->view->series || !document->view->summary.sampled)
        return;
    as_json_object(json, "errors");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct as_rows list = {0};
        if (as_rows_make(&list, document->view, levels[i].level, NULL, &ignored)) {
            level_json(document, json, levels[i].name, &list, list.errors);
            level_json(document, json, levels[i].total, &list, list.total_errors);
            if (levels[i].level == AS_STORE_BY_FUNCTION && list.parts_at) {
                components_json(document, json, &list);
                parts_json(document, json, &list);
            }
        }
        as_rows_free(&list);
    }
    as_page_paths_errors_json(document, json);
    as_json_end(json);
}
