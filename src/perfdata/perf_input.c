/* A buffer over read() and pread(). Files are not mapped, because a file that is truncated while it is read would kill
 * the process. */
#include "perfdata/perf_input.h"

#include "base/alloc.h"
#include "perfdata/perf_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 2 * AS_PERF_INPUT_MAX };
_Static_assert((int)BUFFER <= (int)AS_PERF_UNPACK_HEAD, "what was read of a compressed file fits its head");

/* Replaces the input by the contents of a compressed file. */
static bool unpack(struct as_perf_input *input, const char *path, struct as_error *err)
{
    size_t size;
    const uint8_t *head = as_perf_input_peek(input, 4, &size);
    enum as_perf_packing packing = head != NULL ? as_perf_packing_of(head, size) : AS_PERF_NOT_PACKED;
    if (packing == AS_PERF_NOT_PACKED)
        return true;
    size_t n_head = input->end - input->start; /* a regular file is read with pread, so its own position is still 0 */
    if (input->seekable && lseek(input->fd, (off_t)n_head, SEEK_SET) < 0)
        return as_error_set(err, "cannot read '%s': %s", path, strerror(errno));
    struct as_error cause = {0};
    int fd = as_perf_unpack(packing, input->fd, input->buffer + input->start, n_head, &input->broken, &cause);
    if (fd < 0)
        return as_error_set(err, "'%s': %s", path, cause.message);
    close(input->fd);
    input->fd = fd;
    input->start = input->end = 0;
    input->seekable = true;
    input->size = (uint64_t)lseek(fd, 0, SEEK_END);
    return true;
}

bool as_perf_input_open(struct as_perf_input *input, const char *path, struct as_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    *input = (struct as_perf_input){.fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)};
    struct stat stat;
    if (input->fd < 0 || fstat(input->fd, &stat) != 0) {
        as_error_set(err, "cannot read '%s': %s", path, strerror(errno));
        as_perf_input_close(input);
        return false;
    }
    if (S_ISDIR(stat.st_mode)) {
        as_perf_input_close(input);
        return as_error_set(err, "'%s' is a directory; perf's directory format (record --threads) is not supported",
                            path);
    }
    input->seekable = S_ISREG(stat.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
    input->size = S_ISREG(stat.st_mode) && stat.st_size >= 0 ? (uint64_t)stat.st_size : UINT64_MAX;
    input->buffer = as_alloc(BUFFER);
    if (unpack(input, path, err))
        return true;
    as_perf_input_close(input);
    return false;
}

void as_perf_input_memory(struct as_perf_input *input, const void *bytes, size_t size)
{
    *input = (struct as_perf_input){.fd = -1, .seekable = true, .size = size, .memory = bytes};
}

void as_perf_input_close(struct as_perf_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    free(input->buffer);
    *input = (struct as_perf_input){.fd = -1};
}

static ssize_t read_some(struct as_perf_input *input, uint8_t *to, size_t size)
{
    for (;;) {
        uint64_t at = input->position + (input->end - input->start);
        ssize_t got = input->seekable ? pread(input->fd, to, size, (off_t)at) : read(input->fd, to, size);
        if (got >= 0 || errno != EINTR)
            return got;
    }
}

static void fill(struct as_perf_input *input, size_t most)
{
    if (input->end - input->start >= most)
        return;
    memmove(input->buffer, input->buffer + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
    while (input->end < most) {
        ssize_t got = read_some(input, input->buffer + input->end, BUFFER - input->end);
        if (got <= 0) {
            input->failed |= got < 0;
            return;
        }
        input->end += (size_t)got;
    }
}

const uint8_t *as_perf_input_peek(struct as_perf_input *input, size_t most, size_t *size)
{
    most = most > AS_PERF_INPUT_MAX ? AS_PERF_INPUT_MAX : most;
    const uint8_t *bytes;
    if (input->fd < 0) {
        uint64_t left = input->size - input->position;
        *size = left < most ? (size_t)left : most;
        bytes = input->memory + input->position;
    } else {
        fill(input, most);
        *size = input->end - input->start < most ? input->end - input->start : most;
        bytes = input->buffer + input->start;
    }
    return *size > 0 ? bytes : NULL;
}

void as_perf_input_skip(struct as_perf_input *input, size_t size)
{
    input->position += size;
    if (input->fd >= 0)
        input->start += size;
}

const uint8_t *as_perf_input_take(struct as_perf_input *input, size_t size)
{
    size_t got;
    const uint8_t *bytes = as_perf_input_peek(input, size, &got);
    if (bytes == NULL || got < size)
        return NULL;
    as_perf_input_skip(input, size);
    return bytes;
}

bool as_perf_input_seek(struct as_perf_input *input, uint64_t position)
{
    if (!input->seekable || position > input->size)
        return false;
    input->position = position;
    input->start = input->end = 0;
    return true;
}

bool as_perf_input_forward(struct as_perf_input *input, uint64_t size)
{
    if (input->seekable)
        return input->position <= input->size && size <= input->size - input->position &&
               as_perf_input_seek(input, input->position + size);
    while (size > 0) {
        size_t got;
        if (as_perf_input_peek(input, size < AS_PERF_INPUT_MAX ? (size_t)size : AS_PERF_INPUT_MAX, &got) == NULL)
            return false;
        as_perf_input_skip(input, got);
        size -= got;
    }
    return true;
}
