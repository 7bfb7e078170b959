/* Messages to stderr. A line is formatted in memory and written by one write(2), so that lines of several threads and
 * of the profiled program (which shares stderr) never mix inside a line. */
#include "base/log.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int shown = AS_LOG_NOTE;

void as_log_set_level(enum as_log_level most)
{
    atomic_store(&shown, (int)most);
}

bool as_log_shows(enum as_log_level level)
{
    return (int)level <= atomic_load(&shown);
}

/* A failure to write to stderr cannot be reported anywhere. */
static void write_all(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

void as_log(enum as_log_level level, const char *format, ...)
{
    if ((int)level > atomic_load(&shown))
        return;
    int saved_errno = errno;
    struct as_str line = {0};
    va_list args;
    as_str_add(&line, "assay: ");
    va_start(args, format);
    as_str_vaddf(&line, format, args);
    va_end(args);
    as_error_clean(line.data);
    as_str_add(&line, "\n");
    write_all(line.data, line.len);
    as_str_free(&line);
    errno = saved_errno;
}
