/* Reads numbers and texts from untrusted bytes, in either byte order. A reader that would run past its end returns
 * zeros and stays `bad` from then on, so callers check once, at the end. No alignment is required. */
#ifndef AS_BASE_BYTES_H
#define AS_BASE_BYTES_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct as_bytes {
    const uint8_t *at, *end;
    bool swap, bad; /* the other byte order; ran past the end, or whatever else the caller finds wrong */
};

static inline struct as_bytes as_bytes(const void *bytes, size_t size, bool swap)
{
    return (struct as_bytes){.at = bytes, .end = (const uint8_t *)bytes + size, .swap = swap};
}

static inline size_t as_bytes_left(const struct as_bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

/* The next `size` bytes; NULL and bad where there are not so many. */
static inline const uint8_t *as_bytes_take(struct as_bytes *bytes, uint64_t size)
{
    if (bytes->bad || size > as_bytes_left(bytes)) {
        bytes->bad = true;
        return NULL;
    }
    const uint8_t *taken = bytes->at;
    bytes->at += size;
    return taken;
}

static inline uint64_t as_bytes_u64(struct as_bytes *bytes)
{
    uint64_t value = 0;
    const uint8_t *taken = as_bytes_take(bytes, sizeof value);
    if (taken)
        memcpy(&value, taken, sizeof value);
    return bytes->swap ? bswap_64(value) : value;
}

static inline uint32_t as_bytes_u32(struct as_bytes *bytes)
{
    uint32_t value = 0;
    const uint8_t *taken = as_bytes_take(bytes, sizeof value);
    if (taken)
        memcpy(&value, taken, sizeof value);
    return bytes->swap ? bswap_32(value) : value;
}

static inline uint16_t as_bytes_u16(struct as_bytes *bytes)
{
    uint16_t value = 0;
    const uint8_t *taken = as_bytes_take(bytes, sizeof value);
    if (taken)
        memcpy(&value, taken, sizeof value);
    return bytes->swap ? bswap_16(value) : value;
}

static inline uint8_t as_bytes_u8(struct as_bytes *bytes)
{
    const uint8_t *taken = as_bytes_take(bytes, 1);
    return taken ? *taken : 0;
}

/* A number of 1, 2, 4 or 8 bytes; of another size it is bad. */
static inline uint64_t as_bytes_number(struct as_bytes *bytes, size_t size)
{
    switch (size) {
    case 1:
        return as_bytes_u8(bytes);
    case 2:
        return as_bytes_u16(bytes);
    case 4:
        return as_bytes_u32(bytes);
    case 8:
        return as_bytes_u64(bytes);
    default:
        bytes->bad = true;
        return 0;
    }
}

/* A number in LEB128, unsigned and signed. Bits beyond the 64th are dropped. */
uint64_t as_bytes_uleb(struct as_bytes *bytes);
int64_t as_bytes_sleb(struct as_bytes *bytes);

/* A text that ends inside the bytes, which it takes with its zero; NULL and bad where it does not end. */
static inline const char *as_bytes_string(struct as_bytes *bytes)
{
    const uint8_t *zero = bytes->bad ? NULL : memchr(bytes->at, 0, as_bytes_left(bytes));
    if (!zero) {
        bytes->bad = true;
        return NULL;
    }
    const char *text = (const char *)bytes->at;
    bytes->at = zero + 1;
    return text;
}

/* Writes bytes as pairs of hexadecimal digits and a NUL: 2 * size + 1 characters. */
void as_bytes_hex(const void *bytes, size_t size, char *text);

#endif
