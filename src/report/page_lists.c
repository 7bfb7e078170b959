/* The objects and branches of a series in the page's document: up to AS_PAGE_ROWS, with the sum of the others. See
 * page_document.h. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/saturate.h"
#include "report/page_document.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool as_page_lists_make(struct as_page_document *document, struct as_error *err)
{
    for (uint32_t i = 0; i < document->n_series; i++) {
        struct as_page_series *own = &document->series[i];
        struct as_view view = *document->view;
        view.series = i;
        if (!as_data_read(&own->data, &view, AS_DATA_BY_OBJECT, err) || !as_branches_read(&own->branches, &view, err) ||
            !as_waits_read(&own->waits, &view, err))
            return false;
        own->data.view = own->branches.view = own->waits.view = document->view;
    }
    return true;
}

void as_page_lists_free(struct as_page_document *document)
{
    for (size_t i = 0; i < document->n_series; i++) {
        as_data_free(&document->series[i].data);
        as_branches_free(&document->series[i].branches);
        as_waits_free(&document->series[i].waits);
    }
}

/* ---- columns ---- */

static size_t shown(size_t n)
{
    return n < AS_PAGE_ROWS ? n : AS_PAGE_ROWS;
}

void as_page_name_json(const struct as_page_document *document, struct as_json *json, const char *name)
{
    as_json_u64(json, NULL, as_strings_intern(document->strings, name));
}

static void location_json(const struct as_page_document *document, struct as_json *json, uint32_t instruction)
{
    char name[AS_ROW_NAME_MAX];
    as_page_name_json(document, json, as_view_location_name(document->view, instruction, name));
}

void as_page_row_json(const struct as_page_document *document, struct as_json *json, uint32_t instruction)
{
    uint32_t row = instruction < document->view->n_locations ? document->row_of[instruction] : AS_STORE_NONE;
    as_json_i64(json, NULL, row == AS_STORE_NONE ? -1 : (int64_t)row);
}

/* Writes a column of numbers, at byte `offset` of each row, divided by `scale`; 0: unchanged. */
static void column_json(struct as_json *json, const char *name, const void *rows, size_t size, size_t n, size_t offset,
                        double scale)
{
    as_json_array(json, name);
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, (const char *)rows + i * size + offset, sizeof value);
        if (scale > 0)
            as_json_double(json, NULL, as_page_cycles(value, scale));
        else
            as_json_u64(json, NULL, value);
    }
    as_json_end(json);
}

/* ---- objects ---- */

static void objects_json(const struct as_page_document *document, const struct as_data *data, struct as_json *json)
{
    static const struct as_store_object unknown = {.module = AS_STORE_NONE, .name = "[unknown]"};
    size_t n = shown(data->n);
    const struct as_store_object **objects = as_alloc_array(n + 1, sizeof *objects);
    for (size_t i = 0; i < n; i++)
        objects[i] = data->rows[i].object < data->n_objects ? &data->objects[data->rows[i].object] : &unknown;
    as_json_array(json, "name");
    for (size_t i = 0; i < n; i++)
        as_page_name_json(document, json, objects[i]->name ? objects[i]->name : "");
    as_json_end(json);
    as_json_array(json, "module");
    for (size_t i = 0; i < n; i++)
        as_json_i64(json, NULL, objects[i]->module < document->view->n_modules ? (int64_t)objects[i]->module : -1);
    as_json_end(json);
    as_json_array(json, "address");
    for (size_t i = 0; i < n; i++)
        if (objects[i]->address)
            as_json_address(json, NULL, objects[i]->address);
        else
            as_json_null(json, NULL);
    as_json_end(json);
    as_json_array(json, "size");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, objects[i]->size);
    as_json_end(json);
    free(objects);
}

/* Writes how many instructions access each object, and those with the most time: `listed` of them are consecutive. */
static void accesses_json(const struct as_page_document *document, const struct as_data *data, double scale,
                          struct as_json *json)
{
    size_t n = shown(data->n);
    as_json_array(json, "instructions");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, data->rows[i].n_instructions);
    as_json_end(json);
    as_json_array(json, "listed");
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, data->rows[i].n_top);
    as_json_end(json);
    as_json_object(json, "accesses");
    as_json_array(json, "name");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < data->rows[i].n_top; k++)
            location_json(document, json, data->rows[i].top[k].instruction);
    as_json_end(json);
    as_json_array(json, "row");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < data->rows[i].n_top; k++)
            as_page_row_json(document, json, data->rows[i].top[k].instruction);
    as_json_end(json);
    as_json_array(json, "cycles");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < data->rows[i].n_top; k++)
            as_json_double(json, NULL, as_page_cycles(data->rows[i].top[k].units, scale));
    as_json_end(json);
    as_json_end(json);
}

static void data_rest_json(const struct as_data *data, double scale, struct as_json *json)
{
    uint64_t units = 0, samples = 0;
    size_t n = shown(data->n);
    if (n == data->n)
        return;
    for (size_t i = n; i < data->n; i++) {
        as_add_to(&units, data->rows[i].units);
        as_add_to(&samples, data->rows[i].samples);
    }
    as_json_object(json, "rest");
    as_json_u64(json, "rows", data->n - n);
    as_json_double(json, "cycles", as_page_cycles(units, scale));
    as_json_u64(json, "samples", samples);
    as_json_end(json);
}

static void data_json(const struct as_page_document *document, const struct as_data *data, double scale,
                      struct as_json *json)
{
#define COLUMN(name, member, scale)                                                                                    \
    column_json(json, name, data->rows, sizeof *data->rows, shown(data->n), offsetof(struct as_data_row, member), scale)
    as_json_object(json, "data");
    objects_json(document, data, json);
    COLUMN("cycles", units, scale);
    COLUMN("loads", load_units, scale);
    COLUMN("stores", store_units, scale);
    COLUMN("samples", samples, 0);
    COLUMN("lines", lines, 0);
    COLUMN("bytes", bytes, 0);
    accesses_json(document, data, scale, json);
    data_rest_json(data, scale, json);
    as_json_end(json);
#undef COLUMN
}

/* ---- branches ---- */

static void ends_json(const struct as_page_document *document, const struct as_branches *branches, bool targets,
                      struct as_json *json)
{
    size_t n = shown(branches->n);
    as_json_object(json, targets ? "to" : "from");
    as_json_array(json, "name");
    for (size_t i = 0; i < n; i++)
        location_json(document, json, targets ? branches->rows[i].target : branches->rows[i].source);
    as_json_end(json);
    as_json_array(json, "row");
    for (size_t i = 0; i < n; i++)
        as_page_row_json(document, json, targets ? branches->rows[i].target : branches->rows[i].source);
    as_json_end(json);
    as_json_end(json);
}

static void branches_rest_json(const struct as_branches *branches, struct as_json *json)
{
    uint64_t taken = 0, mispredicted = 0;
    size_t n = shown(branches->n);
    if (n == branches->n)
        return;
    for (size_t i = n; i < branches->n; i++) {
        as_add_to(&taken, branches->rows[i].taken);
        as_add_to(&mispredicted, branches->rows[i].mispredicted);
    }
    as_json_object(json, "rest");
    as_json_u64(json, "rows", branches->n - n);
    as_json_u64(json, "taken", taken);
    as_json_u64(json, "mispredicted", mispredicted);
    as_json_end(json);
}

static void branches_json(const struct as_page_document *document, const struct as_branches *branches,
                          struct as_json *json)
{
#define COLUMN(name)                                                                                                   \
    column_json(json, #name, branches->rows, sizeof *branches->rows, shown(branches->n),                               \
                offsetof(struct as_store_branch, name), 0)
    as_json_object(json, "branches");
    ends_json(document, branches, false, json);
    ends_json(document, branches, true, json);
    COLUMN(taken);
    COLUMN(mispredicted);
    if (branches->has_cycles)
        COLUMN(cycles);
    branches_rest_json(branches, json);
    as_json_end(json);
#undef COLUMN
}

void as_page_series_lists_json(const struct as_page_document *document, struct as_json *json, uint32_t series)
{
    const struct as_page_series *own = &document->series[series];
    size_t n;
    double scale = (double)as_store_series(document->view->store, &n)[series].scale;
    if (own->data.n)
        data_json(document, &own->data, scale, json);
    if (own->branches.n)
        branches_json(document, &own->branches, json);
    if (own->waits.n)
        as_page_waits_json(document, &own->waits, scale, json);
}

/* ---- how data addresses were obtained ---- */

static bool has_data(const struct as_page_document *document)
{
    for (size_t i = 0; i < document->n_series; i++)
        if (document->series[i].data.n)
            return true;
    return false;
}

void as_page_addresses_json(const struct as_page_document *document, struct as_json *json)
{
    static const char prefix[] = "data_";
    size_t n, length = sizeof prefix - 1;
    const struct as_store_quality *quality = as_store_quality(document->view->store, &n);
    if (!has_data(document))
        return;
    as_json_array(json, "addresses");
    for (size_t i = 0; i < n; i++) {
        if (!quality[i].key || strncmp(quality[i].key, prefix, length) != 0 || !(quality[i].value > 0))
            continue;
        as_json_object(json, NULL);
        as_page_string(json, "how", quality[i].key + length);
        as_json_double(json, "samples", quality[i].value);
        as_page_string(json, "meaning", quality[i].text ? quality[i].text : "");
        as_json_end(json);
    }
    as_json_end(json);
}
