/* The offset of a module's code in its file. A profile does not store it, so it is read from the file, if that is
 * unchanged. */
#ifndef AS_EXPORT_MAPPING_H
#define AS_EXPORT_MAPPING_H

#include "store/store_read.h"

/* The offset of the byte that is at `address` of a run. Without the file it is taken for that of a file whose addresses
 * are offsets; 0 where the module is not relocated, since its addresses then say nothing. */
uint64_t as_export_file_offset(const struct as_store_module *module, uint64_t address);

#endif
