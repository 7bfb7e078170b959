/* See input.h. */
#include "record/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000 };

static bool is_stream(void)
{
    struct stat info;
    return fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

/* Tells the user what Assay is waiting for. */
static void say_what_for(const struct as_notices *notices)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&wait, 1, PATIENCE_MS) == 0)
        as_notice(notices, AS_LOG_WARN,
                  "waiting for the end of standard input, which every run reads; add </dev/null if none is needed");
}

static bool copy_to(int memory, const struct as_notices *notices, struct as_error *err)
{
    char buffer[1 << 16];
    ssize_t n;
    say_what_for(notices);
    while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return as_error_set(err, "cannot read standard input: %s", strerror(errno));
        for (ssize_t done = 0, step; done < n; done += step)
            if ((step = write(memory, buffer + done, (size_t)(n - done))) <= 0)
                return as_error_set(err, "cannot keep standard input: %s", strerror(errno));
    }
    return true;
}

bool as_input_keep(struct as_input *input, const struct as_notices *notices, struct as_error *err)
{
    input->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (input->start >= 0 || !is_stream())
        return true;
    int memory = memfd_create("standard input", MFD_CLOEXEC);
    if (memory < 0)
        return as_error_set(err, "cannot keep standard input: %s", strerror(errno));
    bool ok = copy_to(memory, notices, err);
    if (ok && dup2(memory, STDIN_FILENO) < 0)
        ok = as_error_set(err, "cannot keep standard input: %s", strerror(errno));
    close(memory);
    input->start = 0;
    as_input_rewind(input);
    return ok;
}

void as_input_rewind(const struct as_input *input)
{
    if (input->start >= 0)
        lseek(STDIN_FILENO, input->start, SEEK_SET);
}

void as_input_reopen(const struct as_input *input)
{
    if (input->start < 0)
        return;
    int own = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (own >= 0 && dup2(own, STDIN_FILENO) == STDIN_FILENO)
        as_input_rewind(input);
    if (own > STDIN_FILENO)
        close(own);
}
