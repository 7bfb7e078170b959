/* Words that a user may have meant. */
#ifndef AS_BASE_SIMILAR_H
#define AS_BASE_SIMILAR_H

#include <stddef.h>

/* The number of typing errors between two words (a letter more, less, changed, or two swapped). SIZE_MAX if the words
 * are unrelated: for "did you mean". */
size_t as_word_distance(const char *typed, const char *meant);

/* The names of functions that are nearest to a typed one: typing errors first, then names that contain it. Of equally
 * near names, the first that was added comes first. */
enum { AS_SIMILAR_MOST = 3 };
struct as_similar {
    const char *typed;
    char *name[AS_SIMILAR_MOST];
    size_t distance[AS_SIMILAR_MOST], n;
};

void as_similar_add(struct as_similar *similar, const char *name);
/* Returns "; did you mean NAME or NAME?", or "" without any; frees the list. The caller frees the text. */
char *as_similar_take(struct as_similar *similar);

#endif
