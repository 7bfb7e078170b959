/* Reads dpkg's lists: NAME.list or NAME:ARCH.list, with a path a line. See package.h. */
#include "symbol/package.h"

#include "base/alloc.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 20 }; /* bytes of a list */

/* The whole file, with a newline before and a NUL behind it; NULL: unreadable. The caller frees. */
static char *read_list(int directory, const char *name)
{
    struct stat info;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < MOST;
    char *text = ok ? as_alloc((size_t)info.st_size + 3) : NULL;
    size_t done = 1;
    if (text)
        text[0] = '\n';
    for (ssize_t n; text && (n = read(fd, text + done, (size_t)info.st_size + 1 - done)) > 0;)
        done += (size_t)n;
    if (fd >= 0)
        close(fd);
    return text;
}

/* The lines to look for. Since /lib became a link to /usr/lib, lists and maps have either. */
struct lines {
    char *text[4];
};

static struct lines lines_of(const char *path)
{
    char *real = realpath(path, NULL);
    const char *names[] = {path, real ? real : path};
    struct lines lines;
    for (size_t i = 0; i < 2; i++) {
        bool below = strncmp(names[i], "/usr/", 5) == 0;
        lines.text[2 * i] = as_format("\n%s\n", names[i]);
        lines.text[2 * i + 1] = as_format("\n%s%s\n", below ? "" : "/usr", below ? names[i] + 4 : names[i]);
    }
    free(real);
    return lines;
}

static bool has_line(const char *list, const struct lines *lines)
{
    bool found = false;
    for (size_t i = 0; i < 4 && !found; i++)
        found = strstr(list, lines->text[i]) != NULL;
    return found;
}

char *as_package_of(const char *lists, const char *path)
{
    struct lines lines = lines_of(path);
    char *package = NULL;
    DIR *directory = opendir(lists);
    for (struct dirent *entry; directory && !package && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".list") != 0)
            continue;
        char *list = read_list(dirfd(directory), entry->d_name);
        if (list && has_line(list, &lines))
            package = as_strndup(entry->d_name,
                                 strcspn(entry->d_name, ":") < length - 5 ? strcspn(entry->d_name, ":") : length - 5);
        free(list);
    }
    if (directory)
        closedir(directory);
    for (size_t i = 0; i < 4; i++)
        free(lines.text[i]);
    return package;
}

char *as_package_debug(const char *package)
{
    /* glibc is built with a debug package of the old kind. */
    return as_format("%s%s", package, strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym");
}
