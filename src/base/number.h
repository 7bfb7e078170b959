/* Numbers as people write them. */
#ifndef AS_BASE_NUMBER_H
#define AS_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal with an optional power of 1000 (10k, 5M, 2G, 1T), or hexadecimal (0x10); nothing before or behind. */
bool as_number_read(const char *text, uint64_t *value);

#endif
