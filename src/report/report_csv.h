/* Shared by CSV reports (RFC 4180). */
#ifndef AS_REPORT_REPORT_CSV_H
#define AS_REPORT_REPORT_CSV_H

#include "view/legend.h"
#include "view/view.h"

#include <stdio.h>

/* Writes a field, quoted if necessary (as_csv_add_text). NULL: empty. */
void as_csv_field(FILE *out, const char *text);

/* Writes the offset in the module's file; nothing where there is none. */
void as_csv_module_offset(FILE *out, const struct as_view *view, uint32_t module, uint64_t address);

/* Writes the components of rows, each after a comma: those with a key, and a remainder, so that they add up; and a
 * header with their names. */
void as_csv_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out);
/* "ST-L1 share_error": columns of error bars, which the others have none of. */
void as_csv_error_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out);
void as_csv_components(const struct as_legend *legend, const struct as_view *view, const struct as_store_row *row,
                       FILE *out);

#endif
