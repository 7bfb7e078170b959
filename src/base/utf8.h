/* Reads UTF-8 from untrusted input: which bytes form a character, and which characters a terminal would act on. */
#ifndef AS_BASE_UTF8_H
#define AS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#define AS_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the valid character at `text` (NUL-terminated), 0 where there is none: its end, overlong forms, surrogates
 * and values above U+10FFFF. */
size_t as_utf8_length(const char *text);
/* Whether that character is a control character: C0, DEL or C1. */
bool as_utf8_is_control(const char *text, size_t length);

#endif
