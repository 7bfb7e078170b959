/* Whether the files that a profile refers to are unchanged. */
#ifndef AS_VIEW_MODULE_CHECK_H
#define AS_VIEW_MODULE_CHECK_H

#include "store/store_read.h"

enum { AS_MODULES_CHECKED = 256 }; /* most files that a report checks */

/* `store`: the profile, which knows where files were found; NULL: nowhere but at their paths. */
/* What is wrong with a module's file ("it no longer exists", "it has changed since the recording"), or NULL. */
const char *as_module_check(const struct as_store *store, const struct as_store_module *module);
/* Where the file is that was recorded: at the module's path, or where import found it; NULL: the check says why. */
const char *as_module_file(const struct as_store *store, const struct as_store_module *module);

#endif
