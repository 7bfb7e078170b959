/* The summary after a recording. */
#ifndef AS_CMD_RECORD_SUMMARY_H
#define AS_CMD_RECORD_SUMMARY_H

#include "base/error.h"

#include <stdio.h>

/* Prints what the file at `path` contains about the run, as text or JSON, and suggests the next command. Returns an
 * exit status; -1 and `err` on failure. */
int as_record_summary(const char *path, bool json, FILE *out, struct as_error *err) AS_MUST_CHECK;

#endif
