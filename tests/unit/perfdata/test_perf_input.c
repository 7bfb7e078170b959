/* Bytes of recordings: from memory, from files, and from pipes, which cannot go back; and what cannot be read. */
#include "perfdata/perf_input.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 300000 }; /* more than a buffer, and than a pipe holds */

static uint8_t bytes[SIZE];
static char path[] = "/tmp/assay-input-XXXXXX";
static int ends[2];

static int make_file(void **state)
{
    int fd = mkstemp(path);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251 + 1);
    return fd >= 0 && write(fd, bytes, SIZE) == SIZE ? close(fd) : -1;
}

static int remove_file(void **state)
{
    return unlink(path);
}

static void *write_all(void *unused)
{
    for (size_t at = 0; at < SIZE;) {
        ssize_t n = write(ends[1], bytes + at, SIZE - at < 1000 ? SIZE - at : 1000);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(ends[1]);
    return NULL;
}

/* All of it from the start, in steps of different lengths. */
static void read_through(struct as_perf_input *input)
{
    size_t at = 0, got;
    for (size_t step = 1; at < SIZE; step = step * 3 % 100003 + 1) {
        const uint8_t *seen = as_perf_input_peek(input, step, &got);
        assert_non_null(seen);
        assert_int_equal(got, step < SIZE - at ? step : SIZE - at);
        assert_memory_equal(seen, bytes + at, got);
        assert_int_equal(input->position, at);
        as_perf_input_skip(input, got);
        at += got;
        errno = EINTR; /* of another call: it says nothing about the next */
    }
    assert_null(as_perf_input_peek(input, 1, &got));
    assert_null(as_perf_input_take(input, 1));
    assert_false(input->failed);
}

/* There and back, as far as it goes. */
static void go_around(struct as_perf_input *input)
{
    assert_true(as_perf_input_seek(input, 1000));
    assert_memory_equal(as_perf_input_take(input, 10), bytes + 1000, 10);
    assert_true(as_perf_input_forward(input, SIZE - 1010 - 4));
    assert_null(as_perf_input_take(input, 5));
    assert_memory_equal(as_perf_input_take(input, 4), bytes + SIZE - 4, 4);
    assert_true(as_perf_input_forward(input, 0));
    assert_false(as_perf_input_forward(input, 1));
    assert_true(as_perf_input_seek(input, SIZE));
    assert_false(as_perf_input_seek(input, SIZE + 1));
    assert_true(as_perf_input_seek(input, 0));
}

static void from_memory(void **state)
{
    struct as_perf_input input;
    size_t got;
    as_perf_input_memory(&input, bytes, SIZE);
    assert_non_null(as_perf_input_peek(&input, SIZE, &got));
    assert_int_equal(got, AS_PERF_INPUT_MAX);
    go_around(&input);
    assert_true(as_perf_input_seek(&input, 0));
    size_t at = 0;
    for (const uint8_t *seen; (seen = as_perf_input_peek(&input, 100000, &got)); at += got) {
        assert_memory_equal(seen, bytes + at, got);
        as_perf_input_skip(&input, got);
    }
    assert_int_equal(at, SIZE);
    as_perf_input_close(&input);
}

static void from_a_file(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_input input;
    assert_true(as_perf_input_open(&input, path, &err));
    assert_true(input.seekable && input.size == SIZE);
    read_through(&input);
    go_around(&input);
    as_perf_input_close(&input);
}

static void from_a_pipe(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    for (int skips = 0; skips <= 1; skips++) {
        struct as_perf_input input;
        pthread_t writer;
        char name[64];
        assert_int_equal(pipe(ends), 0);
        snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
        assert_int_equal(pthread_create(&writer, NULL, write_all, NULL), 0);
        assert_true(as_perf_input_open(&input, name, &err));
        close(ends[0]);
        assert_true(!input.seekable && input.size == UINT64_MAX);
        assert_false(as_perf_input_seek(&input, 0));
        if (skips) {
            assert_true(as_perf_input_forward(&input, SIZE - 4));
            assert_memory_equal(as_perf_input_take(&input, 4), bytes + SIZE - 4, 4);
            assert_false(as_perf_input_forward(&input, 1));
        } else {
            read_through(&input);
        }
        as_perf_input_close(&input);
        pthread_join(writer, NULL);
    }
}

/* What cannot be opened says why; what cannot be read has failed, and is not tried for ever. */
static void what_cannot_be_read(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_input input;
    size_t got;
    assert_false(as_perf_input_open(&input, "/nowhere/perf.data", &err));
    assert_non_null(strstr(err.message, "cannot read '/nowhere/perf.data'"));
    assert_false(as_perf_input_open(&input, "/tmp", &err));
    assert_non_null(strstr(err.message, "is a directory"));
    assert_true(as_perf_input_open(&input, "/proc/self/mem", &err)); /* nothing is mapped at 0 */
    assert_null(as_perf_input_peek(&input, 4, &got));
    assert_true(input.failed);
    as_perf_input_close(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_memory), cmocka_unit_test(from_a_file),
                                       cmocka_unit_test(from_a_pipe), cmocka_unit_test(what_cannot_be_read)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
