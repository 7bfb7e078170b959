/* How many processors the calling process may use: what to divide work by. At least 1. */
#ifndef AS_BASE_PROCESSORS_H
#define AS_BASE_PROCESSORS_H

#include <stddef.h>

size_t as_processors(void);

#endif
