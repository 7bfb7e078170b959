/* Writes a profile in other tools' formats: one file a format, one line in the table of export.c. doc/format/export.md
 * lists what each format carries.
 *
 * Names in a profile are arbitrary. Each format converts them to what it can hold (invalid UTF-8 becomes U+FFFD,
 * control characters become '?', field separators are replaced or quoted), so that no name can break a file.
 */
#ifndef AS_EXPORT_EXPORT_H
#define AS_EXPORT_EXPORT_H

#include "base/str.h"
#include "store/store_read.h"

#include <stdio.h>

struct as_export_options {
    const char *series;  /* name of the series; NULL: the profile's first choice (json: all of them) */
    const bool *threads; /* by number in the store, true for threads to include; NULL: all */
    bool uncompressed;   /* pprof: without gzip */
    uint64_t samples;    /* perf-script: write at most this many samples; 0: all */
    bool thin_all;       /* … also if the series has samples of its own */
    /* Called with a line that the user should know; may be NULL. */
    void (*tell)(const char *line);
};

struct as_export_format {
    const char *name, *description;
    bool binary; /* must not be written to a terminal */
    /* Writes the whole profile. The caller checks `out` with ferror; other failures return false and set `err`. */
    bool (*write)(struct as_store *store, const struct as_export_options *options, FILE *out, struct as_error *err);
};

extern const struct as_export_format *const as_export_formats[]; /* NULL-terminated */
const struct as_export_format *as_export_find(const char *name); /* NULL: unknown name */
void as_export_name_formats(struct as_str *list);                /* "pprof, folded …" */

#endif
