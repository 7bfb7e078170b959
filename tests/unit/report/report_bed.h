/* Reports without their summaries, which are the same in all reports of a series and have a golden file of their own; and profiles
 * that several tests of reports have. */
#ifndef AS_TESTS_REPORT_BED_H
#define AS_TESTS_REPORT_BED_H

#include "report/report_text.h"

void report_bed_put_text(FILE *out, const char *report, const struct as_summary *summary, const struct as_term *term);
void report_bed_put_json(FILE *out, const char *json);

/* Three threads: 1 and 2 wait for words of one line, 2 and 3 for a mutex, 1 once for what is not known. */
void report_bed_waits(const char *path);
/* main and work, measured in regions, with two replicates: of 1,000 cycles work has 600, and 550 and 650 in the replicates; all
 * paths begin in main. */
void report_bed_sampled(const char *path);

#endif
