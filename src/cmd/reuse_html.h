/* assay reuse as a page of its own: one file without scripts, links or fonts; what comes from the program goes in as text. */
#ifndef AS_CMD_REUSE_HTML_H
#define AS_CMD_REUSE_HTML_H

#include "cmd/reuse_show.h"

void as_reuse_show_html(const struct as_reuse_shown *shown, FILE *out);

/* ---- its parts ---- */

void as_reuse_chart_histograms(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_chart_curve(const struct as_reuse_shown *shown, FILE *out);
void as_reuse_chart_working_set(const struct as_reuse_shown *shown, FILE *out);

#endif
