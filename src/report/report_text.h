/* What text reports share: the head that says what was measured and how well, filters, legends and bars. */
#ifndef AS_REPORT_REPORT_TEXT_H
#define AS_REPORT_REPORT_TEXT_H

#include "report/term.h"
#include "view/legend.h"
#include "view/view.h"

/* A few lines on the run and the series, wrapped to the terminal's width. */
void as_summary_text(const struct as_summary *summary, FILE *out, const struct as_term *term);
/* A line on files of the profile that are not what they were; nothing where all are. */
void as_module_notes_text(const struct as_view *view, FILE *out, const struct as_term *term);
/* The start of a line on the filters that are on, and on what shares are of if `shares`. False: there are none, and
 * nothing was written. */
bool as_filters_text(const struct as_view *view, FILE *out, bool shares);
/* All of these, and an empty line. */
void as_head_text(const struct as_view *view, FILE *out, const struct as_term *term);

/* Keys that have a column of their own in tables: the first ones that matter, Base aside, where the terminal is wide
 * enough. Returns how many. */
enum { AS_LEGEND_COLUMNS = 4 };
size_t as_legend_columns(const struct as_legend *legend, const struct as_term *term, size_t keys[AS_LEGEND_COLUMNS]);
/* A row's components as a bar of `width` columns for `most` units; filled up with spaces if `pad`. */
void as_legend_bar(const struct as_legend *legend, FILE *out, const struct as_term *term,
                   const struct as_store_row *row, uint64_t most, unsigned width, bool pad);
/* The signs of bars and what they mean, a line each. */
void as_legend_text(const struct as_legend *legend, const struct as_view *view, FILE *out, const struct as_term *term);

#endif
