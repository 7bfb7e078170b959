/* Whether the files that a profile is about are still what they were. */
#ifndef AS_VIEW_MODULE_CHECK_H
#define AS_VIEW_MODULE_CHECK_H

#include "store/store.h"

enum { AS_MODULES_CHECKED = 256 }; /* files that a report looks at */

/* What is wrong with a module's file now ("it is not there any more", "it has changed since the recording"), or NULL. */
const char *as_module_check(const struct as_store_module *module);

#endif
