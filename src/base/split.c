/* See split.h. */
#include "base/split.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

char **as_split(const char *text, const char *separators, size_t *n)
{
    char **words = as_alloc_array(strlen(text) / 2 + 2, sizeof *words); /* zeroed: the last one ends the list */
    size_t found = 0;
    for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        words[found++] = as_strndup(text, length);
        text += length;
    }
    if (n)
        *n = found;
    return words;
}

void as_split_free(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}
