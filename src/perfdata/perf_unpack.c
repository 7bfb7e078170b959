/* See perf_unpack.h. Both libraries share one pair of buffers. The unpacked size is bounded; otherwise a few megabytes
 * could fill the disk. */
#include "perfdata/perf_unpack.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PIECE = AS_PERF_UNPACK_HEAD };
#define MOST (UINT64_C(64) << 30) /* most bytes unpacked */

struct unpack {
    int from, to;
    uint8_t in[PIECE], out[PIECE];
    size_t n_in;
    uint64_t written;
    bool broken;
    struct as_error *err;
};

enum as_perf_packing as_perf_packing_of(const uint8_t *head, size_t n_head)
{
    if (n_head >= 3 && memcmp(head, "\x1f\x8b\x08", 3) == 0)
        return AS_PERF_GZIP;
    return n_head >= 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ? AS_PERF_ZSTD : AS_PERF_NOT_PACKED;
}

const char *as_perf_unpacker_of(const uint8_t *head, size_t n_head)
{
    if (n_head >= 6 && memcmp(head,
                              "\xfd"
                              "7zXZ",
                              6) == 0)
        return "xz";
    if (n_head >= 3 && memcmp(head, "BZh", 3) == 0)
        return "bzip2";
    if (n_head >= 4 && memcmp(head, "\x04\x22\x4d\x18", 4) == 0)
        return "lz4";
    return NULL;
}

/* Reads the next compressed bytes; returns false at the end, or if they cannot be read (as for a broken file). */
static bool refill(struct unpack *unpack)
{
    ssize_t got;
    do
        got = read(unpack->from, unpack->in, PIECE);
    while (got < 0 && errno == EINTR);
    unpack->n_in = got > 0 ? (size_t)got : 0;
    unpack->broken |= got < 0;
    return got > 0;
}

static bool put(struct unpack *unpack, size_t size)
{
    if (unpack->written + size > MOST)
        return as_error_set(unpack->err, "the compressed file unpacks to more than 64 GiB: unpack it yourself if it "
                                         "really is a recording");
    for (size_t done = 0; done < size;) {
        ssize_t n = write(unpack->to, unpack->out + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return as_error_set(unpack->err, "cannot unpack the file into a temporary one: %s", strerror(errno));
        done += (size_t)n;
    }
    unpack->written += size;
    return true;
}

/* A file may consist of several gzip members, one after the other. */
static bool run_gzip(struct unpack *unpack)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return as_error_set(unpack->err, "zlib cannot be initialised");
    bool ok = true, whole = false;
    do {
        z.next_in = unpack->in;
        z.avail_in = (uInt)unpack->n_in;
        do {
            if (whole)
                inflateReset(&z);
            z.next_out = unpack->out;
            z.avail_out = PIECE;
            int status = inflate(&z, Z_NO_FLUSH);
            whole = status == Z_STREAM_END;
            unpack->broken |= !whole && status != Z_OK && status != Z_BUF_ERROR;
            ok = put(unpack, PIECE - z.avail_out);
        } while (ok && !unpack->broken && (z.avail_in > 0 || z.avail_out == 0));
    } while (ok && !unpack->broken && refill(unpack));
    inflateEnd(&z);
    unpack->broken |= !whole;
    return ok;
}

static bool run_zstd(struct unpack *unpack)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    bool ok = true;
    size_t left = 1;
    do {
        ZSTD_inBuffer in = {unpack->in, unpack->n_in, 0};
        bool full = false;
        while (ok && !unpack->broken && (in.pos < in.size || full)) {
            ZSTD_outBuffer out = {unpack->out, PIECE, 0};
            left = ZSTD_decompressStream(z, &out, &in);
            unpack->broken |= ZSTD_isError(left) != 0;
            full = out.pos == PIECE;
            ok = put(unpack, out.pos);
        }
    } while (ok && !unpack->broken && refill(unpack));
    ZSTD_freeDStream(z);
    unpack->broken |= left != 0;
    return ok;
}

static int temporary_file(struct as_error *err)
{
    FILE *file = tmpfile();
    int fd = file != NULL ? dup(fileno(file)) : -1;
    if (fd < 0)
        as_error_set(err, "cannot create a temporary file to unpack into: %s", strerror(errno));
    if (file != NULL)
        fclose(file);
    return fd;
}

int as_perf_unpack(enum as_perf_packing packing, int from, const uint8_t *head, size_t n_head, bool *broken,
                   struct as_error *err)
{
    assert(n_head <= AS_PERF_UNPACK_HEAD);
    int to = temporary_file(err);
    if (to < 0)
        return -1;
    struct unpack *unpack = as_alloc(sizeof *unpack);
    *unpack = (struct unpack){.from = from, .to = to, .n_in = n_head, .err = err};
    memcpy(unpack->in, head, unpack->n_in);
    bool ok = packing == AS_PERF_GZIP ? run_gzip(unpack) : run_zstd(unpack);
    *broken = unpack->broken;
    if (ok && unpack->broken && unpack->written == 0)
        ok = as_error_set(err, "the compressed file is damaged or ends early, and no part of it can be unpacked");
    free(unpack);
    if (ok)
        return to;
    close(to);
    return -1;
}
