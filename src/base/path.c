/* See path.h. */
#include "base/path.h"

#include "base/alloc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, PERMISSIONS = 0777 }; /* as many links as Linux follows */

char *as_path_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? as_strndup(path, (size_t)(slash - path) + 1) : as_strdup(".");
}

/* A relative link starts from its own directory. */
static char *behind_link(const char *link, const char *to)
{
    if (to[0] == '/')
        return as_strdup(to);
    char *directory = as_path_directory(link);
    char *path = as_format("%s/%s", directory, to);
    free(directory);
    return path;
}

/* One link further; NULL: it is none. The caller frees. */
static char *next_of(const char *at)
{
    char to[PATH_MAX];
    ssize_t length = readlink(at, to, sizeof to - 1);
    if (length <= 0)
        return NULL;
    to[length] = '\0';
    return behind_link(at, to);
}

/* Of a path that names one without further links. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
            continue;
        long number = strtol(path + length, &end, 10);
        return *end == '\0' && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

static char *follow(const char *path, bool to_descriptor)
{
    char *at = as_strdup(path), *next;
    for (int i = 0; i < MOST_LINKS && !(to_descriptor && descriptor_of(at) >= 0) && (next = next_of(at)); i++) {
        free(at);
        at = next;
    }
    return at;
}

/* Unlike realpath(), does not fail if the target does not exist yet. */
char *as_path_follow(const char *path)
{
    return follow(path, false);
}

int as_path_descriptor(const char *path)
{
    char *at = follow(path, true);
    int found = descriptor_of(at);
    free(at);
    return found;
}

/* Of files that do not exist yet: one name in one directory. */
static bool is_same_name(const char *a, const char *b)
{
    char *of_a = as_path_follow(a), *of_b = as_path_follow(b);
    char *directory_a = as_path_directory(of_a), *directory_b = as_path_directory(of_b);
    struct stat in_a, in_b;
    bool same = strcmp(as_path_base(of_a), as_path_base(of_b)) == 0 && stat(directory_a, &in_a) == 0 &&
                stat(directory_b, &in_b) == 0 && in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
    free(of_a);
    free(of_b);
    free(directory_a);
    free(directory_b);
    return same;
}

bool as_path_is_same(const char *a, const char *b)
{
    struct stat of_a, of_b;
    bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;
    if (has_a && has_b)
        return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    return !has_a && !has_b && (strcmp(a, b) == 0 || is_same_name(a, b));
}

bool as_path_keep_mode(int fd, const char *path)
{
    struct stat old, new;
    if (stat(path, &old) != 0)
        return true;
    if (fstat(fd, &new) != 0)
        return false;
    mode_t mode = old.st_mode & PERMISSIONS;
    return (new.st_mode &PERMISSIONS) == mode || fchmod(fd, mode) == 0;
}

bool as_path_is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool as_path_search(const char *name, char found[PATH_MAX])
{
    const char *path = getenv("PATH") ? getenv("PATH") : "/usr/local/bin:/usr/bin:/bin"; /* as shells do */
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (snprintf(found, PATH_MAX, "%.*s/%s", (int)length, path, name) < PATH_MAX && as_path_is_program(found))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}
