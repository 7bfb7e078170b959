/* Recordings of record_victim.S in the model, and how they are written into a golden file: each as the JSON of `assay export`,
 * shortened, without what depends on the machine and the day. */
#ifndef RECORD_BED_H
#define RECORD_BED_H

#include "unit.h"

#include "record/record.h"

#include <stdio.h>

extern bool record_threads; /* the victim makes a second thread */

struct as_record_options record_options(const char *source, FILE *out);
void record_show(FILE *out, const char *title, const struct as_record_options *options);
void record_need_qemu(void); /* else the test is skipped */
/* usage of the programs: VICTIM MACHINE PLUGIN */
int record_run_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t n);

#endif
