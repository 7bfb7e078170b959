/* Names and numbers as people read them, in the caller's buffer. */
#ifndef AS_BASE_SHOW_H
#define AS_BASE_SHOW_H

#include <stdint.h>

/* Text from a program or a profile as one line that harms no terminal: control characters and invalid UTF-8 become '?',
 * long text is cut and ends in "...". NULL: "?". Returns `shown` or a constant. */
enum { AS_SHOW_MAX = 512 }; /* bytes */
const char *as_show(const char *text, char shown[AS_SHOW_MAX]);

/* "12,345,678". Returns `text`. */
enum { AS_COUNT_MAX = 32 };
const char *as_count(uint64_t number, char text[AS_COUNT_MAX]);

/* The same with a buffer of the enclosing block, for the arguments of printf. Never return the result. */
#define AS_SHOW(text) as_show((text), (char[AS_SHOW_MAX]){0})
#define AS_COUNT(number) as_count((number), (char[AS_COUNT_MAX]){0})

#endif
