/* The source of a recording: a file, a pipe or memory. All are read front to back; a file also from any offset. A file
 * that is compressed as a whole with gzip or zstd is unpacked first, whatever its name. */
#ifndef AS_PERFDATA_PERF_INPUT_H
#define AS_PERFDATA_PERF_INPUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { AS_PERF_INPUT_MAX = 1 << 17 }; /* the most bytes that one call returns */

struct as_perf_input {
    int fd; /* -1: memory */
    bool seekable, failed;
    bool broken;   /* it was compressed, and only a part of it could be unpacked */
    uint64_t size; /* UINT64_MAX: unknown */
    uint64_t position;
    const uint8_t *memory;
    uint8_t *buffer;
    size_t start, end; /* the unread part of the buffer */
};

bool as_perf_input_open(struct as_perf_input *input, const char *path, struct as_error *err) AS_MUST_CHECK;
void as_perf_input_memory(struct as_perf_input *input, const void *bytes, size_t size);
void as_perf_input_close(struct as_perf_input *input);

/* Returns the next bytes without consuming them: at least one and at most `most` (and AS_PERF_INPUT_MAX). Fewer than
 * `most` only at the end, where it returns NULL. Valid until the next call. */
const uint8_t *as_perf_input_peek(struct as_perf_input *input, size_t most, size_t *size);
void as_perf_input_skip(struct as_perf_input *input, size_t size);           /* consumes peeked bytes */
const uint8_t *as_perf_input_take(struct as_perf_input *input, size_t size); /* all of it, or NULL */
bool as_perf_input_seek(struct as_perf_input *input, uint64_t position);
bool as_perf_input_forward(struct as_perf_input *input, uint64_t size); /* false: the input ends before */

#endif
