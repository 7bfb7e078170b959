/* What CSV reports (RFC 4180) share. */
#ifndef AS_REPORT_REPORT_CSV_H
#define AS_REPORT_REPORT_CSV_H

#include "view/legend.h"
#include "view/view.h"

#include <stdio.h>

/* A field, quoted where it must be (as_csv_add_text). NULL: empty. */
void as_csv_field(FILE *out, const char *text);

/* Components of rows, each behind a comma: those with a key of their own, and the rest, so that they add up; before
 * them their names. */
void as_csv_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out);
void as_csv_components(const struct as_legend *legend, const struct as_view *view, const struct as_store_row *row,
                       FILE *out);

#endif
