/* What a report may do where it is shown: width, colour, characters; and names from programs made fit to be shown. */
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

/* Prints a name (as_show) in at most `columns` columns, "…" (or "..") where it was cut. Padded with spaces to that width
 * if `pad`. */
void as_show_in(FILE *out, const struct as_term *term, const char *text, unsigned columns, bool pad);

/* Text that may be longer than a line, as it is: broken at spaces where it would pass the terminal's width. It starts
 * in `column`; further lines start in `indent`. No line's end behind it. */
void as_show_wrapped(FILE *out, const struct as_term *term, const char *text, unsigned column, unsigned indent);

/* Columns of a text in UTF-8, each character counted as one. */
size_t as_show_columns(const char *text);

enum { AS_TERM_KEYS = 12 }; /* components that have a colour and a letter of their own */

/* The sign of component number `key` in bars (0 is the one without events; AS_TERM_KEYS: any other), `times` of it. */
void as_term_key(FILE *out, const struct as_term *term, size_t key, size_t times);
char as_term_letter(size_t key);
void as_term_ground(FILE *out, const struct as_term *term, size_t key); /* its colour behind what follows */
enum { AS_TERM_WIDE = 100 };                                            /* columns from which tables show more */

void as_term_bold(FILE *out, const struct as_term *term, bool on);
void as_term_dim(FILE *out, const struct as_term *term, bool on);
/* The colour of a share: what matters stands out. */
void as_term_heat(FILE *out, const struct as_term *term, double share);
void as_term_plain(FILE *out, const struct as_term *term);

#endif
