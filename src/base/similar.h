/* Words that a user may have meant. */
#ifndef AS_BASE_SIMILAR_H
#define AS_BASE_SIMILAR_H

#include <stddef.h>

/* The number of typing errors between two words (a letter more, less, changed, or two swapped). SIZE_MAX if the words
 * are unrelated: for "did you mean". */
size_t as_word_distance(const char *typed, const char *meant);

#endif
