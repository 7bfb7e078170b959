/* See digits.h. */
#include "observe/digits.h"

#define ONES(a, b, c)                                                                                                  \
    {a, b, c, '0'}, {a, b, c, '1'}, {a, b, c, '2'}, {a, b, c, '3'}, {a, b, c, '4'}, {a, b, c, '5'}, {a, b, c, '6'},    \
        {a, b, c, '7'}, {a, b, c, '8'},                                                                                \
    {                                                                                                                  \
        a, b, c, '9'                                                                                                   \
    }
#define TENS(a, b)                                                                                                     \
    ONES(a, b, '0'), ONES(a, b, '1'), ONES(a, b, '2'), ONES(a, b, '3'), ONES(a, b, '4'), ONES(a, b, '5'),              \
        ONES(a, b, '6'), ONES(a, b, '7'), ONES(a, b, '8'), ONES(a, b, '9')
#define HUNDREDS(a)                                                                                                    \
    TENS(a, '0'), TENS(a, '1'), TENS(a, '2'), TENS(a, '3'), TENS(a, '4'), TENS(a, '5'), TENS(a, '6'), TENS(a, '7'),    \
        TENS(a, '8'), TENS(a, '9')

const char as_four_digits[AS_FOUR_DIGITS][4] = {HUNDREDS('0'), HUNDREDS('1'), HUNDREDS('2'), HUNDREDS('3'),
                                                HUNDREDS('4'), HUNDREDS('5'), HUNDREDS('6'), HUNDREDS('7'),
                                                HUNDREDS('8'), HUNDREDS('9')};

char *as_digits_put_large(char *to, uint64_t number)
{
    const uint32_t below = 100000000;
    uint64_t digits = htole64(as_eight_digits((uint32_t)(number % below)));
    to = as_digits_put(to, number / below);
    memcpy(to, &digits, sizeof digits);
    return to + sizeof digits;
}
