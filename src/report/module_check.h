/* Whether the files that a profile is about are still what they were. */
#ifndef AS_REPORT_MODULE_CHECK_H
#define AS_REPORT_MODULE_CHECK_H

#include "store/store.h"

/* What is wrong with it now ("it is not there any more", "it has changed since the recording"), or NULL. */
const char *as_module_check(const struct as_store_module *module);

#endif
