/* What the threads of a series waited for, in the page's document: the matrix, and the first rows of each list. See
 * page_document.h. */
#include "report/page_document.h"

#include <stdio.h>
#include <string.h>

/* A list while it is written. */
struct list {
    const struct as_page_document *document;
    const struct as_waits *waits;
    enum as_waits_level level;
    size_t n;
    double scale;
    struct as_json *json;
};

static void numbers_json(const struct list *list)
{
    const struct as_waits_row *rows = list->waits->rows[list->level];
    as_json_array(list->json, "cycles");
    for (size_t i = 0; i < list->n; i++)
        as_json_double(list->json, NULL, as_page_cycles(rows[i].units, list->scale));
    as_json_end(list->json);
    as_json_array(list->json, "false");
    for (size_t i = 0; i < list->n; i++)
        as_json_double(list->json, NULL, as_page_cycles(rows[i].false_units, list->scale));
    as_json_end(list->json);
    as_json_array(list->json, "transfers");
    for (size_t i = 0; i < list->n; i++)
        as_json_u64(list->json, NULL, rows[i].transfers);
    as_json_end(list->json);
}

static void objects_json(const struct list *list, const char *name, bool places)
{
    char text[AS_SHOW_MAX];
    as_json_array(list->json, name);
    for (size_t i = 0; i < list->n; i++) {
        const struct as_store_wait *top = list->waits->rows[list->level][i].top;
        as_page_name_json(list->document, list->json,
                          places
                              ? as_waits_place_name(list->waits, top, text)
                              : as_view_object_name(list->waits->objects, list->waits->n_objects, top->object, text));
    }
    as_json_end(list->json);
}

static void code_json(const struct list *list, const char *name, bool culprit)
{
    char text[AS_ROW_NAME_MAX];
    const struct as_waits_row *rows = list->waits->rows[list->level];
    as_json_object(list->json, name);
    as_json_array(list->json, "name");
    for (size_t i = 0; i < list->n; i++)
        as_page_name_json(
            list->document, list->json,
            as_waits_code_name(list->waits, culprit ? rows[i].top->culprit : rows[i].top->instruction, text));
    as_json_end(list->json);
    as_json_array(list->json, "row");
    for (size_t i = 0; i < list->n; i++)
        as_page_row_json(list->document, list->json, culprit ? rows[i].top->culprit : rows[i].top->instruction);
    as_json_end(list->json);
    as_json_end(list->json);
}

static void addresses_json(const struct list *list)
{
    as_json_array(list->json, "address");
    for (size_t i = 0; i < list->n; i++)
        as_json_address(list->json, NULL, list->waits->rows[list->level][i].top->line);
    as_json_end(list->json);
}

static void list_json(struct list *list, const char *name)
{
    size_t all = list->waits->n_rows[list->level];
    list->n = all < AS_PAGE_WAITS ? all : AS_PAGE_WAITS;
    as_json_object(list->json, name);
    numbers_json(list);
    objects_json(list, "object", false);
    if (list->level == AS_WAITS_BY_LINE) {
        objects_json(list, "place", true);
        addresses_json(list);
    }
    if (list->level != AS_WAITS_BY_OBJECT) {
        code_json(list, "waited", false);
        code_json(list, "culprit", true);
    }
    as_json_u64(list->json, "left_out", all - list->n);
    as_json_end(list->json);
}

static size_t shown_threads(const struct as_waits *waits)
{
    return waits->n_threads < AS_PAGE_WAITERS ? waits->n_threads : AS_PAGE_WAITERS;
}

static void matrix_json(const struct as_waits *waits, const char *name, bool is_false, double scale,
                        struct as_json *json)
{
    size_t n = shown_threads(waits);
    as_json_array(json, name);
    for (size_t i = 0; i < n; i++) {
        as_json_array(json, NULL);
        for (size_t k = 0; k < n; k++) {
            struct as_pair_cell cell = as_waits_cell(waits, i, k);
            as_json_double(json, NULL, as_page_cycles(is_false ? cell.false_ : cell.true_, scale));
        }
        as_json_end(json);
    }
    as_json_end(json);
}

static void threads_json(const struct as_page_document *document, const struct as_waits *waits, struct as_json *json)
{
    as_json_array(json, "threads");
    for (size_t i = 0; i < shown_threads(waits); i++) {
        const struct as_store_thread *thread = &document->view->thread[waits->threads[i]];
        char *name =
            as_format("thread %u%s%s", thread->number, thread->name ? " " : "", thread->name ? thread->name : "");
        as_page_name_json(document, json, name);
        free(name);
    }
    as_json_end(json);
}

void as_page_waits_json(const struct as_page_document *document, const struct as_waits *waits, double scale,
                        struct as_json *json)
{
    struct list list = {.document = document, .waits = waits, .scale = scale, .json = json};
    as_json_object(json, "waits");
    as_json_string(json, "pattern", as_pattern_name(waits->pattern.pattern));
    as_json_double(json, "cycles", as_page_cycles(waits->units, scale));
    as_json_double(json, "false", as_page_cycles(waits->false_units, scale));
    as_json_u64(json, "transfers", waits->transfers);
    threads_json(document, waits, json);
    as_json_u64(json, "threads_left_out", waits->n_threads - shown_threads(waits));
    matrix_json(waits, "matrix_true", false, scale, json);
    matrix_json(waits, "matrix_false", true, scale, json);
    list.level = AS_WAITS_BY_OBJECT;
    list_json(&list, "objects");
    list.level = AS_WAITS_BY_LINE;
    list_json(&list, "lines");
    list.level = AS_WAITS_BY_PAIR;
    list_json(&list, "pairs");
    as_json_end(json);
}
