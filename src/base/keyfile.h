/* Files of `key = value` lines with # comments: what every such format shares. The reader of a
 * format passes a function that knows its keys.
 *
 * Files may come from anyone: sizes and bytes are checked before a line is looked at. The first thing that is wrong
 * ends the reading, with one line that names file and line.
 */
#ifndef AS_BASE_KEYFILE_H
#define AS_BASE_KEYFILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct as_keyfile {
    const char *origin; /* for messages: the path */
    const char *what;   /* "a PMU file" */
    /* False with a message that does not repeat the place: that is put in front of it. */
    bool (*assign)(void *context, uint32_t line, const char *key, const char *value, struct as_error *err);
    void *context;
};

bool as_keyfile_parse(const struct as_keyfile *file, const char *text, size_t size, struct as_error *err) AS_MUST_CHECK;
/* Cuts the blanks off the end of `text` and returns its first character that is not a blank. */
char *as_keyfile_trim(char *text);
/* Reads the file at `path`, at most 1 MiB and a byte; the caller frees. NULL and `err`: it cannot be read. */
char *as_keyfile_read(const char *path, size_t *size, struct as_error *err) AS_MUST_CHECK;

#endif
