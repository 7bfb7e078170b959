/* The cache lines of a profile whose samples say where their data came from, as perf c2c shows those of a recording: PEBS
 * with data sources, IBS, SPE, of this processor, of a recording, or of a modelled unit. */
#ifndef AS_VIEW_MOVED_LINES_H
#define AS_VIEW_MOVED_LINES_H

#include "comm/c2c.h"

/* Adds up all series of the profile. False: it cannot be read, or no sample says where its data came from. */
bool as_moved_lines_read(struct as_c2c *c2c, const char *path, struct as_error *err) AS_MUST_CHECK;

#endif
