/* What a report may use in its output: width, colour, characters; and makes names from programs printable. */
#ifndef AS_REPORT_TERM_H
#define AS_REPORT_TERM_H

#include "base/show.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct as_term {
    unsigned width;
    bool colour, utf8;
};

/* Prints a name (as_show) in at most `columns` columns, cut with "…" (or ".."), and padded with spaces to that width if
 * `pad`. */
void as_show_in(FILE *out, const struct as_term *term, const char *text, unsigned columns, bool pad);

/* Prints text as it is, broken at spaces if it exceeds the terminal's width. It starts in `column`; further lines start
 * in `indent`. Does not end the last line. */
void as_show_wrapped(FILE *out, const struct as_term *term, const char *text, unsigned column, unsigned indent);

/* The number of columns of UTF-8 text, one per character. */
size_t as_show_columns(const char *text);

enum { AS_TERM_KEYS = 12 }; /* components with their own colour and letter */

/* Prints the sign of component number `key` `times` times (0 is the one without events; AS_TERM_KEYS: any other). */
void as_term_key(FILE *out, const struct as_term *term, size_t key, size_t times);
char as_term_letter(size_t key);
/* Sets its colour as the background of what follows. */
void as_term_ground(FILE *out, const struct as_term *term, size_t key);
/* From this width on, tables show more columns. */
enum { AS_TERM_WIDE = 100 };

void as_term_bold(FILE *out, const struct as_term *term, bool on);
void as_term_dim(FILE *out, const struct as_term *term, bool on);
/* The colour of a share: large shares stand out. */
void as_term_heat(FILE *out, const struct as_term *term, double share);
void as_term_plain(FILE *out, const struct as_term *term);

#endif
