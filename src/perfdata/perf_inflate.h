/* COMPRESSED records: pieces of one zstd stream that contains records again, cut anywhere. Unpacked records are passed
 * on one by one; an incomplete one waits for the next piece. */
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
    const char *problem; /* why it gave up, or NULL */
};

/* Called for each whole record; `size` bytes. False: stop. */
typedef bool as_perf_inflated(void *context, const uint8_t *record, size_t size);

/* False where the stream is broken (`problem` says how) or the callback stopped. */
bool as_perf_inflate_add(struct as_perf_inflate *inflate, const uint8_t *bytes, size_t size, bool swap,
                         as_perf_inflated *next, void *context);
void as_perf_inflate_free(struct as_perf_inflate *inflate);

#endif
