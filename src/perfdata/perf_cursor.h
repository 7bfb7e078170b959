/* Reads numbers from untrusted bytes in either byte order. A cursor that runs past its end returns zeros and stays
 * `bad` from then on, so callers check once, at the end. No alignment is required. */
#ifndef AS_PERFDATA_PERF_CURSOR_H
#define AS_PERFDATA_PERF_CURSOR_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct as_perf_cursor {
    const uint8_t *at, *end;
    bool swap, bad;
};

static inline struct as_perf_cursor as_perf_cursor(const void *bytes, size_t size, bool swap)
{
    return (struct as_perf_cursor){.at = bytes, .end = (const uint8_t *)bytes + size, .swap = swap};
}

static inline size_t as_perf_left(const struct as_perf_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* The next `size` bytes; NULL and bad where there are not so many. */
static inline const uint8_t *as_perf_bytes(struct as_perf_cursor *cursor, uint64_t size)
{
    if (cursor->bad || size > as_perf_left(cursor)) {
        cursor->bad = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

static inline uint64_t as_perf_u64(struct as_perf_cursor *cursor)
{
    uint64_t value = 0;
    const uint8_t *bytes = as_perf_bytes(cursor, sizeof value);
    if (bytes != NULL)
        memcpy(&value, bytes, sizeof value);
    return cursor->swap ? bswap_64(value) : value;
}

static inline uint32_t as_perf_u32(struct as_perf_cursor *cursor)
{
    uint32_t value = 0;
    const uint8_t *bytes = as_perf_bytes(cursor, sizeof value);
    if (bytes != NULL)
        memcpy(&value, bytes, sizeof value);
    return cursor->swap ? bswap_32(value) : value;
}

static inline uint16_t as_perf_u16(struct as_perf_cursor *cursor)
{
    uint16_t value = 0;
    const uint8_t *bytes = as_perf_bytes(cursor, sizeof value);
    if (bytes != NULL)
        memcpy(&value, bytes, sizeof value);
    return cursor->swap ? bswap_16(value) : value;
}

/* A string that ends inside the cursor's bytes, which it takes with its zero; NULL and bad where it does not end. */
static inline const char *as_perf_string(struct as_perf_cursor *cursor)
{
    const uint8_t *zero = cursor->bad ? NULL : memchr(cursor->at, 0, as_perf_left(cursor));
    if (zero == NULL) {
        cursor->bad = true;
        return NULL;
    }
    const char *text = (const char *)cursor->at;
    cursor->at = zero + 1;
    return text;
}

#endif
