/* Documents of a test against golden files. A golden file has sections, "== title" and what was written; it is reviewed
 * when it changes. UPDATE_GOLDEN=1 in the environment rewrites it. */
#ifndef AS_TESTS_UNIT_GOLDEN_H
#define AS_TESTS_UNIT_GOLDEN_H

#include <stdio.h>

/* Begins a document; sections go to the file that is returned. */
FILE *unit_golden_begin(void);
void unit_golden_section(FILE *out, const char *title, ...) __attribute__((format(printf, 2, 3)));
/* Ends it, and fails where it differs from tests/golden/NAME, at the first line that does. */
void unit_golden_check(FILE *out, const char *name);

#endif
