/* Whether the files that a profile refers to are unchanged. */
#ifndef AS_VIEW_MODULE_CHECK_H
#define AS_VIEW_MODULE_CHECK_H

#include "store/store.h"

enum { AS_MODULES_CHECKED = 256 }; /* most files that a report checks */

/* What is wrong with a module's file ("it no longer exists", "it has changed since the recording"), or NULL. */
const char *as_module_check(const struct as_store_module *module);

#endif
