/* Reports without their summaries, which are the same in all reports of a series and have a golden file of their own. */
#ifndef AS_TESTS_REPORT_BED_H
#define AS_TESTS_REPORT_BED_H

#include "report/report_text.h"

void report_bed_put_text(FILE *out, const char *report, const struct as_summary *summary, const struct as_term *term);
void report_bed_put_json(FILE *out, const char *json);

#endif
