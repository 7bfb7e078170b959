/* The HTML page: a template with one JSON document in it (doc/format/page.md), one self-contained file. */
#ifndef AS_PAGE_PAGE_H
#define AS_PAGE_PAGE_H

#include "base/error.h"
#include "base/json.h"

#include <stdio.h>

enum as_page_encoding {
    AS_PAGE_PLAIN,    /* JSON that can be read in the file */
    AS_PAGE_DEFLATED, /* zlib's format in base64, about a fifth of that */
};

enum {
    AS_PAGE_STRING_MAX = 4096, /* bytes of a string that as_page_string() keeps */
};

/* Writes the page to `out`. `document` is called once and writes one value to `json`, which is without line breaks; it
 * must neither finish it nor touch `out`. */
bool as_page_write(FILE *out, enum as_page_encoding encoding, void (*document)(struct as_json *json, void *data),
                   void *data, struct as_error *err) AS_MUST_CHECK;

/* as_json_string() for names that may be megabytes long: what is over the limit is cut, with an ellipsis. */
void as_page_string(struct as_json *json, const char *name, const char *value);

#endif
