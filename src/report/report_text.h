/* Shared by text reports: the head that says what was measured and how well, filters, legends and bars. */
#ifndef AS_REPORT_REPORT_TEXT_H
#define AS_REPORT_REPORT_TEXT_H

#include "report/term.h"
#include "view/legend.h"
#include "view/view.h"

/* Writes a few lines about the run and the series, wrapped to the terminal's width. */
void as_summary_text(const struct as_summary *summary, FILE *out, const struct as_term *term);
/* Writes a line about files of the profile that have changed, if there are any. */
void as_module_notes_text(const struct as_view *view, FILE *out, const struct as_term *term);
/* Writes the start of a line about the active filters and, if `shares`, about what shares refer to. Returns false, and
 * writes nothing, if there are none. */
bool as_filters_text(const struct as_view *view, FILE *out, bool shares);
/* A text about a fraction with its value: "part of the samples are …" or "of the samples are …" becomes "20 % of the
 * samples are …"; other texts get "(20 %)" at their end. The caller frees. */
char *as_part_text(double part, const char *text);

/* All of the above, followed by an empty line. */
void as_head_text(const struct as_view *view, FILE *out, const struct as_term *term);

/* Returns how many keys have a column of their own in tables: the first ones that matter, except Base, if the terminal
 * is wide enough. */
enum { AS_LEGEND_COLUMNS = 4 };
size_t as_legend_columns(const struct as_legend *legend, const struct as_term *term, size_t keys[AS_LEGEND_COLUMNS]);
/* Draws a row's components as a bar of `width` columns for `most` units; padded with spaces if `pad`. */
void as_legend_bar(const struct as_legend *legend, FILE *out, const struct as_term *term,
                   const struct as_store_row *row, uint64_t most, unsigned width, bool pad);
/* Explains the signs of bars, one per line. */
void as_legend_text(const struct as_legend *legend, const struct as_view *view, FILE *out, const struct as_term *term);

#endif
