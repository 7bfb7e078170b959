/* See output.h. */
#include "cmd/output.h"

#include "base/alloc.h"
#include "base/path.h"
#include "store/store_header.h"

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

const char *as_output_name(const char *path)
{
    return path && strcmp(path, "-") == 0 ? NULL : path;
}

/* Opens a file without a name in the target's directory or, if that is not supported, one with a temporary name. */
static int open_unfinished(struct as_output *output)
{
    char *directory = as_path_directory(output->target);
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(directory);
    output->nameless = fd >= 0;
    output->temporary = as_format("%s.%d.part", output->target, getpid());
    if (fd < 0)
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd;
}

static void forget(struct as_output *output)
{
    free(output->temporary);
    free(output->target);
    *output = (struct as_output){0};
}

static bool open_file(struct as_output *output, struct as_error *err)
{
    output->target = as_path_follow(output->path);
    int fd = open_unfinished(output);
    if (fd >= 0 && as_path_keep_mode(fd, output->target) && (output->file = fdopen(fd, "w")))
        return true;
    fail(output, err);
    if (fd >= 0 && !output->nameless)
        unlink(output->temporary);
    if (fd >= 0)
        close(fd);
    forget(output);
    return false;
}

/* What others have written to it stays, and what they write next comes behind: as if this were a shell's redirection. */
static bool open_descriptor(struct as_output *output, int number, struct as_error *err)
{
    fflush(stdout);
    int fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
    output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return true;
    fail(output, err);
    if (fd >= 0)
        close(fd);
    return false;
}

bool as_output_open(struct as_output *output, const char *path, struct as_error *err)
{
    struct stat info;
    *output = (struct as_output){.path = as_output_name(path)};
    if (!output->path) {
        output->file = stdout;
        return true;
    }
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT)
        return fail(output, err);
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fail(output, err);
    }
    if (exists && S_ISREG(info.st_mode) && as_store_is_profile(path))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "cannot write %s: it is an Assay profile, which would be lost; give another name",
                                   path);
    int number = as_path_descriptor(path);
    if (number >= 0)
        return open_descriptor(output, number, err);
    if (exists && (!S_ISREG(info.st_mode) || access(path, W_OK) != 0)) {
        output->file = fopen(path, "we");
        return output->file || fail(output, err);
    }
    return open_file(output, err);
}

static bool give_name(struct as_output *output)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(output->file));
    if (output->nameless && linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) != 0)
        return false;
    output->nameless = false;
    return rename(output->temporary, output->target) == 0;
}

/* If an earlier write failed, errno has changed since. A write now fails for the same reason and sets it again. */
static bool flush(struct as_output *output)
{
    if (!ferror(output->file))
        return fflush(output->file) == 0;
    clearerr(output->file);
    errno = 0;
    (void)(fputc('\n', output->file) == EOF || fflush(output->file));
    errno = errno ? errno : EIO;
    return false;
}

bool as_output_finish(struct as_output *output, struct as_error *err)
{
    if (!output->path)
        return true;
    if (!flush(output) || (output->temporary && !give_name(output))) {
        fail(output, err);
        as_output_drop(output);
        return false;
    }
    bool ok = fclose(output->file) == 0 || fail(output, err);
    forget(output);
    return ok;
}

void as_output_drop(struct as_output *output)
{
    if (!output->path || !output->file)
        return;
    if (output->temporary && !output->nameless)
        unlink(output->temporary);
    fclose(output->file);
    forget(output);
}
