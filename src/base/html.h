/* Text in HTML and SVG. */
#ifndef AS_BASE_HTML_H
#define AS_BASE_HTML_H

#include <stdio.h>

/* Writes text that may come from anyone: what is markup is escaped, control characters become "?". NULL writes nothing. */
void as_html_text(FILE *out, const char *text);

#endif
