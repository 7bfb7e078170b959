/* What a person reads after a recording. */
#ifndef AS_CMD_RECORD_SUMMARY_H
#define AS_CMD_RECORD_SUMMARY_H

#include "base/error.h"

#include <stdio.h>

/* Prints what the file at `path` says of the run, as text or JSON, and what to type next. Returns an exit status;
 * -1 where `err` says what is wrong. */
int as_record_summary(const char *path, bool json, FILE *out, struct as_error *err) AS_MUST_CHECK;

#endif
