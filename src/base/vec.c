/* Growth of arrays: doubling, so that n pushes cost O(n). */
#include "base/vec.h"

#include <stdint.h>

enum { SMALLEST_CAP = 8 };

static size_t grown_cap(size_t cap, size_t need)
{
    size_t doubled = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    size_t wanted = doubled > need ? doubled : need;
    return wanted > SMALLEST_CAP ? wanted : SMALLEST_CAP;
}

/* The pointer is copied by memcpy because its real type is not void *: the compiler may assume that a store through a
 * void ** does not change it. */
void as_vec_reserve(void **data, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return;
    void *memory;
    memcpy(&memory, data, sizeof memory);
    size_t new_cap = grown_cap(*cap, need);
    memory = as_realloc_array(memory, new_cap, size);
    memcpy(data, &memory, sizeof memory);
    *cap = new_cap;
}
