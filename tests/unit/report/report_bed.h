/* Documents of a test against golden files. A golden file has sections, "== title" and what was written; it is reviewed
 * when it changes. UPDATE_GOLDEN=1 in the environment rewrites it. */
#ifndef AS_TESTS_REPORT_BED_H
#define AS_TESTS_REPORT_BED_H

#include "report/report_text.h"

#include <stdio.h>

/* Begins a document; sections go to the file that is returned. */
FILE *report_bed_begin(void);
void report_bed_section(FILE *out, const char *title, ...) __attribute__((format(printf, 2, 3)));
/* Copy a report without its summary, which is the same in all reports of a series. */
void report_bed_put_text(FILE *out, const char *text, const struct as_summary *summary, const struct as_term *term);
void report_bed_put_json(FILE *out, const char *json);
/* Ends it, and fails where it differs from tests/golden/NAME, at the first line that does. */
void report_bed_check(FILE *out, const char *name);

#endif
