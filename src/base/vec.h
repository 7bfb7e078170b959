/* Growable arrays of any type: `AS_VEC(struct thing) things = {0}; *as_vec_push(&things) = x;`
 * Elements are addressed as things.data[i], i < things.len. Pointers into data die with the next push. */
#ifndef AS_BASE_VEC_H
#define AS_BASE_VEC_H

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define AS_VEC(type)                                                                                                   \
    struct {                                                                                                           \
        type *data;                                                                                                    \
        size_t len, cap;                                                                                               \
    }

/* Makes room for one more element (uninitialised) and evaluates to its address. */
#define as_vec_push(vec)                                                                                               \
    ((vec)->len < (vec)->cap                                                                                           \
         ? (void)0                                                                                                     \
         : as_vec_reserve((void **)&(vec)->data, &(vec)->cap, (vec)->len + 1, sizeof *(vec)->data),                    \
     &(vec)->data[(vec)->len++])

#define as_vec_clear(vec) ((vec)->len = 0)
#define as_vec_free(vec) (free((vec)->data), memset((vec), 0, sizeof *(vec)))

void as_vec_reserve(void **data, size_t *cap, size_t need, size_t size);

#endif
