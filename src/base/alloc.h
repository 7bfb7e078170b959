/* Allocation that does not fail: out of memory ends the process with one line and AS_EXIT_FAILURE.
 * For sizes that come from untrusted input, check the size against a limit first; these are for our own structures. */
#ifndef AS_BASE_ALLOC_H
#define AS_BASE_ALLOC_H

#include <stddef.h>

void *as_alloc(size_t size);                                  /* zeroed */
void *as_alloc_array(size_t count, size_t size);              /* zeroed, overflow-checked */
void *as_alloc_apart(size_t count, size_t size);              /* the same, on host cache lines of its own */
void *as_realloc_array(void *old, size_t count, size_t size); /* overflow-checked, not zeroed */
char *as_strdup(const char *text);
char *as_strndup(const char *text, size_t length);
char *as_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
