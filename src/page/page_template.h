/* The page without a profile, as web/build.py made it from web/src. Where the document goes stands the comment
 * AS_PAGE_MARKER, once. */
#ifndef AS_PAGE_PAGE_TEMPLATE_H
#define AS_PAGE_PAGE_TEMPLATE_H

#include <stddef.h>

#define AS_PAGE_MARKER "<!--assay-data-->"

extern const char as_page_template[];      /* NUL-terminated */
extern const size_t as_page_template_size; /* without the NUL */

#endif
