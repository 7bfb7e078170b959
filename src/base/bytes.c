/* See bytes.h. */
#include "base/bytes.h"

/* The bits of a LEB128 number; its last byte, and how many bits there were. */
static uint64_t take_leb(struct as_bytes *bytes, uint8_t *last, unsigned *bits)
{
    uint64_t value = 0;
    unsigned shift = 0;
    do {
        *last = as_bytes_u8(bytes);
        if (shift < 64)
            value |= (uint64_t)(*last & 0x7f) << shift;
        shift += 7;
    } while (*last & 0x80);
    *bits = shift;
    return value;
}

uint64_t as_bytes_uleb(struct as_bytes *bytes)
{
    uint8_t last;
    unsigned bits;
    return take_leb(bytes, &last, &bits);
}

int64_t as_bytes_sleb(struct as_bytes *bytes)
{
    uint8_t last;
    unsigned bits;
    uint64_t value = take_leb(bytes, &last, &bits);
    if (bits < 64 && last & 0x40)
        value |= ~(uint64_t)0 << bits;
    return (int64_t)value;
}

void as_bytes_hex(const void *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *text++ = digits[at[i] >> 4];
        *text++ = digits[at[i] & 15];
    }
    *text = '\0';
}
