/* Writes a profile in other tools' formats: one file a format, one line in the table of export.c. doc/format/export.md
 * lists what each format carries.
 *
 * Names in a profile are arbitrary. Each format converts them to what it can hold (invalid UTF-8 becomes U+FFFD,
 * control characters become '?', field separators are replaced or quoted), so that no name can break a file.
 */
#ifndef AS_EXPORT_EXPORT_H
#define AS_EXPORT_EXPORT_H

#include "store/store_read.h"

#include <stdio.h>

struct as_export_options {
    const char *series;  /* its name; NULL: the profile's first choice (json: all of them) */
    const bool *threads; /* by number in the store, true for those that count; NULL: all */
    bool uncompressed;   /* pprof: without gzip */
    uint64_t samples;    /* perf-script: write at most so many samples; 0: all */
    bool thin_all;       /* … also of a series that has samples of its own */
    /* Called with a line that a reader of the result should know; NULL: nobody is told. */
    void (*tell)(const char *line);
};

struct as_export_format {
    const char *name, *description;
    bool binary; /* not for terminals */
    /* Writes all of it. Failures of `out` are left to the caller (ferror); false with `err` for the rest. */
    bool (*write)(struct as_store *store, const struct as_export_options *options, FILE *out, struct as_error *err);
};

extern const struct as_export_format *const as_export_formats[]; /* NULL-terminated */
const struct as_export_format *as_export_find(const char *name); /* NULL: there is none */
void as_export_format_names(char *text, size_t size);            /* "pprof, folded …" */

#endif
