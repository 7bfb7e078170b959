/* COMPRESSED records: pieces of one zstd stream that contains records, cut anywhere. Unpacked records are passed on one
 * by one; an incomplete record waits for the next piece. */
#ifndef AS_PERFDATA_PERF_INFLATE_H
#define AS_PERFDATA_PERF_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_perf_inflate {
    void *stream; /* ZSTD_DStream; NULL: none yet */
    uint8_t *buffer;
    size_t used;
    uint64_t packed, unpacked;
    const char *problem; /* why unpacking stopped, or NULL */
};

/* Called with `size` bytes for each whole record. Returns false to stop. */
typedef bool as_perf_inflated(void *context, const uint8_t *record, size_t size);

/* Returns false if the stream is broken (`problem` has the reason) or the callback stopped. */
bool as_perf_inflate_add(struct as_perf_inflate *inflate, const uint8_t *bytes, size_t size, bool swap,
                         as_perf_inflated *next, void *context);
void as_perf_inflate_free(struct as_perf_inflate *inflate);

#endif
