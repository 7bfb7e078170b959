/* Lists in options: words between separators. */
#ifndef AS_BASE_SPLIT_H
#define AS_BASE_SPLIT_H

#include <stddef.h>

/* The words of a text between any of the separators; empty ones are left out. NULL-terminated; free with
 * as_split_free. *n, which may be NULL, is set to their number. */
char **as_split(const char *text, const char *separators, size_t *n);
void as_split_free(char **words); /* NULL is fine */

#endif
