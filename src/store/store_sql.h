/* Values in and out of SQLite's statements, by a format of one letter a column:
 *   i int64_t    u uint64_t (its bits)    d double (NAN: NULL)    s string (NULL: NULL)
 *   n uint32_t that is a number of something or AS_STORE_NONE (NULL)    w uint32_t, 0 … UINT32_MAX - 1
 *   b bytes: const uint8_t *, size_t (none: NULL)    c uint64_t that counts something, 0 … INT64_MAX: for reading
 */
#ifndef AS_STORE_SQL_H
#define AS_STORE_SQL_H

#include "base/error.h"

#include <sqlite3.h>
#include <stdarg.h>

/* Binds parameters 1 …; SQLite's code. Strings and bytes must live until the statement is reset. */
int as_store_bind(sqlite3_stmt *statement, const char *format, va_list args) AS_MUST_CHECK;
/* Reads columns 0 …, into pointers to the types above; strings and bytes live until the next step. False where a value
 * is not of its kind or range. A NULL string is NULL; any other NULL but of 'n', 'd', 'b' is a failure. */
bool as_store_get(sqlite3_stmt *statement, const char *format, ...) AS_MUST_CHECK;

#endif
