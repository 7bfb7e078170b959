/* A streaming JSON writer. It keeps commas, nesting and indentation right; strings are escaped, invalid UTF-8 becomes
 * U+FFFD, non-finite numbers become null. Unbalanced calls are a programming error and abort. */
#ifndef AS_BASE_JSON_H
#define AS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct as_json;
struct as_json *as_json_new(FILE *out);
/* Without line breaks and indentation from here on: for documents that programs read. */
void as_json_compact(struct as_json *json);
/* Ends the document with a newline and frees. False when writing failed (the caller has the FILE and errno). */
bool as_json_finish(struct as_json *json);

/* `name` is the member's name inside an object and NULL inside an array or at the top. */
void as_json_object(struct as_json *json, const char *name);
void as_json_array(struct as_json *json, const char *name);
void as_json_end(struct as_json *json); /* closes the innermost object or array */
void as_json_string(struct as_json *json, const char *name, const char *value); /* NULL value: null */
void as_json_u64(struct as_json *json, const char *name, uint64_t value);
void as_json_i64(struct as_json *json, const char *name, int64_t value);
void as_json_double(struct as_json *json, const char *name, double value); /* shortest text that reads back the same */
void as_json_bool(struct as_json *json, const char *name, bool value);
void as_json_null(struct as_json *json, const char *name);
/* A value that is JSON already (json_text.h), as it is. */
void as_json_text(struct as_json *json, const char *name, const char *text);
void as_json_address(struct as_json *json, const char *name, uint64_t value); /* a string "0x…" */

#endif
