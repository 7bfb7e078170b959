/* See output.h. */
#include "cmd/output.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const struct as_output *output, struct as_error *err)
{
    return as_error_set(err, "cannot write %s: %s", output->path, strerror(errno));
}

/* A file without a name in the directory where it shall appear, or else one with a name of its own. */
static int open_unfinished(struct as_output *output)
{
    const char *slash = strrchr(output->path, '/');
    char *directory = slash ? as_strndup(output->path, (size_t)(slash - output->path) + 1) : as_strdup(".");
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(directory);
    output->nameless = fd >= 0;
    output->temporary = as_format("%s.%d.part", output->path, getpid());
    if (fd < 0)
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd;
}

bool as_output_open(struct as_output *output, const char *path, struct as_error *err)
{
    struct stat info;
    *output = (struct as_output){.file = stdout, .path = path};
    if (!path)
        return true;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fail(output, err);
    }
    if (exists && (!S_ISREG(info.st_mode) || access(path, W_OK) != 0)) {
        output->file = fopen(path, "we");
        return output->file || fail(output, err);
    }
    int fd = open_unfinished(output);
    output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return true;
    fail(output, err);
    free(output->temporary);
    output->temporary = NULL;
    return false;
}

static bool give_name(struct as_output *output)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(output->file));
    if (output->nameless && linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) != 0)
        return false;
    output->nameless = false;
    return rename(output->temporary, output->path) == 0;
}

bool as_output_finish(struct as_output *output, struct as_error *err)
{
    if (!output->path)
        return true;
    bool ok = fflush(output->file) == 0 && !ferror(output->file) && (!output->temporary || give_name(output));
    if (!ok) {
        fail(output, err);
        as_output_drop(output);
        return false;
    }
    free(output->temporary);
    output->temporary = NULL;
    if (fclose(output->file) != 0)
        return fail(output, err);
    return true;
}

void as_output_drop(struct as_output *output)
{
    if (!output->path || !output->file)
        return;
    if (output->temporary && !output->nameless)
        unlink(output->temporary);
    free(output->temporary);
    fclose(output->file);
    *output = (struct as_output){0};
}
