/* Sorting by a number that each element has, quicker than with comparisons where there are many. Equal numbers keep their order. */
#ifndef AS_BASE_SORT_H
#define AS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t as_sort_key(const void *element);

/* Sorts `n` elements of `size` bytes by their keys, the least first. */
void as_sort(void *elements, size_t n, size_t size, as_sort_key *key_of);

#endif
