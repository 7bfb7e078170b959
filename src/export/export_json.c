/* JSON: the whole profile, table by table, as doc/format/profile.md describes it; ids are indices into the arrays here.
 * Times are exact, in units, and each series has its scale.
 *
 * The layout follows from the tables' descriptors (store_table.h): a table of a key and a value becomes an object, one
 * of a single text an array of strings, any other an array of objects. Tables that belong to a series are inside it.
 */
#include "base/bytes.h"
#include "base/json.h"
#include "export/export_internal.h"

#include <string.h>

struct writer {
    struct as_json *json;
    struct as_store *store;
    const struct as_export_options *options;
};

/* ---- values ---- */

static void put_bytes(struct as_json *json, const char *name, const void *where)
{
    const uint8_t *bytes;
    size_t size;
    char text[2 * 64 + 1];
    memcpy(&bytes, where, sizeof bytes);
    memcpy(&size, (const char *)where + sizeof bytes, sizeof size);
    as_bytes_hex(bytes, size < 64 ? size : 64, text);
    if (size)
        as_json_string(json, name, text);
}

static void put_number(struct as_json *json, const char *name, const struct as_store_column *column, uint32_t number)
{
    if (number == AS_STORE_NONE)
        as_json_null(json, name);
    else if (column->names)
        as_json_string(json, name, number < column->limit ? column->names[number] : NULL);
    else
        as_json_u64(json, name, number);
}

static void put_u64(struct writer *writer, const char *name, const struct as_store_column *column, uint64_t value)
{
    char text[1024];
    if (column->json == AS_JSON_EVENTS)
        as_json_string(writer->json, name, as_store_events_name(writer->store, value, text, sizeof text));
    else if (column->json == AS_JSON_ADDRESS || (column->json == AS_JSON_SET_ADDRESS && value))
        as_json_address(writer->json, name, value);
    else if (column->json == AS_JSON_PLAIN)
        as_json_u64(writer->json, name, value);
}

static void put_text(struct as_json *json, const char *name, const struct as_store_column *column, const char *text)
{
    if (text || column->json == AS_JSON_NULLS)
        as_json_string(json, name, text);
}

static void put_flag(struct as_json *json, const char *name, const struct as_store_column *column, bool value)
{
    if (value || column->json != AS_JSON_SET)
        as_json_bool(json, name, value);
}

static void put_column(struct writer *writer, const char *name, const struct as_store_column *column, const void *row)
{
    struct as_json *json = writer->json;
    const void *where = (const char *)row + column->offset;
    switch (column->type) {
    case AS_COLUMN_REF:
    case AS_COLUMN_U32:
        put_number(json, name, column, *(const uint32_t *)where);
        break;
    case AS_COLUMN_I32:
        as_json_i64(json, name, *(const int32_t *)where);
        break;
    case AS_COLUMN_I64:
        as_json_i64(json, name, *(const int64_t *)where);
        break;
    case AS_COLUMN_U64:
    case AS_COLUMN_COUNT:
        put_u64(writer, name, column, *(const uint64_t *)where);
        break;
    case AS_COLUMN_BOOL:
        put_flag(json, name, column, *(const bool *)where);
        break;
    case AS_COLUMN_DOUBLE:
        as_json_double(json, name, *(const double *)where);
        break;
    case AS_COLUMN_TEXT:
        put_text(json, name, column, *(const char *const *)where);
        break;
    case AS_COLUMN_BYTES:
        put_bytes(json, name, where);
        break;
    default: /* a row's id is its index in the array */
        break;
    }
}

/* ---- tables ---- */

/* A table that is being written. */
struct put {
    struct writer *writer;
    const struct as_store_table *table;
    const struct as_store_column *series, *thread; /* NULL: its rows have no such column */
    uint32_t only;                                 /* rows of this series only; NONE: all */
};

static bool is_pairs(const struct as_store_table *table)
{
    return table->n_columns == 2 && table->columns[0].type == AS_COLUMN_TEXT;
}

static bool is_texts(const struct as_store_table *table)
{
    return table->n_columns == 2 && table->columns[0].json == AS_JSON_HIDDEN;
}

static void put_columns(struct put *put, const void *row)
{
    for (size_t i = 0; i < put->table->n_columns; i++) {
        const struct as_store_column *column = &put->table->columns[i];
        if (column->json != AS_JSON_HIDDEN && (column != put->series || put->only == AS_STORE_NONE))
            put_column(put->writer, column->name, column, row);
    }
}

static bool put_row(void *context, uint32_t number, const void *row)
{
    struct put *put = context;
    const struct as_store_column *columns = put->table->columns;
    const bool *threads = put->writer->options->threads;
    (void)number;
    if ((put->only != AS_STORE_NONE && as_store_column_u32(put->series, row) != put->only) ||
        (threads && put->thread && !threads[as_store_column_u32(put->thread, row)]))
        return true;
    if (is_pairs(put->table)) {
        put_column(put->writer, as_store_column_text(&columns[0], row), &columns[1], row);
    } else if (is_texts(put->table)) {
        put_column(put->writer, NULL, &columns[1], row);
    } else {
        as_json_object(put->writer->json, NULL);
        put_columns(put, row);
        as_json_end(put->writer->json);
    }
    return true;
}

static bool put_table(struct writer *writer, enum as_store_table_id id, uint32_t series, struct as_error *err)
{
    const struct as_store_table *table = &as_store_tables[id];
    struct put put = {.writer = writer,
                      .table = table,
                      .series = as_store_table_column(table, "series"),
                      .thread = as_store_table_column(table, "thread"),
                      .only = series};
    if (is_pairs(table))
        as_json_object(writer->json, table->name);
    else
        as_json_array(writer->json, table->name);
    /* Branches are not stored by thread, so a filter by thread leaves them out. */
    bool left_out = id == AS_TABLE_BRANCHES && writer->options->threads;
    bool ok = left_out || as_store_each(writer->store, id, series, put_row, &put, err);
    as_json_end(writer->json);
    return ok;
}

static bool put_tables(struct writer *writer, const enum as_store_table_id *ids, size_t n, uint32_t series,
                       struct as_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = put_table(writer, ids[i], series, err);
    return ok;
}

/* ---- series ---- */

static bool put_series_tables(struct writer *writer, uint32_t number, struct as_error *err)
{
    bool ok = true;
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT && ok; id++)
        if (as_store_table_column(&as_store_tables[id], "series"))
            ok = put_table(writer, id, number, err);
    return ok;
}

static bool put_series(struct writer *writer, uint32_t only, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = as_store_series(writer->store, &n);
    struct put put = {.writer = writer, .table = &as_store_tables[AS_TABLE_SERIES], .only = AS_STORE_NONE};
    bool ok = true;
    as_json_array(writer->json, "series");
    for (uint32_t i = 0; i < n && ok; i++) {
        if (only != AS_STORE_NONE && only != i)
            continue;
        as_json_object(writer->json, NULL);
        put_columns(&put, &series[i]);
        ok = put_series_tables(writer, i, err);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    return ok;
}

static bool write_json(struct as_store *store, const struct as_export_options *options, FILE *out, struct as_error *err)
{
    static const enum as_store_table_id about[] = {
        AS_TABLE_META,    AS_TABLE_ARGUMENTS, AS_TABLE_ENVIRONMENT, AS_TABLE_MACHINE, AS_TABLE_COUNTERS,
        AS_TABLE_QUALITY, AS_TABLE_RUNS,      AS_TABLE_RECORDINGS,  AS_TABLE_THREADS, AS_TABLE_MODULES,
        AS_TABLE_FILES,   AS_TABLE_FUNCTIONS, AS_TABLE_BLOCKS,      AS_TABLE_INLINES, AS_TABLE_INSTRUCTIONS,
        AS_TABLE_PATHS,   AS_TABLE_OBJECTS,   AS_TABLE_EVENTS,      AS_TABLE_STATES};
    uint32_t only = options->series ? as_store_find_series(store, options->series) : AS_STORE_NONE;
    if (options->series && only == AS_STORE_NONE)
        return as_export_no_series(store, options->series, err);
    if (!as_store_load(store, AS_STORE_CALLS | AS_STORE_DATA, err))
        return false;
    struct writer writer = {.json = as_json_new(out), .store = store, .options = options};
    as_json_object(writer.json, NULL);
    as_json_string(writer.json, "format", "assay profile");
    as_json_i64(writer.json, "version", AS_STORE_VERSION);
    bool ok =
        put_tables(&writer, about, sizeof about / sizeof *about, AS_STORE_NONE, err) && put_series(&writer, only, err);
    as_json_end(writer.json);
    (void)as_json_finish(writer.json); /* the caller checks the file */
    return ok;
}

const struct as_export_format as_export_json = {
    .name = "json", .description = "the whole profile", .write = write_json};
