/* See store_sql.h. */
#include "store/store_sql.h"

#include "store/store.h"

#include <math.h>
#include <string.h>

static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return text ? sqlite3_bind_text64(statement, at, text, strlen(text), SQLITE_STATIC, SQLITE_UTF8)
                : sqlite3_bind_null(statement, at);
}

static int bind_bytes(sqlite3_stmt *statement, int at, const uint8_t *bytes, size_t size)
{
    return size > 0 ? sqlite3_bind_blob64(statement, at, bytes, size, SQLITE_STATIC) : sqlite3_bind_null(statement, at);
}

static int bind_number(sqlite3_stmt *statement, int at, uint32_t number)
{
    return number == AS_STORE_NONE ? sqlite3_bind_null(statement, at) : sqlite3_bind_int64(statement, at, number);
}

static int bind_one(sqlite3_stmt *statement, int at, char kind, va_list *args)
{
    switch (kind) {
    case 'i':
        return sqlite3_bind_int64(statement, at, va_arg(*args, int64_t));
    case 'u':
        return sqlite3_bind_int64(statement, at, (int64_t)va_arg(*args, uint64_t));
    case 'w':
        return sqlite3_bind_int64(statement, at, va_arg(*args, uint32_t));
    case 'n':
        return bind_number(statement, at, va_arg(*args, uint32_t));
    case 'd':
        return sqlite3_bind_double(statement, at, va_arg(*args, double)); /* SQLite makes NULL of NAN */
    case 's':
        return bind_text(statement, at, va_arg(*args, const char *));
    case 'b': {
        const uint8_t *bytes = va_arg(*args, const uint8_t *);
        return bind_bytes(statement, at, bytes, va_arg(*args, size_t));
    }
    default:
        return SQLITE_MISUSE;
    }
}

int as_store_bind(sqlite3_stmt *statement, const char *format, va_list args)
{
    va_list rest;
    va_copy(rest, args);
    int code = SQLITE_OK;
    for (int i = 0; format[i] && code == SQLITE_OK; i++)
        code = bind_one(statement, i + 1, format[i], &rest);
    va_end(rest);
    return code;
}

static bool get_number(sqlite3_stmt *statement, int at, bool optional, uint32_t *number)
{
    *number = AS_STORE_NONE;
    int type = sqlite3_column_type(statement, at);
    if (type == SQLITE_NULL)
        return optional;
    int64_t value = sqlite3_column_int64(statement, at);
    if (type != SQLITE_INTEGER || value < 0 || value >= UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

static bool get_double(sqlite3_stmt *statement, int at, double *value)
{
    int type = sqlite3_column_type(statement, at);
    *value = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, at);
    return type == SQLITE_NULL || type == SQLITE_FLOAT || type == SQLITE_INTEGER;
}

/* Out of memory and strings beyond the limit come out as NULL from SQLite. */
static bool get_text(sqlite3_stmt *statement, int at, const char **text)
{
    int type = sqlite3_column_type(statement, at);
    *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, at) : NULL;
    return type == SQLITE_NULL || *text;
}

static bool get_bytes(sqlite3_stmt *statement, int at, const uint8_t **bytes, size_t *size)
{
    int type = sqlite3_column_type(statement, at);
    *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(statement, at) : NULL;
    *size = *bytes ? (size_t)sqlite3_column_bytes(statement, at) : 0;
    return type == SQLITE_NULL || type == SQLITE_BLOB;
}

static bool get_integer(sqlite3_stmt *statement, int at, int64_t *value)
{
    *value = sqlite3_column_int64(statement, at);
    return sqlite3_column_type(statement, at) == SQLITE_INTEGER;
}

static bool get_count(sqlite3_stmt *statement, int at, uint64_t *value)
{
    int64_t number;
    bool ok = get_integer(statement, at, &number) && number >= 0;
    *value = ok ? (uint64_t)number : 0;
    return ok;
}

static bool get_one(sqlite3_stmt *statement, int at, char kind, va_list *args)
{
    switch (kind) {
    case 'i':
    case 'u':
        return get_integer(statement, at, va_arg(*args, int64_t *));
    case 'c':
        return get_count(statement, at, va_arg(*args, uint64_t *));
    case 'w':
    case 'n':
        return get_number(statement, at, kind == 'n', va_arg(*args, uint32_t *));
    case 'd':
        return get_double(statement, at, va_arg(*args, double *));
    case 's':
        return get_text(statement, at, va_arg(*args, const char **));
    case 'b': {
        const uint8_t **bytes = va_arg(*args, const uint8_t **);
        return get_bytes(statement, at, bytes, va_arg(*args, size_t *));
    }
    default:
        return false;
    }
}

bool as_store_get(sqlite3_stmt *statement, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = true;
    for (int i = 0; format[i] && ok; i++)
        ok = get_one(statement, i, format[i], &args);
    va_end(args);
    return ok;
}
