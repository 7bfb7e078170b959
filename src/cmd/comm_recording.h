/* assay comm on a recording of perf. */
#ifndef AS_CMD_COMM_RECORDING_H
#define AS_CMD_COMM_RECORDING_H

#include "comm/c2c.h"

#include <stdio.h>

/* Whether a file is a recording of perf, and not a program. */
bool as_comm_is_recording(const char *path);
void as_comm_recording_text(const struct as_c2c *c2c, uint64_t top, FILE *out);
bool as_comm_recording_json(const struct as_c2c *c2c, const char *path, uint64_t top, FILE *out);
void as_comm_recording_csv(const struct as_c2c *c2c, FILE *out);

#endif
