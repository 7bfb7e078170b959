/* Text in HTML and SVG. */
#ifndef AS_BASE_HTML_H
#define AS_BASE_HTML_H

#include <stdio.h>

/* Writes text that may come from anyone: what is markup is escaped, control characters become "?". NULL writes nothing. */
void as_html_text(FILE *out, const char *text);
/* The beginning of a page that opens from disk, without scripts and without a network: up to and including <title>. `style` is
 * CSS. */
void as_html_begin(FILE *out, const char *style);

#endif
