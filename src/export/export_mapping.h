/* The offset of a module's code in its file. A profile does not store it, so it is read from the file if that is
 * unchanged. */
#ifndef AS_EXPORT_MAPPING_H
#define AS_EXPORT_MAPPING_H

#include "store/store_read.h"

/* Returns the file offset of the byte that is at `address` in the run. Without the file, addresses are assumed to be
 * offsets; 0 if the module is not relocated, since its addresses then give no offset. */
uint64_t as_export_file_offset(const struct as_store_module *module, uint64_t address);

#endif
