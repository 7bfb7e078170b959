/* Whether the files that a profile is about are still what they were. */
#ifndef AS_REPORT_MODULE_CHECK_H
#define AS_REPORT_MODULE_CHECK_H

#include "report/view.h"

/* What is wrong with it now ("it is not there any more", "it has changed since the recording"), or NULL. */
const char *as_module_check(const struct as_store_module *module);
/* A line where files that it has time in are not what they were; nothing where all are. And a member "changed" of an
 * object that is open: {path: what is wrong}. */
void as_module_notes_text(const struct as_view *view, FILE *out, const struct as_term *term);
void as_module_notes_json(const struct as_view *view, struct as_json *json);

#endif
