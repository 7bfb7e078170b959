/* The page without a profile, as web/build.py made it from web/src. The comment AS_PAGE_MARKER, which occurs once,
 * marks the place of the document. */
#ifndef AS_PAGE_PAGE_TEMPLATE_H
#define AS_PAGE_PAGE_TEMPLATE_H

#include <stddef.h>

#define AS_PAGE_MARKER "<!--assay-data-->"

extern const char as_page_template[];      /* NUL-terminated */
extern const size_t as_page_template_size; /* without the NUL */

#endif
