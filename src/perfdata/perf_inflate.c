/* Unpacks one zstd stream through a fixed buffer. A stream that unpacks to far more than recordings do is refused,
 * because otherwise a few kilobytes could keep the reader busy for hours. */
#include "perfdata/perf_inflate.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <zstd.h>

enum {
    BUFFER = 1 << 18,
    HEADER = 8,
    WINDOW_LOG = 27, /* the size that perf's highest level uses */
};
/* Stack dumps full of zeros pack well, but not a thousandfold on the whole. */
static const uint64_t ratio_max = 1000, free_bytes = 64 << 20;

static bool give_up(struct as_perf_inflate *inflate, const char *problem)
{
    inflate->problem = problem;
    return false;
}

static bool start(struct as_perf_inflate *inflate)
{
    if (inflate->stream != NULL)
        return true;
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream == NULL)
        return give_up(inflate, "out of memory for zstd");
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG);
    inflate->stream = stream;
    inflate->buffer = as_alloc(BUFFER);
    return true;
}

/* Passes on the whole records in the buffer and keeps the rest. */
static bool hand_on(struct as_perf_inflate *inflate, bool swap, as_perf_inflated *next, void *context)
{
    size_t at = 0;
    while (inflate->used - at >= HEADER) {
        uint16_t size;
        memcpy(&size, inflate->buffer + at + 6, sizeof size);
        size = swap ? bswap_16(size) : size;
        if (size < HEADER)
            return give_up(inflate, "an unpacked record has an impossible size");
        if (size > inflate->used - at)
            break;
        if (!next(context, inflate->buffer + at, size))
            return false;
        at += size;
    }
    memmove(inflate->buffer, inflate->buffer + at, inflate->used - at);
    inflate->used -= at;
    return true;
}

bool as_perf_inflate_add(struct as_perf_inflate *inflate, const uint8_t *bytes, size_t size, bool swap,
                         as_perf_inflated *next, void *context)
{
    if (inflate->problem != NULL || !start(inflate))
        return false;
    inflate->packed += size;
    ZSTD_inBuffer in = {bytes, size, 0};
    for (bool full = false; in.pos < in.size || full;) {
        ZSTD_outBuffer out = {inflate->buffer, BUFFER, inflate->used};
        size_t in_before = in.pos;
        size_t result = ZSTD_decompressStream(inflate->stream, &out, &in);
        if (ZSTD_isError(result))
            return give_up(inflate, "the compressed records are corrupt");
        bool moved = out.pos > inflate->used || in.pos > in_before;
        inflate->unpacked += out.pos - inflate->used;
        inflate->used = out.pos;
        full = out.pos == BUFFER;
        if (inflate->unpacked > free_bytes && inflate->unpacked / ratio_max > inflate->packed)
            return give_up(inflate, "the compressed records unpack to an implausible size");
        if (!hand_on(inflate, swap, next, context))
            return false;
        if (!moved)
            break;
    }
    return true;
}

void as_perf_inflate_free(struct as_perf_inflate *inflate)
{
    ZSTD_freeDStream(inflate->stream);
    free(inflate->buffer);
    *inflate = (struct as_perf_inflate){0};
}
