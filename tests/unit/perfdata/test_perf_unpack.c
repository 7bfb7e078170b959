/* Compressed recordings: what was packed comes out again, of one that is damaged or ends early as much as there is, and that is said. */
#include "perfdata/perf_unpack.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

enum { SIZE = 300000, ROOM = SIZE + 10000 };

static uint8_t plain[SIZE], packed[ROOM], out[SIZE + 1];

static void fill(void)
{
    for (uint32_t i = 0, random = 1; i < SIZE; i++) { /* half of it does not pack well */
        random = random * 1664525 + 1013904223;
        plain[i] = i % 1000 < 500 ? (uint8_t)(random >> 24) : (uint8_t)(i >> 8);
    }
}

static size_t pack(enum as_perf_packing packing)
{
    if (packing != AS_PERF_GZIP) {
        size_t size = ZSTD_compress(packed, sizeof packed, plain, sizeof plain, 3);
        assert_false(ZSTD_isError(size));
        return size;
    }
    z_stream z = {.next_in = plain, .avail_in = sizeof plain, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t size = z.total_out;
    deflateEnd(&z);
    return size;
}

/* Of the first `size` bytes, `head` of which have been read already. Returns how many came out; -1: it failed. */
static ssize_t unpack(enum as_perf_packing packing, size_t size, size_t head, bool *broken, struct as_error *err)
{
    int from = memfd_create("packed", MFD_CLOEXEC);
    assert_int_equal(write(from, packed + head, size - head), size - head);
    assert_int_equal(lseek(from, 0, SEEK_SET), 0);
    int to = as_perf_unpack(packing, from, packed, head, broken, err);
    close(from);
    if (to < 0)
        return -1;
    ssize_t n = pread(to, out, sizeof out, 0);
    close(to);
    assert_true(n >= 0 && n <= SIZE);
    assert_memory_equal(out, plain, n);
    return n;
}

/* All of it comes out, but whether that is all cannot be known, as reading on fails. */
static void check_unreadable(enum as_perf_packing packing, size_t size)
{
    struct as_error err = AS_ERROR_INIT;
    bool broken;
    int from = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        to = as_perf_unpack(packing, from, packed, size, &broken, &err);
    assert_true(from >= 0 && to >= 0 && broken);
    assert_int_equal(pread(to, out, sizeof out, 0), SIZE);
    assert_memory_equal(out, plain, SIZE);
    close(to);
    close(from);
}

static void check(enum as_perf_packing packing)
{
    struct as_error err = AS_ERROR_INIT;
    bool broken;
    fill();
    size_t size = pack(packing);
    const size_t heads[] = {4, 1000, size};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(unpack(packing, size, heads[i], &broken, &err), SIZE);
        assert_false(broken);
    }
    check_unreadable(packing, size);
    ssize_t part = unpack(packing, size * 3 / 4, 4, &broken, &err);
    assert_true(broken && part > 0 && part < SIZE);
    err = (struct as_error)AS_ERROR_INIT;
    memset(packed + 2, 0xff, 100);
    assert_int_equal(unpack(packing, size, 4, &broken, &err), -1);
    assert_true(broken);
    assert_string_equal(err.message, "the compressed file is damaged or ends early, and no part of it can be unpacked");
}

static void gzip(void **state)
{
    check(AS_PERF_GZIP);
}

static void zstd(void **state)
{
    check(AS_PERF_ZSTD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gzip), cmocka_unit_test(zstd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
