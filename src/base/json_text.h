/* JSON text that comes from a file: whether it is well formed (RFC 8259), and where the members of its outermost object
 * stand. Numbers and strings stay as they are written.
 *
 * Pure functions over NUL-terminated text. */
#ifndef AS_BASE_JSON_TEXT_H
#define AS_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { AS_JSON_TEXT_DEPTH = 64 }; /* containers inside each other that are accepted */

/* Returns where `text` stops being one JSON value in valid UTF-8; NULL: it is one to its end. */
const char *as_json_text_wrong(const char *text);

/* The value of a member of the object that a well-formed text is: its first byte, and *length bytes. NULL: there is none.
 * The first one of several counts. */
const char *as_json_text_member(const char *text, const char *name, size_t *length);
/* The first element of an array, in the same way. */
const char *as_json_text_first(const char *array, size_t *length);

#endif
