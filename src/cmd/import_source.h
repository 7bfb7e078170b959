/* Data sources of samples as events of a profile: a bit for where the data came from, and bits for what happened on the
 * way. A sample's bits are its component. */
#ifndef AS_CMD_IMPORT_SOURCE_H
#define AS_CMD_IMPORT_SOURCE_H

#include "perfdata/perfdata.h"
#include "store/store_write.h"

/* 0 where the sample does not say. */
uint64_t as_import_source(const struct as_perf_sample *sample);
void as_import_source_events(struct as_store_writer *writer, uint64_t used); /* adds those of `used` */

#endif
