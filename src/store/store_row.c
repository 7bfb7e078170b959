/* See store_row.h. */
#include "store/store_row.h"

#include <math.h>
#include <string.h>

static const void *field(const struct as_store_column *column, const void *row)
{
    return (const char *)row + column->offset;
}

/* ---- into a statement ---- */

static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return text ? sqlite3_bind_text64(statement, at, text, strlen(text), SQLITE_STATIC, SQLITE_UTF8)
                : sqlite3_bind_null(statement, at);
}

static int bind_number(sqlite3_stmt *statement, int at, const struct as_store_column *column, uint32_t number)
{
    if (number != AS_STORE_NONE || !(column->flags & AS_COLUMN_NULL))
        return sqlite3_bind_int64(statement, at, number);
    return column->flags & AS_COLUMN_KEY ? sqlite3_bind_int64(statement, at, -1) : sqlite3_bind_null(statement, at);
}

/* SQLite stores NAN as NULL. */
static int bind_double(sqlite3_stmt *statement, int at, const struct as_store_column *column, double value)
{
    return sqlite3_bind_double(statement, at, isnan(value) && !(column->flags & AS_COLUMN_NULL) ? 0 : value);
}

static int bind_bytes(sqlite3_stmt *statement, int at, const void *where)
{
    const uint8_t *bytes;
    size_t size;
    memcpy(&bytes, where, sizeof bytes);
    memcpy(&size, (const char *)where + sizeof bytes, sizeof size);
    return size > 0 ? sqlite3_bind_blob64(statement, at, bytes, size, SQLITE_STATIC) : sqlite3_bind_null(statement, at);
}

/* SQLite's integers have 63 bits for counts: a larger one, which only a damaged recording has, would be read as negative
 * and rejected. */
static int bind_count(sqlite3_stmt *statement, int at, uint64_t count)
{
    return sqlite3_bind_int64(statement, at, count < INT64_MAX ? (int64_t)count : INT64_MAX);
}

static int bind_column(sqlite3_stmt *statement, int at, const struct as_store_column *column, const void *row,
                       uint32_t number)
{
    const void *where = field(column, row);
    switch (column->type) {
    case AS_COLUMN_ROW:
    case AS_COLUMN_ORDER:
        return sqlite3_bind_int64(statement, at, number);
    case AS_COLUMN_REF:
    case AS_COLUMN_U32:
        return bind_number(statement, at, column, *(const uint32_t *)where);
    case AS_COLUMN_I32:
        return sqlite3_bind_int64(statement, at, *(const int32_t *)where);
    case AS_COLUMN_COUNT:
        return bind_count(statement, at, *(const uint64_t *)where);
    case AS_COLUMN_I64:
    case AS_COLUMN_U64:
        return sqlite3_bind_int64(statement, at, *(const int64_t *)where);
    case AS_COLUMN_BOOL:
        return sqlite3_bind_int64(statement, at, *(const bool *)where);
    case AS_COLUMN_DOUBLE:
        return bind_double(statement, at, column, *(const double *)where);
    case AS_COLUMN_TEXT:
        return bind_text(statement, at, *(const char *const *)where);
    case AS_COLUMN_BYTES:
        return bind_bytes(statement, at, where);
    default:
        return SQLITE_MISUSE;
    }
}

int as_store_bind_row(sqlite3_stmt *statement, const struct as_store_table *table, const void *row, uint32_t number)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < table->n_columns && code == SQLITE_OK; i++)
        code = bind_column(statement, (int)i + 1, &table->columns[i], row, number);
    return code;
}

/* ---- ranges ---- */

static bool in_range(const struct as_store_column *column, uint32_t number, const uint32_t *counts)
{
    if (number == AS_STORE_NONE)
        return column->flags & AS_COLUMN_NULL;
    if (column->type == AS_COLUMN_REF)
        return number < counts[column->table];
    return column->limit == 0 || number < column->limit;
}

const char *as_store_bad_column(const struct as_store_table *table, const void *row, const uint32_t *counts)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct as_store_column *column = &table->columns[i];
        bool small = column->type == AS_COLUMN_REF || column->type == AS_COLUMN_U32;
        if (small && !in_range(column, *(const uint32_t *)field(column, row), counts))
            return column->name;
        if (column->least && *(const uint64_t *)field(column, row) < column->least)
            return column->name;
    }
    return NULL;
}

/* ---- out of a statement ---- */

static bool get_integer(sqlite3_stmt *statement, int at, const struct as_store_column *column, int64_t *value)
{
    int type = sqlite3_column_type(statement, at);
    *value = sqlite3_column_int64(statement, at);
    return type == SQLITE_INTEGER || (type == SQLITE_NULL && column->flags & AS_COLUMN_NULL);
}

/* NULL, or -1 in a key, means NONE. */
static bool get_number(sqlite3_stmt *statement, int at, const struct as_store_column *column, const uint32_t *counts,
                       uint32_t *number)
{
    int type = sqlite3_column_type(statement, at);
    unsigned flags = column->flags;
    *number = AS_STORE_NONE;
    if (type == SQLITE_NULL)
        return flags & AS_COLUMN_NULL && !(flags & AS_COLUMN_KEY);
    int64_t value = sqlite3_column_int64(statement, at);
    if (value == -1 && flags & AS_COLUMN_KEY)
        return flags & AS_COLUMN_NULL;
    if (type != SQLITE_INTEGER || value < 0 || value >= AS_STORE_NONE)
        return false;
    *number = (uint32_t)value;
    return in_range(column, *number, counts);
}

static bool get_double(sqlite3_stmt *statement, int at, const struct as_store_column *column, double *value)
{
    int type = sqlite3_column_type(statement, at);
    *value = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, at);
    return type == SQLITE_NULL ? column->flags & AS_COLUMN_NULL : type == SQLITE_FLOAT || type == SQLITE_INTEGER;
}

/* SQLite returns NULL if it is out of memory or the string exceeds the limit. */
static bool get_text(sqlite3_stmt *statement, int at, const struct as_store_column *column, const char **text)
{
    int type = sqlite3_column_type(statement, at);
    *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, at) : NULL;
    return *text || (type == SQLITE_NULL && column->flags & AS_COLUMN_NULL);
}

static bool get_bytes(sqlite3_stmt *statement, int at, void *where)
{
    int type = sqlite3_column_type(statement, at);
    const uint8_t *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(statement, at) : NULL;
    size_t size = bytes ? (size_t)sqlite3_column_bytes(statement, at) : 0;
    memcpy(where, &bytes, sizeof bytes);
    memcpy((char *)where + sizeof bytes, &size, sizeof size);
    return type == SQLITE_NULL || type == SQLITE_BLOB;
}

static bool get_count(struct as_store_row_reader *reader, size_t index, int64_t value)
{
    const struct as_store_column *column = &reader->table->columns[index];
    if (value < 0 || (uint64_t)value < column->least)
        return false;
    return !reader->adds_up || (reader->sums[index] += (uint64_t)value) <= INT64_MAX;
}

/* Reads a value that is neither a row number nor text. */
static bool get_value(struct as_store_row_reader *reader, size_t index, int64_t value, uint32_t *number, void *where)
{
    switch (reader->table->columns[index].type) {
    case AS_COLUMN_ROW:
        *number = (uint32_t)value;
        return value >= 0 && value < AS_STORE_NONE;
    case AS_COLUMN_I32:
        *(int32_t *)where = (int32_t)value;
        return (int32_t)value == value;
    case AS_COLUMN_BOOL:
        *(bool *)where = value != 0;
        return true;
    case AS_COLUMN_COUNT:
        *(int64_t *)where = value;
        return get_count(reader, index, value);
    default: /* any 64 bits are valid */
        *(int64_t *)where = value;
        return true;
    }
}

static bool get_column(struct as_store_row_reader *reader, sqlite3_stmt *statement, int at, uint32_t *number, void *row)
{
    size_t index = reader->first + (size_t)at;
    const struct as_store_column *column = &reader->table->columns[index];
    void *where = (char *)row + column->offset;
    int64_t value;
    switch (column->type) {
    case AS_COLUMN_REF:
    case AS_COLUMN_U32:
        return get_number(statement, at, column, reader->counts, where);
    case AS_COLUMN_DOUBLE:
        return get_double(statement, at, column, where);
    case AS_COLUMN_TEXT:
        return get_text(statement, at, column, where);
    case AS_COLUMN_BYTES:
        return get_bytes(statement, at, where);
    case AS_COLUMN_ORDER:
        return true;
    default:
        return get_integer(statement, at, column, &value) && get_value(reader, index, value, number, where);
    }
}

bool as_store_get_row(struct as_store_row_reader *reader, sqlite3_stmt *statement, uint32_t *number, void *row)
{
    bool ok = true;
    for (size_t i = 0; i < reader->n && ok; i++)
        ok = get_column(reader, statement, (int)i, number, row);
    return ok;
}
