/* See whole_file.h. */
#include "base/whole_file.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* False: an error, in errno. */
static bool read_all(int fd, size_t most, struct as_str *bytes)
{
    char piece[65536];
    while (bytes->len <= most) {
        size_t left = most + 1 - bytes->len;
        ssize_t n = read(fd, piece, left < sizeof piece ? left : sizeof piece);
        if (n == 0)
            return true;
        if (n > 0)
            as_str_add_bytes(bytes, piece, (size_t)n);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

char *as_whole_file(const char *path, size_t most, size_t *size)
{
    struct as_str bytes = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    as_str_add(&bytes, ""); /* an empty file has its NUL, too */
    bool ok = read_all(fd, most, &bytes);
    int reason = errno;
    close(fd);
    *size = bytes.len;
    if (ok)
        return as_str_take(&bytes);
    as_str_free(&bytes);
    errno = reason;
    return NULL;
}
