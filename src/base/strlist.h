/* A list of texts that belong to somebody else: the values of an option that may be given several times. */
#ifndef AS_BASE_STRLIST_H
#define AS_BASE_STRLIST_H

#include <stdlib.h>

struct as_strlist {
    const char **data;
    size_t len;
};

/* Frees the array; the texts stay. */
static inline void as_strlist_free(struct as_strlist *list)
{
    free(list->data);
    *list = (struct as_strlist){0};
}

#endif
