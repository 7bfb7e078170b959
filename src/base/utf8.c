/* See utf8.h. */
#include "base/utf8.h"

size_t as_utf8_length(const char *text)
{
    static const struct {
        unsigned char lead_lo, lead_hi, second_lo, second_hi, length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *at = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (at[0] < forms[i].lead_lo || at[0] > forms[i].lead_hi)
            continue;
        if (forms[i].length > 1 && (at[1] < forms[i].second_lo || at[1] > forms[i].second_hi))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

bool as_utf8_is_control(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0], second = length == 2 ? (unsigned char)text[1] : 0;
    return length == 1 ? first < 0x20 || first == 0x7f : length == 2 && first == 0xc2 && second < 0xa0;
}
