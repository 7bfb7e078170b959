/* See number.h. */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool as_number_read(const char *text, uint64_t *value)
{
    static const char letters[] = "kMGT";
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    if (hex ? !isxdigit((unsigned char)*digits) : !isdigit((unsigned char)*digits))
        return false;
    char *end;
    errno = 0;
    *value = strtoull(digits, &end, hex ? 16 : 10);
    if (errno)
        return false;
    const char *letter = *end && !hex ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
    for (const char *at = letters; letter && at <= letter; at++)
        if (__builtin_mul_overflow(*value, (uint64_t)1000, value))
            return false;
    return end[letter ? 1 : 0] == '\0';
}
