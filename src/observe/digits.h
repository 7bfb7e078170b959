/* Numbers as decimal text, four digits at a time: traces have millions of them. */
#ifndef AS_OBSERVE_DIGITS_H
#define AS_OBSERVE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { AS_FOUR_DIGITS = 10000 };
extern const char as_four_digits[AS_FOUR_DIGITS][4]; /* "0000" to "9999" */

/* The eight digits of a number below 10^8, the first in the lowest byte. */
static inline uint64_t as_eight_digits(uint32_t number)
{
    uint64_t digits;
    memcpy(&digits, as_four_digits[number / AS_FOUR_DIGITS], 4);
    memcpy((char *)&digits + 4, as_four_digits[number % AS_FOUR_DIGITS], 4);
    return le64toh(digits);
}

/* Writes a number below 10^8 without leading zeros, and up to eight bytes; returns what is behind it. */
static inline char *as_digits_put_small(char *to, uint32_t number)
{
    uint64_t digits = as_eight_digits(number), nonzero = digits ^ UINT64_C(0x3030303030303030);
    unsigned zeros = nonzero ? (unsigned)__builtin_ctzll(nonzero) / 8 : 7;
    digits = htole64(digits >> 8 * zeros);
    memcpy(to, &digits, sizeof digits);
    return to + 8 - zeros;
}

char *as_digits_put_large(char *to, uint64_t number);

/* Writes a number; at `to` there must be room for 24 bytes. Returns what is behind it. */
static inline char *as_digits_put(char *to, uint64_t number)
{
    if (number < 10) {
        *to = (char)('0' + number);
        return to + 1;
    }
    return __builtin_expect(number < 100000000, 1) ? as_digits_put_small(to, (uint32_t)number)
                                                   : as_digits_put_large(to, number);
}

#endif
